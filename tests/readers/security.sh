#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Somebody who trusts nobody, and half an hour: bits out of the library and a changed bit, keys of their own, and a proof
# of a design that is not ACE's. Needs `ace`, and the tools (make tools) for proofs.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-$([ -x .venv/bin/python ] && echo .venv/bin/python || echo python3)}
PYTHONPATH=flow "$python" -m ace_flow read --minutes 30 docs/how-to/check-a-bitstream.md docs/how-to/sign-a-library.md \
  examples/blinker/README.md

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A researcher and an hour: a paper's table anew, a policy of their own, a program of their own on the array, and a report.
# Needs `ace`, and cargo for the policy; a report needs models (make models).
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-$([ -x .venv/bin/python ] && echo .venv/bin/python || echo python3)}
PYTHONPATH=flow "$python" -m ace_flow read --minutes 60 docs/how-to/reproduce-a-table.md docs/adding-a-policy.md \
  examples/policy/README.md docs/tutorials/first-array-program.md examples/array-cipher/README.md docs/tutorial.md

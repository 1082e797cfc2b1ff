#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An engineer of VPNs and ten minutes: a capture of their own becomes ESP, which tshark verifies; a first SA file; then the
# same in a gateway whose keys charon makes. Needs `ace` (make ace); what else a step needs, it names.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-$([ -x .venv/bin/python ] && echo .venv/bin/python || echo python3)}
mine=()
# Something that nobody has seen: two downloads over TCP, between namespaces of this machine.
if [ "$(id -u)" = 0 ] && command -v ip >/dev/null; then
  recorded=$(mktemp)
  trap 'rm -f "$recorded"' EXIT
  python3 tests/demo/record.py --size 65536 "$recorded"
  mine=(--put "mine.pcap=$recorded")
else
  echo "not recorded: a capture of this machine is root's; the demo's is taken instead"
fi
with=()
# Where charon is not installed it is fetched, and nobody else sees it.
if [ "$(id -u)" = 0 ] && ! [ -x /usr/lib/ipsec/charon ] && tests/interop/with-charon.sh true 2>/dev/null; then
  with=(tests/interop/with-charon.sh)
fi
PYTHONPATH=flow "${with[@]}" "$python" -m ace_flow read --minutes 10 "${mine[@]}" docs/tutorial.md docs/how-to/wireshark.md \
  docs/how-to/protect-a-site.md examples/strongswan/README.md

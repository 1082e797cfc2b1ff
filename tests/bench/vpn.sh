#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TCP and UDP through a VPN between two network namespaces: none, ACE (cpu, auto), strongSwan's kernel-libipsec,
# boringtun, in turns (tests/bench/vpn.py). Needs root; Debian's packages are fetched into build/vpn and not installed.
# Arguments: those of tests/bench/vpn.py (--help). BORINGTUN names boringtun-cli, where it is not in PATH:
#   cargo install boringtun-cli --root DIR
set -euo pipefail

here=$(realpath "$(dirname "$0")")
packages=$(realpath -m "$here/../../build/vpn")
wanted=(iperf3 libiperf0 libsctp1 strongswan-charon strongswan-libcharon libstrongswan strongswan-swanctl
  strongswan-starter libstrongswan-standard-plugins libstrongswan-extra-plugins libcharon-extra-plugins)

if [ "${ACE_VPN_INSIDE:-}" != 1 ]; then
  if [ "${1:-}" = --help ]; then exec python3 "$here/vpn.py" --help; fi
  [ "$(id -u)" = 0 ] || { echo "vpn.sh: namespaces and TUN devices are root's" >&2; exit 1; }
  if [ ! -e "$packages/root/usr/bin/iperf3" ]; then
    mkdir -p "$packages"
    (cd "$packages" && apt-get download -q "${wanted[@]}" >&2)
    for package in "$packages"/*.deb; do dpkg -x "$package" "$packages/root"; done
  fi
  # Mounts are seen by nobody else and go with the script.
  ACE_VPN_INSIDE=1 exec unshare --mount "$0" "$@"
fi
mount -t overlay overlay -o "lowerdir=$packages/root/usr/lib:/usr/lib" /usr/lib
export PATH="$packages/root/usr/bin:$packages/root/usr/sbin:$PATH"
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$here/vpn.py" "$@"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command where charon, swanctl and ping are as if installed: Debian's packages are fetched into build/charon, and
# nobody but the command sees them. Needs root and, the first time, the network.
set -euo pipefail
packages=$(realpath -m "$(dirname "$0")/../../build/charon")
[ "$(id -u)" = 0 ] || { echo "with-charon.sh: mounts and namespaces are root's" >&2; exit 1; }
if [ "${ACE_CHARON_MOUNTED:-}" != 1 ]; then
  for file in usr/lib/ipsec/charon usr/sbin/swanctl bin/ping; do
    [ -e "$packages/root/$file" ] && continue
    mkdir -p "$packages"
    (cd "$packages" && apt-get download -q strongswan-charon strongswan-libcharon libstrongswan strongswan-swanctl \
      strongswan-starter libstrongswan-standard-plugins libstrongswan-extra-plugins iputils-ping >&2)
    for package in "$packages"/*.deb; do dpkg -x "$package" "$packages/root"; done
    break
  done
  # Mounts go with the command.
  ACE_CHARON_MOUNTED=1 exec unshare --mount "$0" "$@"
fi
mount -t overlay overlay -o "lowerdir=$packages/root/usr/lib:/usr/lib" /usr/lib
export PATH=$PATH:$packages/root/usr/sbin:$packages/root/bin LD_LIBRARY_PATH=/usr/lib/ipsec${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export STRONGSWAN_CONF=$packages/root/etc/strongswan.conf
exec "$@"

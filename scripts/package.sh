#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A Debian package of what make install puts below /usr, in build/package. dpkg-deb is on every Debian; nothing has to be
# compiled to use it. Argument: the binary.
set -euo pipefail
ace=$1
command -v dpkg-deb >/dev/null || { echo "dpkg-deb is missing: this is no Debian" >&2; exit 1; }
version=$("$ace" --version | cut -d' ' -f2)
arch=$(dpkg --print-architecture)
out=build/package
rm -rf "$out/root"
scripts/install.sh "$out/root/usr" "$ace"
find "$out/root" -type f -path '*/man1/*' -exec gzip -9n {} +
mkdir -p "$out/root/DEBIAN"
cat > "$out/root/DEBIAN/control" <<EOF
Package: ace
Version: $version
Architecture: $arch
Maintainer: ACE <ace@localhost>
Depends: libc6, libgcc-s1, libstdc++6
Section: net
Priority: optional
Installed-Size: $(du -sk "$out/root/usr" | cut -f1)
Description: adaptive cryptographic engine for IPsec
 Sends captures through ESP on simulated reconfigurable hardware that becomes
 whichever cipher a security association asks for, or on the processor.
EOF
dpkg-deb --root-owner-group --build "$out/root" "$out/ace_${version}_$arch.deb"

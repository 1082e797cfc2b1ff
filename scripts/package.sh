#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A Debian package of what make install puts below /usr. dpkg-deb is on every Debian; cargo-deb would have to be compiled
# first, and packs what cargo knows: library and models are not among that. Arguments: the binary, and where the package
# goes (build/package).
set -euo pipefail
ace=$1
out=${2:-build/package}
command -v dpkg-deb >/dev/null || { echo "dpkg-deb is missing: this is no Debian" >&2; exit 1; }
version=$("$ace" --version | cut -d' ' -f2)
arch=$(dpkg --print-architecture)
# The times of files are no part of what is packed.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
# Whatever was linked here wants the C library of this machine, or a later one.
libc=$(dpkg-query --show --showformat='${Version}' libc6 | sed 's/-.*//')
rm -rf "$out/root"
mkdir -p "$out/root"
scripts/install.sh /usr "$ace" "$(cd "$out/root" && pwd)"
# Where the gateway's configuration goes; examples are in /usr/share/doc/ace/examples.
install -d -m 750 "$out/root/etc/ace"
find "$out/root" -type f -path '*/man1/*' -exec gzip -9n {} +
mkdir -p "$out/root/DEBIAN"
cat > "$out/root/usr/share/doc/ace/copyright" <<EOF
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ACE

Files: *
Copyright: the authors of ACE
License: Apache-2.0
 On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.
EOF
cat > "$out/root/DEBIAN/control" <<EOF
Package: ace
Version: $version
Architecture: $arch
Maintainer: ACE <ace@localhost>
Depends: libc6 (>= $libc), libgcc-s1, libstdc++6, iproute2, passwd
Section: net
Priority: optional
Installed-Size: $(find "$out/root/usr" -type f -printf '%s\n' | awk '{ all += int(($1 + 1023) / 1024) } END { print all }')
Description: adaptive cryptographic engine for IPsec
 Sends captures through ESP on simulated reconfigurable hardware that becomes
 whichever cipher a security association asks for, or on the processor.
EOF
cat > "$out/root/DEBIAN/postinst" <<'EOF'
#!/bin/sh
set -e
# Whom the gateway becomes when everything is open (`user` in its configuration); it reads its SA file as such.
if [ "$1" = configure ]; then
  getent passwd ace >/dev/null ||
    useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin ace
  chgrp ace /etc/ace
  if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
fi
EOF
chmod 755 "$out/root/DEBIAN/postinst"
# On any number of processors the same bytes.
dpkg-deb --root-owner-group --threads-max=1 --build "$out/root" "$out/ace_${version}_$arch.deb"

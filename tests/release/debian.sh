#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Debian package in a Debian 12 that has nothing but its base: installed by apt with what it depends on, and used. As root;
# needs debootstrap and the mirror of this machine. Arguments: the package, and a folder for the base system, which is made once
# where it is given and not there (build/debian12; otherwise all is temporary). What is made besides is removed.
set -euo pipefail
cd "$(dirname "$0")/../.."
package=${1:?the package: make package makes build/package/ace_VERSION_ARCH.deb}
base=${2:-}
suite=bookworm
die() { echo "debian.sh: $*" >&2; exit 1; }
[ -r "$package" ] || die "$package is not there: make package"
[ "$(id -u)" = 0 ] || die "only root may make a system below a folder"
command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"
sources=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null || true)
mirror=${MIRROR:-$(sed -nE 's/^URIs: (http[^ ]*\/debian)\/?$/\1/p; s/^deb +(\[[^]]*\] +)?(http[^ ]*\/debian)\/? .*/\2/p' <<<"$sources" | head -n 1)}
[ -n "$mirror" ] || die "no mirror of Debian is in /etc/apt: MIRROR=http://… names one"

work=$(mktemp -d "${TMPDIR:-/tmp}/ace-debian-XXXXXX")
there=$work/there
gateway=
ended() {
  [ -z "$gateway" ] || kill "$gateway" 2>/dev/null || true
  umount "$there/proc" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap ended EXIT
say() { printf '[%4d s] %s\n' "$SECONDS" "$*"; }

if [ -n "$base" ] && [ -e "$base/etc/debian_version" ]; then
  say "Debian 12 from $base"
  cp -a "$base" "$there"
else
  say "Debian 12 from $mirror"
  debootstrap --variant=minbase --include=ca-certificates "$suite" "$there" "$mirror" >"$work/debootstrap.log" 2>&1 ||
    { tail -n 5 "$work/debootstrap.log" >&2; die "debootstrap failed"; }
  [ -z "$base" ] || { mkdir -p "$(dirname "$base")" && cp -a "$there" "$base"; }
fi
mount -t proc proc "$there/proc"
mkdir -p "$there/dev/net"
[ -e "$there/dev/net/tun" ] || mknod -m 666 "$there/dev/net/tun" c 10 200
[ ! -e /etc/resolv.conf ] || cp --dereference /etc/resolv.conf "$there/etc/resolv.conf"
inside() { timeout 300 chroot "$there" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }

say "apt-get install ./$(basename "$package")"
cp "$package" "$there/tmp/ace.deb"
inside DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends /tmp/ace.deb >"$work/apt.log" 2>&1 ||
  { tail -n 20 "$work/apt.log" >&2; die "the package cannot be installed"; }
version=$(inside ace --version)
say "$version"
[ "${version#ace }" = "$(dpkg-deb --field "$package" Version)" ] || die "the program is of another version than its package"

say "ace library verify"
inside ace library verify >"$work/verify.txt" || die "ace library verify failed"
tail -n 1 "$work/verify.txt"

say "ace run --slots array, as somebody who may write nowhere else"
mkdir -p "$there/home/somebody"
cp tests/demo/traffic.pcap tests/demo/protect.toml tests/demo/unprotect.toml "$there/home/somebody"
inside useradd --home-dir /home/somebody somebody
inside chown -R somebody: /home/somebody
somebody() { inside setpriv --reuid=somebody --regid=somebody --clear-groups env HOME=/home/somebody sh -c "cd && $*"; }
somebody ace run traffic.pcap --sas protect.toml -o out.pcap --slots array --json ">out.json"
somebody ace run out.pcap --sas unprotect.toml -o back.pcap --engine cpu ">/dev/null"
somebody ace compare traffic.pcap back.pcap
python3 - "$there/home/somebody/out.json" <<'END' || die "the demo's packets are not what the array made of them"
import json, sys
said = json.load(open(sys.argv[1]))
wanted = ("board", 277, 277)
found = (said["engine"], said["frames"], said["written"])
sys.exit(None if found == wanted and not said["engine_errors"] else f"{found} and {said['engine_errors']}, not {wanted}")
END

say "the gateway, as its unit starts it"
unit=$there/usr/lib/systemd/system/ace-gateway.service
words() { sed -nE "s/^$1=//p" "$unit"; }
exec=$(words ExecStart)
[ -n "$exec" ] || die "the unit starts nothing"
capabilities=$(words CapabilityBoundingSet | tr 'A-Z' 'a-z' | sed -E 's/cap_/+/g; s/ +/,/g')
install -m 640 "$there/usr/share/doc/ace/examples/"{gateway,sas}.toml -t "$there/etc/ace"
inside chown root:ace /etc/ace/gateway.toml /etc/ace/sas.toml
mkdir -p "$there/run/ace" "$there/var/lib/ace"
# A network of its own: what the gateway changes is gone with it.
unshare --net -- bash -euc '
  ip link set lo up
  ip address add 192.0.2.1/32 dev lo
  ip route add default dev lo
  umask 0077
  exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin XDG_STATE_HOME=/var/lib \
    setpriv --no-new-privs --bounding-set "-all,$2" $3' - "$there" "$capabilities" "$exec" >"$work/gateway.log" 2>&1 &
gateway=$!
for try in $(seq 100); do
  inside ace gateway status --json >"$work/status.json" 2>/dev/null && break
  kill -0 "$gateway" 2>/dev/null || { cat "$work/gateway.log" >&2; gateway=''; die "the gateway ended"; }
  [ "$try" -lt 100 ] || { cat "$work/gateway.log" >&2; die "the gateway does not answer"; }
  sleep 0.2
done
grep -q '"version": "'"${version#ace }"'"' "$work/status.json" || die "the gateway says another version: $(head -c 300 "$work/status.json")"
user=$(ps -o user= -p "$gateway")
owner=$(inside id -u ace)
[ "$(stat -c %u "/proc/$gateway")" = "$owner" ] || die "the gateway runs as $user and not as ace"
inside ace gateway sas | tail -n 4
kill -TERM "$gateway"
code=0
timeout 20 tail --pid="$gateway" -f /dev/null || die "the gateway does not stop"
wait "$gateway" || code=$?
gateway=''
[ "$code" = 0 ] || { cat "$work/gateway.log" >&2; die "the gateway stopped with exit code $code"; }

say "removed again"
inside apt-get purge --yes ace >"$work/apt.log" 2>&1 || { tail -n 20 "$work/apt.log" >&2; die "the package cannot be removed"; }
[ ! -e "$there/usr/bin/ace" ] || die "/usr/bin/ace is still there"
say "all is well"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# strongSwan's charon, unmodified, with `ace gateway` for its kernel (docs/gateway.md): a CHILD_SA with two traffic selectors
# that the first packet asks for (`start_action = trap`), and a gateway that is killed and started again while charon goes
# on: charon hears which SAs are lost and negotiates new ones, and pings to both nets are answered again.
# Needs root, and what tests/interop/charon.sh has fetched. Argument: the folder with ace and libace_xfrm.so.
set -euo pipefail
bin=$(realpath "${1:-target/release}")
packages=$(realpath -m "$(dirname "$0")/../../build/charon")
if [ "${ACE_CHARON_INSIDE:-}" != 1 ]; then
  [ "$(id -u)" = 0 ] || { echo "restarts.sh: namespaces and TUN devices are root's" >&2; exit 1; }
  [ -e "$packages/root/usr/lib/ipsec/charon" ] || { echo "restarts.sh: run tests/interop/charon.sh first" >&2; exit 1; }
  ACE_CHARON_INSIDE=1 exec unshare --mount "$0" "$bin"
fi
mount -t overlay overlay -o "lowerdir=$packages/root/usr/lib:/usr/lib" /usr/lib
dir=$(mktemp -d)
net=acerestart$$
declare -A gateways charons
end() {
  kill "${gateways[@]}" "${charons[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  for n in a b; do ip netns delete $net$n 2>/dev/null || true; done
  [ -z "${ACE_CHARON_LOGS:-}" ] || cp "$dir"/*.log "$ACE_CHARON_LOGS" || true
  rm -rf "$dir"
}
trap end EXIT

in_ns() { ip netns exec "$net$1" "${@:2}"; }
ask() { in_ns "$1" env STRONGSWAN_CONF="$dir/$1.conf" LD_LIBRARY_PATH=/usr/lib/ipsec "$packages/root/usr/sbin/swanctl" "${@:2}" --uri "unix://$dir/$1.vici"; }
gateway() {
  rm -f "$dir/$1.log"
  ip netns exec $net$1 "$bin/ace" gateway "$dir/$1.toml" 2>"$dir/$1.log" &
  gateways[$1]=$!
  for _ in $(seq 100); do grep -q ready "$dir/$1.log" 2>/dev/null && return; sleep 0.1; done
  cat "$dir/$1.log" >&2
  exit 1
}
# How many of so many pings are answered.
pings() { { in_ns a ping -n -q -i 0.05 -W 1 -c "$2" "$1" || true; } | sed -n 's/.* \([0-9]*\) received.*/\1/p'; }
# Until a ping is answered, for at most half a minute.
until_answered() {
  for _ in $(seq 60); do [ "$(pings "$1" 1)" = 1 ] && return; sleep 0.5; done
  echo "no answer from $1: $2" >&2
  ask a --list-sas >&2
  exit 1
}

for n in a b; do ip netns add $net$n; ip -n $net$n link set lo up; done
ip -n ${net}a link add wire type veth peer name wire netns ${net}b
for n in a b; do
  [ $n = a ] && { ours=1; other=2; local=10.0.1.0/24; remote="10.0.2.0/24, 10.0.3.0/24"; address='"10.0.1.1/32"'; routes='"10.0.2.0/24", "10.0.3.0/24"'; action=trap; } \
    || { ours=2; other=1; remote=10.0.1.0/24; local="10.0.2.0/24, 10.0.3.0/24"; address='"10.0.2.1/32", "10.0.3.1/32"'; routes='"10.0.1.0/24"'; action=none; }
  ip -n $net$n link set wire up
  ip -n $net$n address add 192.0.2.$ours/24 dev wire
  cat > "$dir/$n.toml" <<EOF
control = "$n.sock"
[inside]
tun = "ace0"
address = [$address]
routes = [$routes]
[outside]
encapsulation = "udp"
[xfrm]
socket = "$n.xfrm"
EOF
  gateway $n
  cat > "$dir/$n.conf" <<EOF
charon {
  install_routes = no
  install_virtual_ip = no
  load = random nonce aes sha1 sha2 hmac kdf gmp openssl gcm kernel-netlink socket-default vici updown
  plugins { vici { socket = unix://$dir/$n.vici
  } }
  filelog { out { path = $dir/$n-charon.log
    flush_line = yes
    knl = 2
  } }
}
EOF
  cat > "$dir/$n.swanctl" <<EOF
connections { t {
  version = 2
  local_addrs = 192.0.2.$ours
  remote_addrs = 192.0.2.$other
  encap = yes
  proposals = aes128-sha256-modp2048
  local { auth = psk
    id = $n
  }
  remote { auth = psk
  }
  children { t {
    local_ts = $local
    remote_ts = $remote
    esp_proposals = aes128gcm16
    start_action = $action
  } }
} }
secrets { ike-1 { secret = "of both ends"
} }
EOF
  mkdir "$dir/run-$n"
  ip netns exec $net$n env STRONGSWAN_CONF="$dir/$n.conf" LD_PRELOAD="$bin/libace_xfrm.so" ACE_XFRM="$dir/$n.xfrm" \
    unshare --mount sh -c "mount --bind $dir/run-$n /run && exec /usr/lib/ipsec/charon" >/dev/null 2>&1 &
  charons[$n]=$!
  for _ in $(seq 100); do [ -S "$dir/$n.vici" ] && break; sleep 0.1; done
  # It looks into folders that are not there.
  ask $n --load-all --noprompt --file "$dir/$n.swanctl" >"$dir/said" 2>&1 || { cat "$dir/said" >&2; exit 1; }
done

[ -z "$(ask a --list-sas)" ] || { echo "something was negotiated before a packet came" >&2; exit 1; }
until_answered 10.0.2.1 "the first packet asks for an SA"
for to in 10.0.2.1 10.0.3.1; do
  got=$(pings $to 20)
  echo "$to, by a trap: 20 pings, $((20 - got)) lost"
  [ "$got" = 20 ]
done
for round in 1 2; do
  for n in a b; do
    kill -9 "${gateways[$n]}"
    wait "${gateways[$n]}" 2>/dev/null || true
    gateway $n
    for to in 10.0.2.1 10.0.3.1; do
      until_answered $to "gateway $n was killed and started again, round $round"
      got=$(pings $to 20)
      echo "gateway $n was killed and started again, $to: 20 pings, $((20 - got)) lost"
      [ "$got" = 20 ]
    done
  done
done

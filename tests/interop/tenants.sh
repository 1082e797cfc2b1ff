#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# strongSwan's charon, unmodified, for tenants with the same nets (if_id_in, if_id_out), each with a device in a namespace
# of its own (docs/gateway-cores-and-tenants.md). End a is behind a translator, which gives it other ports twice: gateway b
# follows its packets, and its charon is told (MAPPING). Nothing of one tenant comes to another; all that passes the wire
# is looked at. Needs root, nftables and what tests/interop/charon.sh has fetched.
# Argument: the folder with ace and libace_xfrm.so (target/release).
set -euo pipefail
bin=$(realpath "${1:-target/release}")
here=$(realpath "$(dirname "$0")")
packages=$(realpath -m "$here/../../build/charon")
if [ "${ACE_CHARON_INSIDE:-}" != 1 ]; then
  [ "$(id -u)" = 0 ] || { echo "tenants.sh: namespaces and TUN devices are root's" >&2; exit 1; }
  [ -e "$packages/root/usr/lib/ipsec/charon" ] || { echo "tenants.sh: tests/interop/charon.sh fetches charon: run it first" >&2; exit 1; }
  # Mounts are seen by nobody else and go with the script.
  ACE_CHARON_INSIDE=1 exec unshare --mount "$0" "$bin"
fi
mount -t overlay overlay -o "lowerdir=$packages/root/usr/lib:/usr/lib" /usr/lib
dir=$(mktemp -d)
net=acetenants$$
# The last one comes in by another device at end a.
tenants='7 8 9'
spaces='a b n a7 a8 a9 a10 b7 b8 b9'
pids=()
charons=()
end() {
  # All at once: charon says goodbye to a gateway that goes, and ends all the same.
  kill "${charons[@]}" "${pids[@]}" 2>/dev/null || true
  wait "${charons[@]}" "${pids[@]}" 2>/dev/null || true
  for n in $spaces; do ip netns delete $net$n 2>/dev/null || true; done
  [ -z "${ACE_CHARON_LOGS:-}" ] || cp "$dir"/*.log "$ACE_CHARON_LOGS" || true
  rm -rf "$dir"
}
trap end EXIT

in_ns() { ip netns exec "$net$1" "${@:2}"; }
ask() { in_ns "$1" env STRONGSWAN_CONF="$dir/$1.conf" LD_LIBRARY_PATH=/usr/lib/ipsec "$packages/root/usr/sbin/swanctl" "${@:2}" --uri "unix://$dir/$1.vici"; }

for n in $spaces; do
  ip netns add $net$n
  ip -n $net$n link set lo up
done
# a (10.9.0.1) - n (10.9.0.2, 192.0.2.9) - b (192.0.2.2)
ip -n ${net}a link add wire type veth peer name in netns ${net}n
ip -n ${net}b link add wire type veth peer name out netns ${net}n
link() { ip -n $net$1 link set $2 up && ip -n $net$1 address add $3 dev $2; }
link a wire 10.9.0.1/24
link n in 10.9.0.2/24
link n out 192.0.2.9/24
link b wire 192.0.2.2/24
ip -n ${net}a route add default via 10.9.0.2
in_ns n sysctl -qw net.ipv4.ip_forward=1
# Ports from here on, and nothing that was translated so far: with its link the kernel forgets it.
translate() {
  in_ns n nft -f - <<EOF
flush ruleset
table ip nat {
  chain post {
    type nat hook postrouting priority 100;
    oifname out udp sport 4500 masquerade to :$1-$(($1 + 9))
    oifname out masquerade
  }
}
EOF
  ip -n ${net}n link set out down
  ip -n ${net}n link set out up
}
translate 10000

for n in a b; do
  [ $n = a ] && { ours=1; other=2; own=10.9.0.1; } || { ours=2; other=1; own=192.0.2.2; }
  cat > "$dir/$n.toml" <<EOF
control = "$n.sock"
[inside]
tun = "ace0"
[outside]
encapsulation = "udp"
[xfrm]
socket = "$n.xfrm"
EOF
  numbers=$tenants
  [ $n = b ] || numbers="$tenants 10"
  for t in $numbers; do
    cat >> "$dir/$n.toml" <<EOF
[[interface]]
name = "ace$t"
if_id = $t
netns = "$net$n$t"
address = ["10.0.$ours.1/32"]
routes = ["10.0.$other.0/24"]
EOF
  done
  ip netns exec $net$n "$bin/ace" gateway "$dir/$n.toml" 2>"$dir/$n-gateway.log" &
  pids+=($!)
  for _ in $(seq 100); do [ -S "$dir/$n.xfrm" ] && break; sleep 0.1; done
  cat > "$dir/$n.conf" <<EOF
charon {
  install_routes = no
  install_virtual_ip = no
  load = random nonce aes sha1 sha2 hmac kdf gmp openssl gcm kernel-netlink socket-default vici
  plugins { vici { socket = unix://$dir/$n.vici
  } }
  filelog { out { path = $dir/$n-charon.log
    flush_line = yes
    knl = 2
  } }
}
EOF
  children=
  for t in $tenants; do
    came=$t
    [ $n$t != a9 ] || came=10
    children+="t$t { local_ts = 10.0.$ours.0/24
      remote_ts = 10.0.$other.0/24
      if_id_in = $came
      if_id_out = $t
      esp_proposals = aes128gcm16
      rekey_time = 0
    }
    "
  done
  mkdir -p "$dir/$n-swanctl" "$dir/run-$n"
  # Both offer the same traffic selectors for all: by its own identities each connection is one tenant's.
  connections=
  secrets=
  for t in $tenants; do
    child=$(printf '%s' "$children" | sed -n "/t$t {/,/^ *}/p")
    connections+="c$t { version = 2
      local_addrs = $own
      remote_addrs = $([ $n = a ] && echo 192.0.2.2 || echo %any)
      proposals = aes128-sha256-modp2048
      local { auth = psk
        id = $n$t
      }
      remote { auth = psk
        id = $([ $n = a ] && echo b || echo a)$t
      }
      children { $child
      }
    }
    "
  done
  cat > "$dir/$n-swanctl/swanctl.conf" <<EOF
connections { $connections
}
secrets { ike { secret = "of both ends"
} }
EOF
  ip netns exec $net$n env STRONGSWAN_CONF="$dir/$n.conf" LD_PRELOAD="$bin/libace_xfrm.so" ACE_XFRM="$dir/$n.xfrm" \
    unshare --mount sh -c "mount --bind '$dir/run-$n' /run && exec /usr/lib/ipsec/charon" >/dev/null 2>&1 &
  charons+=($!)
done
ip netns exec ${net}b python3 "$here/clear.py" wire > "$dir/wire" 2> "$dir/watches" &
watching=$!
pids+=($watching)
for _ in $(seq 100); do [ -s "$dir/watches" ] && break; sleep 0.1; done
for n in a b; do
  for _ in $(seq 100); do [ -S "$dir/$n.vici" ] && break; sleep 0.1; done
  ask $n --load-all --noprompt --file "$dir/$n-swanctl/swanctl.conf" >"$dir/said" 2>&1 || { cat "$dir/said" >&2; exit 1; }
done

result=0
# Pings of a tenant; some may be lost.
ping() {
  in_ns a$1 python3 -c "
import sys; sys.path.insert(0, '$here/../demo'); import live
times = live.ping('10.0.2.1', $2); lost = sum(t is None for t in times)
print(f'{len(times)} pings, {lost} lost'); sys.exit(lost > $3)"
}
# Packets that came out of a device.
came() { in_ns $1 awk -v device="$2:" '$1 == device { print $3 }' /proc/net/dev; }
is() { [ "$2" = "$3" ] || { echo "$1: $2, and not $3" >&2; result=1; }; }
for t in $tenants; do
  ask a --initiate --child t$t >"$dir/said" 2>&1 || { tail -3 "$dir/said"; result=1; }
done
# The last tenant's answers come in elsewhere: nobody is answered, and they are all there.
for row in '7 10 0' '8 20 0' '9 30 30'; do
  set -- $row
  printf 'tenant %s: ' "$1"
  ping $1 $2 $3 || result=1
  is "tenant $1 at b" "$(came b$1 ace$1)" $2
done
for row in 'a7 ace7 10' 'a8 ace8 20' 'a9 ace9 0' 'a10 ace10 30'; do
  set -- $row
  is "$2 at a" "$(came $1 $2)" $3
done
for port in 20000 30000; do
  translate $port
  # The first packet behind it is answered where the end was, and a link that is new has lost some itself.
  printf 'ports from %s on: ' $port
  ping 7 20 3 || result=1
  printf 'and then: '
  ping 8 20 0 || result=1
  for _ in $(seq 100); do
    ask b --list-sas | grep -q "192.0.2.9\[$((port / 1000))" && break
    sleep 0.1
  done
  ask b --list-sas | grep -q "192.0.2.9\[$((port / 1000))" || { echo "charon b was not told" >&2; ask b --list-sas >&2; result=1; }
done
ask a --terminate --ike c7 >/dev/null
printf 'tenant 7 without SAs: '
! ping 7 2 0 || result=1
printf 'tenant 8: '
ping 8 20 0 || result=1
kill "$watching"
wait "$watching" || result=1
cat "$dir/wire"
exit $result

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# strongSwan's charon, unmodified, with SAs in transport mode as ESP over IP: the ends of the SAs are the ends of the
# traffic, and the gateway's own packets and IKE's carry a mark that keeps them out of the gateway (docs/gateway.md,
# `mark`). A few suites, SAs that are replaced every two seconds, no SAs, no gateway; all that passes the wire is looked
# at. Needs root and what tests/interop/charon.sh has fetched.
# Arguments: the folder with ace and libace_xfrm.so (target/release), the number of pings while SAs are replaced.
set -euo pipefail
bin=$(realpath "${1:-target/release}")
pings=${2:-20000}
here=$(realpath "$(dirname "$0")")
packages=$(realpath -m "$here/../../build/charon")
if [ "${ACE_CHARON_INSIDE:-}" != 1 ]; then
  [ "$(id -u)" = 0 ] || { echo "transport.sh: namespaces and TUN devices are root's" >&2; exit 1; }
  [ -e "$packages/root/usr/lib/ipsec/charon" ] || { echo "transport.sh: tests/interop/charon.sh fetches charon: run it first" >&2; exit 1; }
  # Mounts are seen by nobody else and go with the script.
  ACE_CHARON_INSIDE=1 exec unshare --mount "$0" "$bin" "$pings"
fi
mount -t overlay overlay -o "lowerdir=$packages/root/usr/lib:/usr/lib" /usr/lib
dir=$(mktemp -d)
net=acetransport$$
mark=2766
suites='aes128gcm16 aes256-sha256 3des-sha1'
pids=()
end() {
  kill "${pids[@]}" 2>/dev/null || true
  wait "${pids[@]}" 2>/dev/null || true
  for n in a b; do ip netns delete $net$n 2>/dev/null || true; done
  [ -z "${ACE_CHARON_LOGS:-}" ] || cp "$dir"/*.log "$ACE_CHARON_LOGS" || true
  rm -rf "$dir"
}
trap end EXIT

in_ns() { ip netns exec "$net$1" "${@:2}"; }
ask() { in_ns "$1" env STRONGSWAN_CONF="$dir/$1.conf" LD_LIBRARY_PATH=/usr/lib/ipsec "$packages/root/usr/sbin/swanctl" "${@:2}" --uri "unix://$dir/$1.vici"; }

for n in a b; do
  ip netns add $net$n
  ip -n $net$n link set lo up
done
ip -n ${net}a link add wire type veth peer name wire netns ${net}b
for n in a b; do
  [ $n = a ] && { ours=1; other=2; } || { ours=2; other=1; }
  # What comes by the wire has an address that is routed into the gateway.
  in_ns $n sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.wire.rp_filter=0
  ip -n $net$n link set wire up
  ip -n $net$n address add 192.0.2.$ours/24 dev wire
  cat > "$dir/$n.toml" <<EOT
control = "$n.sock"
[inside]
tun = "ace0"
address = ["192.0.2.$ours/32"]
routes = ["192.0.2.$other/32"]
[outside]
encapsulation = "none"
mark = $mark
[xfrm]
socket = "$n.xfrm"
allow_legacy = true
EOT
  ip netns exec $net$n "$bin/ace" gateway "$dir/$n.toml" 2>"$dir/$n-gateway.log" &
  pids+=($!)
  for _ in $(seq 100); do [ -S "$dir/$n.xfrm" ] && break; sleep 0.1; done
  cat > "$dir/$n.conf" <<EOT
charon {
  install_routes = no
  install_virtual_ip = no
  load = random nonce aes sha1 sha2 hmac kdf gmp openssl gcm kernel-netlink socket-default vici
  plugins {
    vici { socket = unix://$dir/$n.vici
    }
    socket-default { fwmark = $mark
    }
    kernel-netlink { fwmark = !$mark
    }
  }
  filelog { out { path = $dir/$n-charon.log
    flush_line = yes
    knl = 2
  } }
}
EOT
  children=
  for esp in $suites; do
    children+="$esp { mode = transport
      esp_proposals = $esp
      rekey_time = 0
    }
    "
  done
  children+="replaced { mode = transport
      esp_proposals = aes128gcm16
      rekey_time = 2
      rand_time = 0
      life_time = 60
    }"
  [ $n = a ] || children="all { mode = transport
      esp_proposals = ${suites// /,}
      rekey_time = 0
    }"
  mkdir -p "$dir/$n-swanctl" "$dir/run-$n"
  cat > "$dir/$n-swanctl/swanctl.conf" <<EOT
connections { t {
  version = 2
  local_addrs = 192.0.2.$ours
  remote_addrs = 192.0.2.$other
  proposals = aes128-sha256-modp2048
  local { auth = psk
    id = $n
  }
  remote { auth = psk
    id = $([ $n = a ] && echo b || echo a)
  }
  children { $children
  }
} }
secrets { ike { secret = "of both ends"
} }
EOT
  ip netns exec $net$n env STRONGSWAN_CONF="$dir/$n.conf" LD_PRELOAD="$bin/libace_xfrm.so" ACE_XFRM="$dir/$n.xfrm" \
    unshare --mount sh -c "mount --bind '$dir/run-$n' /run && exec /usr/lib/ipsec/charon" >/dev/null 2>&1 &
  pids+=($!)
done
ip netns exec ${net}b python3 "$here/clear.py" wire > "$dir/wire" 2> "$dir/watches" &
watching=$!
pids+=($watching)
for _ in $(seq 100); do [ -s "$dir/watches" ] && break; sleep 0.1; done
for n in a b; do
  for _ in $(seq 100); do [ -S "$dir/$n.vici" ] && break; sleep 0.1; done
  ask $n --load-all --noprompt --file "$dir/$n-swanctl/swanctl.conf" >"$dir/said" 2>&1 || { cat "$dir/said" >&2; exit 1; }
done

ping() {
  in_ns a python3 -c "
import sys; sys.path.insert(0, '$here/../demo'); import live
times = live.ping('192.0.2.2', $1); lost = sum(t is None for t in times)
print(f'{len(times)} pings, {lost} lost'); sys.exit(lost > 0)"
}
result=0
printf 'before anything is negotiated: '
! ping 2 || result=1
for child in $suites replaced; do
  ask a --initiate --child $child >"$dir/said" 2>&1 || { tail -3 "$dir/said"; result=1; continue; }
  count=20
  [ $child != replaced ] || count=$pings
  printf '%s: ' "$child"
  ping "$count" || result=1
  [ $child = replaced ] || ask a --terminate --child $child >/dev/null
done
ask a --list-sas | grep -q TRANSPORT || { echo "the SAs are not in transport mode" >&2; result=1; }
echo "SAs that charon has put into gateway a: $(grep -c 'adding SAD entry' "$dir/a-charon.log")"
printf 'gateway b is killed: '
kill -9 "${pids[2]}"
wait "${pids[2]}" 2>/dev/null || true
! ping 2 || result=1
kill "$watching"
wait "$watching" || result=1
cat "$dir/wire"
exit $result

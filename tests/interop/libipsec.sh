#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# strongSwan's charon, unmodified, with `ace gateway` for its kernel at one end, and with its own kernel-libipsec at the
# other, between two network namespaces: IKEv2 with certificates, ESP in UDP at the port that IKE has too (docs/gateway.md),
# tunnels of a few suites, pings while SAs are replaced every two seconds, a file each way, no SAs, no gateway. All that
# passes the wire is looked at: nothing may be in clear. Needs root and what tests/interop/charon.sh has fetched.
# Arguments: the folder with ace and libace_xfrm.so (target/release), the number of pings while SAs are replaced.
# ACE_CHARON_LOGS: a folder where logs of all programs are put in the end.
set -euo pipefail
bin=$(realpath "${1:-target/release}")
pings=${2:-20000}
here=$(realpath "$(dirname "$0")")
packages=$(realpath -m "$here/../../build/charon")
if [ "${ACE_CHARON_INSIDE:-}" != 1 ]; then
  [ "$(id -u)" = 0 ] || { echo "libipsec.sh: namespaces and TUN devices are root's" >&2; exit 1; }
  [ -e "$packages/root/usr/lib/ipsec/charon" ] || { echo "libipsec.sh: tests/interop/charon.sh fetches charon: run it first" >&2; exit 1; }
  if [ ! -e "$packages/root/usr/lib/ipsec/plugins/libstrongswan-kernel-libipsec.so" ]; then
    (cd "$packages" && apt-get download -q libcharon-extra-plugins && dpkg -x libcharon-extra-plugins_*.deb root)
  fi
  # Mounts are seen by nobody else and go with the script.
  ACE_CHARON_INSIDE=1 exec unshare --mount "$0" "$bin" "$pings"
fi
mount -t overlay overlay -o "lowerdir=$packages/root/usr/lib:/usr/lib" /usr/lib
dir=$(mktemp -d)
net=acelibipsec$$
suites='aes128gcm16 chacha20poly1305 aes256-sha256 3des-sha1 camellia128-sha512'
declare -A pids
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
xfrm() { in_ns a env LD_PRELOAD="$bin/libace_xfrm.so" ACE_XFRM="$dir/a.xfrm" ip xfrm "$@"; }

certify() { openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/O=ace/CN=$1" -keyout "$dir/$1.key" -out "$dir/$1.pem" "${@:2}" 2>"$dir/said" || { cat "$dir/said" >&2; exit 1; }; }
certify ca
for n in a b; do
  certify $n -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -addext basicConstraints=critical,CA:false
  mkdir -p "$dir/$n-swanctl"/{x509,x509ca,private} "$dir/run-$n"
  cp "$dir/ca.pem" "$dir/$n-swanctl/x509ca/"
  cp "$dir/$n.pem" "$dir/$n-swanctl/x509/"
  cp "$dir/$n.key" "$dir/$n-swanctl/private/"
  ip netns add $net$n
  ip -n $net$n link set lo up
done
ip -n ${net}a link add wire type veth peer name wire netns ${net}b
for n in a b; do
  [ $n = a ] && ours=1 || ours=2
  ip -n $net$n link set wire up
  ip -n $net$n address add 192.0.2.$ours/24 dev wire
done
ip -n ${net}b address add 10.0.2.1/32 dev lo
# What libipsec has no SA for would go by the wire's network otherwise.
ip -n ${net}b route add blackhole 10.0.1.0/24
cat > "$dir/a.toml" <<EOT
control = "a.sock"
[inside]
tun = "ace0"
address = ["10.0.1.1/32"]
routes = ["10.0.2.0/24"]
[outside]
encapsulation = "udp"
listen = "0.0.0.0:4500"
[xfrm]
socket = "a.xfrm"
allow_legacy = true
EOT
ip netns exec ${net}a "$bin/ace" gateway "$dir/a.toml" 2>"$dir/a-gateway.log" &
pids[gateway]=$!
for _ in $(seq 100); do [ -S "$dir/a.xfrm" ] && break; sleep 0.1; done

for n in a b; do
  [ $n = a ] && { ours=1; other=2; kernel=kernel-netlink; } || { ours=2; other=1; kernel='kernel-libipsec kernel-netlink'; }
  routes=$([ $n = a ] && echo no || echo yes)
  cat > "$dir/$n.conf" <<EOT
charon {
  install_routes = $routes
  install_virtual_ip = no
  load = random nonce aes des sha1 sha2 hmac kdf gmp openssl gcm x509 pem pkcs1 pkcs8 pubkey constraints $kernel socket-default vici updown
  plugins { vici { socket = unix://$dir/$n.vici
  } }
  filelog { out { path = $dir/$n-charon.log
    flush_line = yes
  } }
}
EOT
  ends="local_ts = 10.0.$ours.1/32
    remote_ts = 10.0.$other.1/32"
  children=
  for esp in $suites; do
    children+="$esp { $ends
      esp_proposals = $esp
      rekey_time = 0
    }
    "
  done
  children+="replaced { $ends
      esp_proposals = aes128gcm16
      rekey_time = 2
      rand_time = 0
      life_time = 60
    }"
  [ $n = a ] || children="all { $ends
      esp_proposals = ${suites// /,}
      rekey_time = 0
    }"
  cat > "$dir/$n-swanctl/swanctl.conf" <<EOT
connections { t {
  version = 2
  local_addrs = 192.0.2.$ours
  remote_addrs = 192.0.2.$other
  proposals = aes128-sha256-modp2048
  local { auth = pubkey
    certs = $n.pem
    id = "O=ace, CN=$n"
  }
  remote { auth = pubkey
    id = "O=ace, CN=$([ $n = a ] && echo b || echo a)"
  }
  children { $children
  }
} }
EOT
  preload=
  [ $n = b ] || preload="LD_PRELOAD=$bin/libace_xfrm.so ACE_XFRM=$dir/a.xfrm"
  # shellcheck disable=SC2086 # two words
  ip netns exec $net$n env STRONGSWAN_CONF="$dir/$n.conf" $preload \
    unshare --mount sh -c "mount --bind '$dir/run-$n' /run && exec /usr/lib/ipsec/charon" >/dev/null 2>&1 &
  pids[charon-$n]=$!
done
ip netns exec ${net}b python3 "$here/clear.py" wire > "$dir/wire" 2> "$dir/watches" &
pids[watching]=$!
for _ in $(seq 100); do [ -s "$dir/watches" ] && break; sleep 0.1; done
for n in a b; do
  for _ in $(seq 100); do [ -S "$dir/$n.vici" ] && break; sleep 0.1; done
  ask $n --load-all --noprompt --file "$dir/$n-swanctl/swanctl.conf" >"$dir/said" 2>&1 || { cat "$dir/said" >&2; exit 1; }
done

live() { in_ns "$1" python3 -c "import sys; sys.path.insert(0, '$here/../demo'); import live; $2"; }
ping() {
  live a "times = live.ping('10.0.2.1', $1); lost = sum(t is None for t in times)
print(f'{len(times)} pings, {lost} lost'); sys.exit(lost > 0)"
}
file() {
  live "$2" "print(live.receive('10.0.$3.1', 7777)[2])" >"$dir/got" 2>/dev/null &
  local taking=$!
  for _ in $(seq 100); do in_ns "$2" ss -ltn | grep -q ':7777 ' && break; sleep 0.1; done
  live "$1" "print(live.send('10.0.$3.1', 7777, 64 << 20)[1])" >"$dir/sent"
  wait $taking
  cmp -s "$dir/got" "$dir/sent" && echo "64 MiB from $1 to $2, and they are those" || { echo "from $1 to $2 something else came" >&2; return 1; }
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
  [ $child != aes128gcm16 ] || { file a b 2 && file b a 1 || result=1; }
  [ $child = replaced ] || ask a --terminate --child $child >/dev/null
done
times=$(grep -c 'outbound CHILD_SA replaced{[0-9]*} established' "$dir/a-charon.log" || true)
echo "charon has replaced SAs $times times"
[ "$times" -gt 0 ] || result=1
xfrm state list | grep -q 'encap type espinudp sport 4500 dport 4500' || { echo "the SAs at end a are not ESP in UDP" >&2; result=1; }
ask a --terminate --ike t >/dev/null
printf 'without SAs: '
! ping 2 || result=1
ask a --initiate --child aes128gcm16 >"$dir/said" 2>&1 || { tail -3 "$dir/said"; result=1; }
printf 'negotiated anew: '
ping 200 || result=1
"$bin/ace" gateway status --control "$dir/a.sock" | grep -E "accepted|protected|decaps|dropped|gateway|losses" || true
kill -9 "${pids[gateway]}"
wait "${pids[gateway]}" 2>/dev/null || true
printf 'the gateway is killed: '
! ping 2 || result=1
kill "${pids[watching]}"
wait "${pids[watching]}" || result=1
cat "$dir/wire"
exit $result

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# strongSwan's charon, unmodified, at both ends of a wire between two network namespaces, with `ace gateway` for its
# kernel (docs/gateway.md): IKEv2 with certificates, a few suites, pings while SAs are replaced every two seconds, while
# both ends authenticate each other anew, while one of them moves to another address (MOBIKE), when the other one is gone
# (DPD), and after charon was killed. All that passes the wire meanwhile is looked at: nothing may be in clear.
# Needs root, and Debian's packages of strongSwan, which are fetched into build/charon and not installed.
# Arguments: the folder with ace and libace_xfrm.so (target/release), the number of pings while SAs are replaced.
# ACE_IKE: so many negotiations and nothing else; prints as JSON how long each took.
# ACE_CHARON_LOGS: a folder where logs of all programs are put in the end.
set -euo pipefail
bin=$(realpath "${1:-target/release}")
pings=${2:-20000}
here=$(realpath "$(dirname "$0")")
packages=$(realpath -m "$here/../../build/charon")
if [ "${ACE_CHARON_INSIDE:-}" != 1 ]; then
  [ "$(id -u)" = 0 ] || { echo "charon.sh: namespaces and TUN devices are root's" >&2; exit 1; }
  if [ ! -e "$packages/root/usr/lib/ipsec/charon" ]; then
    mkdir -p "$packages"
    (cd "$packages" && apt-get download -q strongswan-charon strongswan-libcharon libstrongswan strongswan-swanctl \
      strongswan-starter libstrongswan-standard-plugins libstrongswan-extra-plugins)
    for package in "$packages"/*.deb; do dpkg -x "$package" "$packages/root"; done
  fi
  # Mounts are seen by nobody else and go with the script.
  ACE_CHARON_INSIDE=1 exec unshare --mount "$0" "$bin" "$pings"
fi
mount -t overlay overlay -o "lowerdir=$packages/root/usr/lib:/usr/lib" /usr/lib
dir=$(mktemp -d)
net=acecharon$$
suites='aes128gcm16 chacha20poly1305 aes256-sha256 3des-sha1 camellia128-sha512'
pids=()
end() {
  kill "${pids[@]}" 2>/dev/null || true
  wait "${pids[@]}" 2>/dev/null || true
  for n in a b m; do ip netns delete $net$n 2>/dev/null || true; done
  [ -z "${ACE_CHARON_LOGS:-}" ] || cp "$dir"/*.log "$ACE_CHARON_LOGS" || true
  rm -rf "$dir"
}
trap end EXIT

in_ns() { ip netns exec "$net$1" "${@:2}"; }
ask() { in_ns "$1" env STRONGSWAN_CONF="$dir/$1.conf" LD_LIBRARY_PATH=/usr/lib/ipsec "$packages/root/usr/sbin/swanctl" "${@:2}" --uri "unix://$dir/$1.vici"; }
xfrm() { in_ns "$1" env LD_PRELOAD="$bin/libace_xfrm.so" ACE_XFRM="$dir/$1.xfrm" ip xfrm "${@:2}"; }

# Certificates of both ends, and who vouches for them.
certify() { openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/O=ace/CN=$1" -keyout "$dir/$1.key" -out "$dir/$1.pem" "${@:2}" 2>"$dir/said" || { cat "$dir/said" >&2; exit 1; }; }
certify ca
for n in a b; do
  certify $n -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -addext basicConstraints=critical,CA:false
  mkdir -p "$dir/$n-swanctl"/{x509,x509ca,private}
  cp "$dir/ca.pem" "$dir/$n-swanctl/x509ca/"
  cp "$dir/$n.pem" "$dir/$n-swanctl/x509/"
  cp "$dir/$n.key" "$dir/$n-swanctl/private/"
done

for n in a b m; do
  ip netns add $net$n
  ip -n $net$n link set lo up
done
ip -n ${net}m link add br0 type bridge
ip -n ${net}m link set br0 up
for n in a b; do
  [ $n = a ] && { ours=1; other=2; } || { ours=2; other=1; }
  ip -n ${net}m link add to-$n type veth peer name wire netns $net$n
  ip -n ${net}m link set to-$n master br0 up
  ip -n $net$n link set wire up
  # An address stays when the one before it goes.
  in_ns $n sysctl -qw net.ipv4.conf.wire.promote_secondaries=1
  ip -n $net$n address add 192.0.2.$ours/24 dev wire
  cat > "$dir/$n.toml" <<EOF
control = "$n.sock"
[inside]
tun = "ace0"
address = ["10.0.$ours.1/32"]
routes = ["10.0.$other.0/24"]
[outside]
encapsulation = "none"
[xfrm]
socket = "$n.xfrm"
allow_legacy = true
EOF
  ip netns exec $net$n "$bin/ace" gateway "$dir/$n.toml" 2>"$dir/$n-gateway.log" &
  # Not by in_ns: $! would be a shell and not the program.
  pids+=($!)
  for _ in $(seq 100); do [ -S "$dir/$n.xfrm" ] && break; sleep 0.1; done
  cat > "$dir/$n.conf" <<EOF
charon {
  make_before_break = yes
  retransmit_timeout = 2
  retransmit_tries = 2
  retransmit_base = 1
  install_routes = no
  install_virtual_ip = no
  load = random nonce aes sha1 sha2 hmac kdf gmp openssl gcm x509 pem pkcs1 pkcs8 pubkey constraints kernel-netlink socket-default vici updown
  plugins { vici { socket = unix://$dir/$n.vici
  } }
  filelog { out { path = $dir/$n-charon.log
    flush_line = yes
    knl = 2
  } }
}
EOF
  # One end asks for one suite after the other, and alone replaces SAs: when both begin at once, charon makes two and
  # deletes one.
  ends="local_ts = 10.0.$ours.0/24
    remote_ts = 10.0.$other.0/24"
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
  cat > "$dir/$n-swanctl/swanctl.conf" <<EOF
connections { t {
  version = 2
  local_addrs = 192.0.2.0/24
  remote_addrs = 192.0.2.$other, 192.0.2.0/24
  proposals = aes128-sha256-modp2048
  local { auth = pubkey
    certs = $n.pem
    id = "O=ace, CN=$n"
  }
  remote { auth = pubkey
    id = "O=ace, CN=$([ $n = a ] && echo b || echo a)"
  }
  dpd_delay = 1
  children { $children
  }
} }
EOF
  mkdir "$dir/run-$n"
  ip netns exec $net$n env STRONGSWAN_CONF="$dir/$n.conf" LD_PRELOAD="$bin/libace_xfrm.so" ACE_XFRM="$dir/$n.xfrm" \
    unshare --mount sh -c "mount --bind '$dir/run-$n' /run && exec /usr/lib/ipsec/charon" >/dev/null 2>&1 &
  pids+=($!)
done
ip netns exec ${net}m python3 "$here/clear.py" to-a ${ACE_IKE:+--ike} > "$dir/wire" 2> "$dir/watches" &
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
times = live.ping('10.0.2.1', $1); lost = sum(t is None for t in times)
print(f'{len(times)} pings, {lost} lost'); sys.exit(lost > ${2:-0})"
}
result=0
if [ -n "${ACE_IKE:-}" ]; then
  for _ in $(seq "$ACE_IKE"); do
    ask a --initiate --child aes128gcm16 >"$dir/said" 2>&1 || { tail -3 "$dir/said" >&2; exit 1; }
    ping 3 >"$dir/said" || exit 1
    ask a --terminate --ike t >/dev/null
  done
  kill "$watching"
  wait "$watching" || { cat "$dir/watches" >&2; result=1; }
  cat "$dir/wire"
  exit $result
fi
for child in $suites replaced; do
  ask a --initiate --child $child >"$dir/said" 2>&1 || { tail -3 "$dir/said"; result=1; continue; }
  count=20
  [ $child != replaced ] || count=$pings
  printf '%s: ' "$child"
  ping "$count" || result=1
  [ $child != replaced ] || echo "SAs that charon has put into gateway a: $(grep -c 'adding SAD entry' "$dir/a-charon.log")"
  [ $child = replaced ] || ask a --terminate --child $child >/dev/null
done
# The end that asks removes its old SAs at once, when the other one may still answer by them.
echo "both ends authenticate each other anew, three times"
ping 3000 10 &
pinging=$!
for _ in 1 2 3; do
  sleep 0.3
  ask a --rekey --ike t --reauth >"$dir/said" 2>&1 || { tail -3 "$dir/said"; result=1; }
done
wait $pinging || result=1
echo "charon ends the connection"
ask a --terminate --ike t >/dev/null
[ -z "$(xfrm a state list)$(xfrm a policy list)" ] || { echo "something of it is left" >&2; result=1; }
echo "end a moves to another address, and back"
ask a --initiate --child aes128gcm16 >"$dir/said" 2>&1 || { tail -3 "$dir/said"; result=1; }
move() {
  ip -n ${net}a address add 192.0.2.$2/24 dev wire
  ip -n ${net}a address delete 192.0.2.$1/24 dev wire
  for _ in $(seq 100); do
    xfrm b state list 2>/dev/null | grep -q "src 192.0.2.$2 dst" && xfrm a state list | grep -q "src 192.0.2.$2 dst" && break
    sleep 0.1
  done
  # SAs are there before their policies.
  printf 'from 192.0.2.%s: ' "$2"
  ping 200 5 || result=1
}
negotiated() { ask a --list-sas | grep -o '^t: #[0-9]*'; }
before=$(negotiated)
move 1 11
move 11 1
[ "$before" = "$(negotiated)" ] || { echo "the ends have authenticated each other anew" >&2; result=1; }
echo "the wire to end b is cut: its peer is found dead, and its SAs go"
ip -n ${net}m link set to-b down
for _ in $(seq 200); do [ -n "$(xfrm a state list)" ] || break; sleep 0.1; done
[ -z "$(xfrm a state list)" ] || { echo "SAs of a dead peer are left" >&2; result=1; }
ip -n ${net}m link set to-b up
printf 'the wire is whole again, and without SAs: '
! ping 2 || result=1
for _ in $(seq 200); do [ -n "$(xfrm b state list)" ] || break; sleep 0.1; done
ask a --initiate --child aes128gcm16 >"$dir/said" 2>&1 || { tail -3 "$dir/said"; result=1; }
printf 'negotiated anew: '
ping 200 || result=1
ask a --terminate --ike t >/dev/null
echo "charon is killed: its SAs stay, as the kernel's do, until somebody takes them away"
ask a --initiate --child aes128gcm16 >"$dir/said" 2>&1 || { tail -3 "$dir/said"; result=1; }
kill -9 "${pids[1]}"
wait "${pids[1]}" 2>/dev/null || true
ping 20 || result=1
xfrm a state flush
xfrm a policy flush
printf 'without them: '
! ping 2 || result=1
echo "gateway b is killed: its charon neither hangs nor spins"
before=$(awk '{ print $14 + $15 }' "/proc/${pids[3]}/stat")
for n in a b; do "$bin/ace" gateway status --control "$dir/$n.sock" | grep -E "accepted|protected|decaps|dropped|gateway|losses" | sed "s/^/gateway $n: /"; done
kill -9 "${pids[2]}"
wait "${pids[2]}" 2>/dev/null || true
sleep 2
# Of a hundred a second.
used=$(($(awk '{ print $14 + $15 }' "/proc/${pids[3]}/stat") - before))
[ "$used" -lt 50 ] || { echo "charon took $used hundredths of a second in two" >&2; result=1; }
kill "${pids[3]}"
for _ in $(seq 100); do kill -0 "${pids[3]}" 2>/dev/null || break; sleep 0.1; done
! kill -0 "${pids[3]}" 2>/dev/null || { echo "charon does not end" >&2; result=1; kill -9 "${pids[3]}"; }
kill "$watching"
wait "$watching" || result=1
cat "$dir/wire"
exit $result

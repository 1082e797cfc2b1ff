#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two ends in two network namespaces: strongSwan's charon makes keys, `ace gateway` does ESP, and the wire is looked at.
# As root, from the checkout, with charon and swanctl installed. The argument is the folder of ace and libace_xfrm.so.
set -euo pipefail
bin=$(realpath "${1:-target/release}")
here=$(realpath "$(dirname "$0")")
clear=$(realpath "$here/../../tests/interop/clear.py")
dir=$(mktemp -d)
net=aceswan$$
pids=()
end() {
  kill "${pids[@]}" 2>/dev/null || true
  wait "${pids[@]}" 2>/dev/null || true
  for n in a b; do ip netns delete $net$n 2>/dev/null || true; done
  rm -rf "$dir"
}
trap end EXIT
wait_for() {
  for _ in $(seq 100); do [ -e "$1" ] && return; sleep 0.1; done
  echo "run.sh: $1 did not come up" >&2
  tail -n 5 "$dir"/*.log >&2
  exit 1
}

for n in a b; do
  ip netns add $net$n
  ip -n $net$n link set lo up
done
ip link add wire netns ${net}a type veth peer name wire netns ${net}b
secret=$(openssl rand -base64 24)
number=0
for n in a b; do
  number=$((number + 1))
  ip -n $net$n link set wire up
  ip -n $net$n address add 192.0.2.$number/24 dev wire
  # The gateway is the end's IPsec: its SAs come from charon, through a socket.
  cp "$here/$n.toml" "$here/$n.conf" "$dir"
  ip netns exec $net$n "$bin/ace" gateway "$dir/$n.toml" 2>"$dir/$n-gateway.log" &
  pids+=($!)
  wait_for "$dir/$n.xfrm"
  # charon believes that it talks to the kernel. Each one has a /run of its own.
  printf 'charon {\n install_routes = no\n install_virtual_ip = no\n load = %s\n plugins { vici { socket = unix://%s\n } }\n}\n' \
    "random nonce aes sha1 sha2 hmac kdf gmp openssl gcm kernel-netlink socket-default vici" "$dir/$n.vici" >"$dir/$n-charon.conf"
  mkdir "$dir/run-$n"
  ip netns exec $net$n env STRONGSWAN_CONF="$dir/$n-charon.conf" LD_PRELOAD="$bin/libace_xfrm.so" ACE_XFRM="$dir/$n.xfrm" \
    unshare --mount sh -c "mount --bind '$dir/run-$n' /run && exec /usr/lib/ipsec/charon" >"$dir/$n-charon.log" 2>&1 &
  pids+=($!)
  wait_for "$dir/$n.vici"
  printf 'secrets { ike-tunnel { secret = "%s" } }\n' "$secret" >>"$dir/$n.conf"
  swanctl --load-all --noprompt --file "$dir/$n.conf" --uri "unix://$dir/$n.vici" >"$dir/$n-load.log" 2>&1 || { cat "$dir/$n-load.log" >&2; exit 1; }
done

ip netns exec ${net}b python3 "$clear" wire >"$dir/seen" 2>"$dir/watches" &
watching=$!
wait_for "$dir/watches"
swanctl --initiate --child site --uri "unix://$dir/a.vici" | tail -n 1
# Charon replaces the keys every two seconds meanwhile.
ip netns exec ${net}a ping -q -c 30 -i 0.2 10.0.2.1 | tee "$dir/pings"
grep -q ' 0% packet loss' "$dir/pings"
"$bin/ace" gateway sas --control "$dir/a.sock"
kill $watching
# It fails if anything passed in clear.
wait $watching || { cat "$dir/watches" >&2; exit 1; }
cat "$dir/seen"

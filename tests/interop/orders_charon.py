# SPDX-License-Identifier: Apache-2.0
"""strongSwan's charon on a machine of tests/interop/orders.py, with a tunnel that the first packet asks for and whose SAs are
replaced every two seconds."""

import os
import signal
import time

from orders_world import PATIENCE, Fault, run, until

CONF = """charon {{
  install_routes = no
  install_virtual_ip = no
  retransmit_timeout = 0.5
  retransmit_base = 1
  retransmit_tries = 4
  make_before_break = yes
  load = random nonce aes sha1 sha2 hmac kdf gmp openssl gcm kernel-netlink socket-default vici updown
  plugins {{ vici {{ socket = unix://{folder}/{name}.vici
  }} }}
  filelog {{ out {{ path = {folder}/{name}-charon.log
    flush_line = yes
  }} }}
}}
"""
CONNECTION = """connections {{ t {{
  version = 2
  local_addrs = 192.0.2.{ours}
  remote_addrs = 192.0.2.{other}
  encap = yes
  unique = replace
  dpd_delay = 1
  proposals = aes128-sha256-x25519
  local {{ auth = psk
    id = {name}
  }}
  remote {{ auth = psk
  }}
  children {{ t {{
    local_ts = 10.0.{ours}.0/24
    remote_ts = 10.0.{other}.0/24
    esp_proposals = aes128gcm16
    rekey_time = 2
    rand_time = 0
    life_time = 30
    start_action = trap
    dpd_action = trap
    close_action = trap
  }} }}
}} }}
secrets {{ ike-1 {{ secret = "of both ends"
}} }}
"""


class Charon:
    """One end's."""

    def __init__(self, machine, packages, library):
        self.machine, self.packages = machine, packages
        self.process = None
        self.names = {
            "folder": machine.world.folder,
            "name": machine.name,
            "ours": machine.ours,
            "other": machine.other,
        }
        machine.path(".conf").write_text(CONF.format(**self.names))
        machine.path(".swanctl").write_text(CONNECTION.format(**self.names))
        machine.path("-run").mkdir()
        self.environment = {
            **os.environ,
            "STRONGSWAN_CONF": str(machine.path(".conf")),
            "LD_PRELOAD": str(library),
            "ACE_XFRM": str(machine.path(".xfrm")),
        }

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def start(self):
        if self.alive():
            return
        for left in (*self.machine.path("-run").iterdir(), self.machine.path(".vici")):
            left.unlink(missing_ok=True)
        script = f"mount --bind {self.machine.path('-run')} /run && exec /usr/lib/ipsec/charon"
        self.process = self.machine.spawn(
            "-charon.out", "unshare", "--mount", "sh", "-c", script, env=self.environment
        )
        until("charon listens", lambda: self.machine.path(".vici").exists() or not self.alive())
        # It may not start without a gateway.
        loaded = self.ask("--load-all", "--noprompt", "--file", self.machine.path(".swanctl"))
        start = time.monotonic()
        while loaded.returncode and self.alive() and time.monotonic() - start < PATIENCE:
            time.sleep(0.05)
            loaded = self.ask("--load-all", "--noprompt", "--file", self.machine.path(".swanctl"))
        if loaded.returncode and self.alive():
            raise Fault(f"charon takes no connection: {loaded.stderr}")

    def ask(self, *words):
        environment = {**self.environment, "LD_LIBRARY_PATH": "/usr/lib/ipsec"}
        environment.pop("LD_PRELOAD")
        command = [
            self.packages / "root/usr/sbin/swanctl",
            *words,
            "--uri",
            f"unix://{self.machine.path('.vici')}",
        ]
        return run("ip", "netns", "exec", self.machine.namespace, *command, check=False, env=environment)

    def end(self, how=signal.SIGKILL):
        if self.alive():
            self.process.send_signal(how)
            try:
                self.process.wait(PATIENCE)
            except Exception:
                self.process.kill()
                raise

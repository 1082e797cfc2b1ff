# SPDX-License-Identifier: Apache-2.0
"""The VPNs of tests/bench/vpn.py: each begins at both ends of a wire and ends again, and says which processes it has."""

import base64
import json
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENDS = {"a": 1, "b": 2}
CHARON = "/usr/lib/ipsec/charon"
KEYS = {"aes-128-gcm-16": (20, None), "3des-cbc": (24, ("hmac-md5-96", 16))}


class World:
    """Namespaces a and b with a wire between them."""

    def __init__(self, folder):
        self.folder, self.prefix = Path(folder), f"acevpn{os.getpid()}"

    def name(self, of):
        return self.prefix + of

    def ip(self, words, check=True):
        subprocess.run(["ip", *words.split()], check=check, stderr=None if check else subprocess.DEVNULL)

    def build(self):
        for of in ENDS:
            self.ip(f"netns add {self.name(of)}")
            self.ip(f"-n {self.name(of)} link set lo up")
        self.ip(f"-n {self.name('a')} link add wire type veth peer name wire netns {self.name('b')}")
        for of, n in ENDS.items():
            self.ip(f"-n {self.name(of)} link set wire up")
            self.ip(f"-n {self.name(of)} address add 192.0.2.{n}/24 dev wire")

    def close(self):
        for of in ENDS:
            self.ip(f"netns delete {self.name(of)}", check=False)

    def inside(self, of, command, **options):
        return subprocess.Popen(["ip", "netns", "exec", self.name(of), *map(str, command)], **options)


def until(what, seconds=20):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Peer:
    """What there is between the ends. `to` is the address of end b inside."""

    to = "10.0.2.1"

    def __init__(self, world):
        self.world, self.processes, self.number = world, {}, 0

    @classmethod
    def missing(cls):
        return None

    def log(self, of):
        return (self.world.folder / f"{type(self).__name__}-{of}.log").open("w")

    def start(self):
        for of, n in ENDS.items():
            self.begin(of, n, 3 - n)
        self.ready()

    def ready(self):
        pass

    def stop(self):
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = {}
        for of in ENDS:
            for device in ("ace0", "ipsec0", "wg0", "wga", "wgb"):
                self.world.ip(f"-n {self.world.name(of)} link delete {device}", check=False)

    def protected(self):
        """Packets that the gateway at a has sent; None where there is no gateway that says so."""

    def cpu(self, of):
        """Seconds of processor time so far: of this process and of those that it started."""
        if of not in self.processes:
            return 0.0
        fields = Path(f"/proc/{self.processes[of].pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Nothing(Peer):
    name = "none"
    to = "192.0.2.2"

    def begin(self, of, ours, other):
        pass


class Ace(Peer):
    name = "ACE, cpu"
    engine = 'kind = "cpu"'
    ace = None
    suite = "aes-128-gcm-16"
    # Packets that are recorded into FOLDER/END.rec.
    recorded = 0

    def begin(self, of, ours, other):
        folder = self.world.folder
        length, auth = KEYS[self.suite]
        text = "allow_legacy = true\n"
        for direction, source, target in (("out", ours, other), ("in", other, ours)):
            text += (
                f'[[sa]]\nname = "{source}-to-{target}"\nspi = {source}000\ndirection = "{direction}"\nmode = "tunnel"\n'
                f'local = "192.0.2.{ours}"\nremote = "192.0.2.{other}"\nfresh_key = true\n'
                f'selector = {{ src = "10.0.{source}.0/24", dst = "10.0.{target}.0/24" }}\n'
                f'cipher = "{self.suite}"\nkey = "{bytes(range(source, source + length)).hex()}"\n'
            )
            if auth:
                text += f'auth = "{auth[0]}"\nauth_key = "{bytes(range(source, source + auth[1])).hex()}"\n'
        keys = folder / f"{of}-sas.toml"
        keys.write_text(text)
        keys.chmod(0o600)  # else the gateway refuses it
        (folder / f"{of}.toml").write_text(
            f'sas = "{of}-sas.toml"\ncontrol = "{of}.sock"\n[inside]\ntun = "ace0"\naddress = ["10.0.{ours}.1/32"]\n'
            f'routes = ["10.0.{other}.0/24"]\n[outside]\nencapsulation = "udp"\n[engine]\n{self.engine}\n'
            + (f'[record]\nfile = "{of}.rec"\npackets = {self.recorded}\n' if self.recorded else "")
        )
        self.processes[of] = self.world.inside(
            of, [self.ace, "gateway", folder / f"{of}.toml"], stderr=subprocess.PIPE, text=True
        )
        output = []
        for line in self.processes[of].stderr:
            output.append(line)
            if "ready" in line:
                return
        raise RuntimeError(f"the gateway at {of} does not start: {''.join(output)}")

    def protected(self):
        command = [self.ace, "gateway", "status", "--json", "--control", self.world.folder / "a.sock"]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        return json.loads(output)["packets"]["protected"]["packets"]


class AceAuto(Ace):
    name = "ACE, auto"
    engine = (
        f'kind = "auto"\nboard = "{ROOT / "board.toml"}"\nconfigurations = "{ROOT / "build/configurations"}"'
    )

    @classmethod
    def missing(cls):
        there = (ROOT / "build/configurations").exists() and (ROOT / "library/ace.lib").exists()
        return None if there else "no models are built: make models"


class Libipsec(Peer):
    name = "strongSwan, kernel-libipsec"
    proposal = "aes128gcm16"
    # Of charon.
    environment = os.environ

    @classmethod
    def missing(cls):
        return None if os.path.exists(CHARON) else "charon is not there: tests/bench/vpn.sh fetches it"

    def ask(self, of, *words):
        environment = os.environ | {
            "STRONGSWAN_CONF": str(self.world.folder / f"{of}.conf"),
            "LD_LIBRARY_PATH": "/usr/lib/ipsec",
        }
        uri = f"unix://{self.world.folder / of}.vici"
        command = ["swanctl", *words, "--uri", uri]
        with self.world.inside(
            of, command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as done:
            output = done.stdout.read()
        if done.returncode:
            raise RuntimeError(f"swanctl {words[0]}: {output[-300:]}")

    def begin(self, of, ours, other):
        folder = self.world.folder
        self.world.ip(f"-n {self.world.name(of)} address add 10.0.{ours}.1/32 dev lo", check=False)
        (folder / f"{of}.conf").write_text(
            "charon {\n  load = random nonce aes sha1 sha2 md5 des hmac kdf gmp openssl gcm kernel-libipsec kernel-netlink "
            f"socket-default vici updown\n  plugins {{ vici {{ socket = unix://{folder / of}.vici\n  }} }}\n"
            f"  filelog {{ out {{ path = {folder / of}-charon.log\n  }} }}\n}}\n"
        )
        (folder / f"{of}.swanctl").write_text(
            f"connections {{ t {{\n version = 2\n local_addrs = 192.0.2.{ours}\n remote_addrs = 192.0.2.{other}\n"
            f" encap = yes\n proposals = aes128-sha256-modp2048\n local {{ auth = psk\n id = {of}\n }}\n"
            f" remote {{ auth = psk\n }}\n children {{ t {{\n local_ts = 10.0.{ours}.1/32\n"
            f" remote_ts = 10.0.{other}.1/32\n esp_proposals = {self.proposal}\n rekey_time = 0\n }} }}\n}} }}\n"
            'secrets { ike-1 { secret = "a secret of both ends" } }\n'
        )
        vici = folder / f"{of}.vici"
        vici.unlink(missing_ok=True)
        run = folder / f"run-{of}"
        run.mkdir(exist_ok=True)
        command = ["unshare", "--mount", "sh", "-c", f"mount --bind '{run}' /run && exec {CHARON}"]
        environment = self.environment | {"STRONGSWAN_CONF": str(folder / f"{of}.conf")}
        log = self.log(of)
        self.processes[of] = self.world.inside(of, command, env=environment, stdout=log, stderr=log)
        if not until(vici.exists):
            raise RuntimeError("charon does not start")
        self.ask(of, "--load-all", "--noprompt", "--file", str(folder / f"{of}.swanctl"))

    def ready(self):
        self.ask("a", "--initiate", "--child", "t")

    def stop(self):
        super().stop()
        for of, n in ENDS.items():
            self.world.ip(f"-n {self.world.name(of)} address delete 10.0.{n}.1/32 dev lo", check=False)


class LibipsecProvider(Libipsec):
    name = "strongSwan, kernel-libipsec on ACE's provider"

    @classmethod
    def missing(cls):
        if not Ace.ace.with_name("libace_provider.so").exists():
            return "libace_provider.so is not there: make all"
        return super().missing()

    def start(self):
        conf = self.world.folder / "openssl.cnf"
        conf.write_text(
            "openssl_conf = init\n[init]\nproviders = providers\nalg_section = algorithms\n[providers]\n"
            "default = on\nlegacy = on\nace = ace\n[on]\nactivate = 1\n"
            f"[ace]\nmodule = {Ace.ace.with_name('libace_provider.so')}\nactivate = 1\n"
            "[algorithms]\ndefault_properties = ?provider=ace\n"
        )
        self.environment = os.environ | {"OPENSSL_CONF": str(conf)}
        super().start()
        for of, process in self.processes.items():
            if "libace_provider.so" not in Path(f"/proc/{process.pid}/maps").read_text():
                raise RuntimeError(f"charon at {of} has not loaded the provider")


class Boringtun(Peer):
    name = "boringtun"
    program = os.environ.get("BORINGTUN") or shutil.which("boringtun-cli")

    @classmethod
    def missing(cls):
        there = cls.program and os.access(cls.program, os.X_OK)
        return (
            None if there else "boringtun-cli is not there: BORINGTUN names it (cargo install boringtun-cli)"
        )

    def begin(self, of, ours, other):
        log = self.log(of)
        command = [self.program, f"wg{of}", "--foreground", "--disable-drop-privileges"]
        self.processes[of] = self.world.inside(of, command, stdout=log, stderr=log)
        place = Path(f"/var/run/wireguard/wg{of}.sock")
        if not until(place.exists):
            raise RuntimeError("boringtun does not start")
        self.world.ip(f"-n {self.world.name(of)} address add 10.0.{ours}.1/32 dev wg{of}")
        self.world.ip(f"-n {self.world.name(of)} link set wg{of} mtu 1400 up")
        self.world.ip(f"-n {self.world.name(of)} route add 10.0.{other}.0/24 dev wg{of}")

    def ready(self):
        # Secrets for nobody: 32 bytes, and what openssl makes of them.
        keys = {of: key_pair(self.world.folder / f"{of}.der") for of in ENDS}
        for of, n in ENDS.items():
            peer = keys["b" if of == "a" else "a"][1]
            text = (
                f"set=1\nprivate_key={keys[of][0]}\nlisten_port=51820\npublic_key={peer}\n"
                f"endpoint=192.0.2.{3 - n}:51820\nallowed_ip=10.0.{3 - n}.0/24\n\n"
            )
            with socket.socket(socket.AF_UNIX) as control:
                control.connect(f"/var/run/wireguard/wg{of}.sock")
                control.sendall(text.encode())
                answer = control.recv(100)
            if b"errno=0" not in answer:
                raise RuntimeError(f"boringtun says {answer}")


def key_pair(path):
    """Secret and public key of X25519, in hexadecimal."""
    openssl = ["openssl", "genpkey", "-algorithm", "X25519", "-outform", "DER", "-out", path]
    subprocess.run(openssl, check=True)
    public = ["openssl", "pkey", "-inform", "DER", "-in", path, "-pubout", "-outform", "DER"]
    public = subprocess.run(public, check=True, stdout=subprocess.PIPE).stdout[-32:]
    assert len(base64.b64encode(public)) == 44
    return path.read_bytes()[-32:].hex(), public.hex()


class AceTriple(Ace):
    name = "ACE, cpu, 3DES + HMAC-MD5"
    suite = "3des-cbc"


class LibipsecTriple(Libipsec):
    name = "strongSwan, kernel-libipsec, 3DES + HMAC-MD5"
    proposal = "3des-md5"


PEERS = [Nothing, Ace, AceAuto, Libipsec, LibipsecProvider, Boringtun, AceTriple, LibipsecTriple]

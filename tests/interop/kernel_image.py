# SPDX-License-Identifier: Apache-2.0
"""Debian's kernel and a machine around it that has nothing but busybox, `ip` and what the kernel needs for IPsec."""

import os
import re
import shutil
import subprocess
from pathlib import Path

PACKAGES = Path(__file__).resolve().parents[2] / "build" / "kernel"
# Of its modules; what they depend on comes with them.
MODULES = [
    "virtio_pci",
    "virtio_net",
    "esp4",
    "ah4",
    "xfrm_user",
    "tunnel4",
    "xfrm4_tunnel",
    "authenc",
    "authencesn",
    "echainiv",
    "seqiv",
    "cbc",
    "ctr",
    "gcm",
    "ccm",
    "ghash-generic",
    "chacha20poly1305",
    "chacha_generic",
    "poly1305_generic",
    "des_generic",
    "cast5_generic",
    "serpent_generic",
    "twofish_generic",
    "camellia_generic",
    "ecb",
    "drbg",
    "jitterentropy_rng",
    "md5",
    "sha1_generic",
    "sha256_generic",
    "sha512_generic",
    "hmac",
    "xcbc",
    "cmac",
    "aes_generic",
]

# A socket that takes ESP in UDP (RFC 3948): the kernel wants one.
ENCAP = """
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void) {
  int type = 2 /* UDP_ENCAP_ESPINUDP */, fd = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(4500)};
  if (bind(fd, (struct sockaddr *)&at, sizeof at) || setsockopt(fd, IPPROTO_UDP, 100 /* UDP_ENCAP */, &type, sizeof type))
    return 1;
  for (;;) pause();
}
"""

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
/bin/busybox ln -s /bin/busybox /sbin/modprobe
export PATH=/bin:/sbin
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev
for module in MODULES; do modprobe $module || echo "ACE NO MODULE $module"; done
ip link set lo up; ip link set eth0 up
/bin/encap &
. /script
echo ACE READY
exec sleep 3600
"""


def missing():
    """What is not here, with the remedy; nothing if all is."""
    if os.geteuid() != 0:
        return "network namespaces and taps are root's"
    if not os.path.exists("/dev/net/tun"):
        return "/dev/net/tun is not there"
    for program, package in [("qemu-system-x86_64", "qemu-system-x86"), ("gcc", "gcc"), ("dpkg", "dpkg")]:
        if shutil.which(program) is None:
            return f"{program} is not installed (Debian: apt-get install --no-install-recommends {package})"
    return fetch()


def fetch():
    if list(PACKAGES.glob("root/boot/vmlinuz-*")) and (PACKAGES / "root/bin/busybox").exists():
        return None
    depends = subprocess.run(
        ["apt-cache", "depends", "linux-image-amd64"], check=False, capture_output=True, text=True
    )
    image = re.search(r"Depends: (linux-image-\d\S+)", depends.stdout)
    if image is None:
        return "apt-cache knows no linux-image-amd64 (apt-get update)"
    PACKAGES.mkdir(parents=True, exist_ok=True)
    command = ["apt-get", "download", "-q", image[1], "busybox-static"]
    done = subprocess.run(command, check=False, cwd=PACKAGES, capture_output=True, text=True)
    if done.returncode:
        return f"{' '.join(command)} failed: {done.stderr.strip()[-300:]}"
    for package in PACKAGES.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, PACKAGES / "root"], check=True)
    return None


def make(folder, script):
    """The kernel, and the machine's first and only files."""
    kernel = max(PACKAGES.glob("root/boot/vmlinuz-*"))
    version = kernel.name.removeprefix("vmlinuz-")
    root, busybox = folder / "root", PACKAGES / "root/bin/busybox"
    for place in ("bin", "sbin", "dev", "proc", "sys", "lib64", "lib/modules"):
        (root / place).mkdir(parents=True)
    shutil.copy(busybox, root / "bin/busybox")
    ip = Path(shutil.which("ip")).resolve()
    shutil.copy(ip, root / "bin/ip-real")
    listed = subprocess.run(["ldd", ip], check=True, capture_output=True, text=True).stdout
    for library in re.findall(r"(/\S+) \(", listed):
        place = root / library.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, place)
    source = folder / "encap.c"
    source.write_text(ENCAP)
    subprocess.run(["gcc", "-static", "-O1", "-o", root / "bin/encap", source], check=True)
    modules(root, version, busybox)
    (root / "init").write_text(INIT.replace("MODULES", " ".join(MODULES)))
    (root / "init").chmod(0o755)
    (root / "script").write_text(script)
    image = folder / "initrd"
    names = b"\n".join(os.fsencode(path.relative_to(root)) for path in sorted(root.rglob("*")))
    with image.open("wb") as out:
        subprocess.run(
            [busybox, "cpio", "-o", "-H", "newc"],
            check=True,
            cwd=root,
            input=names,
            stdout=out,
            stderr=subprocess.DEVNULL,
        )
    return kernel, image


def modules(root, version, busybox):
    """Those of the list and what they need: all of it would take the machine long to unpack."""
    source = PACKAGES / "root/lib/modules" / version
    if not (source / "modules.dep").exists():
        # Busybox' depmod knows the host's own folder alone: a link into the packages.
        subprocess.run(
            [busybox, "depmod", "-b", PACKAGES / "root", version], check=True, stderr=subprocess.DEVNULL
        )
    needs = {}
    for line in (source / "modules.dep").read_text().splitlines():
        path, _, others = line.partition(":")
        needs[path] = others.split()
    names = {Path(path).stem.replace("-", "_"): path for path in needs}
    wanted, todo = (
        set(),
        [names[name.replace("-", "_")] for name in MODULES if name.replace("-", "_") in names],
    )
    while todo:
        path = todo.pop()
        if path not in wanted:
            wanted.add(path)
            todo += needs.get(path, [])
    target = root / "lib/modules" / version
    for path in wanted:
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / path, place)
    for file in ("modules.dep", "modules.alias", "modules.symbols", "modules.builtin", "modules.order"):
        if (source / file).exists():
            shutil.copy(source / file, target / file)

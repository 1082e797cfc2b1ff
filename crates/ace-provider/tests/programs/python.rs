// SPDX-License-Identifier: Apache-2.0
//! Python's `ssl` and `cryptography`.

use std::path::Path;

use super::{Here, absent, program, report, with};

/// `ssl` speaks with itself, `cryptography` computes; what is printed depends on nothing but the answers.
const PYTHON: &str = r#"
import hashlib, hmac, ssl, sys
key, certificate = sys.argv[1:]
def talk(version, suites):
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); server.load_cert_chain(certificate, key)
    client = ssl.create_default_context(cafile=certificate)
    for context in (server, client):
        context.minimum_version = context.maximum_version = version
        if suites: context.set_ciphers(suites)
    a, b, c, d = (ssl.MemoryBIO() for _ in range(4))
    left, right = server.wrap_bio(a, b, server_side=True), client.wrap_bio(c, d, server_hostname="localhost")
    def pump():
        a.write(d.read()); c.write(b.read())
    def until(act):
        for _ in range(100):
            try: return act()
            except ssl.SSLWantReadError: pump()
    for _ in range(10):
        for end in (right, left):
            try: end.do_handshake()
            except ssl.SSLWantReadError: pass
            pump()
    for size in (0, 1, 100, 16384, 100000):
        text = bytes(size); got = b""
        if text: right.write(text)
        while len(got) < size: got += until(lambda: left.read(65536))
        assert got == text
    print(right.version(), right.cipher()[0])
talk(ssl.TLSVersion.TLSv1_3, None)
for suite in ("ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305", "ECDHE-RSA-AES256-SHA384", "AES128-SHA:@SECLEVEL=0"):
    talk(ssl.TLSVersion.TLSv1_2, suite)
for name in ("md5", "sha1", "sha256", "sha512", "sha3_256", "blake2b"):
    print(name, hashlib.new(name, bytes(1000)).hexdigest(), hmac.new(b"k" * 99, bytes(1000), name).hexdigest())
print(hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1000).hex(), hashlib.scrypt(b"p", salt=b"s", n=16, r=8, p=1).hex())
try:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM, ChaCha20Poly1305
    from cryptography.hazmat.primitives import cmac, hashes, hmac as mac, padding
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    from cryptography.exceptions import InvalidTag
except ImportError:
    print("no cryptography"); sys.exit()
for size in (16, 24, 32):
    for make in (AESGCM, AESCCM):
        sealed = make(bytes(size)).encrypt(bytes(12), b"text" * 99, b"with"); print(make.__name__, sealed.hex())
        assert make(bytes(size)).decrypt(bytes(12), sealed, b"with") == b"text" * 99
        try: make(bytes(size)).decrypt(bytes(12), sealed[:-1] + b"?", b"with"); print("forged")
        except InvalidTag: pass
    for mode in (modes.CBC(bytes(16)), modes.CTR(b"\xff" * 16), modes.GCM(bytes(8)), modes.GCM(bytes(16), min_tag_length=4), modes.CFB(bytes(16)), modes.ECB()):
        e = Cipher(algorithms.AES(bytes(size)), mode).encryptor()
        if isinstance(mode, modes.GCM): e.authenticate_additional_data(b"with")
        out = e.update(b"0123456789abcdef" * 7) + e.finalize()
        print(type(mode).__name__, out.hex(), getattr(e, "tag", b"").hex())
        if isinstance(mode, modes.GCM):
            d = Cipher(algorithms.AES(bytes(size)), modes.GCM(mode.initialization_vector, e.tag[:12], 4)).decryptor()
            d.authenticate_additional_data(b"with"); assert d.update(out) + d.finalize() == b"0123456789abcdef" * 7
sealed = ChaCha20Poly1305(bytes(32)).encrypt(bytes(12), b"text", None); print(sealed.hex()); print(ChaCha20Poly1305(bytes(32)).decrypt(bytes(12), sealed, None))
for hash in (hashes.MD5, hashes.SHA1, hashes.SHA256, hashes.SHA512, hashes.SHA3_256):
    h = hashes.Hash(hash()); h.update(b"a" * 999); g = h.copy(); h.update(b"b"); m = mac.HMAC(b"k" * 20, hash()); m.update(b"text")
    print(hash.name, h.finalize().hex(), g.finalize().hex(), m.finalize().hex())
print(HKDF(hashes.SHA256(), 80, b"salt", b"info").derive(b"secret").hex())
c = cmac.CMAC(algorithms.AES(bytes(16))); c.update(b"text"); print(c.finalize().hex())
"#;

#[test]
fn pythons_ssl_and_cryptography_say_the_same() {
    let Some(here) = Here::new("python") else { return };
    let Some(python) = program("ACE_PYTHON", "python3") else { return };
    let [key, certificate] = here.certificate(&["rsa:2048"], "rsa");
    let run = |conf: &Path| {
        with(conf, &python)
            .args(["-W", "ignore", "-c", PYTHON, &key, &certificate])
            .output()
            .expect("python3")
    };
    let alone = run(&here.confs[0]);
    assert!(alone.status.success(), "{}", report(&alone));
    if alone.stdout.ends_with(b"no cryptography\n") {
        absent("python3-cryptography");
    }
    for conf in &here.confs[1..] {
        let ours = run(conf);
        assert!(ours.status.success(), "{}", report(&ours));
        assert_eq!(String::from_utf8_lossy(&ours.stdout), String::from_utf8_lossy(&alone.stdout));
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Programs that people run, unmodified, with the provider by a configuration: what works with OpenSSL alone works with
//! it. Each of them is skipped, with a word about it, where it is not installed (Debian: openssh-server, openssh-client,
//! nginx-light, curl, python3-cryptography); with CI=true its absence is a failure. `ACE_SSHD`, `ACE_NGINX` name others
//! than those of the machine.

mod python;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::command::{Ends, configure, folder};

/// What a machine may be configured to (docs/provider.md).
const PROPERTIES: [&str; 2] = ["?ace.take=yes", "?provider=ace"];

/// A folder, and in it configurations: without the provider and with it.
struct Here {
    path: PathBuf,
    confs: Vec<PathBuf>,
}

impl Here {
    /// `None`, and a word about it, without OpenSSL 3.
    fn new(name: &str) -> Option<Self> {
        let folder = folder()?;
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("provider-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        let plain = path.join("plain.cnf");
        fs::write(&plain, "openssl_conf = init\n[init]\n").expect("a file");
        let mut confs = vec![plain];
        for (number, properties) in PROPERTIES.into_iter().enumerate() {
            let conf = path.join(format!("ace{number}.cnf"));
            configure(&conf, &folder, properties);
            confs.push(conf);
        }
        Some(Self { path, confs })
    }

    fn file(&self, name: &str) -> String {
        self.path.join(name).to_str().expect("a path").to_owned()
    }

    /// One end without it and one with it, both ways, and both with it.
    fn pairs(&self) -> Vec<(&Path, &Path)> {
        let (plain, ours) = self.confs.split_first().expect("some");
        let mixed = ours.iter().flat_map(|conf| [(plain, conf), (conf, plain), (conf, conf)]);
        mixed.map(|(a, b)| (a.as_path(), b.as_path())).collect()
    }

    /// A key of a kind and a certificate that it signs itself.
    fn certificate(&self, kind: &[&str], name: &str) -> [String; 2] {
        let (key, certificate) = (self.file(&format!("{name}.key")), self.file(&format!("{name}.pem")));
        let made = Command::new("openssl")
            .args(["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
            .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-newkey"])
            .args(kind)
            .args(["-keyout", &key, "-out", &certificate])
            .output();
        assert!(made.expect("openssl").status.success());
        [key, certificate]
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.path));
    }
}

/// Where a program is: named by the environment, or in one of the usual folders.
fn program(variable: &str, name: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let usual = ["/usr/sbin", "/usr/bin", "/usr/local/bin"].map(|folder| Path::new(folder).join(name));
    let found = named.into_iter().chain(usual).find(|path| path.exists());
    if found.is_none() {
        absent(name);
    }
    found
}

/// Says what is skipped, which in CI nothing is.
fn absent(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "CI must install {what}");
    eprintln!("no {what} on this machine: it was not checked");
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// Whether somebody listens before long.
fn listens(port: u16) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    while Instant::now() < until {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

fn with(conf: &Path, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env("OPENSSL_CONF", conf);
    command
}

fn report(out: &Output) -> String {
    format!("{} {}{}", out.status, String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

/// Whether a suite runs between a server that listens and a client: a line goes there, and comes back the other way.
fn comes_back(conf: &Path, port: u16, suite: &[&str]) -> bool {
    let mut client = with(conf, "openssl");
    client.args(["s_client", "-quiet", "-connect", &format!("127.0.0.1:{port}")]).args(suite);
    let client = client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut client = Ends(client.expect("openssl"));
    let line = "x".repeat(3000) + "y";
    let written = client.0.stdin.as_mut().expect("a pipe").write_all(format!("{line}\n").as_bytes());
    let mut answer = vec![0; line.len()];
    let read = client.0.stdout.as_mut().expect("a pipe").read_exact(&mut answer);
    written.is_ok() && read.is_ok() && answer.starts_with(b"yx")
}

#[test]
fn every_suite_of_tls_runs_that_runs_without_it() {
    let Some(here) = Here::new("suites") else { return };
    let rsa = here.certificate(&["rsa:2048"], "rsa");
    let ecdsa = here.certificate(&["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "ecdsa");
    let listed = Command::new("openssl")
        .args(["ciphers", "-s", "-v", "ALL:COMPLEMENTOFALL:!aNULL:!PSK:!SRP:@SECLEVEL=0"])
        .output();
    let listed = String::from_utf8(listed.expect("openssl").stdout).expect("text");
    let suites: Vec<[String; 3]> = listed
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (name, version) = (words.next()?, words.next()?);
            let [version, option] =
                if version == "TLSv1.3" { ["-tls1_3", "-ciphersuites"] } else { ["-tls1_2", "-cipher"] };
            let name = if version == "-tls1_3" { name.to_owned() } else { format!("{name}:@SECLEVEL=0") };
            Some([version.to_owned(), option.to_owned(), name])
        })
        .collect();
    assert!(suites.len() > 20, "{listed}");
    let serve = |conf: &Path| {
        let port = free_port();
        let server = with(conf, "openssl")
            .args(["s_server", "-quiet", "-rev", "-accept", &port.to_string(), "-cipher", "ALL:@SECLEVEL=0"])
            .args(["-ciphersuites", "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_CCM_SHA256:TLS_AES_128_CCM_8_SHA256"])
            .args(["-key", &rsa[0], "-cert", &rsa[1], "-dkey", &ecdsa[0], "-dcert", &ecdsa[1]])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let server = Ends(server.expect("openssl"));
        assert!(listens(port), "openssl s_server");
        (server, port)
    };
    let arguments = |suite: &'_ [String; 3]| suite.clone();
    // What OpenSSL does alone: not all that it lists (DSS, of which there is no certificate here).
    let (_alone, port) = serve(&here.confs[0]);
    let run = |conf: &Path, port: u16, suite: &[String; 3]| {
        let suite = arguments(suite);
        comes_back(conf, port, &[&suite[0], &suite[1], &suite[2]])
    };
    let alone: Vec<_> = suites.iter().filter(|suite| run(&here.confs[0], port, suite)).collect();
    assert!(alone.len() > 20, "{} of {}", alone.len(), suites.len());
    for ours in &here.confs[1..] {
        let (_server, at) = serve(ours);
        for suite in &alone {
            assert!(run(ours, port, suite), "{suite:?}: the client has it");
            assert!(run(&here.confs[0], at, suite), "{suite:?}: the server has it");
        }
    }
    println!("{} suites with {} configurations at either end", alone.len(), here.confs.len() - 1);
}

#[test]
fn messages_of_cms_are_sealed_signed_and_opened() {
    let Some(here) = Here::new("cms") else { return };
    let [key, certificate] = here.certificate(&["rsa:2048"], "rsa");
    let text = here.file("text");
    fs::write(&text, vec![b'a'; 100_000]).expect("a file");
    for (seal, open) in here.pairs() {
        for cipher in ["-aes-128-gcm", "-aes-256-gcm", "-aes-192-cbc", "-aes256", "-des3", "-camellia128"] {
            let (sealed, opened) = (here.file("sealed"), here.file("opened"));
            let made = with(seal, "openssl")
                .args([
                    "cms",
                    "-encrypt",
                    "-binary",
                    "-outform",
                    "DER",
                    cipher,
                    "-in",
                    &text,
                    "-out",
                    &sealed,
                    &certificate,
                ])
                .output()
                .expect("openssl");
            assert!(made.status.success(), "{cipher}: {}", report(&made));
            let back = with(open, "openssl")
                .args([
                    "cms",
                    "-decrypt",
                    "-binary",
                    "-inform",
                    "DER",
                    "-in",
                    &sealed,
                    "-out",
                    &opened,
                    "-inkey",
                    &key,
                    "-recip",
                    &certificate,
                ])
                .output()
                .expect("openssl");
            assert!(back.status.success(), "{cipher}: {}", report(&back));
            assert!(fs::read(&opened).expect("a file") == fs::read(&text).expect("a file"), "{cipher}");
        }
        for digest in ["sha1", "sha256", "sha512", "sha3-256"] {
            let signed = here.file("signed");
            let made = with(seal, "openssl")
                .args([
                    "cms",
                    "-sign",
                    "-binary",
                    "-outform",
                    "DER",
                    "-md",
                    digest,
                    "-in",
                    &text,
                    "-out",
                    &signed,
                    "-signer",
                    &certificate,
                    "-inkey",
                    &key,
                ])
                .output()
                .expect("openssl");
            assert!(made.status.success(), "{digest}: {}", report(&made));
            let good = with(open, "openssl")
                .args([
                    "cms",
                    "-verify",
                    "-binary",
                    "-inform",
                    "DER",
                    "-in",
                    &signed,
                    "-content",
                    &text,
                    "-CAfile",
                    &certificate,
                    "-purpose",
                    "any",
                    "-out",
                    "/dev/null",
                ])
                .output()
                .expect("openssl");
            assert!(good.status.success(), "{digest}: {}", report(&good));
        }
    }
}

#[test]
fn curl_and_nginx_speak_over_it() {
    let Some(here) = Here::new("nginx") else { return };
    let (Some(nginx), Some(curl)) = (program("ACE_NGINX", "nginx"), program("ACE_CURL", "curl")) else {
        return;
    };
    let [key, certificate] = here.certificate(&["rsa:2048"], "rsa");
    fs::write(here.file("page"), vec![b'p'; 3_000_000]).expect("a file");
    for (server, client) in here.pairs() {
        let port = free_port();
        let at = here.path.display();
        let conf = format!(
            "daemon off;\nmaster_process off;\npid {at}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n\
             access_log off;\nclient_body_temp_path {at}/b;\nproxy_temp_path {at}/p;\nfastcgi_temp_path {at}/f;\n\
             uwsgi_temp_path {at}/u;\nscgi_temp_path {at}/s;\n\
             server {{\nlisten 127.0.0.1:{port} ssl;\nssl_certificate {certificate};\nssl_certificate_key {key};\n\
             ssl_protocols TLSv1.2 TLSv1.3;\nroot {at};\n}}\n}}\n"
        );
        fs::write(here.file("nginx.conf"), conf).expect("a file");
        let log = fs::File::create(here.file("log")).expect("a file");
        let started =
            with(server, &nginx).args(["-e", "stderr", "-c", &here.file("nginx.conf")]).stderr(log).spawn();
        let _server = Ends(started.expect("nginx"));
        assert!(listens(port), "{}", fs::read_to_string(here.file("log")).unwrap_or_default());
        for arguments in [
            &["--tlsv1.3"][..],
            &["--tls-max", "1.2", "--ciphers", "ECDHE-RSA-AES128-GCM-SHA256"],
            &["--tls-max", "1.2", "--ciphers", "ECDHE-RSA-CHACHA20-POLY1305"],
            &["--tls-max", "1.2", "--ciphers", "ECDHE-RSA-AES256-SHA384"],
        ] {
            let got = with(client, &curl)
                .args(["-sS", "--max-time", "60", "--cacert", &certificate])
                .args(arguments)
                .arg(format!("https://localhost:{port}/page"))
                .args(["--resolve", &format!("localhost:{port}:127.0.0.1")])
                .output()
                .expect("curl");
            let good = got.status.success() && got.stdout.len() == 3_000_000;
            assert!(good, "{arguments:?} {}: {}", got.stdout.len(), String::from_utf8_lossy(&got.stderr));
        }
    }
}

/// sshd wants a user and a folder, which a namespace of its own has.
const SSHD: &str = r#"
set -e; at=$1; sshd=$2; shift 2
cp /etc/passwd "$at/passwd"; grep -q ^sshd: "$at/passwd" || echo "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin" >> "$at/passwd"
mount --bind "$at/passwd" /etc/passwd; mkdir -p /run/sshd; mount -t tmpfs -o mode=755 tmpfs /run/sshd
exec "$sshd" -D -e -f "$at/sshd_config" "$@"
"#;

#[test]
fn ssh_and_sshd_speak_over_it_and_agree_on_new_keys() {
    let Some(here) = Here::new("ssh") else { return };
    let (Some(sshd), Some(ssh)) = (program("ACE_SSHD", "sshd"), program("ACE_SSH", "ssh")) else { return };
    // A namespace of mounts is root's.
    if !Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success()) {
        absent("`unshare -m` for this user");
        return;
    }
    for name in ["host", "user"] {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f", &here.file(name)])
            .status();
        assert!(made.expect("ssh-keygen").success());
    }
    let text: Vec<u8> = (0..3_000_000u32).map(|at| (at.wrapping_mul(at) >> 9) as u8).collect();
    for (server, client) in here.pairs() {
        let port = free_port();
        let at = here.path.display();
        fs::write(
            here.path.join("sshd_config"),
            format!(
                "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host\nAuthorizedKeysFile {at}/user.pub\n\
                 StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n"
            ),
        )
        .expect("a file");
        let log = fs::File::create(here.file("log")).expect("a file");
        let started = with(server, "unshare")
            .args(["-m", "bash", "-c", SSHD, "sshd"])
            .args([here.path.as_os_str(), sshd.as_os_str()])
            .stderr(log)
            .spawn();
        let _server = Ends(started.expect("unshare"));
        assert!(listens(port), "{}", fs::read_to_string(here.file("log")).unwrap_or_default());
        for cipher in [
            "aes128-gcm@openssh.com",
            "aes256-gcm@openssh.com",
            "aes128-ctr",
            "aes256-ctr",
            "chacha20-poly1305@openssh.com",
        ] {
            let mut command = with(client, &ssh);
            command.args([
                "-F",
                "none",
                "-o",
                "StrictHostKeyChecking=no",
                "-o",
                "UserKnownHostsFile=/dev/null",
                "-o",
                "LogLevel=ERROR",
            ]);
            command.args(["-o", &format!("Ciphers={cipher}"), "-o", "RekeyLimit=1M", "-o", "BatchMode=yes"]);
            command.args(["-i", &here.file("user"), "-p", &port.to_string(), "root@127.0.0.1", "cat"]);
            let mut child = command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("ssh");
            let (mut stdin, sent) = (child.stdin.take().expect("a pipe"), text.clone());
            let writer = std::thread::spawn(move || stdin.write_all(&sent));
            let out = child.wait_with_output().expect("ssh");
            let written = writer.join().expect("no panic");
            let log = || fs::read_to_string(here.file("log")).unwrap_or_default();
            let good = out.status.success() && written.is_ok() && out.stdout == text;
            assert!(good, "{cipher}: {} {}\n{}", out.status, String::from_utf8_lossy(&out.stderr), log());
        }
    }
}

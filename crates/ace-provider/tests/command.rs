// SPDX-License-Identifier: Apache-2.0
//! The command `openssl`, unmodified: with the provider by its options, and by a configuration as docs/provider.md has
//! it, where TLS runs over it.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Where the provider is; `None`, and a word about it, without an `openssl` of version 3.
pub fn folder() -> Option<PathBuf> {
    let version = Command::new("openssl").arg("version").output().ok()?.stdout;
    if !version.starts_with(b"OpenSSL 3.") {
        eprintln!("no OpenSSL 3 on this machine: nothing was checked");
        return None;
    }
    let mut folder = std::env::current_exe().expect("this program");
    folder.pop();
    Some(folder)
}

fn run(arguments: &[&str], options: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = Command::new("openssl");
    command.args(arguments).args(options).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("openssl");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let out = child.wait_with_output().expect("openssl");
    writer.join().expect("no panic").expect("written");
    assert!(out.status.success(), "{command:?}");
    out.stdout
}

#[test]
fn enc_dgst_and_mac_say_the_same_with_it() {
    let Some(folder) = folder() else { return };
    let folder = folder.to_str().expect("a path");
    let ours = ["-provider-path", folder, "-provider", "libace_provider", "-provider", "default"];
    let ours = [&ours[..], &["-propquery", "provider=ace"]].concat();
    let text: Vec<u8> = (0..100_003u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    let key = "000102030405060708090a0b0c0d0e0f1a2b3c4d5e6f7081";
    for (name, key_len, iv_len) in [
        ("-aes-128-cbc", 16, 16),
        ("-aes-192-ctr", 24, 16),
        ("-des-ede3-cbc", 24, 8),
        ("-camellia-192-cbc", 24, 16),
        ("-sm4-cbc", 16, 16),
    ] {
        let (key, iv) = (&key[..2 * key_len], &"ffeeddccbbaa99887766554433221100"[..2 * iv_len]);
        let arguments = ["enc", name, "-K", key, "-iv", iv];
        let sealed = run(&arguments, &ours, &text);
        assert!(sealed == run(&arguments, &[], &text), "{name}");
        let back = [&arguments[..], &["-d"]].concat();
        assert!(run(&back, &ours, &sealed) == text, "{name}");
    }
    for name in ["-md5", "-sha1", "-sha224", "-sha256", "-sha384", "-sha512"] {
        let arguments = ["dgst", "-r", name];
        assert_eq!(run(&arguments, &ours, &text), run(&arguments, &[], &text), "{name}");
        let arguments =
            ["mac", "-digest", &name[1..], "-macopt", "hexkey:00112233445566778899", "-in", "-", "HMAC"];
        let (last, arguments) = arguments.split_last().expect("some");
        let with = |options: &[&'static str]| [options, &[last]].concat();
        assert_eq!(run(arguments, &with(&[]), &text), {
            let options: Vec<&str> = ours.iter().copied().chain([*last]).collect();
            run(arguments, &options, &text)
        });
    }
}

/// Ends with whoever started it.
pub struct Ends(pub Child);

impl Drop for Ends {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A configuration as docs/provider.md has it.
pub fn configure(conf: &Path, folder: &Path, properties: &str) {
    let text = format!(
        "openssl_conf = init\n[init]\nproviders = providers\nalg_section = algorithms\n[providers]\n\
         default = on\nace = ace\n[on]\nactivate = 1\n[ace]\nmodule = {}/libace_provider.so\nactivate = 1\n\
         [algorithms]\ndefault_properties = {properties}\n",
        folder.display()
    );
    fs::write(conf, text).expect("a file");
}

/// One end has the provider by a configuration, the other one has not.
#[test]
fn tls_runs_over_it() {
    let Some(folder) = folder() else { return };
    let here = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("provider-tls");
    fs::create_dir_all(&here).expect("a folder");
    let conf = here.join("openssl.cnf");
    configure(&conf, &folder, "?ace.take=yes");
    let key = here.join("key.pem");
    let (key, cert) = (key.to_str().expect("a path"), here.join("cert.pem"));
    let cert = cert.to_str().expect("a path");
    let made = Command::new("openssl")
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=ace", "-keyout", key, "-out", cert,
        ])
        .stderr(Stdio::null())
        .status();
    assert!(made.expect("openssl").success());
    for (turn, arguments) in [
        ["-tls1_3", "-ciphersuites", "TLS_AES_128_GCM_SHA256"],
        ["-tls1_2", "-cipher", "ECDHE-RSA-AES256-GCM-SHA384"],
        ["-tls1_2", "-cipher", "ECDHE-RSA-CHACHA20-POLY1305"],
        // By OpenSSL's own, which `ace.take` leaves alone.
        ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA256"],
    ]
    .into_iter()
    .enumerate()
    {
        for client_has_it in [false, true] {
            let port =
                (24_500 + std::process::id() % 8000 + 2 * turn as u32 + u32::from(client_has_it)).to_string();
            let command = |has_it: bool| {
                let mut command = Command::new("openssl");
                if has_it {
                    command.env("OPENSSL_CONF", &conf);
                }
                command
            };
            let server = command(!client_has_it)
                .args(["s_server", "-quiet", "-rev", "-accept", &port, "-key", key, "-cert", cert])
                .args(["-naccept", "1"])
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            let _server = Ends(server.expect("openssl"));
            let until = Instant::now() + Duration::from_secs(10);
            let answer = loop {
                let client = command(client_has_it)
                    .args(["s_client", "-quiet", "-connect", &format!("127.0.0.1:{port}")])
                    .args(arguments)
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .spawn();
                let mut client = Ends(client.expect("openssl"));
                let line = "x".repeat(3000) + "y";
                let written =
                    client.0.stdin.as_mut().expect("a pipe").write_all(format!("{line}\n").as_bytes());
                let mut answer = vec![0; line.len()];
                let read = client.0.stdout.as_mut().expect("a pipe").read_exact(&mut answer);
                if written.is_ok() && read.is_ok() {
                    break answer;
                }
                assert!(Instant::now() < until, "{arguments:?} {client_has_it}");
                std::thread::sleep(Duration::from_millis(100));
            };
            assert_eq!(answer[..2], *b"yx", "{arguments:?} {client_has_it}");
        }
    }
}

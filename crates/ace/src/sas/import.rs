// SPDX-License-Identifier: Apache-2.0
//! SAs of a running Linux machine, as `ip -s xfrm state` prints them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::IpAddr;
use std::path::PathBuf;

use ace_config::{SaFile, kernel, read_wiped};
use ace_ipsec::model::{AuthSuite, CipherSuite};
use anyhow::{Context, Result, bail};
use zeroize::Zeroizing;

use super::swanctl::{self, Child, Known};
use crate::Outcome;

#[derive(clap::Args)]
pub struct Import {
    /// What `ip -s xfrm state` printed; `/dev/stdin` for a pipe
    file: PathBuf,
    /// Addresses of this machine: SAs from them go out, SAs to them come in (kernels from 6.10 on say the direction
    /// themselves)
    #[arg(long, value_name = "ADDRESS")]
    local: Vec<IpAddr>,
    /// What `swanctl --list-sas --raw` printed on the same machine: it says what goes out and comes in, which packets
    /// are meant, and what the SAs are called
    #[arg(long, value_name = "FILE")]
    swanctl: Option<PathBuf>,
    /// Where the SA file goes (default: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

pub fn import(args: &Import) -> Result<Outcome> {
    let text = read_wiped(&args.file).with_context(|| format!("cannot read {}", args.file.display()))?;
    if swanctl::is_swanctl(&text) {
        bail!(
            "{}: swanctl prints no keys; `ip -s xfrm state`, as root, does: name its output as FILE, and this with \
             --swanctl",
            args.file.display()
        );
    }
    let children = match &args.swanctl {
        None => Vec::new(),
        Some(path) => {
            let text = ace_fs::read_text(path).with_context(|| format!("cannot read {}", path.display()))?;
            let children = swanctl::children(&text);
            if children.is_empty() {
                bail!("{}: no CHILD_SAs: `swanctl --list-sas --raw` prints them", path.display());
            }
            children
        }
    };
    let (file, left_out) = translate(&text, &args.local, &children)?;
    for why in &left_out {
        eprintln!("ace: left out: {why}");
    }
    super::write(&args.output, &file)?;
    Ok(if left_out.is_empty() { Outcome::Well } else { Outcome::Wrong })
}

/// One state, as it is printed.
#[derive(Default)]
struct State<'a> {
    source: &'a str,
    destination: &'a str,
    /// What stands behind a word on its line.
    lines: BTreeMap<&'a str, Vec<&'a str>>,
    outbound: Option<bool>,
}

/// The SA file, and what has no place in it.
fn translate(text: &str, local: &[IpAddr], children: &[Child]) -> Result<(Zeroizing<String>, Vec<String>)> {
    let mut states: Vec<State> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (line.starts_with(char::is_whitespace), &words[..]) {
            (false, ["src", source, "dst", destination, ..]) => {
                states.push(State { source, destination, ..State::default() });
            }
            (true, [first, rest @ ..]) => {
                let Some(state) = states.last_mut() else { continue };
                match (*first, rest) {
                    ("dir", ["in", ..]) => state.outbound = Some(false),
                    ("dir", ["out", ..]) => state.outbound = Some(true),
                    // The first line of a kind; those behind are of statistics.
                    (first, rest) => drop(state.lines.entry(first).or_insert_with(|| rest.to_vec())),
                }
            }
            _ => {}
        }
    }
    if states.is_empty() {
        bail!("no SAs: `ip -s xfrm state`, as root, prints them");
    }
    let (mut out, mut left_out) = (Zeroizing::new(String::with_capacity(text.len() * 4)), Vec::new());
    for (number, state) in states.iter().enumerate() {
        if let Err(why) = state.write(&mut out, number + 1, local, children) {
            left_out.push(format!("{} to {}: {why:#}", state.source, state.destination));
        }
    }
    for child in children {
        let there = |spi| states.iter().any(|state| state.spi() == Some(spi));
        let missing = child.spis().filter(|spi| !there(*spi));
        left_out
            .extend(missing.map(|spi| format!("{}: no state of the kernel has SPI {spi:08x}", child.name)));
    }
    let plain = Zeroizing::new(format!("default_policy = \"discard\"\n{}", out.as_str()));
    if SaFile::parse("SAs", &plain).is_ok() {
        return Ok((plain, left_out));
    }
    let legacy =
        Zeroizing::new(format!("default_policy = \"discard\"\nallow_legacy = true\n{}", out.as_str()));
    SaFile::parse("imported SAs", &legacy)?;
    Ok((legacy, left_out))
}

impl<'a> State<'a> {
    /// The word behind another one on the line that begins with `line`.
    fn behind(&self, line: &str, word: &str) -> Option<&'a str> {
        let words = self.lines.get(line)?;
        let at = if line == word { 0 } else { words.iter().position(|w| *w == word)? + 1 };
        words.get(at).copied()
    }

    fn spi(&self) -> Option<u32> {
        let spi = self.behind("proto", "spi")?.split('(').next()?.strip_prefix("0x")?;
        u32::from_str_radix(spi, 16).ok()
    }

    fn write(&self, out: &mut String, number: usize, local: &[IpAddr], children: &[Child]) -> Result<()> {
        let (source, destination): (IpAddr, IpAddr) = (self.source.parse()?, self.destination.parse()?);
        let tunnel = self.behind("proto", "mode") == Some("tunnel");
        let known = self.spi().map(|spi| children.iter().map(move |c| c.knows(destination, spi, tunnel)));
        let known = known.into_iter().flatten().find_map(Result::transpose).transpose()?;
        let said = known.as_ref().map(|known| known.outbound).or(self.outbound);
        let outbound = match (said, local.contains(&source), local.contains(&destination)) {
            (Some(outbound), ..) => outbound,
            (None, true, false) => true,
            (None, false, true) => false,
            _ if !children.is_empty() => bail!("swanctl has no CHILD_SA with this SPI"),
            _ => bail!("neither end, or both, are this machine's: --local says which addresses are"),
        };
        if self.lines.contains_key("encap") {
            eprintln!(
                "ace: warning: {source} to {destination}: its ESP is in UDP, which is not looked through here"
            );
        }
        let protocol = self.behind("proto", "proto").unwrap_or_default();
        if !matches!(protocol, "esp" | "ah") {
            bail!("protocol {protocol}");
        }
        let spi = self.behind("proto", "spi").unwrap_or_default();
        let spi = spi.split('(').next().unwrap_or_default();
        let mode = self.behind("proto", "mode").unwrap_or_default();
        let (ours, theirs) = if outbound { (source, destination) } else { (destination, source) };
        let direction = if outbound { "out" } else { "in" };
        let mut sa = Zeroizing::new(String::with_capacity(4096));
        let name = match &known {
            Some(known) => known.name.replace(['"', '\\'], "_"),
            None => format!("{direction}-{spi}-{number}"),
        };
        writeln!(sa, "\n[[sa]]\nname = \"{name}\"\nspi = {spi}")?;
        writeln!(sa, "direction = \"{direction}\"\nprotocol = \"{protocol}\"\nmode = \"{mode}\"")?;
        writeln!(sa, "local = \"{ours}\"\nremote = \"{theirs}\"")?;
        let any = |net: &str| matches!(net, "0.0.0.0/0" | "::/0");
        let net = |word| self.behind("sel", word).filter(|net| mode == "tunnel" && !any(net));
        if let Some(Known { selector, .. }) = &known {
            if !selector.is_empty() {
                writeln!(sa, "selector = {{ {selector} }}")?;
            }
        } else if let (Some(source), Some(destination)) = (net("src"), net("dst")) {
            writeln!(sa, "selector = {{ src = \"{source}\", dst = \"{destination}\" }}")?;
        }
        self.suites(&mut sa, protocol)?;
        // With ESN the window stands on a line of its own.
        let esn = self.lines.get("replay-window").is_some_and(|w| w.contains(&"esn"))
            || self.lines.get("anti-replay").is_some_and(|w| w.starts_with(&["esn"]));
        let window: u32 =
            self.behind("replay-window", "replay-window").and_then(|w| w.parse().ok()).unwrap_or(0);
        let window = if window == 0 && esn { 64 } else { window };
        writeln!(
            sa,
            "esn = {esn}\nreplay_window = {}",
            if window == 0 { 0 } else { window.clamp(32, 4096) }
        )?;
        out.push_str(&sa);
        Ok(())
    }

    fn suites(&self, sa: &mut String, protocol: &str) -> Result<()> {
        if let Some([name, key, .., icv]) = self.lines.get("aead").map(Vec::as_slice) {
            let key = key.trim_start_matches("0x");
            let suite = kernel::aead(name, key.len() * 4, icv.parse().unwrap_or(0));
            let Some(CipherSuite { name: cipher, .. }) = suite else {
                bail!("no suite for {name} with an ICV of {icv} bits")
            };
            writeln!(sa, "cipher = \"{cipher}\"\nkey = \"{key}\"\nauth = \"none\"")?;
            return Ok(());
        }
        match self.lines.get("enc").map(Vec::as_slice) {
            Some([name, rest @ ..]) => {
                let key = rest.first().filter(|key| key.starts_with("0x")).unwrap_or(&"");
                let key = key.trim_start_matches("0x");
                let Some(CipherSuite { name: cipher, .. }) = kernel::cipher(name, key.len() * 4) else {
                    bail!("no suite for {name}")
                };
                writeln!(sa, "cipher = \"{cipher}\"")?;
                if !key.is_empty() {
                    writeln!(sa, "key = \"{key}\"")?;
                }
            }
            _ if protocol == "ah" => {}
            _ => bail!("no cipher; keys are shown to root alone"),
        }
        let auth = self.lines.get("auth-trunc").or_else(|| self.lines.get("auth"));
        let Some([name, key, rest @ ..]) = auth.map(Vec::as_slice) else {
            writeln!(sa, "auth = \"none\"")?;
            return Ok(());
        };
        let bits = rest.last().copied().unwrap_or("96");
        let Some(AuthSuite { name: auth, .. }) = kernel::auth(name, bits.parse().unwrap_or(0)) else {
            bail!("no suite for {name} of {bits} bits")
        };
        writeln!(sa, "auth = \"{auth}\"\nauth_key = \"{}\"", key.trim_start_matches("0x"))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ace_ipsec::{Direction, SaMode};

    use super::*;

    const PRINTED: &str = "src 192.0.2.1 dst 192.0.2.2
\tproto esp spi 0xc0ffee01(3237998081) reqid 1(0x00000001) mode tunnel
\treplay-window 0 seq 0x00000000 flag af-unspec (0x00100000)
\tauth-trunc hmac(sha256) 0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f (256 bits) 128
\tenc cbc(aes) 0x000102030405060708090a0b0c0d0e0f (128 bits)
\tanti-replay esn context:
\t seq-hi 0x0, seq 0x0, oseq-hi 0x0, oseq 0x5
\t replay_window 32, bitmap-length 1
\tsel src 0.0.0.0/0 dst 0.0.0.0/0 uid 0
\tlifetime config:
\t  limit: soft (INF)(bytes), hard (INF)(bytes)
src 192.0.2.2 dst 192.0.2.1
\tproto esp spi 0xc0ffee02(3237998082) reqid 1(0x00000001) mode transport
\treplay-window 64 seq 0x00000000 flag  (0x00000000)
\taead rfc4106(gcm(aes)) 0x000102030405060708090a0b0c0d0e0f10111213 (160 bits) 128
\tsel src 0.0.0.0/0 dst 0.0.0.0/0 uid 0
src 192.0.2.9 dst 192.0.2.1
\tproto comp spi 0x00000001(1) reqid 0(0x00000000) mode transport
";

    #[test]
    fn states_of_the_kernel_become_sas() {
        let (file, left_out) =
            translate(PRINTED, &["192.0.2.1".parse().expect("an address")], &[]).expect("SAs");
        assert_eq!(left_out, ["192.0.2.9 to 192.0.2.1: protocol comp"]);
        let file = SaFile::parse("a", &file).expect("an SA file");
        let [out, back] = file.sas() else { panic!("{} SAs", file.sas().len()) };
        assert_eq!((out.spi, out.direction, out.mode), (0xc0ff_ee01, Direction::Out, SaMode::Tunnel));
        assert_eq!((out.cipher.name, out.auth.name, out.esn), ("aes-128-cbc", "hmac-sha256-128", true));
        assert_eq!((back.direction, back.cipher.name, back.key.len()), (Direction::In, "aes-128-gcm-16", 20));
        assert_eq!((back.mode, back.replay_window, back.esn), (SaMode::Transport, 64, false));
        assert!(translate(PRINTED, &[], &[]).is_ok_and(|(_, left_out)| left_out.len() == 3));
        assert!(translate("nothing", &[], &[]).is_err());
    }
    #[test]
    fn strongswan_says_what_the_kernel_does_not() {
        let raw = "list-sa event {gw {local-host=192.0.2.1 remote-host=192.0.2.2 child-sas {net-1 {name=net \
                   spi-in=0badcafe spi-out=c0ffee01 local-ts=[10.1.0.0/16] remote-ts=[10.2.0.0/16]}}}}";
        let (file, left_out) = translate(PRINTED, &[], &swanctl::children(raw)).expect("SAs");
        let file = SaFile::parse("a", &file).expect("an SA file");
        let [out] = file.sas() else { panic!("{} SAs", file.sas().len()) };
        assert_eq!((out.name.as_str(), out.direction), ("net-out-c0ffee01", Direction::Out));
        assert!(out.selector.to_string().contains("10.2.0.0/16"), "{}", out.selector);
        let words = [
            "no CHILD_SA with this SPI",
            "no CHILD_SA with this SPI",
            "no state of the kernel has SPI 0badcafe",
        ];
        assert_eq!(left_out.len(), words.len(), "{left_out:?}");
        for (said, words) in left_out.iter().zip(words) {
            assert!(said.contains(words), "{said}");
        }
    }
}

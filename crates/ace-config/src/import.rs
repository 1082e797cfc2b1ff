// SPDX-License-Identifier: Apache-2.0
//! SAs of a running Linux machine, as `ip -s xfrm state` prints them, with what strongSwan says of them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ace_ipsec::model::{AuthSuite, CIPHERS, CipherSuite, Headers, KeyUse, Lifetime};
use ace_ipsec::{Direction, Policy, Protocol, SaMode, SaSpec, Selector};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::kernel;
use crate::sa_file::{self, suites};
use crate::swanctl::{self, Child};

/// Why nothing was imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// Without keys there is no SA.
    #[error(
        "swanctl prints no keys; `ip -s xfrm state`, as root, does: name its output as FILE, and this with --swanctl"
    )]
    NoKeys,
    /// The text has no state.
    #[error("no SAs: `ip -s xfrm state`, as root, prints them")]
    NoSas,
    /// Each is good alone, and together they are not.
    #[error(transparent)]
    File(#[from] sa_file::SaFileErrors),
}

/// Why one state has no place in an SA file.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Untranslatable(pub String);

/// What became of the states of a machine.
pub struct Imported {
    /// The SA file. The keys are in it.
    pub file: Zeroizing<String>,
    /// What has no place in it, and why.
    pub left_out: Vec<String>,
    /// What is in it and does not work as it did there.
    pub warnings: Vec<String>,
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

/// Cipher and MAC with their keys.
struct Protection {
    cipher: &'static CipherSuite,
    key: Zeroizing<Vec<u8>>,
    auth: &'static AuthSuite,
    auth_key: Zeroizing<Vec<u8>>,
}

/// Makes an SA file of what `ip -s xfrm state` printed. `local` are addresses of this machine, `children` what
/// [`swanctl::children`] found; either says which way an SA goes where the kernel does not.
///
/// # Errors
/// When there is nothing to import. A state that has no place in an SA file loses no other one.
pub fn states(text: &str, local: &[IpAddr], children: &[Child]) -> Result<Imported, ImportError> {
    if swanctl::is_swanctl(text) {
        return Err(ImportError::NoKeys);
    }
    let states = parse(text);
    if states.is_empty() {
        return Err(ImportError::NoSas);
    }
    let (mut sas, mut left_out, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    for (number, state) in states.iter().enumerate() {
        let (source, destination) = (state.source, state.destination);
        let one = || -> Result<SaSpec, Untranslatable> {
            let sa = state.association(number + 1, local, children)?;
            sa_file::write(Policy::Discard, std::slice::from_ref(&sa))
                .map_err(|errors| Untranslatable(errors.to_string()))?;
            Ok(sa)
        };
        match one() {
            Ok(sa) => sas.push(sa),
            Err(why) => left_out.push(format!("{source} to {destination}: {why}")),
        }
        if state.lines.contains_key("encap") {
            warnings.push(format!(
                "{source} to {destination}: its ESP is in UDP, which is not looked through here"
            ));
        }
    }
    for child in children {
        let there = |spi| states.iter().any(|state| state.spi() == Some(spi));
        let missing = child.spis().filter(|spi| !there(*spi));
        left_out
            .extend(missing.map(|spi| format!("{}: no state of the kernel has SPI {spi:08x}", child.name)));
    }
    Ok(Imported { file: sa_file::write(Policy::Discard, &sas)?, left_out, warnings })
}

fn parse(text: &str) -> Vec<State<'_>> {
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
    states
}

fn no(what: impl Into<String>) -> Untranslatable {
    Untranslatable(what.into())
}

/// The bytes of a key as it is printed.
fn bytes(written: &str) -> Result<Zeroizing<Vec<u8>>, Untranslatable> {
    let digits = written.trim_start_matches("0x");
    // In its place at once: what a growing buffer leaves behind nobody wipes.
    let mut key = Zeroizing::new(vec![0; digits.len() / 2]);
    hex::decode_to_slice(digits, &mut key).map_err(|_| no("its key is not in hexadecimal digits"))?;
    Ok(key)
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

    fn association(
        &self,
        number: usize,
        local: &[IpAddr],
        children: &[Child],
    ) -> Result<SaSpec, Untranslatable> {
        let address = |text: &str| text.parse().map_err(|_| no(format!("{text} is no address")));
        let (source, destination): (IpAddr, IpAddr) = (address(self.source)?, address(self.destination)?);
        let spi = self.spi().ok_or_else(|| no("no SPI"))?;
        let mode = match self.behind("proto", "mode").unwrap_or_default() {
            "tunnel" => SaMode::Tunnel,
            "transport" => SaMode::Transport,
            other => return Err(no(format!("mode {other}"))),
        };
        let tunnel = mode == SaMode::Tunnel;
        let known = children.iter().map(|child| child.knows(destination, spi, tunnel));
        let known = known.into_iter().find_map(Result::transpose).transpose()?;
        let stated = known.as_ref().map(|known| known.outbound).or(self.outbound);
        let outbound = match (stated, local.contains(&source), local.contains(&destination)) {
            (Some(outbound), ..) => outbound,
            (None, true, false) => true,
            (None, false, true) => false,
            _ if !children.is_empty() => return Err(no("swanctl has no CHILD_SA with this SPI")),
            _ => {
                let why = "neither end, or both, are this machine's: --local says which addresses are";
                return Err(no(why));
            }
        };
        let protocol = match self.behind("proto", "proto").unwrap_or_default() {
            "esp" => Protocol::Esp,
            "ah" => Protocol::Ah,
            other => return Err(no(format!("protocol {other}"))),
        };
        let (direction, local, remote) = match outbound {
            true => (Direction::Out, source, destination),
            false => (Direction::In, destination, source),
        };
        let (name, selector) = match known {
            Some(known) => (known.name, known.selector),
            None => {
                let way = if outbound { "out" } else { "in" };
                (format!("{way}-{spi:#010x}-{number}"), self.selector(tunnel)?)
            }
        };
        let Protection { cipher, key, auth, auth_key } = self.protection(protocol)?;
        // With ESN the window stands on a line of its own.
        let esn = self.lines.get("replay-window").is_some_and(|w| w.contains(&"esn"))
            || self.lines.get("anti-replay").is_some_and(|w| w.starts_with(&["esn"]));
        let window: u32 =
            self.behind("replay-window", "replay-window").and_then(|w| w.parse().ok()).unwrap_or(0);
        let window = if window == 0 && esn { 64 } else { window };
        Ok(SaSpec {
            name,
            spi,
            direction,
            protocol,
            mode,
            local,
            remote,
            selector,
            cipher,
            auth,
            key: key.into(),
            auth_key: auth_key.into(),
            key_use: KeyUse::Reused,
            esn,
            replay_window: if window == 0 { 0 } else { window.clamp(32, 4096) },
            first_sequence: 1,
            headers: Headers::of(direction),
            lifetime: Lifetime::default(),
        })
    }

    /// What the kernel selects, in tunnel mode; in transport mode that is the ends.
    fn selector(&self, tunnel: bool) -> Result<Selector, Untranslatable> {
        let any = |net: &str| matches!(net, "0.0.0.0/0" | "::/0");
        let net = |word| self.behind("sel", word).filter(|net| tunnel && !any(net));
        let (Some(source), Some(destination)) = (net("src"), net("dst")) else {
            return Ok(Selector::default());
        };
        let parsed = |net: &str| net.parse().map(Some).map_err(|_| no(format!("{net} is no prefix")));
        Ok(Selector { source: parsed(source)?, destination: parsed(destination)?, ..Selector::default() })
    }

    fn protection(&self, protocol: Protocol) -> Result<Protection, Untranslatable> {
        let none = || suites::auth("none").ok_or_else(|| no("no suite for no authentication"));
        if let Some([name, key, .., icv]) = self.lines.get("aead").map(Vec::as_slice) {
            let key = bytes(key)?;
            let suite = kernel::aead(name, key.len() * 8, icv.parse().unwrap_or(0));
            let cipher = suite.ok_or_else(|| no(format!("no suite for {name} with an ICV of {icv} bits")))?;
            return Ok(Protection { cipher, key, auth: none()?, auth_key: Zeroizing::default() });
        }
        let (cipher, key) = match self.lines.get("enc").map(Vec::as_slice) {
            Some([name, rest @ ..]) => {
                let key = bytes(rest.first().filter(|key| key.starts_with("0x")).unwrap_or(&""))?;
                let suite = kernel::cipher(name, key.len() * 8);
                (suite.ok_or_else(|| no(format!("no suite for {name}")))?, key)
            }
            _ if protocol == Protocol::Ah => {
                let null = CIPHERS.iter().find(|suite| !suite.encrypts() && !suite.combined());
                (null.ok_or_else(|| no("no suite without a cipher"))?, Zeroizing::default())
            }
            _ => return Err(no("no cipher; keys are shown to root alone")),
        };
        let auth = self.lines.get("auth-trunc").or_else(|| self.lines.get("auth"));
        let Some([name, auth_key, rest @ ..]) = auth.map(Vec::as_slice) else {
            return Ok(Protection { cipher, key, auth: none()?, auth_key: Zeroizing::default() });
        };
        let bits = rest.last().copied().unwrap_or("96");
        let suite = kernel::auth(name, bits.parse().unwrap_or(0));
        let auth = suite.ok_or_else(|| no(format!("no suite for {name} of {bits} bits")))?;
        Ok(Protection { cipher, key, auth, auth_key: bytes(auth_key)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SaFile;

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
        let Imported { file, left_out, .. } =
            states(PRINTED, &["192.0.2.1".parse().expect("an address")], &[]).expect("SAs");
        assert_eq!(left_out, ["192.0.2.9 to 192.0.2.1: protocol comp"]);
        let file = SaFile::parse("a", &file).expect("an SA file");
        let [out, back] = file.sas() else { panic!("{} SAs", file.sas().len()) };
        assert_eq!((out.spi, out.direction, out.mode), (0xc0ff_ee01, Direction::Out, SaMode::Tunnel));
        assert_eq!((out.cipher.name, out.auth.name, out.esn), ("aes-128-cbc", "hmac-sha256-128", true));
        assert_eq!((back.direction, back.cipher.name, back.key.len()), (Direction::In, "aes-128-gcm-16", 20));
        assert_eq!((back.mode, back.replay_window, back.esn), (SaMode::Transport, 64, false));
        assert!(states(PRINTED, &[], &[]).is_ok_and(|stated| stated.left_out.len() == 3));
        assert!(matches!(states("nothing", &[], &[]), Err(ImportError::NoSas)));
        assert!(matches!(states("list-sa event {}", &[], &[]), Err(ImportError::NoKeys)));
    }

    #[test]
    fn strongswan_says_what_the_kernel_does_not() {
        let raw = "list-sa event {gw {local-host=192.0.2.1 remote-host=192.0.2.2 child-sas {net-1 {name=net \
                   spi-in=0badcafe spi-out=c0ffee01 local-ts=[10.1.0.0/16] remote-ts=[10.2.0.0/16]}}}}";
        let Imported { file, left_out, .. } = states(PRINTED, &[], &swanctl::children(raw)).expect("SAs");
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
        for (stated, words) in left_out.iter().zip(words) {
            assert!(stated.contains(words), "{stated}");
        }
    }
}

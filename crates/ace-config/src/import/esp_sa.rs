// SPDX-License-Identifier: Apache-2.0
//! Wireshark's table `esp_sa`: what [`crate::wireshark`] writes, people fill in, and strongSwan's `save-keys` appends to.

use ace_ipsec::model::{AUTHS, AuthSuite, CIPHERS, CipherSuite, Headers, KeyUse, Lifetime};
use ace_ipsec::{Direction, Protocol, SaMode, SaSpec, Selector};
use std::net::IpAddr;

use super::{Beside, Collected, Ends, Found, Untranslatable, bytes, no, way};
use crate::sa_file::suites;

/// What strongSwan's `save-keys` and old releases of Wireshark call suites whose ICV stands in the next column.
const COMBINED: &str = "AES-GCM [RFC4106]";

/// Lines with something in them, from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let all = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    all.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// Whether a text is of this table.
pub fn is_table(text: &str) -> bool {
    lines(text).next().is_some_and(|(_, line)| line.starts_with('"'))
}

/// Whether a text is of one of the tables of IKE beside it: each line begins with the initiator's SPI.
pub fn is_ike(text: &str) -> bool {
    let spi = |word: &str| word.len() == 16 && word.bytes().all(|c| c.is_ascii_hexdigit());
    lines(text).next().is_some_and(|(_, line)| line.split(',').next().is_some_and(spi))
}

/// Takes every line.
pub fn table(file: &str, text: &str, beside: &Beside<'_>, into: &mut Collected) {
    let mut found = Vec::new();
    for (number, (at, line)) in lines(text).enumerate() {
        let mut place = format!("{file}:{at}");
        match association(number + 1, line, &mut place, beside, into) {
            Ok(sa) => found.push(Found { sa, priority: 0, place }),
            Err(why) => into.left_out.push(format!("{place}: {why}")),
        }
    }
    // strongSwan appends: what replaces an SA stands behind it, and in an SA file the first one wins.
    found.into_iter().rev().for_each(|found| into.take(found));
    if !into.found.is_empty() {
        let mode = if beside.mode == SaMode::Tunnel { "tunnel" } else { "transport" };
        into.warnings.push(format!(
            "{file}: the table does not say what SAs enclose: --mode {mode} is taken for all of them, \
             {} for windows, and number 1 for the first",
            "64 packets"
        ));
    }
}

/// Columns: in quotes, with commas between them.
fn columns(line: &str) -> Result<Vec<&str>, Untranslatable> {
    let inner = line.strip_prefix('"').and_then(|line| line.strip_suffix('"'));
    let inner = inner.ok_or_else(|| no("a line of the table is columns in quotes"))?;
    Ok(inner.split("\",\"").collect())
}

fn association(
    number: usize,
    line: &str,
    place: &mut String,
    beside: &Beside<'_>,
    into: &mut Collected,
) -> Result<SaSpec, Untranslatable> {
    let columns = columns(line)?;
    let ([_, source, destination, spi, cipher, key, auth, auth_key], rest) =
        (match columns.split_at_checked(8) {
            Some((&[a, b, c, d, e, f, g, h], rest)) => Ok(([a, b, c, d, e, f, g, h], rest)),
            _ => Err(no(format!("{} columns of 8 or 10", columns.len()))),
        })?;
    place.push_str(&format!(": {source} to {destination}, SPI {spi}"));
    let spi = super::printed::number(spi).and_then(|spi| u32::try_from(spi).ok());
    let spi = spi.ok_or_else(|| no("no SPI: an SA file has one for each SA"))?;
    into.spis.insert(spi);
    let address =
        |text: &str| text.parse::<IpAddr>().map_err(|_| no(format!("{text} is not the address of one host")));
    let (source, destination) = (address(source)?, address(destination)?);
    let (esn, high) = match rest {
        [] | ["32-bit" | "", ..] => (false, 0),
        ["64-bit"] => (true, 0),
        ["64-bit", high] => {
            let digits = high.strip_prefix("0x").unwrap_or(high);
            let high = if digits.is_empty() { Ok(0) } else { u32::from_str_radix(digits, 16) };
            (true, high.map_err(|_| no("its high half is no number"))?)
        }
        [other, ..] => return Err(no(format!("sequence numbers of {other} are not known here"))),
    };
    let tunnel = beside.mode == SaMode::Tunnel;
    let (outbound, known) = way(Ends { source, destination, spi, tunnel }, None, beside)?;
    let (direction, local, remote) = match outbound {
        true => (Direction::Out, source, destination),
        false => (Direction::In, destination, source),
    };
    let way = if outbound { "out" } else { "in" };
    let (name, selector, if_id) = match known {
        Some(known) => (known.name, known.selector, known.if_id),
        None => (format!("{way}-{spi:#010x}-{number}"), Selector::default(), 0),
    };
    let (key, auth_key) = (hexadecimal(key)?, hexadecimal(auth_key)?);
    let cipher = suite(cipher, auth, key.len())?;
    let auth = authentication(cipher, auth, auth_key.len())?;
    Ok(SaSpec {
        name,
        spi,
        direction,
        protocol: Protocol::Esp,
        mode: beside.mode,
        local,
        remote,
        selector,
        cipher,
        auth,
        key: key.into(),
        auth_key: auth_key.into(),
        key_use: KeyUse::Reused,
        esn,
        replay_window: 64,
        first_sequence: (u64::from(high) << 32) + 1,
        core: None,
        if_id,
        output_mark: 0,
        headers: Headers::of(direction),
        lifetime: Lifetime::default(),
    })
}

/// Wireshark takes text for a key as well; what is meant by it is not guessed.
fn hexadecimal(written: &str) -> Result<zeroize::Zeroizing<Vec<u8>>, Untranslatable> {
    if !written.is_empty() && !written.starts_with("0x") {
        return Err(no("its key is not in hexadecimal digits behind 0x"));
    }
    bytes(written)
}

/// `ANY 96 bit authentication [no checking]`.
fn unchecked_bits(auth: &str) -> Option<usize> {
    auth.strip_prefix("ANY ")?.strip_suffix(" bit authentication [no checking]")?.parse().ok()
}

fn suite(cipher: &str, auth: &str, key_len: usize) -> Result<&'static CipherSuite, Untranslatable> {
    let fits = |suite: &&CipherSuite| {
        let named = suite.names.wireshark == Some(cipher);
        // One name for every length: the column of the authentication has it.
        let of_auth = || unchecked_bits(auth).unwrap_or(128) == 8 * suite.icv_len;
        let combined = || {
            let ours = suite.names.wireshark.is_some_and(|name| {
                name.strip_prefix("AES-GCM with ").is_some_and(|rest| rest.ends_with(" octet ICV [RFC4106]"))
            });
            cipher == COMBINED && ours && of_auth()
        };
        suite.keymat_len() == key_len && (named || combined())
    };
    let found = CIPHERS.iter().find(fits);
    found.ok_or_else(|| no(format!("no suite for {cipher} with a key of {} bits", 8 * key_len)))
}

fn authentication(
    cipher: &'static CipherSuite,
    auth: &str,
    key_len: usize,
) -> Result<&'static AuthSuite, Untranslatable> {
    let none = || suites::auth("none").ok_or_else(|| no("no suite for no authentication"));
    if cipher.combined() {
        let its_own = auth == "NULL" || unchecked_bits(auth) == Some(8 * cipher.icv_len);
        return if its_own { none() } else { Err(no(format!("{auth} beside a combined mode"))) };
    }
    // A MAC is found by name; a name that says no more than a length, by the length of the key as well.
    let fits = |suite: &&AuthSuite| suite.names.wireshark == Some(auth) && suite.key_len == key_len;
    let mut found = AUTHS.iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        _ if unchecked_bits(auth).is_some() => {
            Err(no(format!("{auth} does not say what authenticates, and nothing here goes unchecked")))
        }
        _ => Err(no(format!("no suite for {auth} with a key of {} bits", 8 * key_len))),
    }
}

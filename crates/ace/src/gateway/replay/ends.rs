// SPDX-License-Identifier: Apache-2.0
//! The SAs of a recording, with keys that protect nothing: the gateway that is played, and the other end's, which makes
//! what comes in.

use std::collections::VecDeque;
use std::fmt::Write;
use std::net::Ipv4Addr;
use std::time::Duration;

use ace_config::SaFile;
use ace_engine::software::CpuEngine;
use ace_engine::{Buffer, Engine};
use ace_gateway::record::Sa;
use ace_ipsec::model::{AUTHS, CIPHERS};
use ace_ipsec::{Inside, Packet, SeededIvs, Shard};
use anyhow::{Context, Result, bail};

const GATEWAY: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const PEER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
const IVS: u64 = 1;
/// SPIs below 256 are reserved.
const FIRST_SPI: usize = 0x1000;

/// Addresses of the clear packets of an SA, by its place; each SA has its own.
pub fn clear_ends(place: usize, out: bool) -> (Ipv4Addr, Ipv4Addr) {
    let [_, high, middle, low] = (place as u32).to_be_bytes();
    let (ours, theirs) = (Ipv4Addr::new(10, high, middle, low), Ipv4Addr::new(11, high, middle, low));
    if out { (ours, theirs) } else { (theirs, ours) }
}

/// An SA file. `peer`: the other end's of those that come in, going out there.
pub fn file(sas: &[Sa], peer: bool) -> Result<SaFile> {
    let mut text = String::from("allow_legacy = true\n");
    for (place, sa) in sas.iter().enumerate().filter(|(_, sa)| !(peer && sa.out)) {
        let cipher = CIPHERS.iter().find(|suite| suite.name == sa.cipher);
        let auth = AUTHS.iter().find(|suite| suite.name == sa.auth);
        let (Some(cipher), Some(auth)) = (cipher, auth) else {
            bail!("SA {}: `{}` and `{}` are no suite of this ace", sa.name, sa.cipher, sa.auth);
        };
        // Each its own: counter modes want that.
        let own = (place as u32).to_le_bytes();
        let byte = |at: usize| (at as u8).wrapping_mul(7).wrapping_add(19) ^ own[at % 4];
        let key = |bytes: usize| (0..bytes).map(|at| format!("{:02x}", byte(at))).collect::<String>();
        let (source, target) = clear_ends(place, sa.out);
        let (from, to) = match (sa.tunnel, sa.out) {
            (false, _) => (source, target),
            (true, true) => (GATEWAY, PEER),
            (true, false) => (PEER, GATEWAY),
        };
        let goes_out = sa.out || peer;
        let (local, remote) = if goes_out { (from, to) } else { (to, from) };
        write!(
            text,
            "[[sa]]\nname = \"{place}\"\nspi = {}\ndirection = \"{}\"\nprotocol = \"{}\"\nmode = \"{}\"\n\
             local = \"{local}\"\nremote = \"{remote}\"\nesn = {}\nfresh_key = true\ncipher = \"{}\"\nauth = \"{}\"\n\
             selector = {{ src = \"{source}\", dst = \"{target}\" }}\n",
            FIRST_SPI + place,
            if goes_out { "out" } else { "in" },
            if sa.ah { "ah" } else { "esp" },
            if sa.tunnel { "tunnel" } else { "transport" },
            sa.esn,
            sa.cipher,
            sa.auth,
        )?;
        if cipher.keymat_len() > 0 {
            writeln!(text, "key = \"{}\"", key(cipher.keymat_len()))?;
        }
        if auth.key_len > 0 {
            writeln!(text, "auth_key = \"{}\"", key(auth.key_len))?;
        }
    }
    SaFile::parse("the recording's SAs", &text).context("the SAs of the recording cannot be made")
}

/// The data plane of a file, with IVs that are the same each time.
pub fn plane(file: &SaFile) -> Result<Shard> {
    Ok(file.shard(Duration::ZERO, Box::new(SeededIvs::new(IVS)))?)
}

/// The other end: it takes no time.
pub struct Ends {
    plane: Shard,
    engine: CpuEngine,
}

impl Ends {
    pub fn of(sas: &[Sa]) -> Result<Self> {
        Ok(Self { plane: plane(&file(sas, true)?)?, engine: CpuEngine::new() })
    }

    /// What leaves there for a clear packet.
    pub fn protect(&mut self, clear: Buffer) -> Result<Buffer> {
        let now = Duration::ZERO;
        self.plane.ingest(now, Inside, [Packet { token: 0, buffer: clear }]);
        let (mut jobs, mut done) = (VecDeque::new(), Vec::new());
        jobs.append(self.plane.jobs());
        self.engine.try_submit(&mut jobs);
        self.engine.wait(&mut done);
        self.plane.complete(now, &mut done);
        let exit = self.plane.poll_exit().context("the other end protects nothing")?;
        match exit.fate {
            ace_ipsec::Fate::ToOutside(_) => Ok(exit.buffer),
            fate => bail!("the other end does not protect a packet: {fate:?}"),
        }
    }
}

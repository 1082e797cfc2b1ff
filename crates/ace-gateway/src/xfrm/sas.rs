// SPDX-License-Identifier: Apache-2.0
//! SAs that come and go, and what of it concerns the outside: which peers are there, and whose SPI is whose in UDP.

use ace_ipsec::{Direction, Shard};
use nix::libc::{EADDRNOTAVAIL, EEXIST, EINVAL, ENOENT, EOPNOTSUPP};

use super::notices::GROUP_SA;
use super::shapes::{self, Errno, SaKey};
use super::wire::{self, Reply, u32_at};
use super::{Answer, Change, On, Xfrm, kind, spec, told};

/// SPIs below are reserved.
const LOWEST_SPI: u32 = 0x100;

impl Xfrm {
    pub(super) fn add(&mut self, on: &mut On<'_>, parts: (&[u8], &[u8]), update: bool) -> Result<(), Errno> {
        let (info, attributes) = parts;
        let (key, source) = (shapes::sa_key(info)?, shapes::sa_source(info)?);
        let inbound = match ((on.is_local)(key.destination), (on.is_local)(source)) {
            (true, _) => true,
            (false, true) => false,
            (false, false) => return Err(EADDRNOTAVAIL),
        };
        let ports = spec::encapsulation(attributes)?;
        let unfit = if self.udp { key.protocol != 50 } else { ports.is_some() || source.is_ipv6() };
        if unfit {
            return Err(EOPNOTSUPP);
        }
        let was = self.database.states.get(&key).is_some_and(|state| state.installed.is_some());
        if inbound && self.udp && !was && (self.spis.contains_key(&key.spi) || (on.taken)(key.spi)) {
            return Err(EEXIST);
        }
        let (spec, extras) = self.database.spec(on.engine, parts, inbound)?;
        self.database.add_state(on.plane, (on.now, on.wall), key, parts, (spec, extras), update)?;
        if let Some(state) = self.database.states.get(&key) {
            let kind = if update { kind::UPDSA } else { kind::NEWSA };
            self.notices.tell(GROUP_SA, || told::sa(on.plane, state, kind, 0, 0));
        }
        if was {
            return Ok(());
        }
        if inbound {
            self.spis.insert(key.spi, (key.destination, source));
        } else {
            let uses = self.remotes.entry(key.destination).or_insert(0);
            *uses += 1;
            if *uses == 1 {
                self.changes.push(Change::Reaches(key.destination, ports.map(|(_, port)| port)));
            }
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, plane: &mut Shard, key: SaKey, tell: bool) -> Result<(), Errno> {
        if let Some(state) = self.database.states.get(&key).filter(|_| tell) {
            self.notices.tell(GROUP_SA, || told::sa_gone(plane, key, state));
        }
        let state = self.database.remove_state(plane, key)?;
        match state.installed.map(|installed| installed.direction) {
            Some(Direction::In) => {
                self.spis.remove(&key.spi);
            }
            Some(Direction::Out) => {
                if let Some(uses) = self.remotes.get_mut(&key.destination) {
                    *uses -= 1;
                    if *uses == 0 {
                        self.remotes.remove(&key.destination);
                        self.changes.push(Change::Leaves(key.destination));
                    }
                }
            }
            None => {}
        }
        Ok(())
    }

    pub(super) fn allocate(&mut self, on: &On<'_>, body: &[u8], sequence: u32) -> Result<Answer, Errno> {
        let mut info: [u8; shapes::USERSA] =
            body.get(..shapes::USERSA).and_then(|info| info.try_into().ok()).ok_or(EINVAL)?;
        let (low, high) = (u32_at(body, 224).ok_or(EINVAL)?, u32_at(body, 228).ok_or(EINVAL)?);
        if low > high {
            return Err(EINVAL);
        }
        let low = low.max(LOWEST_SPI);
        let span = u64::from(high.checked_sub(low).ok_or(EINVAL)?) + 1;
        for _ in 0..64 {
            let random = getrandom::u64().map_err(|_| ENOENT)?;
            // The remainder is below 2^32.
            let spi = low + (random % span) as u32;
            wire::put(&mut info, 72, &spi.to_be_bytes());
            if self.udp && (self.spis.contains_key(&spi) || (on.taken)(spi)) {
                continue;
            }
            match self.database.reserve(shapes::sa_key(&info)?, info, on.wall) {
                Ok(()) => return Ok(Answer::One(Reply::new(kind::NEWSA, 0, sequence, &info).done())),
                Err(EEXIST) => {}
                Err(errno) => return Err(errno),
            }
        }
        Err(ENOENT)
    }
}

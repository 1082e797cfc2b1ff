// SPDX-License-Identifier: Apache-2.0
//! Which SAs programs believe in, in a file beside the socket that has no keys: a gateway that was restarted has none of
//! them, and tells whoever negotiates that they are at their end, so that he makes new ones.
//!
//! The file outlives the gateway and not the machine: what negotiates does not outlive that either. So nothing waits for a
//! disk.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use crate::xfrm::{Messages, Note, USERSA, expired, id_of, note};

/// `xfrm_usersa_id`.
type Id = [u8; 24];

pub struct Believed {
    file: File,
    /// Where each stands, as a record of the file.
    places: HashMap<Id, u64>,
    free: Vec<u64>,
    count: u64,
    /// Of an earlier gateway, and not made anew since.
    lost: HashMap<Id, Messages>,
    told: bool,
}

impl Believed {
    /// # Errors
    /// As the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.custom_flags(nix::libc::O_NOFOLLOW).open(path)?;
        let bytes = ace_fs::read(path)?;
        let (places, free, lost) = (HashMap::new(), Vec::new(), HashMap::new());
        let mut all = Self { file, places, free, count: 0, lost, told: false };
        // What is no SA is a free place; what was cut short is none.
        for record in bytes.as_chunks::<USERSA>().0 {
            match (id_of(record), expired(record)) {
                (Some(id), Some(message)) => {
                    all.lost.insert(id, message);
                    all.places.insert(id, all.count);
                }
                _ => all.free.push(all.count),
            }
            all.count += 1;
        }
        Ok(all)
    }

    /// Takes what is told of SAs.
    pub fn take(&mut self, notice: &[u8]) {
        match note(notice) {
            Some(Note::Is(id, info)) => {
                self.lost.remove(&id);
                let place = self.places.get(&id).copied().or_else(|| self.free.pop()).unwrap_or_else(|| {
                    self.count += 1;
                    self.count - 1
                });
                self.places.insert(id, place);
                self.write(place, info);
            }
            Some(Note::Gone(id)) => self.free(&id),
            Some(Note::Flushed(proto)) => {
                let of = |id: &Id| proto == 0 || id[22] == proto;
                for id in self.places.keys().copied().filter(of).collect::<Vec<_>>() {
                    self.free(&id);
                }
            }
            None => {}
        }
    }

    /// What is told to somebody who begins to listen to what ends. Once somebody was told it does not outlive this gateway.
    pub fn lost(&mut self) -> Vec<Messages> {
        if !std::mem::replace(&mut self.told, true) {
            for id in self.lost.keys().copied().collect::<Vec<_>>() {
                self.free(&id);
            }
        }
        self.lost.values().cloned().collect()
    }

    fn free(&mut self, id: &Id) {
        if let Some(place) = self.places.remove(id) {
            self.write(place, &[0; USERSA]);
            self.free.push(place);
        }
    }

    /// What cannot be written is not told by the next gateway; packets do not wait for it.
    fn write(&self, place: u64, record: &[u8; USERSA]) {
        let _ = self.file.write_all_at(record, place * USERSA as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A notice of an SA with an SPI.
    fn notice(kind: u16, spi: u32) -> Vec<u8> {
        let mut info = vec![0; USERSA];
        info[56..60].copy_from_slice(&[192, 0, 2, 1]);
        info[72..76].copy_from_slice(&spi.to_be_bytes());
        info[76] = 50;
        info[80..84].copy_from_slice(&[192, 0, 2, 2]);
        info[212] = 2;
        let body = match kind {
            0x11 => [&info[56..76], &[2, 0, 50, 0]].concat(),
            0x1c => vec![50, 0, 0, 0],
            _ => info,
        };
        let len = 16 + body.len() as u32;
        [&len.to_ne_bytes()[..], &kind.to_ne_bytes(), &[0; 10], &body].concat()
    }

    fn spis(all: &[Messages]) -> Vec<u32> {
        let spi = |message: &Messages| u32::from_be_bytes(message[16 + 72..16 + 76].try_into().unwrap());
        let mut spis: Vec<u32> = all.iter().map(spi).collect();
        spis.sort_unstable();
        spis
    }

    #[test]
    fn what_was_believed_is_told_behind_a_restart_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sas");
        let mut first = Believed::open(&path).unwrap();
        assert!(first.lost().is_empty());
        for spi in 1..=5 {
            first.take(&notice(0x10, spi));
        }
        first.take(&notice(0x11, 2));
        first.take(&notice(0x10, 6));
        first.take(&notice(0x1a, 6));
        drop(first);
        // Nobody listened: the third one says it still. What is made anew is not told.
        drop(Believed::open(&path).unwrap());
        let mut third = Believed::open(&path).unwrap();
        third.take(&notice(0x10, 5));
        assert_eq!((spis(&third.lost()), spis(&third.lost())), (vec![1, 3, 4, 6], vec![1, 3, 4, 6]));
        drop(third);
        let mut fourth = Believed::open(&path).unwrap();
        assert_eq!(spis(&fourth.lost()), [5]);
        for spi in 1..=5 {
            fourth.take(&notice(0x10, spi));
        }
        fourth.take(&notice(0x1c, 0));
        drop(fourth);
        assert!(Believed::open(&path).unwrap().lost().is_empty());
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 5 * USERSA as u64, "places are used again");
    }

    #[test]
    fn any_bytes_are_no_sas_or_some() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sas");
        for bytes in [vec![], vec![0xff; 1000], vec![2; 223], vec![0; 2240]] {
            std::fs::write(&path, &bytes).unwrap();
            let mut believed = Believed::open(&path).unwrap();
            believed.take(&bytes);
            believed.take(&notice(0x10, 1));
            assert!(spis(&believed.lost()).len() <= 4);
        }
    }
}

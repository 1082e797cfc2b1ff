// SPDX-License-Identifier: Apache-2.0
//! intel-ipsec-mb for one message at a time: whole blocks of AES in counter mode and of what CBC decrypts, which do
//! not wait for each other. What CBC encrypts does, and stays with the portable software.

use std::cell::RefCell;
use std::sync::LazyLock;

use ace_engine::algorithm::{AES, TDES};
use ace_engine::{Algorithm, Direction, Mode};
use ace_ipsec_mb::ffi::{AesKey, Chained, Cipher, DesKey, Manager};

/// Below, handing it over costs more than it gains.
const LEAST: usize = 256;

thread_local! {
    static MANAGER: RefCell<Option<Manager>> = RefCell::new(Manager::open());
}

/// Whether the library has code for this machine.
pub fn is_there() -> bool {
    static THERE: LazyLock<bool> = LazyLock::new(|| with(|_| ()).is_some());
    *THERE
}

/// `None` where there is no manager, or the thread is ending.
#[inline]
pub fn with<R>(run: impl FnOnce(&mut Manager) -> R) -> Option<R> {
    MANAGER.try_with(|manager| Some(run(manager.try_borrow_mut().ok()?.as_mut()?))).ok().flatten()
}

pub enum BlockKey {
    Cbc(AesKey),
    Ctr(AesKey),
    Des(DesKey),
    Nothing,
}

impl BlockKey {
    pub fn new(algorithm: &Algorithm, mode: Mode, key: &[u8]) -> Self {
        let made = with(|manager| match mode {
            Mode::Cbc if *algorithm == AES => BlockKey::Cbc(manager.aes_key(key)),
            Mode::Ctr if *algorithm == AES => BlockKey::Ctr(manager.aes_key(key)),
            Mode::Cbc if *algorithm == TDES && manager.has_des() => BlockKey::Des(manager.des_key(key)),
            _ => BlockKey::Nothing,
        });
        made.unwrap_or(BlockKey::Nothing)
    }

    /// Whole blocks in place, if the library is used for them.
    #[inline]
    pub fn run(&self, direction: Direction, iv: &[u8], text: &mut [u8]) -> bool {
        if text.len() < LEAST {
            return false;
        }
        match (self, direction) {
            (BlockKey::Cbc(key), Direction::Decrypt) => one(Cipher::AesCbc(key), iv, text),
            (BlockKey::Ctr(key), _) if !count_wraps(iv, text.len()) => one(Cipher::AesCtr(key), iv, text),
            (BlockKey::Des(key), Direction::Decrypt) => parts(key, iv, text),
            _ => false,
        }
    }
}

/// The library counts in the last 32 bits of the block only.
fn count_wraps(iv: &[u8], len: usize) -> bool {
    iv.last_chunk::<4>().is_none_or(|count| {
        u64::from(u32::from_be_bytes(*count)) + len.div_ceil(16) as u64 > u64::from(u32::MAX)
    })
}

fn one(cipher: Cipher<'_>, iv: &[u8], text: &mut [u8]) -> bool {
    let mut good = false;
    let mut tag = [0; 64];
    let all = 0..text.len();
    // CBC is for decryption alone here, and counter mode is the same in both directions.
    let job = Chained {
        index: 0,
        encrypt: false,
        packet: text,
        cipher,
        text: all,
        iv,
        mac: None,
        over: 0..0,
        tag: &mut tag,
    };
    with(|manager| manager.run(std::iter::once(job), |done| good = done.is_good()));
    good
}

/// Lanes of the library's DES.
const LANES: usize = 16;

/// A run cut into as many parts as there are lanes: the IV of each is the block before it.
fn parts(key: &DesKey, iv: &[u8], text: &mut [u8]) -> bool {
    let part = (text.len() / 8).div_ceil(LANES) * 8;
    let mut ivs = [[0; 8]; LANES];
    ivs[0].copy_from_slice(iv);
    for (iv, at) in ivs[1..].iter_mut().zip((part..text.len()).step_by(part)) {
        iv.copy_from_slice(&text[at - 8..at]);
    }
    let mut tags = [[0; 64]; LANES];
    let jobs = text.chunks_mut(part).zip(&ivs).zip(&mut tags).zip(0..).map(|(((packet, iv), tag), index)| {
        let text = 0..packet.len();
        let cipher = Cipher::Des(key);
        Chained { index, encrypt: false, packet, cipher, text, iv, mac: None, over: 0..0, tag }
    });
    let mut good = true;
    let ran = with(|manager| manager.run(jobs, |done| good &= done.is_good()));
    ran.is_some() && good
}

// SPDX-License-Identifier: Apache-2.0
//! The C library behind safe functions. Whatever is handed to it is borrowed until it has given it back.

use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::{NonNull, null};

use zeroize::Zeroize;

/// As `ace_mb_job` in shim.c.
#[repr(C)]
struct Job {
    enc_keys: *const c_void,
    dec_keys: *const c_void,
    key_len: u64,
    packet: *mut u8,
    text_start: u64,
    text_len: u64,
    over_start: u64,
    over_len: u64,
    iv: *const u8,
    iv_len: u64,
    tag: *mut u8,
    tag_len: u64,
    inner: *const c_void,
    outer: *const c_void,
    aad: *const c_void,
    aad_len: u64,
    cipher: u32,
    hash: u32,
    encrypt: u32,
    index: u32,
}

/// What came of a chained job: the caller's number of it, and whether the library did it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// The [`Chained::index`] of the job.
    pub index: u32,
    good: u32,
}

impl Done {
    /// Whether the library did the job. If not, text and tag hold nothing of use.
    pub fn is_good(&self) -> bool {
        self.good != 0
    }
}

#[repr(C)]
pub(crate) struct Opaque {
    _private: [u8; 0],
}

unsafe extern "C" {
    fn ace_mb_open() -> *mut Opaque;
    fn ace_mb_has_des(manager: *const Opaque) -> u32;
    fn ace_mb_close(manager: *mut Opaque);
    fn ace_mb_version() -> *const c_char;
    fn ace_mb_gcm_key_size() -> u64;
    fn ace_mb_gcm_key(manager: *mut Opaque, key: *const u8, len: u64, expanded: *mut c_void);
    fn ace_mb_gcm(
        manager: *mut Opaque,
        key: *const c_void,
        key_len: u64,
        encrypt: u32,
        text: *mut u8,
        len: u64,
        nonce: *const u8,
        aad: *const u8,
        aad_len: u64,
        tag: *mut u8,
    );
    fn ace_mb_aes_key(manager: *mut Opaque, key: *const u8, len: u64, enc: *mut u8, dec: *mut u8);
    fn ace_mb_des_key(manager: *mut Opaque, key: *const u8, schedule: *mut u64);
    fn ace_mb_one_block(manager: *mut Opaque, hash: u32, block: *const u8, state: *mut u8);
    fn ace_mb_submit(manager: *mut Opaque, job: *const Job, done: *mut Done, room: u32) -> u32;
    fn ace_mb_flush(manager: *mut Opaque, done: *mut Done, room: u32) -> u32;
}

/// The library's hashes, by their place in shim.c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Hash {
    /// MD5 (RFC 1321).
    Md5 = 1,
    /// SHA-1 (FIPS 180-4).
    Sha1 = 2,
    /// SHA-224 (FIPS 180-4).
    Sha224 = 3,
    /// SHA-256 (FIPS 180-4).
    Sha256 = 4,
    /// SHA-384 (FIPS 180-4).
    Sha384 = 5,
    /// SHA-512 (FIPS 180-4).
    Sha512 = 6,
}

/// So that the instructions on whole cache lines find them. Words, because each is wiped by a store of its own.
#[repr(C, align(64))]
#[derive(Clone)]
struct Line([u64; 8]);

/// Key material in cache lines, wiped in place.
#[derive(Clone)]
pub struct Lines(Box<[Line]>);

impl Lines {
    pub(crate) fn zeros(bytes: usize) -> Self {
        Self(vec![Line([0; 8]); bytes.div_ceil(64)].into_boxed_slice())
    }

    pub(crate) fn as_ptr(&self) -> *const c_void {
        self.0.as_ptr().cast()
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }

    fn line(&self, at: usize) -> *const c_void {
        self.0[at..].as_ptr().cast()
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|line| line.0.zeroize());
    }
}

/// AES-GCM's expanded key with its powers of H.
pub struct GcmKey {
    pub(crate) lines: Lines,
    pub(crate) len: u64,
}

/// AES round keys of both directions, 240 bytes each, in 256.
pub struct AesKey {
    lines: Lines,
    len: u64,
}

/// One schedule of 128 bytes for DES, three for 3DES.
pub struct DesKey {
    lines: Lines,
    /// Those of 3DES one by one, as the library wants them; nulls for DES.
    schedules: Box<[*const c_void; 3]>,
}

// SAFETY: the pointers are into `lines`, which nothing changes after it was made and which does not move.
unsafe impl Send for DesKey {}
// SAFETY: as above.
unsafe impl Sync for DesKey {}

/// HMAC's two chaining states, a line each.
pub struct HmacKey {
    lines: Lines,
    hash: Hash,
}

/// The cipher of a chained job.
pub enum Cipher<'a> {
    /// No cipher: the MAC alone.
    None,
    /// AES in CBC mode (SP 800-38A, 6.2), with an IV of 16 bytes.
    AesCbc(&'a AesKey),
    /// AES in counter mode (SP 800-38A, 6.5); the IV is the first counter block.
    AesCtr(&'a AesKey),
    /// DES or 3DES in CBC mode, by its key.
    Des(&'a DesKey),
    /// With Poly1305 over this and the text.
    ChaCha {
        /// The key of ChaCha20 (RFC 8439, 2.4).
        key: &'a [u8; 32],
        /// Bytes that Poly1305 authenticates in front of the text.
        aad: &'a [u8],
    },
}

/// One packet for the job manager.
pub struct Chained<'a> {
    /// The caller's number of it.
    pub index: u32,
    /// Whether the cipher encrypts; then it works before the MAC, else behind it.
    pub encrypt: bool,
    /// The packet; the cipher changes it in place.
    pub packet: &'a mut [u8],
    /// What encrypts or decrypts.
    pub cipher: Cipher<'a>,
    /// The bytes of the packet that the cipher changes.
    pub text: Range<usize>,
    /// As long as the cipher needs.
    pub iv: &'a [u8],
    /// What authenticates; `None`: nothing but perhaps the cipher itself.
    pub mac: Option<&'a HmacKey>,
    /// The bytes of the packet that the MAC reads.
    pub over: Range<usize>,
    /// The whole tag comes here, in both directions.
    pub tag: &'a mut [u8; 64],
}

impl Chained<'_> {
    /// # Panics
    /// When a range is not in the packet.
    fn raw(self) -> Job {
        let (text, over) = (&self.packet[self.text.clone()], &self.packet[self.over.clone()]);
        let (text_len, over_len) = (text.len() as u64, over.len() as u64);
        let none = [null(); 2];
        let ((cipher, [enc_keys, dec_keys], key_len), aad): (_, &[u8]) = match &self.cipher {
            Cipher::None => ((0, none, 0), &[]),
            Cipher::AesCbc(key) => ((1, key.pointers(), key.len), &[]),
            Cipher::AesCtr(key) => ((2, key.pointers(), key.len), &[]),
            Cipher::Des(key) if key.schedules[0].is_null() => ((3, [key.lines.as_ptr(); 2], 8), &[]),
            Cipher::Des(key) => ((4, [key.schedules.as_ptr().cast(); 2], 24), &[]),
            Cipher::ChaCha { key, aad } => ((5, [key.as_ptr().cast(); 2], 32), aad),
        };
        let (hash, tag_len, [inner, outer]) = match (&self.cipher, self.mac) {
            (Cipher::ChaCha { .. }, _) => (7, 16, none),
            (_, None) => (0, 0, none),
            (_, Some(mac)) => (mac.hash as u32, mac.hash.tag_len(), [0, 1].map(|line| mac.lines.line(line))),
        };
        Job {
            enc_keys,
            dec_keys,
            key_len,
            packet: self.packet.as_mut_ptr(),
            text_start: self.text.start as u64,
            text_len,
            over_start: self.over.start as u64,
            over_len,
            iv: self.iv.as_ptr(),
            iv_len: self.iv.len() as u64,
            tag: self.tag.as_mut_ptr(),
            tag_len,
            inner,
            outer,
            aad: aad.as_ptr().cast(),
            aad_len: aad.len() as u64,
            cipher,
            hash,
            encrypt: self.encrypt.into(),
            index: self.index,
        }
    }
}

impl AesKey {
    fn pointers(&self) -> [*const c_void; 2] {
        [self.lines.line(0), self.lines.line(4)]
    }
}

impl Hash {
    /// Bytes of the whole tag.
    fn tag_len(self) -> u64 {
        match self {
            Hash::Md5 => 16,
            Hash::Sha1 => 20,
            Hash::Sha224 => 28,
            Hash::Sha256 => 32,
            Hash::Sha384 => 48,
            Hash::Sha512 => 64,
        }
    }
}

/// The library's state for one thread.
pub struct Manager {
    raw: NonNull<Opaque>,
    done: [Done; 32],
}

// SAFETY: the library keeps what a manager has in the manager; it belongs to whoever owns this.
unsafe impl Send for Manager {}

impl Manager {
    /// `None` if this machine is none for which the library has code.
    pub fn open() -> Option<Self> {
        // SAFETY: no arguments; the result is ours until it is closed.
        let raw = NonNull::new(unsafe { ace_mb_open() })?;
        Some(Self { raw, done: [Done::default(); 32] })
    }

    pub(crate) fn raw(&mut self) -> *mut Opaque {
        self.raw.as_ptr()
    }

    /// The library's version, as it writes it itself.
    pub fn version() -> String {
        // SAFETY: a constant string of the library.
        unsafe { CStr::from_ptr(ace_mb_version()) }.to_string_lossy().into_owned()
    }

    /// `key`: 16, 24 or 32 bytes.
    pub fn gcm_key(&self, key: &[u8]) -> GcmKey {
        // SAFETY: a size.
        let mut lines = Lines::zeros(unsafe { ace_mb_gcm_key_size() } as usize);
        let (len, expanded) = (key.len() as u64, lines.0.as_mut_ptr().cast());
        // SAFETY: `len` bytes are read; what is written has the size of the structure, and its alignment.
        unsafe { ace_mb_gcm_key(self.raw.as_ptr(), key.as_ptr(), len, expanded) };
        GcmKey { lines, len }
    }

    /// `key`: 16, 24 or 32 bytes.
    pub fn aes_key(&self, key: &[u8]) -> AesKey {
        let mut lines = Lines::zeros(512);
        let len = key.len() as u64;
        let enc = lines.0.as_mut_ptr().cast::<u8>();
        // SAFETY: `len` bytes are read, at most 240 written at each of two places 256 bytes apart, of 512.
        unsafe { ace_mb_aes_key(self.raw.as_ptr(), key.as_ptr(), len, enc, enc.add(256)) };
        AesKey { lines, len }
    }

    /// Whether the library's DES is one to be used: it has lanes for it with AVX-512 only.
    pub fn has_des(&self) -> bool {
        // SAFETY: a field of the open manager is read.
        unsafe { ace_mb_has_des(self.raw.as_ptr()) != 0 }
    }

    /// `key`: 8 or 24 bytes.
    pub fn des_key(&self, key: &[u8]) -> DesKey {
        let mut lines = Lines::zeros(key.len() * 16);
        for (part, lines) in key.chunks_exact(8).zip(lines.0.chunks_exact_mut(2)) {
            // SAFETY: 8 bytes are read and 16 words of 8 bytes written, which is two lines.
            unsafe { ace_mb_des_key(self.raw.as_ptr(), part.as_ptr(), lines.as_mut_ptr().cast()) };
        }
        let mut schedules = Box::new([null(); 3]);
        if key.len() == 24 {
            for (schedule, lines) in schedules.iter_mut().zip(lines.0.chunks_exact(2)) {
                *schedule = lines.as_ptr().cast();
            }
        }
        DesKey { lines, schedules }
    }

    /// `padded`: the key with zeros up to a block of the hash, 64 or 128 bytes.
    pub fn hmac_key(&self, hash: Hash, padded: &mut [u8]) -> HmacKey {
        let mut lines = Lines::zeros(128);
        assert!(matches!((hash, padded.len()), (Hash::Sha384 | Hash::Sha512, 128) | (_, 64)), "a block");
        for (mask, line) in [0x36, 0x5c ^ 0x36].into_iter().zip(lines.0.iter_mut()) {
            padded.iter_mut().for_each(|byte| *byte ^= mask);
            // SAFETY: a block of the hash is read, whose length was checked; a state of at most 64 bytes is written.
            unsafe {
                ace_mb_one_block(self.raw.as_ptr(), hash as u32, padded.as_ptr(), line.0.as_mut_ptr().cast())
            };
        }
        HmacKey { lines, hash }
    }

    /// AES-GCM in place; the whole tag comes back in both directions, and nothing is compared.
    pub fn gcm(
        &mut self,
        key: &GcmKey,
        encrypt: bool,
        nonce: &[u8; 12],
        aad: &[u8],
        text: &mut [u8],
    ) -> [u8; 16] {
        let mut tag = [0; 16];
        let (text_len, aad_len) = (text.len() as u64, aad.len() as u64);
        // SAFETY: every pointer is that of a slice or array of the length beside it or in the function's description,
        // and lives during the call.
        unsafe {
            ace_mb_gcm(
                self.raw.as_ptr(),
                key.lines.as_ptr(),
                key.len,
                encrypt.into(),
                text.as_mut_ptr(),
                text_len,
                nonce.as_ptr(),
                aad.as_ptr(),
                aad_len,
                tag.as_mut_ptr(),
            );
        }
        tag
    }

    /// Runs jobs of the job manager to their end. `done` hears of each.
    pub fn run<'a>(&mut self, jobs: impl Iterator<Item = Chained<'a>>, mut done: impl FnMut(Done)) {
        let room = self.done.len() as u32;
        let mut tell =
            |all: &[Done], count: u32| all.iter().take(count as usize).copied().for_each(&mut done);
        let mut borrowed = Held { manager: self, borrows: PhantomData::<&'a mut [u8]> };
        for job in jobs {
            let raw = job.raw();
            let manager = &mut *borrowed.manager;
            // SAFETY: the job's borrows live for 'a, which outlives `held`, and `held` waits for the library even when
            // something here panics. Ranges are inside the packet (`raw` has looked).
            let count = unsafe { ace_mb_submit(manager.raw.as_ptr(), &raw, manager.done.as_mut_ptr(), room) };
            tell(&manager.done, count);
        }
        loop {
            let count = borrowed.flush();
            if count == 0 {
                return;
            }
            tell(&borrowed.manager.done, count);
        }
    }
}

/// While this is there the library may hold pointers into borrowed memory.
struct Held<'m, B> {
    manager: &'m mut Manager,
    borrows: PhantomData<B>,
}

impl<B> Held<'_, B> {
    fn flush(&mut self) -> u32 {
        let room = self.manager.done.len() as u32;
        // SAFETY: there is room for that many.
        unsafe { ace_mb_flush(self.manager.raw.as_ptr(), self.manager.done.as_mut_ptr(), room) }
    }
}

impl<B> Drop for Held<'_, B> {
    fn drop(&mut self) {
        while self.flush() > 0 {}
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        // SAFETY: it was opened once and is closed once.
        unsafe { ace_mb_close(self.raw.as_ptr()) };
    }
}

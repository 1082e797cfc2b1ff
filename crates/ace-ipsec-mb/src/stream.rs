// SPDX-License-Identifier: Apache-2.0
//! AEADs whose message comes piece by piece.

use std::ffi::c_void;

use zeroize::Zeroizing;

use crate::ffi::{GcmKey, Lines, Manager, Opaque};

unsafe extern "C" {
    fn ace_mb_stream_size() -> u64;
    fn ace_mb_gcm_begin(
        manager: *mut Opaque,
        key: *const c_void,
        key_len: u64,
        state: *mut c_void,
        iv: *const u8,
        iv_len: u64,
        aad: *const u8,
        aad_len: u64,
    );
    fn ace_mb_gcm_piece(
        manager: *mut Opaque,
        key: *const c_void,
        key_len: u64,
        encrypt: u32,
        state: *mut c_void,
        to: *mut u8,
        from: *const u8,
        len: u64,
    );
    fn ace_mb_gcm_end(
        manager: *mut Opaque,
        key: *const c_void,
        key_len: u64,
        state: *mut c_void,
        tag: *mut u8,
    );
    fn ace_mb_chacha_begin(
        manager: *mut Opaque,
        key: *const u8,
        state: *mut c_void,
        iv: *const u8,
        aad: *const u8,
        aad_len: u64,
    );
    fn ace_mb_chacha_piece(
        manager: *mut Opaque,
        key: *const u8,
        encrypt: u32,
        state: *mut c_void,
        to: *mut u8,
        from: *const u8,
        len: u64,
    );
    fn ace_mb_chacha_end(manager: *mut Opaque, encrypt: u32, state: *mut c_void, tag: *mut u8);
}

/// A prepared key of an AEAD.
pub enum AeadKey {
    /// AES-GCM (SP 800-38D).
    Gcm(GcmKey),
    /// ChaCha20-Poly1305 (RFC 8439); the key in clear, because the library expands none.
    ChaCha(Zeroizing<[u8; 32]>),
}

/// The state of one message; wiped when it is dropped.
#[derive(Clone)]
pub struct Stream(Lines);

impl Default for Stream {
    fn default() -> Self {
        // SAFETY: a size.
        Self(Lines::zeros(unsafe { ace_mb_stream_size() } as usize))
    }
}

impl Stream {
    /// Begins a message. `iv`: 12 bytes, with GCM any number but none. False for another length.
    #[must_use]
    pub fn begin(&mut self, manager: &mut Manager, key: &AeadKey, iv: &[u8], aad: &[u8]) -> bool {
        if iv.is_empty() || (matches!(key, AeadKey::ChaCha(_)) && iv.len() != 12) {
            return false;
        }
        let (manager, state) = (manager.raw(), self.0.as_mut_ptr());
        let (iv, iv_len) = (iv.as_ptr(), iv.len() as u64);
        let (aad, aad_len) = (aad.as_ptr(), aad.len() as u64);
        // SAFETY: every pointer is that of a slice with its length, looked at above, or of what the library made; the
        // state is as large as the library says.
        unsafe {
            match key {
                AeadKey::Gcm(key) => {
                    ace_mb_gcm_begin(manager, key.lines.as_ptr(), key.len, state, iv, iv_len, aad, aad_len);
                }
                AeadKey::ChaCha(key) => {
                    ace_mb_chacha_begin(manager, key.as_ptr(), state, iv, aad, aad_len);
                }
            }
        }
        true
    }

    /// The next piece of the text, behind [`Stream::begin`] and under the same key.
    ///
    /// # Safety
    /// `len` bytes can be read at `from` and written at `to`, which is the same place or does not overlap.
    pub unsafe fn piece(
        &mut self,
        manager: &mut Manager,
        key: &AeadKey,
        encrypt: bool,
        from: *const u8,
        to: *mut u8,
        len: usize,
    ) {
        let (manager, state, len) = (manager.raw(), self.0.as_mut_ptr(), len as u64);
        // SAFETY: as the caller says, and as above.
        unsafe {
            match key {
                AeadKey::Gcm(key) => {
                    let expanded = key.lines.as_ptr();
                    ace_mb_gcm_piece(manager, expanded, key.len, encrypt.into(), state, to, from, len);
                }
                AeadKey::ChaCha(key) => {
                    ace_mb_chacha_piece(manager, key.as_ptr(), encrypt.into(), state, to, from, len);
                }
            }
        }
    }

    /// The whole tag; then another message may begin.
    pub fn end(&mut self, manager: &mut Manager, key: &AeadKey, encrypt: bool) -> [u8; 16] {
        let (manager, state) = (manager.raw(), self.0.as_mut_ptr());
        let mut tag = [0; 16];
        // SAFETY: as above; a tag has 16 bytes.
        unsafe {
            match key {
                AeadKey::Gcm(key) => {
                    ace_mb_gcm_end(manager, key.lines.as_ptr(), key.len, state, tag.as_mut_ptr());
                }
                AeadKey::ChaCha(_) => {
                    ace_mb_chacha_end(manager, encrypt.into(), state, tag.as_mut_ptr());
                }
            }
        }
        tag
    }
}

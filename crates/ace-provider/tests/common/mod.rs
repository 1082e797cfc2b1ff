// SPDX-License-Identifier: Apache-2.0
//! This machine's OpenSSL, loaded as a program would have it: twice, with its own providers and with ours alone.

use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};

use libloading::Library;

type Pointer = *mut c_void;

/// Not what is handed on.
pub const ENGINE: &std::ffi::CStr = c"ace.engine=yes";
/// What is handed on.
pub const HANDED_ON: &std::ffi::CStr = c"ace.engine=no";

/// OSSL_PARAM.
#[repr(C)]
pub struct Param {
    key: *const c_char,
    kind: u32,
    data: Pointer,
    size: usize,
    returned: usize,
}

impl Param {
    pub const END: Self = Self { key: null(), kind: 0, data: null_mut(), size: 0, returned: 0 };

    /// `kind` as in core.h: 1 and 2 numbers, 4 a text, 5 bytes.
    pub fn new(key: &'static std::ffi::CStr, kind: u32, data: &mut [u8]) -> Self {
        let data_at = data.as_mut_ptr().cast();
        Self { key: key.as_ptr(), kind, data: data_at, size: data.len(), returned: usize::MAX }
    }

    /// Whether somebody wrote to it (OSSL_PARAM_modified).
    pub fn answered(&self) -> bool {
        self.returned != usize::MAX
    }
}

/// A function of libcrypto; what it takes and gives is what its manual page says.
macro_rules! call {
    ($self:expr, $name:ident($($kind:ty),*) -> $result:ty, $($argument:expr),*) => {{
        let name = concat!(stringify!($name), "\0");
        // SAFETY: the type is that of its manual page.
        unsafe {
            let function = $self.library.get::<unsafe extern "C" fn($($kind),*) -> $result>(name.as_bytes());
            function.expect("libcrypto of OpenSSL 3")($($argument),*)
        }
    }};
}

/// OpenSSL with some providers.
pub struct Openssl {
    library: Library,
    context: Pointer,
}

impl Openssl {
    /// `None`, and a word about it, where there is no OpenSSL 3.
    pub fn load(ours: bool) -> Option<Self> {
        // SAFETY: its initialisers are those of every program that links it.
        let Ok(library) = (unsafe { Library::new("libcrypto.so.3") }) else {
            eprintln!("no libcrypto.so.3 on this machine: nothing was checked");
            return None;
        };
        let mut it = Self { library, context: null_mut() };
        it.context = call!(it, OSSL_LIB_CTX_new() -> Pointer,);
        assert!(!it.context.is_null());
        if ours {
            let mut folder = std::env::current_exe().expect("this program");
            // Cargo builds the library for this test and leaves it beside it.
            folder.pop();
            it.search(&folder);
            it.provide("libace_provider");
            it.prefer(ENGINE);
        } else {
            it.provide("default");
            it.provide("legacy");
        }
        Some(it)
    }

    fn search(&self, folder: &Path) {
        let folder = CString::new(folder.as_os_str().as_encoded_bytes()).expect("a path");
        let set = call!(
            self,
            OSSL_PROVIDER_set_default_search_path(Pointer, *const c_char) -> c_int,
            self.context,
            folder.as_ptr()
        );
        assert_eq!(set, 1);
    }

    /// What is fetched from now on has these properties.
    pub fn prefer(&self, properties: &std::ffi::CStr) {
        let set = call!(
            self,
            EVP_set_default_properties(Pointer, *const c_char) -> c_int,
            self.context,
            properties.as_ptr()
        );
        assert_eq!(set, 1);
    }

    fn provide(&self, name: &str) {
        let text = CString::new(name).expect("a name");
        let loaded =
            call!(self, OSSL_PROVIDER_load(Pointer, *const c_char) -> Pointer, self.context, text.as_ptr());
        // Some machines have no module `legacy`.
        assert!(!loaded.is_null() || name == "legacy", "{name}");
    }

    pub fn cipher(&self, name: &str) -> Option<Cipher<'_>> {
        let name = CString::new(name).expect("a name");
        let kind = call!(
            self,
            EVP_CIPHER_fetch(Pointer, *const c_char, *const c_char) -> Pointer,
            self.context,
            name.as_ptr(),
            null()
        );
        if kind.is_null() {
            return None;
        }
        let context = call!(self, EVP_CIPHER_CTX_new() -> Pointer,);
        Some(Cipher { openssl: self, kind, context, named: Cell::new(false) })
    }

    /// The digest of pieces; `None` if there is no such digest.
    pub fn digest(&self, name: &str, pieces: &[&[u8]]) -> Option<Vec<u8>> {
        let name = CString::new(name).expect("a name");
        let kind = call!(
            self,
            EVP_MD_fetch(Pointer, *const c_char, *const c_char) -> Pointer,
            self.context,
            name.as_ptr(),
            null()
        );
        if kind.is_null() {
            return None;
        }
        let context = call!(self, EVP_MD_CTX_new() -> Pointer,);
        assert_eq!(
            call!(self, EVP_DigestInit_ex2(Pointer, Pointer, *const Param) -> c_int, context, kind, null()),
            1
        );
        let mut now = context;
        for (at, piece) in pieces.iter().enumerate() {
            assert_eq!(
                call!(
                    self,
                    EVP_DigestUpdate(Pointer, *const u8, usize) -> c_int,
                    now,
                    piece.as_ptr(),
                    piece.len()
                ),
                1
            );
            // It goes on in a copy.
            if at == 1 {
                let copy = call!(self, EVP_MD_CTX_new() -> Pointer,);
                assert_eq!(call!(self, EVP_MD_CTX_copy_ex(Pointer, Pointer) -> c_int, copy, now), 1);
                call!(self, EVP_MD_CTX_free(Pointer) -> (), now);
                now = copy;
            }
        }
        let (mut out, mut len) = (vec![0; 64], 0u32);
        assert_eq!(
            call!(
                self,
                EVP_DigestFinal_ex(Pointer, *mut u8, *mut u32) -> c_int,
                now,
                out.as_mut_ptr(),
                &raw mut len
            ),
            1
        );
        call!(self, EVP_MD_CTX_free(Pointer) -> (), now);
        call!(self, EVP_MD_free(Pointer) -> (), kind);
        out.truncate(len as usize);
        Some(out)
    }

    /// Whether a digest begins with parameters, and whether it answers them when it is asked itself.
    pub fn digest_takes(&self, name: &std::ffi::CStr, given: &[Param], asked: &mut [Param]) -> (bool, bool) {
        let kind = call!(
            self,
            EVP_MD_fetch(Pointer, *const c_char, *const c_char) -> Pointer,
            self.context,
            name.as_ptr(),
            null()
        );
        let context = call!(self, EVP_MD_CTX_new() -> Pointer,);
        let begun = call!(
            self,
            EVP_DigestInit_ex2(Pointer, Pointer, *const Param) -> c_int,
            context,
            kind,
            given.as_ptr()
        );
        let told = call!(self, EVP_MD_get_params(Pointer, *mut Param) -> c_int, kind, asked.as_mut_ptr());
        call!(self, EVP_MD_CTX_free(Pointer) -> (), context);
        call!(self, EVP_MD_free(Pointer) -> (), kind);
        (begun == 1, told == 1)
    }

    /// Whether HMAC with SHA-256 takes parameters, and whether it answers them.
    pub fn hmac_takes(&self, given: &[Param], asked: &mut [Param]) -> (bool, bool) {
        let kind = call!(
            self,
            EVP_MAC_fetch(Pointer, *const c_char, *const c_char) -> Pointer,
            self.context,
            c"HMAC".as_ptr(),
            null()
        );
        let context = call!(self, EVP_MAC_CTX_new(Pointer) -> Pointer, kind);
        let mut digest = *b"SHA256";
        let params = [Param::new(c"digest", 4, &mut digest), Param::END];
        let init = call!(
            self,
            EVP_MAC_init(Pointer, *const u8, usize, *const Param) -> c_int,
            context,
            [1; 9].as_ptr(),
            9,
            params.as_ptr()
        );
        assert_eq!(init, 1);
        let set =
            call!(self, EVP_MAC_CTX_set_params(Pointer, *const Param) -> c_int, context, given.as_ptr());
        let told =
            call!(self, EVP_MAC_CTX_get_params(Pointer, *mut Param) -> c_int, context, asked.as_mut_ptr());
        call!(self, EVP_MAC_CTX_free(Pointer) -> (), context);
        call!(self, EVP_MAC_free(Pointer) -> (), kind);
        (set == 1, told == 1)
    }

    /// HMAC of pieces, computed twice with one context; `None` if it is refused.
    pub fn hmac(&self, digest: &str, key: &[u8], pieces: &[&[u8]]) -> Option<Vec<u8>> {
        let kind = call!(
            self,
            EVP_MAC_fetch(Pointer, *const c_char, *const c_char) -> Pointer,
            self.context,
            c"HMAC".as_ptr(),
            null()
        );
        let context = call!(self, EVP_MAC_CTX_new(Pointer) -> Pointer, kind);
        // OpenSSL's own looks for a zero behind it.
        let mut text = [digest.as_bytes(), &[0]].concat();
        let params = [Param::new(c"digest", 4, &mut text[..digest.len()]), Param::END];
        let mut now = (key.as_ptr(), key.len(), params.as_ptr());
        let mut answers = Vec::new();
        for _ in 0..2 {
            let begun = call!(
                self,
                EVP_MAC_init(Pointer, *const u8, usize, *const Param) -> c_int,
                context,
                now.0,
                now.1,
                now.2
            );
            if begun != 1 {
                break;
            }
            // The same key and digest again.
            now = (null(), 0, null());
            for piece in pieces {
                assert_eq!(
                    call!(
                        self,
                        EVP_MAC_update(Pointer, *const u8, usize) -> c_int,
                        context,
                        piece.as_ptr(),
                        piece.len()
                    ),
                    1
                );
            }
            let (mut out, mut len) = (vec![0; 64], 0);
            assert_eq!(
                call!(
                    self,
                    EVP_MAC_final(Pointer, *mut u8, *mut usize, usize) -> c_int,
                    context,
                    out.as_mut_ptr(),
                    &raw mut len,
                    64
                ),
                1
            );
            out.truncate(len);
            answers.push(out);
        }
        call!(self, EVP_MAC_CTX_free(Pointer) -> (), context);
        call!(self, EVP_MAC_free(Pointer) -> (), kind);
        let [first, second] = <[Vec<u8>; 2]>::try_from(answers).ok()?;
        assert_eq!(first, second);
        Some(first)
    }
}

/// A cipher and a context for it.
pub struct Cipher<'o> {
    openssl: &'o Openssl,
    kind: Pointer,
    context: Pointer,
    /// Whether the context knows the cipher. To name it again begins from nothing.
    named: Cell<bool>,
}

pub const SET_IV_LEN: c_int = 0x9;
pub const GET_TAG: c_int = 0x10;
pub const SET_TAG: c_int = 0x11;
pub const SET_IV_FIXED: c_int = 0x12;
pub const IV_GEN: c_int = 0x13;
pub const TLS_AAD: c_int = 0x16;
pub const SET_IV_INV: c_int = 0x18;

impl Cipher<'_> {
    /// What is `None` stays as it is.
    pub fn begin(&self, encrypt: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> bool {
        self.begin_with(encrypt, key, iv, &[Param::END])
    }

    pub fn begin_with(&self, encrypt: bool, key: Option<&[u8]>, iv: Option<&[u8]>, params: &[Param]) -> bool {
        let kind = if self.named.replace(true) { null_mut() } else { self.kind };
        let at = |bytes: Option<&[u8]>| bytes.map_or(null(), <[u8]>::as_ptr);
        let begun = call!(
            self.openssl,
            EVP_CipherInit_ex2(Pointer, Pointer, *const u8, *const u8, c_int, *const Param) -> c_int,
            self.context,
            kind,
            at(key),
            at(iv),
            encrypt.into(),
            params.as_ptr()
        );
        begun == 1
    }

    pub fn pad(&self, on: bool) {
        call!(self.openssl, EVP_CIPHER_CTX_set_padding(Pointer, c_int) -> c_int, self.context, on.into());
    }

    pub fn set(&self, params: &[Param]) -> bool {
        call!(
            self.openssl,
            EVP_CIPHER_CTX_set_params(Pointer, *const Param) -> c_int,
            self.context,
            params.as_ptr()
        ) == 1
    }

    pub fn ask(&self, params: &mut [Param]) -> bool {
        call!(
            self.openssl,
            EVP_CIPHER_CTX_get_params(Pointer, *mut Param) -> c_int,
            self.context,
            params.as_mut_ptr()
        ) == 1
    }

    pub fn control(&self, what: c_int, bytes: &mut [u8]) -> c_int {
        self.control_len(what, bytes.len(), bytes)
    }

    pub fn control_len(&self, what: c_int, len: usize, bytes: &mut [u8]) -> c_int {
        call!(self.openssl, EVP_CIPHER_CTX_ctrl(Pointer, c_int, c_int, Pointer) -> c_int,
            self.context, what, len as c_int, if bytes.is_empty() { null_mut() } else { bytes.as_mut_ptr().cast() })
    }

    pub fn associate(&self, piece: &[u8]) -> bool {
        let mut len = 0;
        call!(
            self.openssl,
            EVP_CipherUpdate(Pointer, *mut u8, *mut c_int, *const u8, c_int) -> c_int,
            self.context,
            null_mut(),
            &raw mut len,
            piece.as_ptr(),
            piece.len() as c_int
        ) == 1
    }

    /// What comes out for a piece.
    pub fn update(&self, piece: &[u8]) -> Option<Vec<u8>> {
        let (mut out, mut len) = (vec![0; piece.len() + 32], 0);
        let good = call!(
            self.openssl,
            EVP_CipherUpdate(Pointer, *mut u8, *mut c_int, *const u8, c_int) -> c_int,
            self.context,
            out.as_mut_ptr(),
            &raw mut len,
            piece.as_ptr(),
            piece.len() as c_int
        );
        out.truncate(len as usize);
        (good == 1).then_some(out)
    }

    /// The same in its own place.
    pub fn update_in_place(&self, text: &mut [u8]) -> Option<usize> {
        let mut len = 0;
        let good = call!(
            self.openssl,
            EVP_CipherUpdate(Pointer, *mut u8, *mut c_int, *const u8, c_int) -> c_int,
            self.context,
            text.as_mut_ptr(),
            &raw mut len,
            text.as_ptr(),
            text.len() as c_int
        );
        (good == 1).then_some(len as usize)
    }

    pub fn finish(&self) -> Option<Vec<u8>> {
        let (mut out, mut len) = (vec![0; 64], 0);
        let good = call!(
            self.openssl,
            EVP_CipherFinal_ex(Pointer, *mut u8, *mut c_int) -> c_int,
            self.context,
            out.as_mut_ptr(),
            &raw mut len
        );
        out.truncate(len as usize);
        (good == 1).then_some(out)
    }

    /// It goes on in a copy of its context.
    pub fn move_to_copy(&mut self) {
        let copy = call!(self.openssl, EVP_CIPHER_CTX_new() -> Pointer,);
        assert_eq!(
            call!(self.openssl, EVP_CIPHER_CTX_copy(Pointer, Pointer) -> c_int, copy, self.context),
            1
        );
        call!(self.openssl, EVP_CIPHER_CTX_free(Pointer) -> (), self.context);
        self.context = copy;
    }
}

impl Drop for Cipher<'_> {
    fn drop(&mut self) {
        call!(self.openssl, EVP_CIPHER_CTX_free(Pointer) -> (), self.context);
        call!(self.openssl, EVP_CIPHER_free(Pointer) -> (), self.kind);
    }
}

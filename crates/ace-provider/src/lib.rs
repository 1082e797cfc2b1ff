// SPDX-License-Identifier: Apache-2.0
//! `libace_provider.so`: an OSSL provider (OpenSSL 3) whose ciphers, digests and HMAC are those of ACE's CPU engine
//! (docs/provider.md). It is bound to nothing of OpenSSL but the tables of [`abi`]: no header, no libcrypto.
//!
//! Pointers that OpenSSL passes are believed, as everything in its process does; what they point to is not: lengths,
//! types and the order of calls are looked at, and what does not fit is refused with a reason.
// Functions that a C program calls: their arguments are pointers.
#![allow(unsafe_code)]

mod abi;
#[cfg(feature = "ipsec-mb")]
mod aead;
#[cfg(feature = "ipsec-mb")]
mod aead_call;
mod cipher;
mod cipher_call;
mod digest;
mod mac;
#[cfg(feature = "ipsec-mb")]
mod native;

use std::ffi::{c_int, c_void};
use std::ptr;

use abi::{Algorithm, Core, Dispatch, END, Item, Param, REASONS, entry};

static GETTABLE: [Param; 4] =
    [Param::text_ptr(c"name"), Param::text_ptr(c"version"), Param::number(c"status"), Param::END];

unsafe extern "C" fn gettable(_: *mut c_void) -> *const Param {
    GETTABLE.as_ptr()
}

unsafe extern "C" fn get_params(_: *mut c_void, params: *mut Param) -> c_int {
    const VERSION: &std::ffi::CStr =
        match std::ffi::CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version has no zeros"),
        };
    // SAFETY: OpenSSL's parameters.
    let good = unsafe { abi::each(params) }.all(|param| match param.name() {
        b"name" => param.set_text(c"ACE Provider"),
        b"version" | b"buildinfo" => param.set_text(VERSION),
        b"status" => param.set_number(1),
        _ => true,
    });
    good.into()
}

unsafe extern "C" fn query(_: *mut c_void, operation: c_int, no_cache: *mut c_int) -> *const Algorithm {
    // SAFETY: a place for a number.
    if let Some(no_cache) = unsafe { no_cache.as_mut() } {
        *no_cache = 0;
    }
    match operation {
        1 => digest::ALGORITHMS.as_ptr(),
        #[cfg(feature = "ipsec-mb")]
        2 if native::is_there() => aead_call::WITH_AEAD.as_ptr(),
        2 => cipher_call::ALGORITHMS.as_ptr(),
        3 => mac::ALGORITHMS.as_ptr(),
        _ => ptr::null(),
    }
}

unsafe extern "C" fn reasons(_: *mut c_void) -> *const Item {
    REASONS.as_ptr()
}

unsafe extern "C" fn teardown(provider: *mut c_void) {
    // SAFETY: made by `OSSL_provider_init`, which is called once for it; nothing is called afterwards.
    drop(unsafe { Box::from_raw(provider.cast::<Core>()) });
}

static TABLE: [Dispatch; 6] = [
    entry!(1024, teardown, fn(*mut c_void)),
    entry!(1025, gettable, fn(*mut c_void) -> *const Param),
    entry!(1026, get_params, fn(*mut c_void, *mut Param) -> c_int),
    entry!(1027, query, fn(*mut c_void, c_int, *mut c_int) -> *const Algorithm),
    entry!(1029, reasons, fn(*mut c_void) -> *const Item),
    END,
];

/// # Safety
/// As provider-base(7).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn OSSL_provider_init(
    handle: *const c_void,
    from_core: *const Dispatch,
    to_core: *mut *const Dispatch,
    provider: *mut *mut c_void,
) -> c_int {
    // SAFETY: OpenSSL's table, and places for two pointers.
    unsafe {
        *provider = Box::into_raw(Box::new(Core::new(handle, from_core))).cast();
        *to_core = TABLE.as_ptr();
    }
    1
}

/// What [`OSSL_provider_init`] made.
///
/// # Safety
/// `provider` is what OpenSSL was given there.
unsafe fn core_of(provider: *mut c_void) -> Core {
    // SAFETY: as the caller says.
    unsafe { *provider.cast::<Core>() }
}

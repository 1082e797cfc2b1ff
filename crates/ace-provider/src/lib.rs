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
mod call;
mod cipher;
mod cipher_call;
mod digest;
mod mac;
pub mod names;
#[cfg(feature = "ipsec-mb")]
mod native;
mod stock;

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use abi::{Algorithm, Core, Dispatch, END, Function, Item, Param, REASONS, entry};
use stock::{MOST, Rows, Stock};

/// What OpenSSL has a pointer to: this provider as it was loaded once.
struct Provider {
    core: Core,
    /// Made when it is asked for the first time: a program that only loads us pays for nothing. What is handed on goes
    /// before what it is of.
    offers: OnceLock<Offers>,
}

struct Offers {
    digests: Rows,
    ciphers: Rows,
    macs: Rows,
    _stock: Option<Stock>,
}

/// Numbers of operations.
const DIGEST: c_int = 1;
const CIPHER: c_int = 2;
const MAC: c_int = 3;

impl Offers {
    fn new(core: &Core) -> Self {
        let stock = core.some.and_then(Stock::open);
        let rows = |operation, own, new: &[Option<Function>]| Rows::new(stock.as_ref(), operation, own, new);
        #[cfg(feature = "ipsec-mb")]
        let ciphers = match native::is_there() {
            // The AES-GCM in front is faster here.
            true => rows(CIPHER, &aead_call::WITH_AEAD, &from_third()),
            false => rows(CIPHER, &cipher_call::ALGORITHMS, &handed::<CIPHER>()),
        };
        #[cfg(not(feature = "ipsec-mb"))]
        let ciphers = rows(CIPHER, &cipher_call::ALGORITHMS, &handed::<CIPHER>());
        let digests = rows(DIGEST, &digest::ALGORITHMS, &handed::<DIGEST>());
        let macs = rows(MAC, &mac::ALGORITHMS, &handed::<MAC>());
        Self { digests, ciphers, macs, _stock: stock }
    }

    fn of(&self, operation: c_int) -> Option<&Rows> {
        match operation {
            DIGEST => Some(&self.digests),
            CIPHER => Some(&self.ciphers),
            MAC => Some(&self.macs),
            _ => None,
        }
    }
}

/// A context of OpenSSL's for one of the rows that are handed on.
unsafe extern "C" fn theirs<const OPERATION: c_int, const ROW: usize>(provider: *mut c_void) -> *mut c_void {
    // SAFETY: OpenSSL passes what it was given.
    let provider = unsafe { &*provider.cast::<Provider>() };
    let rows = provider.offers.get().and_then(|offers| offers.of(OPERATION));
    rows.and_then(|rows| rows.makers[ROW]).map_or(ptr::null_mut(), stock::Maker::make)
}

const fn maker<const OPERATION: c_int, const ROW: usize>() -> Option<Function> {
    entry!(1, theirs::<OPERATION, ROW>, fn(*mut c_void) -> *mut c_void).function
}

const fn handed<const OPERATION: c_int>() -> [Option<Function>; MOST] {
    [
        maker::<OPERATION, 0>(),
        maker::<OPERATION, 1>(),
        maker::<OPERATION, 2>(),
        maker::<OPERATION, 3>(),
        maker::<OPERATION, 4>(),
        maker::<OPERATION, 5>(),
        maker::<OPERATION, 6>(),
        maker::<OPERATION, 7>(),
        maker::<OPERATION, 8>(),
        maker::<OPERATION, 9>(),
        maker::<OPERATION, 10>(),
        maker::<OPERATION, 11>(),
        maker::<OPERATION, 12>(),
        maker::<OPERATION, 13>(),
        maker::<OPERATION, 14>(),
        maker::<OPERATION, 15>(),
        maker::<OPERATION, 16>(),
    ]
}

/// But the first three.
#[cfg(feature = "ipsec-mb")]
const fn from_third() -> [Option<Function>; MOST] {
    let [_, _, _, rest @ ..] = handed::<CIPHER>();
    let mut all = [None; MOST];
    let mut at = 0;
    while at < rest.len() {
        all[at + 3] = rest[at];
        at += 1;
    }
    all
}

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

unsafe extern "C" fn query(
    provider: *mut c_void,
    operation: c_int,
    no_cache: *mut c_int,
) -> *const Algorithm {
    // SAFETY: OpenSSL passes what it was given, and a place for a number.
    let provider = unsafe {
        if let Some(no_cache) = no_cache.as_mut() {
            *no_cache = 0;
        }
        &*provider.cast::<Provider>()
    };
    if !(DIGEST..=MAC).contains(&operation) {
        return ptr::null();
    }
    let offers = provider.offers.get_or_init(|| Offers::new(&provider.core));
    offers.of(operation).map_or(ptr::null(), Rows::as_ptr)
}

unsafe extern "C" fn reasons(_: *mut c_void) -> *const Item {
    REASONS.as_ptr()
}

unsafe extern "C" fn teardown(provider: *mut c_void) {
    // SAFETY: made by `OSSL_provider_init`, which is called once for it; nothing is called afterwards.
    drop(unsafe { Box::from_raw(provider.cast::<Provider>()) });
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
        let made = Provider { core: Core::new(handle, from_core), offers: OnceLock::new() };
        *provider = Box::into_raw(Box::new(made)).cast();
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
    unsafe { (*provider.cast::<Provider>()).core }
}

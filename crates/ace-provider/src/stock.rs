// SPDX-License-Identifier: Apache-2.0
//! What OpenSSL itself has, handed on as it is: where its own code is faster than the engine, whoever asks for this
//! provider gets OpenSSL's functions, called without a detour. Its providers `default` and `legacy` are loaded once
//! more, into a context of libcrypto that nobody else sees, and asked for their tables, all of it by public functions
//! of the libcrypto that loaded this provider. Where that cannot be had (a program that is linked statically), the
//! engine computes.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use crate::abi::{Algorithm, Dispatch, END, Function};

type Pointer = *mut c_void;
type New = unsafe extern "C" fn(Pointer) -> Pointer;

/// The number of `newctx` in the tables of ciphers, digests and MACs.
const NEW: c_int = 1;
/// Rows of one operation at most.
pub const MOST: usize = 17;

/// Functions of libcrypto, by the types of their manual pages.
struct Libcrypto {
    new_context: unsafe extern "C" fn() -> Pointer,
    free_context: unsafe extern "C" fn(Pointer),
    load: unsafe extern "C" fn(Pointer, *const c_char) -> Pointer,
    unload: unsafe extern "C" fn(Pointer) -> c_int,
    provider_context: unsafe extern "C" fn(Pointer) -> Pointer,
    query: unsafe extern "C" fn(Pointer, c_int, *mut c_int) -> *const Algorithm,
    handle: Pointer,
}

impl Libcrypto {
    /// That which has this function.
    fn of(function: Function) -> Option<Self> {
        // SAFETY: functions of the C library; the names are those of libcrypto, whose functions have these types in
        // every version 3. The library is in memory already: nothing is loaded, and it stays until `drop`.
        unsafe {
            let mut found: libc::Dl_info = std::mem::zeroed();
            if libc::dladdr(function as *const c_void, &raw mut found) == 0 || found.dli_fname.is_null() {
                return None;
            }
            let handle = libc::dlopen(found.dli_fname, libc::RTLD_NOLOAD | libc::RTLD_LAZY);
            if handle.is_null() {
                return None;
            }
            let symbol = |name: &CStr| {
                let symbol = libc::dlsym(handle, name.as_ptr());
                (!symbol.is_null()).then_some(symbol)
            };
            let made = (|| {
                Some(Self {
                    new_context: std::mem::transmute::<Pointer, unsafe extern "C" fn() -> Pointer>(symbol(
                        c"OSSL_LIB_CTX_new",
                    )?),
                    free_context: std::mem::transmute::<Pointer, unsafe extern "C" fn(Pointer)>(symbol(
                        c"OSSL_LIB_CTX_free",
                    )?),
                    load: std::mem::transmute::<
                        Pointer,
                        unsafe extern "C" fn(Pointer, *const c_char) -> Pointer,
                    >(symbol(c"OSSL_PROVIDER_load")?),
                    unload: std::mem::transmute::<Pointer, unsafe extern "C" fn(Pointer) -> c_int>(symbol(
                        c"OSSL_PROVIDER_unload",
                    )?),
                    provider_context: std::mem::transmute::<Pointer, New>(symbol(
                        c"OSSL_PROVIDER_get0_provider_ctx",
                    )?),
                    query: std::mem::transmute::<
                        Pointer,
                        unsafe extern "C" fn(Pointer, c_int, *mut c_int) -> *const Algorithm,
                    >(symbol(c"OSSL_PROVIDER_query_operation")?),
                    handle,
                })
            })();
            if made.is_none() {
                libc::dlclose(handle);
            }
            made
        }
    }
}

/// OpenSSL's providers, in a context of their own.
pub struct Stock {
    libcrypto: Libcrypto,
    context: Pointer,
    /// `default`, and `legacy` where it is installed.
    providers: Vec<Pointer>,
}

/// A row of OpenSSL's: what makes its contexts.
#[derive(Clone, Copy)]
pub struct Maker {
    new: New,
    provider: Pointer,
}

impl Maker {
    /// A context of OpenSSL's; null if there is no memory for it.
    pub fn make(self) -> Pointer {
        // SAFETY: its own function with its own context, as OpenSSL would call it.
        unsafe { (self.new)(self.provider) }
    }
}

impl Stock {
    /// By some function of the libcrypto that there is. `None` where it cannot be asked.
    pub fn open(function: Function) -> Option<Self> {
        let libcrypto = Libcrypto::of(function)?;
        // SAFETY: as the manual pages have it; `drop` gives everything back.
        unsafe {
            let context = (libcrypto.new_context)();
            let mut stock = Self { libcrypto, context, providers: Vec::new() };
            if context.is_null() {
                return None;
            }
            for name in [c"default", c"legacy"] {
                let provider = (stock.libcrypto.load)(context, name.as_ptr());
                if !provider.is_null() {
                    stock.providers.push(provider);
                }
            }
            (!stock.providers.is_empty()).then_some(stock)
        }
    }

    /// OpenSSL's table for an algorithm with one of these names, with another function that makes contexts: it gets
    /// the context of our provider, and [`Maker::make`] knows OpenSSL's.
    pub fn table(&self, operation: c_int, names: &CStr, new: Function) -> Option<(Maker, Box<[Dispatch]>)> {
        for &provider in &self.providers {
            // SAFETY: loaded and not unloaded; tables and names stay as long as it is, and end as core.h says.
            unsafe {
                let mut no_cache = 0;
                let mut row = (self.libcrypto.query)(provider, operation, &raw mut no_cache);
                while let Some(algorithm) = row.as_ref().filter(|row| !row.names.is_null()) {
                    row = row.add(1);
                    if !same(CStr::from_ptr(algorithm.names), names) {
                        continue;
                    }
                    let theirs = (self.libcrypto.provider_context)(provider);
                    return replaced(algorithm.implementation, new)
                        .map(|(new, table)| (Maker { new, provider: theirs }, table));
                }
            }
        }
        None
    }
}

impl Drop for Stock {
    fn drop(&mut self) {
        // SAFETY: what `open` made, once; our provider goes, and with it everything that was made by these tables.
        unsafe {
            for provider in self.providers.drain(..) {
                (self.libcrypto.unload)(provider);
            }
            if !self.context.is_null() {
                (self.libcrypto.free_context)(self.context);
            }
            libc::dlclose(self.libcrypto.handle);
        }
    }
}

/// Whether two lists of names, with colons between them, begin with the same one.
fn same(a: &CStr, b: &CStr) -> bool {
    let first =
        |names: &CStr| names.to_bytes().split(|byte| *byte == b':').next().unwrap_or_default().to_vec();
    first(a).eq_ignore_ascii_case(&first(b))
}

/// A copy of a table with another `newctx`, and the one that it had.
///
/// # Safety
/// A table of OpenSSL's, which the number 0 ends.
unsafe fn replaced(mut from: *const Dispatch, new: Function) -> Option<(New, Box<[Dispatch]>)> {
    let (mut table, mut theirs) = (Vec::new(), None);
    // SAFETY: as the caller says.
    while let Some(entry) = unsafe { from.as_ref() }.filter(|entry| entry.id != 0) {
        let mut function = entry.function;
        if entry.id == NEW {
            // SAFETY: what has this number has this type.
            theirs = function.map(|function| unsafe { std::mem::transmute::<Function, New>(function) });
            function = Some(new);
        }
        table.push(Dispatch { id: entry.id, function });
        // SAFETY: this one is not the end.
        from = unsafe { from.add(1) };
    }
    table.push(END);
    Some((theirs?, table.into()))
}

/// What of one operation is handed on, followed by what the engine has: for whoever says no more than
/// `provider=ace`, OpenSSL takes the first.
pub struct Rows {
    pub makers: [Option<Maker>; MOST],
    /// As long as `algorithms`, whose pointers are to these.
    _tables: Vec<Box<[Dispatch]>>,
    algorithms: Vec<Algorithm>,
}

/// For whoever asks for this provider and not for its engine.
const HANDED_ON: &CStr = c"provider=ace,ace.take=no,ace.engine=no";

impl Rows {
    /// `own` ends as core.h says. `new` has a function for each row that may be handed on: the others are the
    /// engine's alone.
    pub fn new(
        stock: Option<&Stock>,
        operation: c_int,
        own: &'static [Algorithm],
        new: &[Option<Function>],
    ) -> Self {
        let mut rows = Self { makers: [None; MOST], _tables: Vec::new(), algorithms: Vec::new() };
        for ((row, new), maker) in own.iter().zip(new).zip(&mut rows.makers) {
            // SAFETY: one of our rows: its names are a constant.
            let names = (!row.names.is_null()).then(|| unsafe { CStr::from_ptr(row.names) });
            let (Some(stock), Some(names), Some(new)) = (stock, names, *new) else { continue };
            if let Some((made, table)) = stock.table(operation, names, new) {
                *maker = Some(made);
                rows.algorithms.push(Algorithm {
                    names: row.names,
                    properties: HANDED_ON.as_ptr(),
                    implementation: table.as_ptr(),
                    description: ptr::null(),
                });
                rows._tables.push(table);
            }
        }
        rows.algorithms.extend(own.iter().map(|row| Algorithm { ..*row }));
        rows
    }

    pub fn as_ptr(&self) -> *const Algorithm {
        self.algorithms.as_ptr()
    }
}

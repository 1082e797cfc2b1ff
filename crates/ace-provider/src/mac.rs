// SPDX-License-Identifier: Apache-2.0
//! The functions of provider-mac(7) for HMAC. It takes the digests of this provider alone, so it never stands in for
//! OpenSSL's unless it is asked for by name.

use std::ffi::{c_int, c_uchar, c_void};
use std::slice;

use ace_engine::Algorithm as Row;
use ace_engine::evp::DIGESTS;
use ace_engine::software::mac::Running;
use ace_engine::software::table;

use crate::abi::{self, Algorithm, Core, Dispatch, END, Param, Reason, entry};
use crate::cipher_call::ASKED;
use crate::digest::{lengths, put};

struct Handle {
    core: Core,
    row: Option<&'static Row>,
    /// Behind a key.
    running: Option<Box<dyn Running>>,
}

unsafe extern "C" fn new(provider: *mut c_void) -> *mut c_void {
    // SAFETY: OpenSSL passes what it was given.
    let core = unsafe { crate::core_of(provider) };
    Box::into_raw(Box::new(Handle { core, row: None, running: None })).cast()
}

unsafe extern "C" fn copy(context: *mut c_void) -> *mut c_void {
    // SAFETY: one of `new`.
    let Handle { core, row, running } = unsafe { &*context.cast::<Handle>() };
    let running = running.as_ref().map(|running| running.copy());
    Box::into_raw(Box::new(Handle { core: *core, row: *row, running })).cast()
}

unsafe extern "C" fn free(context: *mut c_void) {
    if !context.is_null() {
        // SAFETY: one of `new` or `copy`, given back once.
        drop(unsafe { Box::from_raw(context.cast::<Handle>()) });
    }
}

/// By any name that OpenSSL has for a digest of [`DIGESTS`].
fn by_name(name: &[u8]) -> Option<&'static Row> {
    let mut name = String::from_utf8_lossy(name).to_ascii_lowercase();
    if let Some(rest) = name.strip_prefix("sha2-") {
        name = format!("sha{rest}");
    }
    let row = Row::by_name(&name)?;
    DIGESTS.into_iter().find(|known| *known == row)
}

/// Whether a digest of the engine is among those that a property query asks for (property(7)).
fn are_ours(query: &[u8]) -> bool {
    const OURS: [(&[u8], &[u8]); 3] = [(b"provider", b"ace"), (b"ace.engine", b"yes"), (b"ace.take", b"no")];
    let is_met = |clause: &[u8]| {
        let clause = clause.trim_ascii();
        // What is wished for may be lacking, and what is taken away asks for nothing.
        if clause.is_empty() || clause.starts_with(b"?") || clause.starts_with(b"-") {
            return true;
        }
        let at = clause.iter().position(|byte| *byte == b'=').unwrap_or(clause.len());
        let (name, value) = clause.split_at(at);
        let (name, not) = name.strip_suffix(b"!").map_or((name, false), |name| (name, true));
        let value = value.strip_prefix(b"=").unwrap_or(b"yes").trim_ascii();
        let ours = OURS.iter().find(|(ours, _)| ours.eq_ignore_ascii_case(name.trim_ascii()));
        ours.is_some_and(|(_, ours)| ours.eq_ignore_ascii_case(value)) != not
    };
    query.split(|byte| *byte == b',').all(is_met)
}

impl Handle {
    /// # Safety
    /// OpenSSL's parameters.
    unsafe fn set(&mut self, params: *mut Param) -> Result<(), Reason> {
        // A key may come before its digest.
        let mut key = None;
        // SAFETY: as the caller says.
        for param in unsafe { abi::each(params) } {
            match param.name() {
                b"digest" => {
                    let name = param.get_text().ok_or(Reason::Parameter)?;
                    let row = by_name(name).ok_or(Reason::Digest)?;
                    if self.row.replace(row) != Some(row) {
                        self.running = None;
                    }
                }
                b"key" => {
                    let (_, bytes) = param.get_bytes().ok_or(Reason::Parameter)?;
                    key = Some(bytes.unwrap_or_default());
                }
                // TLS's MAC in constant time: the caller has to go elsewhere.
                b"tls-data-size" => return Err(Reason::TlsCbc),
                b"properties" if param.get_text().is_some_and(are_ours) => {}
                // A digest begins anew, and takes pieces: nothing is asked for.
                b"digest-noinit" | b"digest-oneshot" if param.get_number() == Some(0) => {}
                _ => return Err(Reason::NotHere),
            }
        }
        key.map_or(Ok(()), |key| self.begin(key))
    }

    fn begin(&mut self, key: &[u8]) -> Result<(), Reason> {
        let hash = self.row.and_then(table::hash_of).ok_or(Reason::Digest)?;
        self.running = Some((hash.running_hmac)(key).ok_or(Reason::KeyLength)?);
        Ok(())
    }
}

unsafe extern "C" fn begin(
    context: *mut c_void,
    key: *const c_uchar,
    key_len: usize,
    params: *mut Param,
) -> c_int {
    // SAFETY: one of `new`, and OpenSSL's parameters.
    let (handle, done) = unsafe {
        let handle = &mut *context.cast::<Handle>();
        let done = handle.set(params);
        (handle, done)
    };
    let done = done.and_then(|()| {
        if !key.is_null() && key_len <= isize::MAX as usize {
            // SAFETY: as many bytes as it says can be read there.
            return handle.begin(unsafe { slice::from_raw_parts(key, key_len) });
        }
        // The same key again.
        handle.running.as_mut().map(|running| running.restart()).ok_or(Reason::NoKey)
    });
    handle.core.answer(done)
}

unsafe extern "C" fn update(context: *mut c_void, from: *const c_uchar, len: usize) -> c_int {
    // SAFETY: one of `new`.
    let Handle { core, running, .. } = unsafe { &mut *context.cast::<Handle>() };
    let Some(running) = running else { return core.refuse(Reason::NoKey) };
    if len == 0 {
        return 1;
    }
    if from.is_null() || len > isize::MAX as usize {
        return core.refuse(Reason::Parameter);
    }
    // SAFETY: as many bytes as it says can be read there.
    running.update(unsafe { slice::from_raw_parts(from, len) });
    1
}

unsafe extern "C" fn finish(
    context: *mut c_void,
    to: *mut c_uchar,
    written: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: one of `new`, and a place for a number.
    let (Handle { core, row, running }, written) = unsafe { (&mut *context.cast::<Handle>(), &mut *written) };
    let (Some(row), Some(running)) = (row, running) else { return core.refuse(Reason::NoKey) };
    // SAFETY: there is room for as many bytes as it says.
    unsafe { put(core, &mut **running, lengths(row).1, to, written, room) }
}

unsafe extern "C" fn get_context_params(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: one of `new`.
    let Handle { core, row, .. } = unsafe { &*context.cast::<Handle>() };
    let (block, digest) = row.map_or((0, 0), lengths);
    // SAFETY: OpenSSL's parameters.
    let good = unsafe { abi::each(params) }.all(|param| match param.name() {
        b"size" => param.set_number(digest as u64),
        b"block-size" => param.set_number(block as u64),
        _ => false,
    });
    core.answer(if good { Ok(()) } else { Err(Reason::NotHere) })
}

unsafe extern "C" fn set_context_params(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: one of `new`, and OpenSSL's parameters.
    unsafe {
        let handle = &mut *context.cast::<Handle>();
        let done = handle.set(params);
        handle.core.answer(done)
    }
}

static GETTABLE: [Param; 3] = [Param::number(c"size"), Param::number(c"block-size"), Param::END];

static SETTABLE: [Param; 5] = [
    Param::text(c"digest"),
    Param::text(c"properties"),
    Param::bytes(c"key"),
    Param::number(c"tls-data-size"),
    Param::END,
];

unsafe extern "C" fn context_gettable(_: *mut c_void, _: *mut c_void) -> *const Param {
    GETTABLE.as_ptr()
}

unsafe extern "C" fn context_settable(_: *mut c_void, _: *mut c_void) -> *const Param {
    SETTABLE.as_ptr()
}

static TABLE: [Dispatch; 11] = [
    entry!(1, new, fn(*mut c_void) -> *mut c_void),
    entry!(2, copy, fn(*mut c_void) -> *mut c_void),
    entry!(3, free, fn(*mut c_void)),
    entry!(4, begin, fn(*mut c_void, *const c_uchar, usize, *mut Param) -> c_int),
    entry!(5, update, fn(*mut c_void, *const c_uchar, usize) -> c_int),
    entry!(6, finish, fn(*mut c_void, *mut c_uchar, *mut usize, usize) -> c_int),
    entry!(8, get_context_params, fn(*mut c_void, *mut Param) -> c_int),
    entry!(9, set_context_params, fn(*mut c_void, *mut Param) -> c_int),
    entry!(11, context_gettable, fn(*mut c_void, *mut c_void) -> *const Param),
    entry!(12, context_settable, fn(*mut c_void, *mut c_void) -> *const Param),
    END,
];

pub static ALGORITHMS: [Algorithm; 2] = [Algorithm::new(c"HMAC", ASKED, &TABLE), Algorithm::END];

// SPDX-License-Identifier: Apache-2.0
//! The functions of provider-digest(7).

use std::ffi::{c_int, c_uchar, c_void};
use std::slice;

use ace_engine::algorithm::MD5;
use ace_engine::evp::DIGESTS;
use ace_engine::software::mac::{LONGEST, Running};
use ace_engine::software::table;
use ace_engine::{Algorithm as Row, Kind};
use zeroize::Zeroizing;

use crate::abi::{self, Algorithm, Core, Dispatch, END, Param, Reason, entry};
use crate::cipher_call::ASKED;
use crate::names;

/// Bytes of block and digest.
pub fn lengths(row: &Row) -> (usize, usize) {
    match row.kind {
        Kind::Hash { block, digest } => (block, digest),
        Kind::Cipher { .. } => (0, 0),
    }
}

struct Handle {
    core: Core,
    row: &'static Row,
    running: Box<dyn Running>,
}

unsafe extern "C" fn new<const ROW: usize>(provider: *mut c_void) -> *mut c_void {
    let row = DIGESTS[ROW];
    let Some(hash) = table::hash_of(row) else { return std::ptr::null_mut() };
    // SAFETY: OpenSSL passes what it was given.
    let core = unsafe { crate::core_of(provider) };
    Box::into_raw(Box::new(Handle { core, row, running: (hash.running_digest)() })).cast()
}

unsafe extern "C" fn copy(context: *mut c_void) -> *mut c_void {
    // SAFETY: one of `new`.
    let Handle { core, row, running } = unsafe { &*context.cast::<Handle>() };
    Box::into_raw(Box::new(Handle { core: *core, row, running: running.copy() })).cast()
}

unsafe extern "C" fn free(context: *mut c_void) {
    if !context.is_null() {
        // SAFETY: one of `new` or `copy`, given back once.
        drop(unsafe { Box::from_raw(context.cast::<Handle>()) });
    }
}

unsafe extern "C" fn begin(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: one of `new`.
    let Handle { core, running, .. } = unsafe { &mut *context.cast::<Handle>() };
    // What is a signature's comes to its digest as well; what is a digest's is not here.
    let known = |param: &Param| names::DIGESTS.iter().any(|row| row.name.as_bytes() == param.name());
    // SAFETY: OpenSSL's parameters.
    if unsafe { abi::each(params) }.any(|param| known(param)) {
        return core.refuse(Reason::NotHere);
    }
    running.restart();
    1
}

unsafe extern "C" fn update(context: *mut c_void, from: *const c_uchar, len: usize) -> c_int {
    // SAFETY: one of `new`.
    let Handle { core, running, .. } = unsafe { &mut *context.cast::<Handle>() };
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
    // SAFETY: there is room for as many bytes as it says.
    unsafe { put(core, &mut **running, lengths(row).1, to, written, room) }
}

/// Writes a whole tag.
///
/// # Safety
/// `room` bytes can be written at `to`, unless it is null.
pub unsafe fn put(
    core: &Core,
    running: &mut dyn Running,
    len: usize,
    to: *mut c_uchar,
    written: &mut usize,
    room: usize,
) -> c_int {
    *written = 0;
    if to.is_null() || room < len {
        return core.refuse(Reason::Room);
    }
    let mut tag = Zeroizing::new([0; LONGEST]);
    running.finish(&mut tag);
    // SAFETY: as the caller says, and as was looked at.
    unsafe { std::ptr::copy_nonoverlapping(tag.as_ptr(), to, len) };
    *written = len;
    1
}

unsafe extern "C" fn get_params<const ROW: usize>(params: *mut Param) -> c_int {
    let row = DIGESTS[ROW];
    let (block, digest) = lengths(row);
    // SAFETY: OpenSSL's parameters.
    let good = unsafe { abi::each(params) }.all(|param| match param.name() {
        b"blocksize" => param.set_number(block as u64),
        b"size" => param.set_number(digest as u64),
        b"xof" => param.set_number(0),
        // Signatures by RFC 5754, 2: no parameters; those with MD5 have some.
        b"algid-absent" => param.set_number((*row != MD5).into()),
        _ => true,
    });
    good.into()
}

static GETTABLE: [Param; 5] = [
    Param::number(c"blocksize"),
    Param::number(c"size"),
    Param::number(c"xof"),
    Param::number(c"algid-absent"),
    Param::END,
];

unsafe extern "C" fn gettable(_: *mut c_void) -> *const Param {
    GETTABLE.as_ptr()
}

const fn table<const ROW: usize>() -> [Dispatch; 9] {
    [
        entry!(1, new::<ROW>, fn(*mut c_void) -> *mut c_void),
        entry!(2, begin, fn(*mut c_void, *mut Param) -> c_int),
        entry!(3, update, fn(*mut c_void, *const c_uchar, usize) -> c_int),
        entry!(4, finish, fn(*mut c_void, *mut c_uchar, *mut usize, usize) -> c_int),
        entry!(6, free, fn(*mut c_void)),
        entry!(7, copy, fn(*mut c_void) -> *mut c_void),
        entry!(8, get_params::<ROW>, fn(*mut Param) -> c_int),
        entry!(11, gettable, fn(*mut c_void) -> *const Param),
        END,
    ]
}

static TABLES: [[Dispatch; 9]; 6] =
    [table::<0>(), table::<1>(), table::<2>(), table::<3>(), table::<4>(), table::<5>()];

pub static ALGORITHMS: [Algorithm; 7] = [
    Algorithm::new(c"MD5:SSL3-MD5:1.2.840.113549.2.5", ASKED, &TABLES[0]),
    Algorithm::new(c"SHA1:SHA-1:SSL3-SHA1:1.3.14.3.2.26", ASKED, &TABLES[1]),
    Algorithm::new(c"SHA2-224:SHA-224:SHA224:2.16.840.1.101.3.4.2.4", ASKED, &TABLES[2]),
    Algorithm::new(c"SHA2-256:SHA-256:SHA256:2.16.840.1.101.3.4.2.1", ASKED, &TABLES[3]),
    Algorithm::new(c"SHA2-384:SHA-384:SHA384:2.16.840.1.101.3.4.2.2", ASKED, &TABLES[4]),
    Algorithm::new(c"SHA2-512:SHA-512:SHA512:2.16.840.1.101.3.4.2.3", ASKED, &TABLES[5]),
    Algorithm::END,
];

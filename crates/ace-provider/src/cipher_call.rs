// SPDX-License-Identifier: Apache-2.0
//! The functions of provider-cipher(7) for CBC and CTR, and their rows.

use std::ffi::{c_int, c_uchar, c_void};
use std::slice;

use ace_engine::Mode;
use ace_engine::evp::BLOCKS;

use crate::abi::{self, Algorithm, Core, Dispatch, END, Param, Reason, entry};
use crate::call::functions;
use crate::cipher::Context;

fn context(row: usize) -> Context {
    Context::new(&BLOCKS[row])
}

/// # Safety
/// OpenSSL's parameters.
unsafe fn begin(
    context: &mut Context,
    encrypt: bool,
    key: Option<&[u8]>,
    iv: Option<&[u8]>,
    params: *mut Param,
) -> Result<(), Reason> {
    // The length of a key may be among the parameters.
    // SAFETY: as the caller says.
    unsafe { set(context, params) }?;
    context.begin(encrypt, key, iv)
}

unsafe extern "C" fn update(
    context: *mut c_void,
    to: *mut c_uchar,
    written: *mut usize,
    room: usize,
    from: *const c_uchar,
    len: usize,
) -> c_int {
    // SAFETY: OpenSSL passes what it was given, and a place for a number.
    let (Handle { core, context }, written) = unsafe { (&mut *context.cast::<Handle>(), &mut *written) };
    *written = 0;
    if len == 0 {
        return 1;
    }
    if from.is_null() || to.is_null() || len > isize::MAX as usize {
        return core.refuse(Reason::Parameter);
    }
    // SAFETY: as many bytes as it says can be read and written there.
    match unsafe { context.update(from, len, to, room) } {
        Ok(count) => {
            *written = count;
            1
        }
        Err(reason) => core.refuse(reason),
    }
}

unsafe extern "C" fn finish(
    context: *mut c_void,
    to: *mut c_uchar,
    written: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: OpenSSL passes what it was given, a place for a number, and `room` bytes.
    let (Handle { core, context }, written) = unsafe { (&mut *context.cast::<Handle>(), &mut *written) };
    *written = 0;
    let room = if to.is_null() { 0 } else { room.min(16) };
    let to = match room {
        0 => &mut [],
        // SAFETY: as above; a slice of no bytes needs no place, but a pointer.
        _ => unsafe { slice::from_raw_parts_mut(to, room) },
    };
    match context.finish(to) {
        Ok(count) => {
            *written = count;
            1
        }
        Err(reason) => core.refuse(reason),
    }
}

unsafe extern "C" fn get_params<const ROW: usize>(params: *mut Param) -> c_int {
    let row = &BLOCKS[ROW];
    let is_stream = row.mode == Mode::Ctr;
    // SAFETY: OpenSSL's parameters.
    let good = unsafe { abi::each(params) }.all(|param| match param.name() {
        // EVP_CIPH_CTR_MODE, EVP_CIPH_CBC_MODE.
        b"mode" => param.set_number(if is_stream { 5 } else { 2 }),
        b"keylen" => param.set_number(row.key_len as u64),
        b"ivlen" => param.set_number(row.block() as u64),
        b"blocksize" => param.set_number(if is_stream { 1 } else { row.block() as u64 }),
        b"aead" | b"custom-iv" | b"cts" | b"tls-multi" | b"has-randkey" => param.set_number(0),
        _ => true,
    });
    good.into()
}

unsafe extern "C" fn get_context_params(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes what it was given.
    let Handle { core, context } = unsafe { &mut *context.cast::<Handle>() };
    let block = context.row.block();
    // SAFETY: OpenSSL's parameters.
    let good = unsafe { abi::each(params) }.all(|param| match param.name() {
        b"keylen" => param.set_number(context.key_len as u64),
        b"ivlen" => param.set_number(block as u64),
        b"padding" => param.set_number(context.padding.into()),
        b"num" => param.set_number(context.waiting() as u64),
        b"iv" => param.set_lasting(&context.first_iv[..block]),
        b"updated-iv" => param.set_lasting(&context.iv[..block]),
        _ => false,
    });
    core.answer(if good { Ok(()) } else { Err(Reason::NotHere) })
}

/// # Safety
/// OpenSSL's parameters.
unsafe fn set(context: &mut Context, params: *mut Param) -> Result<(), Reason> {
    // SAFETY: as the caller says.
    for param in unsafe { abi::each(params) } {
        let number = || param.get_number().ok_or(Reason::Parameter);
        match param.name() {
            b"padding" => context.padding = number()? != 0,
            b"keylen" => {
                let len = usize::try_from(number()?).map_err(|_| Reason::KeyLength)?;
                if !context.row.has_key_len(len) {
                    return Err(Reason::KeyLength);
                }
                context.key_len = len;
            }
            // What libssl says before it has padding taken off in constant time: better not at all than otherwise.
            b"tls-version" | b"tls-mac-size" => return Err(Reason::TlsCbc),
            // Values that ask for nothing.
            b"use-bits" if number()? == 0 => {}
            b"num" if number()? == context.waiting() as u64 => {}
            _ => return Err(Reason::NotHere),
        }
    }
    Ok(())
}

static GETTABLE: [Param; 6] = [
    Param::number(c"mode"),
    Param::number(c"keylen"),
    Param::number(c"ivlen"),
    Param::number(c"blocksize"),
    Param::number(c"aead"),
    Param::END,
];

static CONTEXT_GETTABLE: [Param; 7] = [
    Param::number(c"keylen"),
    Param::number(c"ivlen"),
    Param::number(c"padding"),
    Param::number(c"num"),
    Param::bytes(c"iv"),
    Param::bytes(c"updated-iv"),
    Param::END,
];

static CONTEXT_SETTABLE: [Param; 5] = [
    Param::number(c"padding"),
    Param::number(c"keylen"),
    Param::number(c"tls-version"),
    Param::number(c"tls-mac-size"),
    Param::END,
];

functions!(14);

static TABLES: [[Dispatch; 14]; 13] = [
    table::<0>(),
    table::<1>(),
    table::<2>(),
    table::<3>(),
    table::<4>(),
    table::<5>(),
    table::<6>(),
    table::<7>(),
    table::<8>(),
    table::<9>(),
    table::<10>(),
    table::<11>(),
    table::<12>(),
];

/// For whoever asks for this provider by its name alone.
pub const ASKED: &std::ffi::CStr = c"provider=ace,ace.take=no,ace.engine=yes";

pub const fn rows() -> [Algorithm; 13] {
    [
        Algorithm::new(c"AES-128-CBC:AES128:2.16.840.1.101.3.4.1.2", ASKED, &TABLES[0]),
        Algorithm::new(c"AES-192-CBC:AES192:2.16.840.1.101.3.4.1.22", ASKED, &TABLES[1]),
        Algorithm::new(c"AES-256-CBC:AES256:2.16.840.1.101.3.4.1.42", ASKED, &TABLES[2]),
        Algorithm::new(c"AES-128-CTR", ASKED, &TABLES[3]),
        Algorithm::new(c"AES-192-CTR", ASKED, &TABLES[4]),
        Algorithm::new(c"AES-256-CTR", ASKED, &TABLES[5]),
        Algorithm::new(c"DES-EDE3-CBC:DES3:1.2.840.113549.3.7", ASKED, &TABLES[6]),
        Algorithm::new(c"CAST5-CBC:CAST-CBC:CAST:1.2.840.113533.7.66.10", ASKED, &TABLES[7]),
        Algorithm::new(c"IDEA-CBC:IDEA:1.3.6.1.4.1.188.7.1.1.2", ASKED, &TABLES[8]),
        Algorithm::new(c"CAMELLIA-128-CBC:CAMELLIA128:1.2.392.200011.61.1.1.1.2", ASKED, &TABLES[9]),
        Algorithm::new(c"CAMELLIA-192-CBC:CAMELLIA192:1.2.392.200011.61.1.1.1.3", ASKED, &TABLES[10]),
        Algorithm::new(c"CAMELLIA-256-CBC:CAMELLIA256:1.2.392.200011.61.1.1.1.4", ASKED, &TABLES[11]),
        Algorithm::new(c"SM4-CBC:SM4:1.2.156.10197.1.104.2", ASKED, &TABLES[12]),
    ]
}

pub static ALGORITHMS: [Algorithm; 14] = {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m] = rows();
    [a, b, c, d, e, f, g, h, i, j, k, l, m, Algorithm::END]
};

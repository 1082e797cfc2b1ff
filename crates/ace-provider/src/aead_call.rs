// SPDX-License-Identifier: Apache-2.0
//! The functions of provider-cipher(7) for AEADs, and their rows.

use std::ffi::{c_int, c_uchar, c_void};
use std::slice;

use ace_engine::Aead;
use ace_engine::evp::AEADS;

use crate::abi::{self, Algorithm, Core, Dispatch, END, Param, Reason, entry};
use crate::aead::{Context, Scheme};
use crate::call::functions;
use crate::cipher_call::{ASKED, rows};

/// For those that stand in for OpenSSL's own wherever these are used: complete, and slower for no length.
const TAKE: &std::ffi::CStr = c"provider=ace,ace.take=yes,ace.engine=yes";

/// What a row is, and its bytes of key.
fn scheme(row: usize) -> (Scheme, usize) {
    let (aead, key_len) = AEADS[row];
    let scheme = if aead == Aead::ChaCha20Poly1305 { Scheme::ChaCha } else { Scheme::Gcm };
    (scheme, key_len)
}

fn context(row: usize) -> Context {
    let (scheme, key_len) = scheme(row);
    Context::new(scheme, key_len)
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
    context.begin(encrypt, key, iv)?;
    // SAFETY: as the caller says.
    unsafe { set(context, params) }
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
    if from.is_null() || len > isize::MAX as usize {
        return core.refuse(Reason::Parameter);
    }
    let done = if to.is_null() {
        // SAFETY: as many bytes as it says can be read there.
        context.associate(unsafe { slice::from_raw_parts(from, len) }).map(|()| len)
    } else if room < len {
        Err(Reason::Room)
    } else if !context.is_tls() {
        // SAFETY: as many bytes as it says can be read and written there.
        unsafe { context.update(from, len, to) }.map(|()| len)
    } else if from == to.cast_const() {
        // SAFETY: as above; the record is in one place.
        context.tls_record(unsafe { slice::from_raw_parts_mut(to, len) })
    } else {
        Err(Reason::Parameter)
    };
    match done {
        Ok(count) => {
            *written = count;
            1
        }
        Err(reason) => core.refuse(reason),
    }
}

/// Without errors in OpenSSL's queue for a tag that is another one: that is an answer.
unsafe extern "C" fn finish(context: *mut c_void, _: *mut c_uchar, written: *mut usize, _: usize) -> c_int {
    // SAFETY: OpenSSL passes what it was given, and a place for a number.
    let (Handle { core, context }, written) = unsafe { (&mut *context.cast::<Handle>(), &mut *written) };
    *written = 0;
    match context.finish() {
        Ok(good) => good.into(),
        Err(reason) => core.refuse(reason),
    }
}

/// As `EVP_Cipher` has it: a piece, or without one the end.
unsafe extern "C" fn at_once(
    context: *mut c_void,
    to: *mut c_uchar,
    written: *mut usize,
    room: usize,
    from: *const c_uchar,
    len: usize,
) -> c_int {
    // SAFETY: as it is called.
    unsafe {
        match from.is_null() {
            true => finish(context, to, written, room),
            false => update(context, to, written, room, from, len),
        }
    }
}

unsafe extern "C" fn get_params<const ROW: usize>(params: *mut Param) -> c_int {
    let (scheme, key_len) = scheme(ROW);
    // SAFETY: OpenSSL's parameters.
    let good = unsafe { abi::each(params) }.all(|param| match param.name() {
        // EVP_CIPH_GCM_MODE, or a stream.
        b"mode" => param.set_number(if scheme == Scheme::Gcm { 6 } else { 0 }),
        b"keylen" => param.set_number(key_len as u64),
        b"ivlen" => param.set_number(12),
        b"blocksize" | b"aead" | b"custom-iv" => param.set_number(1),
        b"cts" | b"tls-multi" | b"has-randkey" => param.set_number(0),
        _ => true,
    });
    good.into()
}

unsafe extern "C" fn get_context_params(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes what it was given.
    let Handle { core, context } = unsafe { &mut *context.cast::<Handle>() };
    // SAFETY: OpenSSL's parameters.
    for param in unsafe { abi::each(params) } {
        let good = match param.name() {
            b"keylen" => param.set_number(context.key_len as u64),
            b"ivlen" => param.set_number(context.iv_len as u64),
            b"taglen" => param.set_number(context.tag_len() as u64),
            b"tlsaadpad" => param.set_number(context.tls_pad as u64),
            b"iv" | b"updated-iv" => match context.iv() {
                Some(iv) => param.set_lasting(iv),
                None => return core.refuse(Reason::NoIv),
            },
            b"tlsivgen" => match param.place_of(context.iv_len).map(|last| context.take_next_iv(last)) {
                Some(Err(reason)) => return core.refuse(reason),
                found => found.is_some(),
            },
            b"tag" => match param.place().map(|place| context.get_tag(place)) {
                Some(Err(reason)) => return core.refuse(reason),
                found => found.is_some(),
            },
            _ => return core.refuse(Reason::NotHere),
        };
        if !good {
            return core.refuse(Reason::Parameter);
        }
    }
    1
}

/// # Safety
/// OpenSSL's parameters.
unsafe fn set(context: &mut Context, params: *mut Param) -> Result<(), Reason> {
    // SAFETY: as the caller says.
    for param in unsafe { abi::each(params) } {
        let bytes = |param: &Param| param.get_bytes().ok_or(Reason::Parameter).map(|(len, _)| len);
        match param.name() {
            b"ivlen" => {
                let len = param.get_number().ok_or(Reason::Parameter)?;
                context.set_iv_len(usize::try_from(len).map_err(|_| Reason::IvLength)?)?;
            }
            b"keylen" if param.get_number() != Some(context.key_len as u64) => return Err(Reason::KeyLength),
            b"tag" => {
                let len = bytes(param)?;
                context.set_tag(len, param.get_bytes().and_then(|(_, tag)| tag))?;
            }
            b"tlsaad" => context.set_tls_aad(content(param)?)?,
            b"tlsivfixed" => match param.whole(context.iv_len) {
                Some(_) if context.scheme == Scheme::ChaCha => return Err(Reason::IvLength),
                Some(all) => context.set_fixed_iv(all)?,
                None => context.set_fixed_iv(content(param)?)?,
            },
            b"tlsivinv" => context.set_last_of_iv(content(param)?)?,
            b"keylen" => {}
            // Values that ask for nothing: there is no padding, lengths are in bytes, and what libssl says of every
            // cipher before the first record says nothing of these.
            b"padding" if matches!(param.get_number(), Some(0 | 1)) => {}
            b"use-bits" | b"tls-mac-size" if param.get_number() == Some(0) => {}
            b"tls-version" if param.get_number().is_some() => {}
            _ => return Err(Reason::NotHere),
        }
    }
    Ok(())
}

fn content(param: &Param) -> Result<&[u8], Reason> {
    param.get_bytes().and_then(|(_, bytes)| bytes).ok_or(Reason::Parameter)
}

static GETTABLE: [Param; 7] = [
    Param::number(c"mode"),
    Param::number(c"keylen"),
    Param::number(c"ivlen"),
    Param::number(c"blocksize"),
    Param::number(c"aead"),
    Param::number(c"custom-iv"),
    Param::END,
];

static CONTEXT_GETTABLE: [Param; 9] = [
    Param::number(c"keylen"),
    Param::number(c"ivlen"),
    Param::number(c"taglen"),
    Param::number(c"tlsaadpad"),
    Param::bytes(c"iv"),
    Param::bytes(c"updated-iv"),
    Param::bytes(c"tlsivgen"),
    Param::bytes(c"tag"),
    Param::END,
];

static CONTEXT_SETTABLE: [Param; 7] = [
    Param::number(c"keylen"),
    Param::number(c"ivlen"),
    Param::bytes(c"tag"),
    Param::bytes(c"tlsaad"),
    Param::bytes(c"tlsivfixed"),
    Param::bytes(c"tlsivinv"),
    Param::END,
];

functions!(
    15,
    entry!(6, at_once, fn(*mut c_void, *mut c_uchar, *mut usize, usize, *const c_uchar, usize) -> c_int)
);

static TABLES: [[Dispatch; 15]; 4] = [table::<0>(), table::<1>(), table::<2>(), table::<3>()];

/// Everything of `cipher_call` and the AEADs.
pub static WITH_AEAD: [Algorithm; 18] = {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m] = rows();
    [
        Algorithm::new(c"AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6", TAKE, &TABLES[0]),
        Algorithm::new(c"AES-192-GCM:id-aes192-GCM:2.16.840.1.101.3.4.1.26", TAKE, &TABLES[1]),
        Algorithm::new(c"AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46", TAKE, &TABLES[2]),
        Algorithm::new(c"ChaCha20-Poly1305", ASKED, &TABLES[3]),
        a,
        b,
        c,
        d,
        e,
        f,
        g,
        h,
        i,
        j,
        k,
        l,
        m,
        Algorithm::END,
    ]
};

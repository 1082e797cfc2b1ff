// SPDX-License-Identifier: Apache-2.0
//! What a provider and OpenSSL 3 exchange, by provider(7), OSSL_PARAM(3) and the headers core.h and core_dispatch.h:
//! two kinds of tables, parameters, errors. Numbers of functions are stable within OpenSSL 3.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::{ptr, slice};

pub type Function = unsafe extern "C" fn();

/// OSSL_DISPATCH.
#[repr(C)]
pub struct Dispatch {
    pub id: c_int,
    pub function: Option<Function>,
}

pub const END: Dispatch = Dispatch { id: 0, function: None };

/// An entry of a dispatch table: number, function, its type.
macro_rules! entry {
    ($id:expr, $function:expr, fn($($kind:ty),*) $(-> $result:ty)?) => {
        $crate::abi::Dispatch {
            id: $id,
            // SAFETY: a pointer to a function stays one; OpenSSL calls it by the type that belongs to its number.
            function: Some(unsafe {
                std::mem::transmute::<unsafe extern "C" fn($($kind),*) $(-> $result)?, $crate::abi::Function>($function)
            }),
        }
    };
}
pub(crate) use entry;

/// OSSL_ALGORITHM.
#[repr(C)]
pub struct Algorithm {
    pub names: *const c_char,
    pub properties: *const c_char,
    pub implementation: *const Dispatch,
    pub description: *const c_char,
}

// SAFETY: pointers to constants.
unsafe impl Sync for Algorithm {}

impl Algorithm {
    pub const END: Self = Self {
        names: ptr::null(),
        properties: ptr::null(),
        implementation: ptr::null(),
        description: ptr::null(),
    };

    pub const fn new(names: &'static CStr, properties: &'static CStr, table: &'static [Dispatch]) -> Self {
        Self {
            names: names.as_ptr(),
            properties: properties.as_ptr(),
            implementation: table.as_ptr(),
            description: ptr::null(),
        }
    }
}

const INTEGER: c_uint = 1;
const UNSIGNED: c_uint = 2;
const TEXT: c_uint = 4;
const BYTES: c_uint = 5;
const TEXT_PTR: c_uint = 6;
const BYTES_PTR: c_uint = 7;

/// OSSL_PARAM.
#[repr(C)]
pub struct Param {
    key: *const c_char,
    kind: c_uint,
    data: *mut c_void,
    size: usize,
    returned: usize,
}

// SAFETY: those that are static point to names alone.
unsafe impl Sync for Param {}

impl Param {
    pub const END: Self =
        Self { key: ptr::null(), kind: 0, data: ptr::null_mut(), size: 0, returned: usize::MAX };

    const fn described(name: &'static CStr, kind: c_uint, size: usize) -> Self {
        Self { key: name.as_ptr(), kind, data: ptr::null_mut(), size, returned: usize::MAX }
    }

    /// That there is a number of this name.
    pub const fn number(name: &'static CStr) -> Self {
        Self::described(name, UNSIGNED, size_of::<usize>())
    }

    /// That there are bytes of this name.
    pub const fn bytes(name: &'static CStr) -> Self {
        Self::described(name, BYTES, 0)
    }

    /// That there is a text of this name.
    pub const fn text(name: &'static CStr) -> Self {
        Self::described(name, TEXT, 0)
    }

    /// That OpenSSL is told where a text of this name is.
    pub const fn text_ptr(name: &'static CStr) -> Self {
        Self::described(name, TEXT_PTR, 0)
    }

    pub fn name(&self) -> &[u8] {
        // SAFETY: a parameter that is not the last has a name that ends with a zero.
        unsafe { CStr::from_ptr(self.key) }.to_bytes()
    }

    /// The number in it, if it is one of 32 or 64 bits that is not negative.
    pub fn get_number(&self) -> Option<u64> {
        if self.data.is_null() || !matches!(self.kind, INTEGER | UNSIGNED) {
            return None;
        }
        // SAFETY: there are as many bytes as `size` says, at whatever place.
        let value = unsafe {
            match self.size {
                4 => u64::from(self.data.cast::<u32>().read_unaligned()),
                8 => self.data.cast::<u64>().read_unaligned(),
                _ => return None,
            }
        };
        let top = self.size as u32 * 8 - 1;
        (self.kind == UNSIGNED || value >> top == 0).then_some(value)
    }

    /// Answers with a number; where there is no place for it, with its length.
    pub fn set_number(&mut self, value: u64) -> bool {
        if !matches!(self.kind, INTEGER | UNSIGNED) {
            return false;
        }
        if self.data.is_null() {
            self.returned = size_of::<usize>();
            return true;
        }
        // SAFETY: as above, to be written.
        unsafe {
            match (self.size, u32::try_from(value)) {
                (4, Ok(value)) => self.data.cast::<u32>().write_unaligned(value),
                (8, _) => self.data.cast::<u64>().write_unaligned(value),
                _ => return false,
            }
        }
        self.returned = self.size;
        true
    }

    /// How many bytes it holds or has place for, if it is for bytes; and whether they are there.
    pub fn get_bytes(&self) -> Option<(usize, Option<&[u8]>)> {
        if self.kind != BYTES || self.size > isize::MAX as usize {
            return None;
        }
        // SAFETY: there are as many bytes as `size` says.
        let bytes = (!self.data.is_null())
            .then(|| unsafe { slice::from_raw_parts(self.data.cast::<u8>(), self.size) });
        Some((self.size, bytes))
    }

    /// The place for bytes, to be written.
    pub fn place(&mut self) -> Option<&mut [u8]> {
        if self.kind != BYTES || self.size > isize::MAX as usize || self.data.is_null() {
            return None;
        }
        self.returned = self.size;
        // SAFETY: there are as many bytes as `size` says, and nobody else has them during the call.
        Some(unsafe { slice::from_raw_parts_mut(self.data.cast::<u8>(), self.size) })
    }

    /// The `len` bytes at it where OpenSSL says no length, but −1 (EVP_CTRL_AEAD_SET_IV_FIXED).
    #[cfg(feature = "ipsec-mb")]
    pub fn whole(&self, len: usize) -> Option<&[u8]> {
        let is_whole = self.kind == BYTES && self.size == usize::MAX && !self.data.is_null();
        // SAFETY: by that length a caller says that there is as much as the context takes.
        is_whole.then(|| unsafe { slice::from_raw_parts(self.data.cast::<u8>(), len) })
    }

    /// The place for as many bytes as it says, but `len` at most; where it says none, for all of them
    /// (EVP_CTRL_GCM_IV_GEN).
    #[cfg(feature = "ipsec-mb")]
    pub fn place_of(&mut self, len: usize) -> Option<&mut [u8]> {
        if self.kind != BYTES || self.data.is_null() {
            return None;
        }
        let len = if self.size == 0 { len } else { self.size.min(len) };
        self.returned = len;
        // SAFETY: there are as many bytes as `size` says, and without a size as many as the context has.
        Some(unsafe { slice::from_raw_parts_mut(self.data.cast::<u8>(), len) })
    }

    /// Answers with bytes that stay where they are as long as the context does.
    pub fn set_lasting(&mut self, bytes: &[u8]) -> bool {
        if self.kind != BYTES_PTR || self.data.is_null() {
            return self.set_bytes(bytes);
        }
        // SAFETY: there is place for a pointer.
        unsafe { self.data.cast::<*const u8>().write_unaligned(bytes.as_ptr()) };
        self.returned = bytes.len();
        true
    }

    /// Answers with bytes; where there is no place for them, with their length.
    pub fn set_bytes(&mut self, bytes: &[u8]) -> bool {
        if self.kind != BYTES {
            return false;
        }
        let is_asked_for_length = self.data.is_null();
        let fits = self.place().and_then(|place| place.get_mut(..bytes.len()));
        if let Some(place) = fits {
            place.copy_from_slice(bytes);
            self.returned = bytes.len();
            return true;
        }
        self.returned = bytes.len();
        is_asked_for_length
    }

    pub fn get_text(&self) -> Option<&[u8]> {
        if self.kind != TEXT || self.data.is_null() || self.size > isize::MAX as usize {
            return None;
        }
        // SAFETY: there are as many bytes as `size` says.
        let bytes = unsafe { slice::from_raw_parts(self.data.cast::<u8>(), self.size) };
        Some(bytes.split(|byte| *byte == 0).next().unwrap_or_default())
    }

    pub fn set_text(&mut self, text: &'static CStr) -> bool {
        if self.kind != TEXT_PTR || self.data.is_null() {
            return false;
        }
        // SAFETY: there is place for a pointer.
        unsafe { self.data.cast::<*const c_char>().write_unaligned(text.as_ptr()) };
        self.returned = text.count_bytes();
        true
    }
}

/// The parameters of a call; none for null.
///
/// # Safety
/// `first` is null or begins an array that a parameter without a name ends; nobody else changes it meanwhile.
pub unsafe fn each<'a>(first: *mut Param) -> impl Iterator<Item = &'a mut Param> {
    let mut next = first;
    std::iter::from_fn(move || {
        // SAFETY: as the caller says; nothing behind the end is looked at.
        let param = unsafe { next.as_mut() }?;
        if param.key.is_null() {
            return None;
        }
        // SAFETY: this one is not the end.
        next = unsafe { next.add(1) };
        Some(param)
    })
}

/// Why a call was refused; what OpenSSL prints is in [`REASONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Reason {
    KeyLength = 1,
    IvLength,
    TagLength,
    NoKey,
    NoIv,
    NoTag,
    NotWholeBlocks,
    Padding,
    Room,
    TooLong,
    Order,
    Parameter,
    TlsCbc,
    Digest,
    Engine,
    NotHere,
}

/// OSSL_ITEM.
#[repr(C)]
pub struct Item(c_uint, *const c_char);

// SAFETY: pointers to constants.
unsafe impl Sync for Item {}

pub static REASONS: [Item; 17] = [
    Item(Reason::KeyLength as u32, c"the algorithm has no keys of this length".as_ptr()),
    Item(Reason::IvLength as u32, c"the algorithm has no IVs of this length".as_ptr()),
    Item(Reason::TagLength as u32, c"the algorithm has no tags of this length".as_ptr()),
    Item(Reason::NoKey as u32, c"no key was given".as_ptr()),
    Item(Reason::NoIv as u32, c"no IV was given, or it was used up".as_ptr()),
    Item(Reason::NoTag as u32, c"no tag was given to compare with".as_ptr()),
    Item(Reason::NotWholeBlocks as u32, c"the text is not a whole number of blocks".as_ptr()),
    Item(Reason::Padding as u32, c"wrong padding: wrong key, or not what was encrypted".as_ptr()),
    Item(Reason::Room as u32, c"the place for the result is too small".as_ptr()),
    Item(Reason::TooLong as u32, c"more than the algorithm takes under one IV".as_ptr()),
    Item(Reason::Order as u32, c"associated data after text".as_ptr()),
    Item(Reason::Parameter as u32, c"a parameter has a wrong type, length or value".as_ptr()),
    Item(
        Reason::TlsCbc as u32,
        c"CBC suites of TLS are not here: use ?ace.take=yes (docs/provider.md)".as_ptr(),
    ),
    Item(Reason::Digest as u32, c"HMAC is here with MD5, SHA-1 and SHA-2 only (docs/provider.md)".as_ptr()),
    Item(Reason::Engine as u32, c"the engine failed".as_ptr()),
    Item(
        Reason::NotHere as u32,
        c"the parameter, or this value of it, is not carried out here (docs/provider.md)".as_ptr(),
    ),
    Item(0, ptr::null()),
];

type NewError = unsafe extern "C" fn(*const c_void);
/// The last argument is a va_list, which is not looked at without a format.
type SetError = unsafe extern "C" fn(*const c_void, u32, *const c_char, *mut c_void);

/// What a provider can ask OpenSSL for.
#[derive(Clone, Copy)]
pub struct Core {
    handle: *const c_void,
    new_error: Option<NewError>,
    set_error: Option<SetError>,
    /// One of them all: it is in the libcrypto that there is.
    pub some: Option<Function>,
}

impl Core {
    /// # Safety
    /// What OSSL_provider_init was called with.
    pub unsafe fn new(handle: *const c_void, mut table: *const Dispatch) -> Self {
        let mut core = Self { handle, new_error: None, set_error: None, some: None };
        // SAFETY: the table ends with the number 0, and each number has a function of its type.
        while let Some(Dispatch { id, function: Some(function) }) = unsafe { table.as_ref() }
            && *id != 0
        {
            core.some = Some(*function);
            // SAFETY: a function of this number is of this type (core(7)).
            unsafe {
                match id {
                    5 => core.new_error = Some(std::mem::transmute::<Function, NewError>(*function)),
                    7 => core.set_error = Some(std::mem::transmute::<Function, SetError>(*function)),
                    _ => {}
                }
                table = table.add(1);
            }
        }
        core
    }

    /// Tells OpenSSL why, and gives what a function that was refused returns.
    pub fn refuse(&self, reason: Reason) -> c_int {
        if let (Some(new), Some(set)) = (self.new_error, self.set_error) {
            // SAFETY: OpenSSL's functions, called as core_dispatch.h says.
            unsafe {
                new(self.handle);
                set(self.handle, reason as u32, ptr::null(), ptr::null_mut());
            }
        }
        0
    }

    pub fn answer(&self, result: Result<(), Reason>) -> c_int {
        match result {
            Ok(()) => 1,
            Err(reason) => self.refuse(reason),
        }
    }
}

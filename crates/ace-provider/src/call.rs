// SPDX-License-Identifier: Apache-2.0
//! What all ciphers have of provider-cipher(7): handles, beginnings, parameters, the table of functions.

use std::ffi::c_uchar;
use std::slice;

/// # Safety
/// There are `len` bytes at `from`, unless it is null.
pub unsafe fn bytes<'a>(from: *const c_uchar, len: usize) -> Option<&'a [u8]> {
    // SAFETY: as the caller says.
    (!from.is_null() && len <= isize::MAX as usize).then(|| unsafe { slice::from_raw_parts(from, len) })
}

/// The functions of a kind of ciphers. Its module has `Context`, `context` (of a row), `begin`, `set`, `update`, `finish`,
/// `get_params`, `get_context_params` and the lists of parameters; `more` are functions that others lack.
macro_rules! functions {
    ($entries:literal $(, $more:expr)*) => {
        /// What OpenSSL has a pointer to.
        #[derive(Clone)]
        struct Handle {
            core: Core,
            context: Context,
        }

        unsafe extern "C" fn new<const ROW: usize>(provider: *mut c_void) -> *mut c_void {
            // SAFETY: OpenSSL passes what it was given.
            let core = unsafe { crate::core_of(provider) };
            Box::into_raw(Box::new(Handle { core, context: context(ROW) })).cast()
        }

        unsafe extern "C" fn copy(context: *mut c_void) -> *mut c_void {
            // SAFETY: one of `new`.
            let context = unsafe { &*context.cast::<Handle>() };
            Box::into_raw(Box::new(context.clone())).cast()
        }

        unsafe extern "C" fn free(context: *mut c_void) {
            if !context.is_null() {
                // SAFETY: one of `new` or `copy`, given back once.
                drop(unsafe { Box::from_raw(context.cast::<Handle>()) });
            }
        }

        unsafe extern "C" fn start<const ENCRYPT: bool>(
            context: *mut c_void,
            key: *const c_uchar,
            key_len: usize,
            iv: *const c_uchar,
            iv_len: usize,
            params: *mut Param,
        ) -> c_int {
            // SAFETY: OpenSSL passes what it was given, and its own arrays with their lengths.
            let (Handle { core, context }, key, iv) = unsafe {
                (
                    &mut *context.cast::<Handle>(),
                    $crate::call::bytes(key, key_len),
                    $crate::call::bytes(iv, iv_len),
                )
            };
            // SAFETY: OpenSSL's parameters.
            core.answer(unsafe { begin(context, ENCRYPT, key, iv, params) })
        }

        unsafe extern "C" fn set_context_params(context: *mut c_void, params: *mut Param) -> c_int {
            // SAFETY: OpenSSL passes what it was given.
            let Handle { core, context } = unsafe { &mut *context.cast::<Handle>() };
            // SAFETY: OpenSSL's parameters.
            core.answer(unsafe { set(context, params) })
        }

        unsafe extern "C" fn gettable(_: *mut c_void) -> *const Param {
            GETTABLE.as_ptr()
        }

        unsafe extern "C" fn context_gettable(_: *mut c_void, _: *mut c_void) -> *const Param {
            CONTEXT_GETTABLE.as_ptr()
        }

        unsafe extern "C" fn context_settable(_: *mut c_void, _: *mut c_void) -> *const Param {
            CONTEXT_SETTABLE.as_ptr()
        }

        const fn table<const ROW: usize>() -> [Dispatch; $entries] {
            [
                entry!(1, new::<ROW>, fn(*mut c_void) -> *mut c_void),
                entry!(
                    2,
                    start::<true>,
                    fn(*mut c_void, *const c_uchar, usize, *const c_uchar, usize, *mut Param) -> c_int
                ),
                entry!(
                    3,
                    start::<false>,
                    fn(*mut c_void, *const c_uchar, usize, *const c_uchar, usize, *mut Param) -> c_int
                ),
                entry!(
                    4,
                    update,
                    fn(*mut c_void, *mut c_uchar, *mut usize, usize, *const c_uchar, usize) -> c_int
                ),
                entry!(5, finish, fn(*mut c_void, *mut c_uchar, *mut usize, usize) -> c_int),
                $($more,)*
                entry!(7, free, fn(*mut c_void)),
                entry!(8, copy, fn(*mut c_void) -> *mut c_void),
                entry!(9, get_params::<ROW>, fn(*mut Param) -> c_int),
                entry!(10, get_context_params, fn(*mut c_void, *mut Param) -> c_int),
                entry!(11, set_context_params, fn(*mut c_void, *mut Param) -> c_int),
                entry!(12, gettable, fn(*mut c_void) -> *const Param),
                entry!(13, context_gettable, fn(*mut c_void, *mut c_void) -> *const Param),
                entry!(14, context_settable, fn(*mut c_void, *mut c_void) -> *const Param),
                END,
            ]
        }
    };
}

pub(crate) use functions;

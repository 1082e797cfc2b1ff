// SPDX-License-Identifier: Apache-2.0
//! The C library behind this one.

/// The function that this library stands in front of.
macro_rules! real {
    ($name:ident: fn($($kind:ty),*) -> $result:ty) => {{
        static FOUND: std::sync::atomic::AtomicPtr<c_void> = std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
        let mut found = FOUND.load(std::sync::atomic::Ordering::Acquire);
        if found.is_null() {
            let name = concat!(stringify!($name), "\0");
            // SAFETY: the name ends with a zero.
            found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast()) };
            FOUND.store(found, std::sync::atomic::Ordering::Release);
        }
        if found.is_null() {
            return $crate::fail(libc::ENOSYS) as $result;
        }
        // SAFETY: the C library's function of this name has this type (POSIX).
        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($kind),*) -> $result>(found) }
    }};
}

// SPDX-License-Identifier: Apache-2.0
//! The CPU engine on [intel-ipsec-mb](https://github.com/intel/intel-ipsec-mb) 1.3 (Debian: `libipsec-mb-dev`), which
//! works on packets of many security associations at once. Without the feature `native`
//! nothing needs the library, and [`cpu_engine`] is the portable one.
#![deny(unsafe_code)]
#![warn(missing_docs)]

#[cfg(feature = "native")]
mod engine;
#[cfg(feature = "native")]
#[allow(unsafe_code)] // The library's C interface is bound here and nowhere else.
pub mod ffi;
#[cfg(feature = "native")]
mod key;
#[cfg(feature = "native")]
#[allow(unsafe_code)] // As above, for messages that come piece by piece.
pub mod stream;

#[cfg(feature = "native")]
pub use engine::MbEngine;

/// The fastest CPU engine of this processor: intel-ipsec-mb where it is linked and knows the machine, else portable.
pub fn cpu_engine() -> Box<dyn ace_engine::Engine + Send> {
    #[cfg(feature = "native")]
    if let Some(engine) = MbEngine::new() {
        return Box::new(engine);
    }
    Box::new(ace_engine::software::CpuEngine::new())
}

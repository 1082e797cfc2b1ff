// SPDX-License-Identifier: Apache-2.0
//! ECP5 bitstreams: what a configuration port does with them.
//!
//! [`ConfigPort`] consumes the bytes of a bitstream as they arrive and writes a [`ConfigMemory`]; it refuses
//! what silicon would refuse, and names the byte. It does no I/O. [`inspect()`] describes a whole file and
//! [`Emit`] writes one. The format is the one that Project Trellis documents and `ecppack` writes; none of
//! this has been tried on silicon.
//!
//! Where silicon is lenient and a mistake would go unseen, the port is strict: reserved command information
//! must be zero, dummy bytes must be `FF`, everything that reaches the memory must be covered by a CRC, and
//! [`STARTUP_BYTES`] dummy bytes must follow the last command. So every single-bit error behind the preamble
//! is refused or changes nothing.
//!
//! ```
//! use ace_ecp5::{ConfigMemory, Device, Emit, load};
//!
//! // A blank device, and one bit of its configuration memory.
//! let mut memory = ConfigMemory::new(Device::by_name("LFE5U-25F").expect("a device of the table"));
//! assert!(memory.set_bit(7, 3, true));
//!
//! // As a bitstream, and through the configuration port: the same memory.
//! let mut bits = Emit::default().whole(&memory);
//! assert_eq!(load(&bits)?.digest(), memory.digest());
//!
//! // Of a bitstream with one bit turned the port takes nothing.
//! let middle = bits.len() / 2;
//! bits[middle] ^= 1;
//! assert!(load(&bits).is_err());
//! # Ok::<(), ace_ecp5::BitstreamError>(())
//! ```

#![warn(missing_docs)]

mod crc;
pub mod device;
pub mod emit;
pub mod error;
pub mod images;
mod inflate;
pub mod inspect;
pub mod memory;
pub mod port;
mod untold;

pub use device::Device;
pub use emit::Emit;
pub use error::{BitstreamError, Reason};
pub use images::{Image, images};
pub use inspect::{Inspection, inspect};
pub use memory::ConfigMemory;
pub use port::{ConfigPort, STARTUP_BYTES, load};
pub use untold::{Untold, untold};

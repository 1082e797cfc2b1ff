// SPDX-License-Identifier: Apache-2.0
//! The library: configurations, their manifests and proofs, and context sets, under one signature.

mod change;
mod delta;
mod image;
mod key;
mod layout;
mod library;
mod loads;
mod members;
mod name;
mod parse;
mod reader;
mod recode;
mod seen;
mod set;
mod store;
mod stored;
mod take;
mod trust;
pub(crate) mod used;

pub use delta::{BLOCK_ENTRY_BYTES, RUN_BYTES, Run};
pub use image::{INDEX_ENTRY_BYTES, Image, METADATA_MAX};
pub use key::{PublicKey, SecretKey};
pub use layout::{Parts, SIGNATURE_BYTES, countersign};
pub use library::Library;
pub use loads::Load;
pub use members::{COMMON_FRAMES, COMMON_PORT_BYTES, COMMON_STORED_BYTES};
pub use name::{NAME_BYTES, is_name};
pub use seen::Seen;
pub use set::{ContextSet, SET_ENTRY_BYTES, SET_MAX};
pub use store::{Guard, Opened, publish, publish_secret, read};
pub use stored::Stored;
pub use trust::{KEYS_MAX, KeySet, Trust, fingerprints};

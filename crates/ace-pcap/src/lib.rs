// SPDX-License-Identifier: Apache-2.0
//! Where packets come from and go to: captures, frame by frame ([`Capture`], [`CaptureWriter`]); what a frame carries
//! and how another packet takes its place ([`link`]).
//!
//! Memory is bounded whatever a file says: one block at a time, of at most [`read::MAX_BLOCK`] bytes.
//!
//! Captures are read by pcap-parser: it takes a block at a time from whoever holds the bytes and leaves times as they
//! stand in the file. The reader of pcap-file refuses frames that a snapshot length cut, holds times of pcapng for
//! nanoseconds and ends at option lists without an end; its writer is used.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod fragments;
mod headers;
pub mod link;
pub mod nat;
pub mod offload;
pub mod order;
mod pieces;
pub mod read;
pub mod tcp;
pub mod write;

pub use fragments::{Fragments, Settled};
pub use link::{Content, LinkType, Place};
pub use nat::{Carries, NatTraversal};
pub use offload::{Extent, Offloaded};
pub use order::Order;
pub use read::{Capture, CaptureError, Damage, Frame, Item};
pub use tcp::{Segment, Streams, Verdict};
pub use write::{CaptureWriter, Format, Lost, Note, WriteError};

pub use pcap_file::{DataLink, TsResolution};

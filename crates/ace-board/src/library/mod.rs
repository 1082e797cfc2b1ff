// SPDX-License-Identifier: Apache-2.0
//! What goes into a library and what it says of its configurations, beyond the file itself ([`ace_library`]): manifests,
//! records of proofs, and what loads take on the board of `board.toml`.

mod between;
mod board_image;
mod built;
mod domains;
mod manifest;
mod members;
mod stats;
mod verify;

pub use between::{Between, Write, between};
pub use board_image::{
    BoardImage, BoardImageError, BuiltImage, Clock, Seed, Unsound, board_images, configurations,
    is_board_image, verify_board_image,
};
pub use built::{Built, BuiltError, TimingError, UnsoundError, built, read_memory, timed};
pub use domains::{Domain, Domains, Switch, domains};
pub use manifest::{manifest, tie_of, tied_by_proof};
pub use members::{Load, Member, domain, members};
pub use stats::{Stats, frame_bytes, stats};
pub use verify::{VerifyError, verify};

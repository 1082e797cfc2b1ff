// SPDX-License-Identifier: Apache-2.0
//! The two sides of the data plane (RFC 4301, 3.1) as types: where a packet came from is decided where it is
//! received, and never by a flag.

/// The protected side: packets travel in clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct Inside;

/// The unprotected side: what is covered travels in ESP or AH.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct Outside;

/// [`Inside`] or [`Outside`].
pub trait Side: private::Sealed + Copy + std::fmt::Debug + 'static {}

impl Side for Inside {}
impl Side for Outside {}

pub(crate) mod private {
    use crate::model::Time;
    use crate::shard::{Packet, Shard};

    /// What a shard does with a packet of this side.
    pub trait Sealed {
        fn take(shard: &mut Shard, now: Time, packet: Packet);
    }

    impl Sealed for super::Inside {
        fn take(shard: &mut Shard, now: Time, packet: Packet) {
            shard.enter_inside(now, packet);
        }
    }

    impl Sealed for super::Outside {
        fn take(shard: &mut Shard, now: Time, packet: Packet) {
            shard.enter_outside(now, packet);
        }
    }
}

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

mod private {
    pub trait Sealed {
        const INSIDE: bool;
    }

    impl Sealed for super::Inside {
        const INSIDE: bool = true;
    }

    impl Sealed for super::Outside {
        const INSIDE: bool = false;
    }
}

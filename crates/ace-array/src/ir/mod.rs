// SPDX-License-Identifier: Apache-2.0
//! What all steps of the compiler and the simulator share: graphs, what elements compute, the array's shape, and where
//! its contexts have their fields.

pub mod domain;
pub mod element;
pub mod goal;
pub mod graph;
pub mod layout;
pub mod shape;

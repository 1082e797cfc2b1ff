// SPDX-License-Identifier: Apache-2.0
//! The library from outside; `cargo test -p ace-library --test it trust::` runs the tests of one module.

mod codec;
mod controller;
mod delta;
mod file;
mod reference;
mod sets;
mod small;
mod trust;

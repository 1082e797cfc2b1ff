// SPDX-License-Identifier: Apache-2.0
//! The host's end of the link against a board in software.

mod common;
mod computes;
mod fixed;
mod lossy;
mod stores;
mod strange;

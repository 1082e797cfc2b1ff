// SPDX-License-Identifier: Apache-2.0
//! The host's end of the link against a board in software.

mod common;
mod computes;
mod lossy;
mod strange;

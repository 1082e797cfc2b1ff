// SPDX-License-Identifier: Apache-2.0
//! An execution whose end is known before it has come.

use crate::trace::Picos;
use crate::worker::Answer;

/// How the execution in a slot will end.
pub(crate) struct Execution {
    pub start: Picos,
    pub answer: Answer,
}

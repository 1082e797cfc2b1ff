// SPDX-License-Identifier: Apache-2.0
//! Variants that set keys up: what the slot asks of them, and that they fit the cipher that they are for.

use super::Program;
use super::ast::Order;
use super::run::Result;
use crate::error::{Span, Wrong};
use crate::ir::graph::Graph;

/// Words of an expanded key at most: as many as a set can say that it returns.
pub const WORDS: i64 = 255;

impl Program {
    /// Whether a variant sets keys up.
    pub fn sets_up_keys(&self, variant: &str) -> bool {
        self.number(variant, "keys") != 0
    }

    /// Checks the graph of a variant with `keys`; `count` is where the file says how many words there are.
    pub(super) fn sets_up(
        &self,
        variant: &str,
        graph: &Graph,
        (input, output): (Order, Order),
        chained: bool,
        count: Span,
    ) -> Result<()> {
        let Some(cipher) = cipher(variant) else {
            let what = format!("`{variant}` sets keys up, and its name does not say for which variant");
            return Err(Wrong::new(count, what).help("`CIPHER_keys`, or with the bits of the key behind it"));
        };
        if chained || input == Order::Des || !matches!(graph.inputs, 2 | 4 | 6 | 8) {
            return Err(Wrong::new(count, "a raw key is an input of 2, 4, 6 or 8 words, `little` or `big`"));
        }
        if output != Order::Little {
            return Err(Wrong::new(
                count,
                "the words of an expanded key are `little`, as a key's frame has them",
            ));
        }
        if !self.variants.iter().any(|known| known == cipher) {
            return Ok(());
        }
        let (made, wanted) = (graph.outputs.len(), self.make(cipher)?.graph.keys);
        if made != wanted {
            return Err(Wrong::new(
                count,
                format!("`{variant}` makes {made} words, `{cipher}` takes {wanted}"),
            ));
        }
        Ok(())
    }
}

/// The variant whose keys a variant of this name sets up: `CIPHER_keys`, and the bits of a key where they make a difference.
pub fn cipher(variant: &str) -> Option<&str> {
    let (cipher, bits) = variant.rsplit_once("_keys")?;
    (!cipher.is_empty() && bits.bytes().all(|digit| digit.is_ascii_digit())).then_some(cipher)
}

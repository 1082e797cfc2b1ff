// SPDX-License-Identifier: Apache-2.0
//! Congestion marks through a tunnel (RFC 6040).

/// The two bits of the traffic class that carry congestion marks.
pub const MASK: u8 = 0b11;

const NOT_ECT: u8 = 0b00;
const ECT_1: u8 = 0b01;
const ECT_0: u8 = 0b10;
const CE: u8 = 0b11;

/// What the inner packet leaves with (RFC 6040, figure 4). `None`: the packet has to be dropped, because
/// congestion was met and its sender would not understand the mark. Only the low two bits of both count.
pub fn decapsulate(inner: u8, outer: u8) -> Option<u8> {
    match (inner & MASK, outer & MASK) {
        (NOT_ECT, CE) => None,
        (NOT_ECT, _) => Some(NOT_ECT),
        (CE, _) | (_, CE) => Some(CE),
        (ECT_0, ECT_1) => Some(ECT_1),
        (inner, _) => Some(inner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_of_the_table() {
        // Rows: inner Not-ECT, ECT(0), ECT(1), CE; columns: outer in the same order.
        let order = [NOT_ECT, ECT_0, ECT_1, CE];
        let table = [
            [Some(NOT_ECT), Some(NOT_ECT), Some(NOT_ECT), None],
            [Some(ECT_0), Some(ECT_0), Some(ECT_1), Some(CE)],
            [Some(ECT_1), Some(ECT_1), Some(ECT_1), Some(CE)],
            [Some(CE), Some(CE), Some(CE), Some(CE)],
        ];
        for (inner, row) in order.iter().zip(table) {
            for (outer, expected) in order.iter().zip(row) {
                assert_eq!(
                    decapsulate(*inner | 0xfc, *outer),
                    expected,
                    "inner {inner:02b} outer {outer:02b}"
                );
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The dictionary that all streams of a library share: the rows that occur most, by rank.

use ace_ecp5::ConfigMemory;

use super::codes::{ENTRIES_AT, LITERALS_AT, NO_ROW, PLACES, VALUES};
use super::model::CLASSES;
use super::rows::Rows;

/// Rows that a dictionary holds.
pub const ENTRIES: usize = 848;
/// Length of a dictionary in bytes: 12 bits each.
pub const DICTIONARY_BYTES: usize = ENTRIES * 3 / 2;

/// The 848 rows that have short codes. See docs/library-format.md.
#[derive(Clone, Debug)]
pub struct Dictionary {
    values: Vec<u16>,
    /// By value: code and length, prefix included.
    codes: Vec<(u16, u8)>,
    /// By the place that [`Code::place`] gives.
    rows: Box<[u16; PLACES]>,
}

impl Dictionary {
    /// A dictionary of the rows that occur most in some images. Equals in, equals out: of equally frequent
    /// rows the smaller comes first.
    pub fn train<'a>(images: impl IntoIterator<Item = &'a ConfigMemory>) -> Self {
        let mut counts = vec![0u64; VALUES];
        for image in images {
            let rows = Rows::new(image.device());
            for frame in image.frames() {
                rows.each(frame, |_, value| counts[usize::from(value)] += 1);
            }
        }
        let mut order: Vec<u16> = (1..VALUES as u16).collect();
        order.sort_by_key(|value| (std::cmp::Reverse(counts[usize::from(*value)]), *value));
        order.truncate(ENTRIES);
        Self::from_values(order)
    }

    /// From 848 rows packed into 12 bits each, as a library stores them. `None` if the length is wrong or
    /// one of them is zero.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != DICTIONARY_BYTES {
            return None;
        }
        let values = bytes.chunks_exact(3).flat_map(|three| {
            let [a, b, c] = [three[0], three[1], three[2]].map(u16::from);
            [a << 4 | b >> 4, (b & 15) << 8 | c]
        });
        let values: Vec<u16> = values.collect();
        (!values.contains(&0)).then(|| Self::from_values(values))
    }

    /// As a library stores it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let pairs = self.values.chunks_exact(2).flat_map(|two| {
            let (a, b) = (two[0], two[1]);
            [(a >> 4) as u8, (a << 4 | b >> 8) as u8, b as u8]
        });
        pairs.collect()
    }

    fn from_values(values: Vec<u16>) -> Self {
        let mut codes = vec![(0, 0); VALUES];
        let mut rows = Box::new([0; PLACES]);
        rows[ENTRIES_AT..][..values.len()].copy_from_slice(&values);
        rows[LITERALS_AT..].iter_mut().zip(0..).for_each(|(row, value)| *row = value);
        rows[LITERALS_AT] = NO_ROW;
        let classes = CLASSES.iter().flat_map(|class| (0..1u32 << class.rank_bits).map(move |i| (class, i)));
        for ((class, index), value) in classes.zip(&values) {
            let len = class.prefix_bits + class.rank_bits;
            let code = class.prefix << class.rank_bits | index;
            // A row that stands twice has the shorter code.
            if codes[usize::from(*value)].1 == 0 {
                codes[usize::from(*value)] = (code as u16, len as u8);
            }
        }
        Self { values, codes, rows }
    }

    /// Code and length of a row that is not zero; `None` if it is no entry.
    pub(crate) fn code(&self, value: u16) -> Option<(u16, u8)> {
        self.codes.get(usize::from(value)).copied().filter(|(_, len)| *len > 0)
    }

    /// Rows by the places that codes give.
    #[inline(always)]
    pub(crate) fn rows(&self) -> &[u16; PLACES] {
        &self.rows
    }
}

impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Eq for Dictionary {}

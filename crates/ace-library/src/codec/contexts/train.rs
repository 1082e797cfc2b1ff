// SPDX-License-Identifier: Apache-2.0
//! Tables of some images: of each bit the parents that tell most about it, one after the other.

use ace_ecp5::ConfigMemory;

use super::super::model::ROW_BITS;
use super::super::rows::{FRAME_ROWS, Rows};
use super::table::{ANY, Bit, COLUMN, Context, Contexts, FLAG_PARENTS, Flag, Known, NO_BIT, NO_FLAG, OWN};

/// Bits by which a parent has to shorten what it tells about, so that it is taken.
const WORTH: f64 = 10.0;

/// A bit of many cases, 64 a word.
type Cases = Vec<u64>;

impl Contexts {
    /// Tables for images, of one device or several. The same images give the same tables.
    pub fn train<'a>(images: impl IntoIterator<Item = &'a ConfigMemory>) -> Self {
        // By frame of a column: rows that are not zero with what is known of them, and of all rows what tells whether.
        let mut values: Vec<Vec<u128>> = vec![Vec::new(); COLUMN];
        let mut flags: Vec<Vec<u16>> = vec![Vec::new(); COLUMN];
        let every = Flag { parents: [0, 1, 2, 3], zero: [0; 1 << FLAG_PARENTS] };
        for image in images {
            let rows = Rows::new(image.device());
            let mut known = Known::new(rows.count);
            let mut frame_rows = [0u16; FRAME_ROWS];
            for (position, frame) in image.frames().enumerate() {
                if frame.iter().all(|byte| *byte == 0) {
                    continue;
                }
                known.begin(position);
                frame_rows.fill(0);
                rows.each(frame, |row, value| frame_rows[rows.count - 1 - row] = value);
                for (row, value) in frame_rows[..rows.count].iter().enumerate() {
                    let mut case = u16::from(*value != 0) << NO_FLAG;
                    for parents in [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]] {
                        let set = known.flag(&Flag { parents, ..every }, row) as u16;
                        case |= (set.reverse_bits() >> (16 - FLAG_PARENTS)) << parents[0];
                    }
                    flags[position % COLUMN].push(case);
                    if *value != 0 {
                        values[position % COLUMN].push(known.before[row] | u128::from(*value) << OWN);
                    }
                    known.put(row, *value);
                }
            }
        }
        let frames: Vec<_> = values.iter().zip(&flags).collect();
        let tables = |(values, flags): &(&Vec<u128>, &Vec<u16>)| {
            let columns: Vec<Cases> =
                (0..OWN + ROW_BITS).map(|bit| cases(values, |case| case >> bit & 1 == 1)).collect();
            let bits: [Bit; ROW_BITS] = std::array::from_fn(|bit| {
                // The rows before, and of its own what stands above it.
                let candidates: Vec<usize> = (0..OWN).chain(OWN + bit + 1..OWN + ROW_BITS).collect();
                learn(&columns, &candidates, OWN + bit, values.len(), NO_BIT)
            });
            let columns: Vec<Cases> =
                (0..=usize::from(NO_FLAG)).map(|bit| cases(flags, |case| case >> bit & 1 == 1)).collect();
            let candidates: Vec<usize> = (0..=ANY).collect();
            (bits, learn(&columns, &candidates, usize::from(NO_FLAG), flags.len(), NO_FLAG))
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let part = frames.len().div_ceil(threads).max(1);
        let learned: Vec<(_, _)> = std::thread::scope(|scope| {
            let workers: Vec<_> = frames
                .chunks(part)
                .map(|part| scope.spawn(move || part.iter().map(tables).collect::<Vec<_>>()))
                .collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("counting does not panic")).collect()
        });
        let (bits, flags) = learned.into_iter().unzip();
        Self { bits, flags }
    }
}

fn cases<T>(all: &[T], set: impl Fn(&T) -> bool) -> Cases {
    all.chunks(64)
        .map(|word| word.iter().enumerate().fold(0, |bits, (at, case)| bits | u64::from(set(case)) << at))
        .collect()
}

/// The bits that `zeros` zeros and `ones` ones take, with those that tell their probability.
fn bits(zeros: u32, ones: u32) -> f64 {
    let all = f64::from(zeros + ones);
    let part = |count: u32| if count == 0 { 0.0 } else { f64::from(count) * (all / f64::from(count)).log2() };
    part(zeros) + part(ones) + if zeros > 0 && ones > 0 { 0.5 * all.log2() } else { 0.0 }
}

/// The parents of column `of` among the candidates, taken while one is worth it, and the probabilities that it is 0.
fn learn<const PARENTS: usize, const VALUES: usize>(
    columns: &[Cases],
    candidates: &[usize],
    of: usize,
    count: usize,
    none: u8,
) -> Context<PARENTS, VALUES> {
    let own = &columns[of];
    let mut whole = vec![u64::MAX; own.len()];
    if let Some(last) = whole.last_mut().filter(|_| !count.is_multiple_of(64)) {
        *last = (1 << (count % 64)) - 1;
    }
    // What the parents tell apart, in the order of the table.
    let mut groups = vec![whole];
    let mut parents = Vec::new();
    let counts = |group: &Cases| {
        let pairs = group.iter().zip(own);
        pairs.fold((0, 0), |(all, ones), (g, own)| (all + g.count_ones(), ones + (g & own).count_ones()))
    };
    while parents.len() < PARENTS {
        let now: f64 = groups.iter().map(counts).map(|(all, ones)| bits(all - ones, ones)).sum();
        let mut best = (now - WORTH, None);
        for candidate in candidates {
            let column = &columns[*candidate];
            let mut cost = 0.0;
            for group in &groups {
                let (mut all, mut ones, mut set, mut both) = (0, 0, 0, 0);
                for ((g, own), column) in group.iter().zip(own).zip(column) {
                    all += g.count_ones();
                    ones += (g & own).count_ones();
                    set += (g & column).count_ones();
                    both += (g & column & own).count_ones();
                }
                cost += bits(set - both, both) + bits(all - set - (ones - both), ones - both);
                if cost > best.0 {
                    break;
                }
            }
            if cost < best.0 {
                best = (cost, Some(*candidate));
            }
        }
        let Some(parent) = best.1 else { break };
        let half = |group: &Cases, set: bool| -> Cases {
            let pairs = group.iter().zip(&columns[parent]);
            pairs.map(|(g, column)| g & if set { *column } else { !column }).collect()
        };
        groups = groups.iter().flat_map(|group| [half(group, false), half(group, true)]).collect();
        parents.push(parent as u8);
    }
    // Those that are not worth it stand in front: they are 0, so that only the lower half of the table is looked at.
    let mut context = Context { parents: [none; PARENTS], zero: [128; VALUES] };
    context.parents[PARENTS - parents.len()..].copy_from_slice(&parents);
    for (zero, (all, ones)) in context.zero.iter_mut().zip(groups.iter().map(counts)) {
        let share = (f64::from(all - ones) + 0.4) / (f64::from(all) + 0.8);
        *zero = (256.0 * share).round().clamp(1.0, 255.0) as u8;
    }
    context
}

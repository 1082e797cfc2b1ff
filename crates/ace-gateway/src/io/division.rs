// SPDX-License-Identifier: Apache-2.0
//! What the kernel divides among several cores by SPI: a program that looks for the SPIs that are elsewhere than the rest,
//! and takes the rest modulo the number of cores.

use super::bpf;

/// An instruction: code, both jumps, constant.
pub type Step = (u16, u8, u8, u32);

/// More instructions no program has (linux/bpf_common.h: BPF_MAXINSNS), with some in front of these.
const MOST: usize = 4096 - 16;
/// So many SPIs are compared one behind the other.
const ROW: usize = 4;

/// The program behind the instruction that has loaded the SPI: `odd` are SPIs with their cores, in order, `found` is what
/// is done when the core is known, `rest` when the SPI, modulo the cores, is. How many of `odd` had no room: the others
/// stay where they are by themselves, and cores hand them over.
pub fn program(
    odd: &[(u32, usize)],
    count: usize,
    found: impl Fn(u32) -> Vec<Step> + Copy,
    rest: &[Step],
) -> (Vec<Step>, usize) {
    let number = |core: usize| u32::try_from(core).unwrap_or(0);
    let behind: Vec<Step> =
        std::iter::once((bpf::MODULO, 0, 0, number(count))).chain(rest.iter().copied()).collect();
    // An SPI takes two instructions or more: nothing is built that cannot fit, as packets wait for this.
    let mut taken = odd.len().min(MOST / 2);
    loop {
        let all = tree(&odd[..taken], |core| found(number(core)), &behind);
        if all.len() <= MOST {
            return (all, odd.len() - taken);
        }
        taken = taken * 9 / 10;
    }
}

fn tree(odd: &[(u32, usize)], found: impl Fn(usize) -> Vec<Step> + Copy, rest: &[Step]) -> Vec<Step> {
    if odd.len() <= ROW {
        let one = |&(spi, core): &(u32, usize)| {
            let found = found(core);
            // What follows an SPI that it is not.
            let over = u8::try_from(found.len()).unwrap_or(u8::MAX);
            std::iter::once((bpf::JUMP_EQUAL, 0, over, spi)).chain(found)
        };
        return odd.iter().flat_map(one).chain(rest.iter().copied()).collect();
    }
    let (low, high) = odd.split_at(odd.len() / 2);
    let (below, above) = (tree(low, found, rest), tree(high, found, rest));
    let first = high.first().map_or(0, |(spi, _)| *spi);
    let over = u32::try_from(below.len()).unwrap_or(u32::MAX);
    let fork = [(bpf::JUMP_NOT_LESS, 0, 1, first), (bpf::JUMP, 0, 0, over)];
    fork.into_iter().chain(below).chain(above).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the program returns for an SPI.
    fn run(program: &[Step], spi: u32) -> u32 {
        let (mut a, mut at) = (spi, 0);
        loop {
            let (code, yes, no, k) = program[at];
            at += 1;
            match code {
                bpf::MODULO => a %= k,
                bpf::JUMP => at += k as usize,
                bpf::JUMP_EQUAL => at += usize::from(if a == k { yes } else { no }),
                bpf::JUMP_NOT_LESS => at += usize::from(if a >= k { yes } else { no }),
                bpf::RETURN => return k,
                bpf::RETURN_A => return a,
                other => panic!("{other:#x}"),
            }
        }
    }

    #[test]
    fn each_spi_comes_to_its_core_and_all_others_where_they_belong() {
        for many in [0_u32, 1, 4, 5, 9, 100, 1000, 5000] {
            // Every third is the other one's.
            let odd: Vec<(u32, usize)> =
                (0..many).map(|n| (0x1000 + n * 3, ((0x1000 + n * 3) as usize + 1) % 3)).collect();
            let (program, left) =
                program(&odd, 3, |core| vec![(bpf::RETURN, 0, 0, core)], &[(bpf::RETURN_A, 0, 0, 0)]);
            assert!(
                program.len() <= MOST && (left == 0) == (many <= 1000),
                "{many}: {left} left, {}",
                program.len()
            );
            for (place, (spi, core)) in odd.iter().enumerate() {
                let wanted = if place < odd.len() - left { *core as u32 } else { spi % 3 };
                assert_eq!(run(&program, *spi), wanted, "{spi:#x} of {many}");
                assert_eq!(run(&program, spi + 1), (spi + 1) % 3);
            }
            assert_eq!((run(&program, 0), run(&program, u32::MAX)), (0, u32::MAX % 3));
        }
    }
}

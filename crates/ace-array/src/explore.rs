// SPDX-License-Identifier: Apache-2.0
//! Shapes against each other: what a tile of each takes, counted from how the RTL is built, and what algorithms get of it.

use crate::error::Misfit;
use crate::ir::graph::Graph;
use crate::ir::layout::Layout;
use crate::ir::shape::{Kind, Shape, bits_for};
use crate::schedule::{Effort, bound, schedule};

/// What a tile takes that grows with its shape: elements themselves are small beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// LUT4 of the multiplexers in front of operand ports: trees of eight inputs, of four LUTs a bit.
    pub multiplexers: usize,
    /// DPR16X4 of delay lines, and of the bases of blocks' keys.
    pub lines: usize,
    /// Block memories of 18 Kbit: contexts, tables, keys, memory elements, streams.
    pub blocks: usize,
}

/// What a shape takes.
pub fn area(shape: &Shape) -> Area {
    // Widths of an element's ports: a quad has four bytes, a rotator a word and an amount.
    let widths = |kind: Kind| match kind {
        Kind::Input => Vec::new(),
        Kind::Quad => vec![8; 4],
        Kind::Rotator => vec![32, 5],
        kind => vec![32; shape.ports(kind)],
    };
    let all = |of: &dyn Fn(usize) -> usize| -> usize {
        let each = |kind: Kind| widths(kind).into_iter().map(of).sum::<usize>();
        Kind::ALL.iter().map(|kind| shape.count(*kind) * each(*kind)).sum()
    };
    let keyed = shape.alus + shape.rotators;
    let bases = keyed * bits_for(shape.key_words).div_ceil(4) * shape.stages.div_ceil(16);
    let cells = |kind: Kind| {
        let ports = widths(kind).into_iter().enumerate();
        ports.map(|(port, width)| width.div_ceil(4) * shape.reach(kind, port).div_ceil(16)).sum::<usize>()
    };
    let lines = Kind::ALL.iter().map(|kind| shape.count(*kind) * cells(*kind)).sum::<usize>();
    let eights = (shape.sources() + 1).div_ceil(8);
    // Two words of 512 by 36 bits for 64 bits of contexts; two for a lane's two banks of two pages.
    let contexts = 2 * Layout::of(shape).words();
    let tables = shape.quads * 4 * 2;
    let small = keyed + shape.memories + shape.inputs + shape.outputs;
    Area {
        multiplexers: 4 * eights * all(&|width| width),
        lines: lines + bases,
        blocks: contexts + tables + small,
    }
}

/// Every tile of one to so many elements of the kinds that algorithms differ in, the others as in `like`.
pub fn shapes(like: &Shape, most: usize) -> Vec<Shape> {
    let mut out = Vec::new();
    for alu_operands in [2, 3] {
        for alus in 2..=most {
            for rotators in 1..=most.min(4) {
                for quads in 1..=most.min(4) {
                    let shape = Shape { alu_operands, alus, rotators, quads, ..like.clone() };
                    // A select has four bits, one value of which is zero.
                    if shape.sources() < 16 {
                        out.push(shape);
                    }
                }
            }
        }
    }
    out
}

/// The interval of an algorithm on a shape: what the scheduler finds or, without effort, what the elements allow at least.
///
/// # Errors
/// Why it does not fit.
pub fn interval(graph: &Graph, shape: &Shape, effort: Option<Effort>) -> Result<usize, Misfit> {
    match effort {
        Some(effort) => schedule(graph, shape, effort).map(|found| found.ii),
        None => match bound(graph, shape) {
            (least, _) if least <= shape.contexts => Ok(least),
            (least, by) => Err(Misfit::of_all(format!("its {}s alone take {least} contexts", by.name()))),
        },
    }
}

/// Which of some (cost, worth) no other one has for less, or more of for as much.
pub fn front(points: &[(usize, f64)]) -> Vec<bool> {
    let beaten = |at: &(usize, f64)| {
        points.iter().any(|other| (other.0 <= at.0 && other.1 > at.1) || (other.0 < at.0 && other.1 >= at.1))
    };
    points.iter().map(|point| !beaten(point)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Yosys counts as many block memories and lines in the netlist of the repository's tile; and slots of such tiles, where
    /// the ways share contexts, have no less.
    #[test]
    fn the_standard_shape_takes_what_was_synthesised() {
        let (shape, area) = (Shape::standard(), area(&Shape::standard()));
        let routed = serde_json::from_str(include_str!("../routed.json")).unwrap();
        let serde_json::Value::Object(routed) = routed else { panic!("it is no object") };
        let of = |design: &serde_json::Value, what: &str| design[what].as_u64().map(|count| count as usize);
        let mut compared = 0;
        for (name, design) in &routed {
            // What has no ways was routed of a tile that had none.
            let (Some(tiles), Some(ways)) = (of(design, "tiles"), of(design, "ways")) else { continue };
            let cells = |cell: &str| of(&design["cells"], cell).unwrap();
            if name == "tile" {
                assert_eq!((area.blocks, area.lines), (cells("ebr"), cells("dpr16x4")));
                assert!(area.multiplexers < cells("lut4"), "{area:?}");
            } else {
                let contexts = 2 * Layout::of(&shape).words();
                let blocks = tiles * (contexts + ways * (area.blocks - contexts));
                assert!(blocks < cells("ebr"), "{name}: {blocks} block memories and the front end's");
                assert!(tiles * ways * area.lines < cells("dpr16x4"), "{name}: {area:?}");
                assert!(tiles * ways * area.multiplexers < cells("lut4"), "{name}: {area:?}");
            }
            compared += 1;
        }
        assert!(compared > 0, "nothing of this tile was routed");
    }

    #[test]
    fn the_front_is_what_nothing_beats() {
        let points = [(10, 1.0), (10, 2.0), (12, 2.0), (20, 3.0), (9, 0.5)];
        assert_eq!(front(&points), [false, true, false, true, true]);
    }
}

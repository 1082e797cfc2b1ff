// SPDX-License-Identifier: Apache-2.0
//! Every pass computes what was there before it: graphs of the sources and random ones, over random words.

use ace_array::algorithms;
use ace_array::domain::Half;
use ace_array::graph::{AND, Graph, Id, NOT, OR, Op, Table, XOR};
use ace_array::passes::{balance, check_legal, cover, fold, legalise, sums, tables, turns};
use ace_array::schedule::{Effort, Goal, check, schedule};
use ace_array::shape::{Shape, latency};
use proptest::prelude::*;

/// A stream of words that a seed says.
fn random(seed: u64) -> impl FnMut() -> u32 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as u32
    }
}

fn same(before: &Graph, after: &Graph, what: &str) {
    let mut next = random(before.nodes.len() as u64);
    for _ in 0..20 {
        let block: Vec<u32> = (0..before.inputs).map(|_| next()).collect();
        let key: Vec<u32> = (0..before.keys).map(|_| next()).collect();
        assert_eq!(before.evaluate(&block, &key), after.evaluate(&block, &key), "{what}");
    }
}

/// Each pass after the ones before it, as the compiler has them.
fn each(graph: &Graph, operands: usize, goal: Goal, what: &str) -> Graph {
    let shape = Shape { alu_operands: operands, ..Shape::standard() };
    let mut last = graph.clone();
    let mut step = |name: &str, next: Graph| {
        same(&last, &next, &format!("{name} of {what}"));
        last = next;
        last.clone()
    };
    let mut graph = step("fold", fold(graph));
    if let Some(turned) = turns(&graph) {
        graph = step("turns", turned);
    }
    graph = step("tables", tables(&graph));
    graph = step("sums", sums(&graph, shape.alu_operands));
    graph = step("cover", cover(&graph, shape.alu_operands, goal));
    graph = step("fold again", fold(&graph));
    graph = step("legalise", legalise(&graph, &shape));
    step("balance", balance(&graph, &shape))
}

#[test]
fn the_sources_compute_the_same_after_each_pass() {
    for file in algorithms::names() {
        let program = algorithms::program(file).unwrap();
        for variant in &program.variants {
            let built = program.build(variant).unwrap();
            for (operands, goal) in [(2, Goal::Throughput), (3, Goal::Throughput), (3, Goal::Latency)] {
                let graph = each(&built.graph, operands, goal, variant);
                let shape = Shape { alu_operands: operands, ..Shape::standard() };
                check_legal(&graph, &shape).unwrap();
                assert!(graph.nodes.len() < 3000, "{variant} has {} nodes", graph.nodes.len());
            }
        }
    }
}

/// A graph of random operations over a few words; the last ones are its result.
fn any_graph(steps: &[(u8, u16, u16, u32)]) -> Graph {
    let mut graph = Graph { inputs: 4, keys: 3, ..Graph::default() };
    let mut next = random(steps.len() as u64);
    for lane in 0..4 {
        let words = (0..if lane == 3 { 64 } else { 256 }).map(|_| next()).collect();
        graph.tables.push(Table { name: format!("t{lane}"), words });
    }
    let mut ids: Vec<Id> = (0..4).map(|word| graph.add(Op::Input(word), vec![])).collect();
    ids.extend((0..3).map(|word| graph.add(Op::Key(word), vec![])).collect::<Vec<_>>());
    for value in [0, 1, u32::MAX, 0x1234_5678] {
        ids.push(graph.add(Op::Const(value), vec![]));
    }
    for (op, a, b, by) in steps {
        let (a, b) = (ids[usize::from(*a) % ids.len()], ids[usize::from(*b) % ids.len()]);
        let lane = *by as usize % 4;
        let (op, args) = match op % 16 {
            0 => (XOR, vec![a, b]),
            1 => (AND, vec![a, b]),
            2 => (OR, vec![a, b]),
            3 => (NOT, vec![a]),
            4 | 5 => (Op::Sum(0), vec![a, b]),
            6 => (Op::Sum(2), vec![a, b]),
            7 => (Op::Rotate(by % 32), vec![a]),
            8 => (Op::RotateBy { right: by % 2 == 1 }, vec![a, b]),
            9 => (Op::Shift { right: by % 2 == 1, by: by / 2 % 32 }, vec![a]),
            10 => (Op::Quadratic { rotate: false }, vec![a]),
            11 => (Op::Lookup { table: lane, lane, six: lane == 3 }, vec![a]),
            12 => (Op::Sum(1), vec![a]),
            13 => (Op::Multiply, vec![a, b]),
            14 => (Op::Carryless([Half::Low, Half::High, Half::Fold][*by as usize % 3]), vec![a, b]),
            _ => (Op::Again, vec![a]),
        };
        ids.push(graph.add(op, args));
    }
    for (word, id) in ids.iter().rev().take(3).copied().collect::<Vec<_>>().into_iter().enumerate() {
        let out = graph.add(Op::Output(word), vec![id]);
        graph.outputs.push(out);
    }
    graph
}

proptest! {
    #[test]
    fn random_graphs_compute_the_same_after_each_pass(
        steps in prop::collection::vec((any::<u8>(), any::<u16>(), any::<u16>(), any::<u32>()), 1..80),
        operands in 2usize..=3,
        quick in any::<bool>(),
    ) {
        let graph = any_graph(&steps);
        let goal = if quick { Goal::Latency } else { Goal::Throughput };
        let graph = each(&graph, operands, goal, "a random graph");
        let shape = Shape { alu_operands: operands, ..Shape::standard() };
        prop_assert!(check_legal(&graph, &shape).is_ok());
    }

    /// Whatever a few operations are, elements do them: no program of that size is refused.
    #[test]
    fn random_programs_are_scheduled(
        steps in prop::collection::vec((any::<u8>(), any::<u16>(), any::<u16>(), any::<u32>()), 1..16),
        operands in 2usize..=3,
        quick in any::<bool>(),
    ) {
        let goal = if quick { Goal::Latency } else { Goal::Throughput };
        let shape = Shape { alu_operands: operands, ..Shape::standard() };
        let graph = ace_array::passes::all(&any_graph(&steps), &shape, goal);
        prop_assert!(check_legal(&graph, &shape).is_ok());
        let found = schedule(&graph, &shape, Effort::of(goal));
        prop_assert!(found.is_ok(), "{:?} for {graph:?}", found.err());
        prop_assert!(check(&graph, &shape, &found.unwrap()).is_ok());
    }
}

#[test]
fn what_can_be_merged_is() {
    let counts = |file: &str, variant: &str, operands: usize| {
        let built = algorithms::program(file).unwrap().build(variant).unwrap();
        let shape = Shape { alu_operands: operands, ..Shape::standard() };
        ace_array::schedule::counts(&ace_array::passes::all(&built.graph, &shape, Goal::Throughput))
    };
    // ALUs, rotators, quads: four look-ups and their XOR are one quad, a chain of CAST is one, MD5's step is a bit
    // function and three sums of which one has three terms.
    assert_eq!(counts("aes.ace", "aes128_encrypt", 3)[..3], [44, 0, 40]);
    assert_eq!(counts("cast128.ace", "cast128_encrypt", 2)[..3], [32, 16, 16]);
    assert_eq!(counts("md5.ace", "md5", 3)[..2], [4 * 64 + 3, 64]);
    assert_eq!(counts("rc6.ace", "rc6_encrypt", 3)[3], 40);
}

/// SHA-256's sums of rotations as the standard prints them: where rotators and ALUs bound a graph, products make it shorter,
/// and an XOR of two rotations, of which a product would be longer, stays what it is.
#[test]
fn sums_of_rotations_are_products_where_that_is_less() {
    let counts = |words: usize, each: usize| {
        let mut graph = Graph { inputs: words, ..Graph::default() };
        for word in 0..words {
            let x = graph.add(Op::Input(word), vec![]);
            let turned: Vec<Id> =
                [2, 13, 22][..each].iter().map(|by| graph.add(Op::Rotate(*by), vec![x])).collect();
            let all = turned.into_iter().reduce(|all, id| graph.add(XOR, vec![all, id])).unwrap();
            let out = graph.add(Op::Output(word), vec![all]);
            graph.outputs.push(out);
        }
        let done = ace_array::passes::all(&graph, &Shape::standard(), Goal::Throughput);
        same(&graph, &done, "sums of rotations");
        ace_array::schedule::counts(&done)
    };
    assert_eq!(counts(12, 3)[..4], [0, 0, 0, 12]);
    // Of two rotations the multiplier does one.
    assert_eq!(counts(12, 2)[..4], [12, 12, 0, 12]);
}

/// Of four terms two are there early: the late ones wait for their sum, and not for each other's.
#[test]
fn what_comes_late_is_added_last() {
    let mut graph = Graph { inputs: 2, ..Graph::default() };
    let early: Vec<Id> = (0..2).map(|word| graph.add(Op::Input(word), vec![])).collect();
    let mut late = early.clone();
    for by in [3, 5] {
        late = late.iter().map(|id| graph.add(Op::Rotate(by), vec![*id])).collect();
    }
    let sum = [late[0], early[0], late[1], early[1]];
    let sum = sum.into_iter().reduce(|all, id| graph.add(Op::Sum(0), vec![all, id])).unwrap();
    let out = graph.add(Op::Output(0), vec![sum]);
    graph.outputs.push(out);
    let arrivals = ace_array::passes::arrivals(&ace_array::passes::sums(&graph, 3));
    let late = latency::READ + 2 * (latency::HOP + latency::ROTATOR);
    let once = late + latency::HOP + latency::ALU;
    assert_eq!(arrivals.into_iter().max(), Some(once + latency::HOP + latency::OUTPUT));
}

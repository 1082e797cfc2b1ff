// SPDX-License-Identifier: Apache-2.0
//! The iterative scheduler beside the exact check, on random graphs of up to twelve operations and small shapes.

use std::time::Duration;

use ace_array::exact::{Verdict, at, below};
use ace_array::graph::{Graph, Id, Link, Op, Table, XOR, swept};
use ace_array::schedule::{Effort, Goal, bound, schedule};
use ace_array::shape::{Kind, Shape};

const MINUTE: Duration = Duration::from_secs(60);

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ x >> 31) >> 16) as usize % most
    }
}

/// Operations on what is there; long chains with early operands among them, which a short line does not keep.
fn graph(random: &mut Random) -> Graph {
    let mut graph = Graph { inputs: 3, keys: 1, ..Graph::default() };
    graph.tables = (0..4).map(|at| Table { name: format!("t{at}"), words: vec![at; 256] }).collect();
    let key = graph.add(Op::Key(0), vec![]);
    let mut values: Vec<Id> = (0..3).map(|word| graph.add(Op::Input(word), vec![])).collect();
    for _ in 0..3 + random.below(10) {
        let recent = random.below(3) > 0;
        let mut one = || {
            let back = if recent { values.len().min(3) } else { values.len() };
            values[values.len() - 1 - random.below(back)]
        };
        let (a, b, c) = (one(), one(), one());
        let lanes = |count: usize| (0..count).rev().map(|lane| (lane, lane)).collect::<Vec<_>>();
        let (op, args) = match random.below(11) {
            0 | 1 => (XOR, vec![a, b]),
            2 => (Op::Sum(2), vec![a, b]),
            3 => (XOR, vec![a, key]),
            4 => (Op::Rotate(7), vec![a]),
            5 => (Op::RotateBy { right: true }, vec![a, b]),
            6 => (Op::Quad { lanes: lanes(1), links: vec![], six: false }, vec![a]),
            7 => (Op::Quad { lanes: lanes(2), links: vec![Link::Xor], six: false }, vec![a, b]),
            8 | 9 => {
                let links = vec![Link::Plus, Link::Minus, Link::Xor];
                (Op::Quad { lanes: lanes(4), links, six: false }, vec![a, b, c, a])
            }
            _ => (Op::Multiply, vec![a, b]),
        };
        values.push(graph.add(op, args));
    }
    let last = &values[values.len() - 2..];
    graph.outputs = last.iter().enumerate().map(|(at, id)| graph.add(Op::Output(at), vec![*id])).collect();
    swept(&graph)
}

fn shape(random: &mut Random) -> Shape {
    let line = [8, 16, 32][random.below(3)];
    Shape {
        alus: 1 + random.below(2),
        rotators: 1 + random.below(2),
        quads: 1 + random.below(2),
        multipliers: 1,
        memories: 1 + random.below(2),
        inputs: 1 + random.below(2),
        outputs: 1,
        alu_operands: 2 + random.below(2),
        line,
        long_line: [line, 32][random.below(2)],
        ..Shape::standard()
    }
}

#[test]
fn the_scheduler_finds_no_interval_that_is_impossible() {
    let (mut equal, mut above, mut not_bound) = (0, 0, 0);
    for seed in 0..200 {
        let mut random = Random(seed);
        let (shape, graph) = (shape(&mut random), graph(&mut random));
        let found = schedule(&graph, &shape, Effort::default()).unwrap();
        // What it found is a schedule: the clauses have to allow it, and the checker what they allow.
        let quick = schedule(&graph, &shape, Effort::of(Goal::Latency)).unwrap();
        for ii in [found.ii, quick.ii] {
            let verdict = at(&graph, &shape, ii, MINUTE).unwrap();
            assert!(matches!(&verdict, Verdict::Possible(_)), "seed {seed}, {ii} contexts: {verdict:?}");
        }
        let verdicts = below(&graph, &shape, found.ii, MINUTE).unwrap();
        match verdicts.last() {
            Some((ii, Verdict::Possible(better))) => {
                assert_eq!(better.ii, *ii);
                above += 1;
            }
            Some((ii, Verdict::Undecided(why))) => panic!("seed {seed}, {ii} contexts: {why}"),
            _ => equal += 1,
        }
        let least = verdicts.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Impossible)).count();
        not_bound += usize::from(least > 0);
    }
    println!(
        "least intervals found: {equal} of {}; {not_bound} of the least are above the bound",
        equal + above
    );
    assert!(equal >= 190 && not_bound > 0, "{equal} and {above}, {not_bound} above the bound");
}

/// Three look-ups for one quad, of which one is a chain, which takes two slots more: in three contexts one of the two
/// others would end with it.
fn three_look_ups() -> Graph {
    let mut graph = Graph { inputs: 1, ..Graph::default() };
    graph.tables = vec![Table { name: "t".to_owned(), words: vec![0; 256] }];
    let lanes = |count: usize| (0..count).rev().map(|lane| (lane, 0)).collect();
    let input = graph.add(Op::Input(0), vec![]);
    let links = vec![Link::Plus, Link::Minus, Link::Xor];
    let mut last = graph.add(Op::Quad { lanes: lanes(4), links, six: false }, vec![input; 4]);
    for _ in 0..2 {
        last = graph.add(Op::Quad { lanes: lanes(1), links: vec![], six: false }, vec![last]);
    }
    let out = graph.add(Op::Output(0), vec![last]);
    graph.outputs.push(out);
    graph
}

#[test]
fn the_bound_of_the_elements_may_be_impossible() {
    let shape = Shape { quads: 1, ..Shape::standard() };
    let graph = three_look_ups();
    assert_eq!(bound(&graph, &shape), (3, Kind::Quad));
    assert!(matches!(at(&graph, &shape, 2, MINUTE).unwrap(), Verdict::Impossible));
    assert!(matches!(at(&graph, &shape, 3, MINUTE).unwrap(), Verdict::Impossible));
    let Verdict::Possible(four) = at(&graph, &shape, 4, MINUTE).unwrap() else { panic!("four contexts do") };
    assert_eq!(four.ii, 4);
    assert_eq!(schedule(&graph, &shape, Effort::default()).unwrap().ii, 4);
    // Without the chain three are enough.
    let mut plain = graph;
    let input = plain.nodes[1].args[0];
    plain.nodes[1].op = plain.nodes[2].op.clone();
    plain.nodes[1].args = vec![input];
    assert!(matches!(at(&plain, &shape, 3, MINUTE).unwrap(), Verdict::Possible(_)));
}

#[test]
fn without_time_nothing_is_said() {
    let shape = Shape { quads: 1, ..Shape::standard() };
    assert!(matches!(at(&three_look_ups(), &shape, 3, Duration::ZERO).unwrap(), Verdict::Undecided(_)));
}

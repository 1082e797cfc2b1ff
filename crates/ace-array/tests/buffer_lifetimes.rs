// SPDX-License-Identifier: Apache-2.0
//! Schedules made by hand whose words are written over before they are read: the checker says where, and the simulated
//! tile shows that it is so. What the checker takes computes what it should.

use ace_array::bounds::{self, Refusal, Why};
use ace_array::codegen::emit;
use ace_array::frontend::{Built, Program};
use ace_array::graph::{Graph, Op};
use ace_array::host::{Block, Runner};
use ace_array::passes;
use ace_array::schedule::check;
use ace_array::schedule::{Goal, Place, Route, Schedule, Store, kind_of};
use ace_array::shape::{Shape, Unit};
use std::collections::BTreeMap;

/// Memories of 16 words, and one input and one output.
fn small() -> Shape {
    Shape { memory_words: 16, stream_words: 16, inputs: 1, outputs: 1, ..Shape::standard() }
}

struct Case {
    built: Built,
    graph: Graph,
    shape: Shape,
    schedule: Schedule,
}

impl Case {
    /// `words` words in, `run` over them, and as many out; every operation in the slot that `slot` says, all operands
    /// directly.
    fn new(words: usize, run: &str, shape: Shape, ii: usize, slot: impl Fn(&Op) -> i64) -> Case {
        let text = format!(
            "algorithm a;\nvariant v {{}}\ninput x: word[{words}] big;\nrun -> word[{words}] big {{ {run} }}\n"
        );
        let program = Program::parse("a.ace", &text, &|_| None).unwrap();
        let built = program.build("v").unwrap();
        let graph = passes::all(&built.graph, &shape, Goal::Throughput);
        let place = |op: &Op, args: usize| {
            let unit = Unit { kind: kind_of(op)?, index: 0 };
            Some(Place { slot: slot(op), unit, ports: (0..args).collect() })
        };
        let places = graph.nodes.iter().map(|node| place(&node.op, node.args.len())).collect();
        let routes = graph.nodes.iter().map(|node| vec![Route::Direct; node.args.len()]).collect();
        let schedule = Schedule { ii, places, routes, stores: BTreeMap::new(), shared: BTreeMap::new() };
        Case { built, graph, shape, schedule }
    }

    fn complaint(&self) -> Option<String> {
        check(&self.graph, &self.shape, &self.schedule).err().map(|error| error.to_string())
    }

    /// Whether the set of the schedule reaches for nothing but its own.
    fn bounded(&self) -> Result<(), Refusal> {
        let set = emit(&self.built, &self.graph, &self.shape, &self.schedule).unwrap();
        bounds::check(&set, &self.shape)
    }

    /// Whether the tile computes what the graph does, block behind block.
    fn runs(&self) -> bool {
        let set = emit(&self.built, &self.graph, &self.shape, &self.schedule).unwrap();
        let word = |at: usize| (at as u32 + 1).wrapping_mul(0x9E37_79B9);
        let count = self.graph.inputs;
        let block = |block: usize| (0..count).map(|at| word(block * count + at)).collect();
        let blocks: Vec<Block> = (0..60).map(|at| Block { words: block(at), key: 0 }).collect();
        let ran = Runner::new(&self.shape, &set).run(&blocks).unwrap();
        ran.results.iter().zip(&blocks).all(|(found, block)| *found == self.graph.evaluate(&block.words, &[]))
    }

    fn is_right(&self) {
        assert_eq!(self.complaint(), None);
        assert_eq!(self.bounded(), Ok(()));
        assert!(self.runs(), "the checker takes it, and the tile computes something else");
    }

    fn is_refused(&self, wanted: &[&str]) {
        let complaint = self.complaint().expect("the checker takes it");
        assert!(wanted.iter().all(|part| complaint.contains(part)), "{complaint}\nwanted {wanted:?}");
        assert!(self.bounded().is_err(), "{complaint}");
    }
}

/// One value a block, stored so that reads issued from slot 8 on see it; a block every four slots, and the base comes
/// round with the sixteenth.
fn waiting(slot: i64) -> Case {
    let mut case = Case::new(1, "return [~x[0]];", small(), 4, |op| match op {
        Op::Input(_) => 0,
        Op::Output(_) => slot + 1,
        _ => 3,
    });
    let value = case.graph.nodes.iter().position(|node| matches!(node.op, Op::Logic(_))).unwrap();
    let reader = case.graph.outputs[0];
    case.schedule.stores.insert(value, Store { memory: 0, slot: 6 });
    case.schedule.routes[reader][0] = Route::Stored { slot };
    case
}

#[test]
fn a_later_block_writes_over_a_value_when_the_base_comes_round() {
    waiting(10).is_right();
    waiting(72).is_right();
    // In slot 73 what is read is written over in the same clock: the simulated tile still shows the old word.
    for slot in [73, 74, 75, 90] {
        let case = waiting(slot);
        let place = "word 0 of memory element 0 has value 1 from slot 8 on";
        let read = format!("is read in slot {}", slot - 2);
        case.is_refused(&[place, &read, "from slot 72 on it has value 1 of the block 16 behind it"]);
        assert!(slot == 73 || !case.runs(), "slot {slot}");
    }
}

#[test]
fn a_value_is_read_back_two_slots_after_its_store() {
    waiting(10).is_right();
    let refused = |slot| match waiting(slot).bounded() {
        Err(Refusal::Beyond(beyond)) => beyond.why,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(9), Why::StoredMeanwhile(7));
    assert_eq!(refused(8), Why::NotStored(6));
}

/// Seventeen values of a block in an element of sixteen words: the last one lies where the first one is.
fn too_many(first_read: i64) -> Case {
    let slot = |op: &Op| match op {
        Op::Input(word) => *word as i64,
        Op::Output(0) => first_read + 1,
        Op::Output(word) => 31 + *word as i64,
        _ => unreachable!("words go in and out"),
    };
    let shape = Shape { stream_words: 256, ..small() };
    let mut case = Case::new(17, "return x;", shape, 40, slot);
    for id in 0..case.graph.nodes.len() {
        match &case.graph.nodes[id].op {
            Op::Input(word) => {
                case.schedule.stores.insert(id, Store { memory: 0, slot: *word as i64 + 3 });
            }
            Op::Output(word) => {
                let slot = if *word == 0 { first_read } else { 30 + *word as i64 };
                case.schedule.routes[id][0] = Route::Stored { slot };
            }
            _ => {}
        }
    }
    case
}

#[test]
fn another_value_of_the_same_block_writes_over_one_that_is_awaited() {
    too_many(21).is_right();
    // In slot 22 both happen in one clock.
    for slot in [22, 23, 28, 30] {
        let case = too_many(slot);
        let read = format!("is read in slot {}", slot - 2);
        let by = "but from slot 21 on it has value";
        case.is_refused(&["word 0 of memory element 0", "from slot 5 on", &read, by, "of the same block"]);
        assert!(slot == 22 || !case.runs(), "slot {slot}");
    }
}

/// A block's only word, read so late: the word of the block whose turn comes sixteen blocks later is written from slot
/// 48 on.
fn read_late(slot: i64) -> Case {
    Case::new(1, "return x;", small(), 4, |op| if let Op::Input(_) = op { slot } else { slot + 3 })
}

#[test]
fn a_word_of_the_block_is_read_before_a_later_block_has_its_place() {
    for slot in [0, 30, 47] {
        read_late(slot).is_right();
    }
    for slot in [48, 49, 80] {
        let wanted = [
            "word 0 of input 0",
            "is read in slot",
            "from slot 48 on it has value 0 of the block 16 behind it",
        ];
        read_late(slot).is_refused(&wanted);
    }
    assert!(!read_late(60).runs());
}

/// Two words of the result: one is there in slot 6, the other one so much later.
fn apart(by: i64) -> Case {
    // Lines that reach so far that the words of the block are read before others come.
    let shape = Shape { line: 32, ..small() };
    // As early as the line allows, and not in the slot of the first word's read.
    let late = (by - (shape.line as i64 - 1)).max(1);
    let late = late + i64::from(late % 4 == 0);
    Case::new(2, "return x;", shape, 4, |op| match op {
        Op::Input(0) => 0,
        Op::Input(_) => late,
        Op::Output(0) => 3,
        _ => 3 + by,
    })
}

#[test]
fn a_word_of_the_result_waits_for_the_last_one() {
    for by in [1, 2, 26, 27] {
        apart(by).is_right();
    }
    for by in [29, 30, 34] {
        let wanted =
            ["word 0 of output 0 has value", "from slot 6 on", "from slot 38 on", "the block 8 behind it"];
        apart(by).is_refused(&wanted);
    }
    assert!(!apart(34).runs());
}

#[test]
fn a_key_is_asked_for_while_its_block_has_one() {
    let text = "algorithm a;\nvariant v {}\ninput x: word[1] big;\nkey k: word[1];\nsetup(s) { return [word(s[0])]; }\n\
                run -> word[1] big { return [x[0] ^ k[0]]; }\n";
    let built = Program::parse("a.ace", text, &|_| None).unwrap().build("v").unwrap();
    let shape = Shape::standard();
    let graph = passes::all(&built.graph, &shape, Goal::Throughput);
    let at = |start: i64| {
        let place = |op: &Op| match op {
            Op::Key(_) => None,
            Op::Input(_) => Some((start, vec![])),
            Op::Output(_) => Some((start + 6, vec![0])),
            _ => Some((start + 3, vec![0, shape.alu_operands - 1])),
        };
        let places = graph.nodes.iter().map(|node| {
            let (slot, ports) = place(&node.op)?;
            Some(Place { slot, unit: Unit { kind: kind_of(&node.op)?, index: 0 }, ports })
        });
        let route = |arg: &usize| if graph.is_key(*arg) { Route::Key } else { Route::Direct };
        let routes = graph.nodes.iter().map(|node| node.args.iter().map(route).collect()).collect();
        let schedule = Schedule {
            ii: 2,
            places: places.collect(),
            routes,
            stores: BTreeMap::new(),
            shared: BTreeMap::new(),
        };
        let checked = check(&graph, &shape, &schedule).map_err(|error| error.to_string());
        let set = emit(&built, &graph, &shape, &schedule).unwrap();
        assert_eq!(bounds::check(&set, &shape).is_ok(), checked.is_ok());
        checked
    };
    at(0).unwrap();
    at(63).unwrap();
    assert!(at(64).unwrap_err().contains("a key that is asked for in slot 64, which is stage 32 of 32"));
}

// SPDX-License-Identifier: Apache-2.0
//! Contexts that a source gives to operations: kept by the scheduler, looked at by the checker and the exact check, and
//! refused with line and reason.

use std::time::Duration;

use ace_array::exact::{Verdict, at};
use ace_array::frontend::Program;
use ace_array::graph::Op;
use ace_array::host::{Block, Runner, to_bytes, to_words};
use ace_array::schedule::{Effort, check};
use ace_array::shape::{Kind, Shape};
use ace_array::{Compiled, Error, algorithms, compile};

const ROUND: &str =
    "s = [for j in 0..4 : t0[byte(s[j], 0)] ^ t1[byte(s[(j + way) % 4], 1)] ^ t2[byte(s[(j + 2) % 4], 2)]
      ^ t3[byte(s[(j + 3 * way) % 4], 3)] ^ k[4 * r + j]];";
const LAST: &str =
    "return [for j in 0..4 : s0[byte(s[j], 0)] ^ s1[byte(s[(j + way) % 4], 1)] ^ s2[byte(s[(j + 2) % 4], 2)]
    ^ s3[byte(s[(j + 3 * way) % 4], 3)] ^ k[4 * rounds + j]];";

/// AES with rounds n and n + 1 mixed in the same contexts, as Figure 7 of the paper of 2006 has it: of each two rounds the
/// columns are looked up in the same four contexts, one quad each.
fn mixed_aes() -> Program {
    let text = algorithms::file("aes.ace").unwrap();
    let pinned = |text: &str, first: &str, round: &str| {
        let (looked_up, key) = text.rsplit_once(" ^ k[").unwrap();
        let looked_up = looked_up.replace(first, &format!("({first}"));
        format!("{looked_up} at 4 * (({round} - 1) / 2) + j) ^ k[{key}")
    };
    assert!(text.contains(ROUND) && text.contains(LAST), "the source of AES is another one");
    let text = text.replace(ROUND, &pinned(ROUND, "t0[", "r")).replace(LAST, &pinned(LAST, "s0[", "rounds"));
    Program::parse("aes_mixed.ace", &text, &|name| algorithms::file(name).map(str::to_owned))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A tile with room for several pinned operations in one context: two quads for Figure 7, two words in and out, and more
/// ALUs than a multiplier has ports.
fn roomy() -> Shape {
    Shape { alus: 4, rotators: 2, quads: 2, memories: 2, inputs: 2, outputs: 2, ..Shape::standard() }
}

fn compiled(program: &Program, variant: &str) -> Compiled {
    compile(program, variant, &roomy(), Effort::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// By context: the look-ups that are in it, each with the operation that does it.
fn quads(compiled: &Compiled) -> Vec<Vec<usize>> {
    let mut contexts = vec![Vec::new(); compiled.schedule.ii];
    for (id, place) in compiled.schedule.places.iter().enumerate() {
        if let Some(place) = place.as_ref().filter(|place| place.unit.kind == Kind::Quad) {
            contexts[place.slot.rem_euclid(compiled.schedule.ii as i64) as usize].push(id);
        }
    }
    contexts
}

#[test]
fn aes_of_figure_7_has_two_rounds_in_every_context_and_a_longer_way() {
    let (program, shape) = (mixed_aes(), roomy());
    let mut mixed = compiled(&program, "aes128_encrypt");
    let automatic = compiled(&algorithms::program("aes.ace").unwrap(), "aes128_encrypt");
    // All forty look-ups are pinned, two in each of twenty contexts, and each where the source says. Four contexts are left,
    // as a slot brings four words of a block to both ways in 24 clocks.
    assert_eq!((mixed.graph.pinned.len(), mixed.set.ii()), (40, 24));
    let given = mixed.graph.contexts();
    for (context, here) in quads(&mixed).iter().enumerate() {
        assert_eq!(here.len(), if context < 20 { 2 } else { 0 });
        assert!(here.iter().all(|id| given[*id] == Some(context)), "context {context}: {here:?}");
    }
    // The paper: "the number of the contexts is increased instead of the improvement of the performance". Here the contexts
    // are as many, because the words of a block bound both, and the way of a block is the longer one.
    assert_eq!(automatic.set.ii(), 24);
    assert!(
        mixed.set.latency > 2 * automatic.set.latency - 20,
        "{} and {}",
        mixed.set.latency,
        automatic.set.latency
    );
    println!(
        "AES as in Figure 7: {} contexts, {} slots to the result, {} clocks a block alone; automatic: {}, {}, {}",
        mixed.set.ii(),
        mixed.set.latency,
        mixed.set.dependent_interval(),
        automatic.set.ii(),
        automatic.set.latency,
        automatic.set.dependent_interval()
    );
    // FIPS 197, appendix B.
    let key = hex::decode("2b7e151628aed2a6abf7158809cf4f3c").unwrap();
    let words = program.expand(&mut mixed.built, &key).unwrap();
    let mut runner = Runner::new(&shape, &mixed.set);
    let key = runner.key(&words).unwrap();
    let block = hex::decode("3243f6a8885a308d313198a2e0370734").unwrap();
    let ran = runner.run(&[Block { words: to_words(mixed.set.input, &block), key }]).unwrap();
    let result = to_bytes(mixed.set.output, &ran.results[0]);
    assert_eq!(hex::encode(result), "3925841d02dc09fbdc118597196a0b32");
}

fn small(run: &str) -> String {
    format!("algorithm a;\nvariant v {{}}\ninput x: word[4] little;\nrun -> word[4] little {{\n{run}\n}}\n")
}

fn error(text: &str) -> String {
    let program = Program::parse("a.ace", text, &|_| None).unwrap_or_else(|error| panic!("{error}"));
    match compile(&program, "v", &roomy(), Effort::default()) {
        Ok(_) => panic!("{text} compiles"),
        Err(error @ Error::Source(_)) => error.to_string(),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn what_cannot_be_kept_is_refused_with_line_and_reason() {
    let sums = |at: &str| format!("return [for i in 0..4 : x[i] + x[(i + 1) % 4]{at}];");
    for (run, wanted) in [
        (
            "return [for i in 0..4 : (x[i] + 1) at 256];".to_owned(),
            "a.ace:5:26: v cannot have this in context 256: the array has 256, from 0 on",
        ),
        ("return [for i in 0..4 : x[i] at -1];".to_owned(), "context -1; they begin with 0"),
        ("let a = 1 at 3;\nreturn x;".to_owned(), "a.ace:5:9: this is known before the array runs"),
        ("return x at 2;".to_owned(), "an array where a word is wanted"),
        (
            "let a = (x[0] + x[1]) at 3;\nreturn x;".to_owned(),
            "a.ace:5:10: v cannot have this in context 3: no word of the result",
        ),
        (
            "let a = (x[0] + x[1]) at 3;\nlet b = (x[0] + x[1]) at 4;\nreturn [a, b, x[2], x[3]];".to_owned(),
            "a.ace:6:10: v cannot have this in context 4: the same operation has context 3 already",
        ),
        (
            format!(
                "let a = (x[0] ^ 5) at 1;\n{}",
                sums(" at 1").replace("x[(i + 1) % 4]", "x[(i + 1) % 4] + a")
            ),
            "v cannot have this in context 1: all 4 of kind ALU there have an operation already",
        ),
        (
            "return [for i in 0..4 : x[i] at 2];".to_owned(),
            "v cannot have this in context 2: its one of kind input there have an operation already",
        ),
    ] {
        let found = error(&small(&run));
        assert!(found.contains(wanted), "{found}\nfor {wanted}");
    }
}

#[test]
fn the_first_pin_that_leaves_no_schedule_is_named() {
    // Six values on the network in one slot, for a multiplier alone: two of them go to its ports and two to memory elements.
    let text = "algorithm a;\nvariant v {}\ninput x: word[4] little;\ntable t = [for i in 0..256 : i];\n\
                run -> word[3] little {\nlet s = [for i in 0..4 : (x[i] + x[(i + 1) % 4]) at 5];\n\
                let a = t[byte(x[0], 0)] at 4;\nlet b = t[byte(x[1], 0)] at 4;\n\
                return [s[0] * s[1], s[2] * s[3], a * b];\n}\n";
    let found = error(text);
    let wanted = "a.ace:7:9: v cannot have this in context 4: beside the pins before it no schedule is found";
    assert!(found.starts_with(wanted), "{found}");
    let program = Program::parse("a.ace", &text.replace("at 4", "at 9"), &|_| None).unwrap();
    assert_eq!(compiled(&program, "v").graph.pinned.len(), 6);
}

#[test]
fn the_checker_and_the_exact_check_keep_what_the_source_gives() {
    // Five sums, each in the context that is named, whatever order they would have without. Of five words no front end asks
    // for more contexts than that.
    let shape = roomy();
    let text =
        small("return [for i in 0..5 : (x[i] + x[(i + 1) % 5]) at 9 - 2 * i];").replace("word[4]", "word[5]");
    let program = Program::parse("a.ace", &text, &|_| None).unwrap();
    let compiled = compiled(&program, "v");
    assert!(compiled.set.ii() >= 10, "context 9 is one of ten");
    let sums = |op: &Op| matches!(op, Op::Sum(_));
    let ii = compiled.schedule.ii as i64;
    let of = |id: usize| compiled.schedule.places[id].as_ref().unwrap().slot.rem_euclid(ii);
    let found: Vec<i64> =
        (0..compiled.graph.nodes.len()).filter(|id| sums(&compiled.graph.nodes[*id].op)).map(of).collect();
    assert_eq!(found, [9, 7, 5, 3, 1]);
    // One of them elsewhere: the checker says so, if nothing else does first.
    let mut moved = compiled.schedule.clone();
    let id = compiled.graph.pinned[0].0;
    moved.places[id].as_mut().unwrap().slot += 1;
    let refused = check(&compiled.graph, &shape, &moved).unwrap_err().to_string();
    assert!(refused.contains("the source gives another"), "{refused}");
    // By SAT: no schedule has fewer contexts than the pins need, and what is found keeps them.
    let minute = Duration::from_secs(60);
    assert!(matches!(at(&compiled.graph, &shape, 9, minute).unwrap(), Verdict::Impossible));
    match at(&compiled.graph, &shape, 10, minute).unwrap() {
        Verdict::Possible(schedule) => check(&compiled.graph, &shape, &schedule).unwrap(),
        other => panic!("{other:?}"),
    }
}

// SPDX-License-Identifier: Apache-2.0
//! What is wrong is refused: sources with a place and a reason, schedules by the checker, sets by the loader.

use ace_array::frontend::Program;
use ace_array::graph::{Graph, Op};
use ace_array::schedule::check;
use ace_array::schedule::{Effort, Goal, Route, Schedule, Store, schedule};
use ace_array::set::Set;
use ace_array::shape::{Kind, Shape};
use ace_array::{Error, algorithms, compile, passes};

fn small(run: &str) -> String {
    format!(
        "algorithm a;\nvariant v {{}}\ninput x: word[2] little;\ntable t = [for i in 0..256 : i];\n\
         run -> word[1] little {{ {run} }}\n"
    )
}

fn error(text: &str) -> String {
    let built = Program::parse("a.ace", text, &|_| None).and_then(|program| {
        let variant = program.variants[0].clone();
        compile(&program, &variant, &Shape::standard(), Effort::default())
    });
    match built {
        Ok(_) => panic!("{text} compiles"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_wrong_source_says_where_and_why() {
    for (text, wanted) in [
        (small("return [x[0] ^ y];"), "a.ace:5:40: nothing is called `y` here"),
        (small("return [x[2]];"), "a.ace:5:35: element 2 of 2"),
        (small("return [x[0] ^ 0x100000000];"), "a.ace:5:40: this number is no word"),
        (small("return x;"), "a.ace:5:1: `run` returns 2 words, not 1"),
        (small("return [x[0] << x[1]];"), "the array shifts by known numbers; it rotates by words"),
        (
            small("return [t[x[0]]];"),
            "a.ace:5:35: a table is looked up by a byte of a word; `byte(word, lane)`",
        ),
        (small("return [t[top6(x[0], 1)]];"), "a table of 256 words is looked up by another width"),
        (small("return [t[byte(x[0], 4)]];"), "a word's bytes are 0 to 3"),
        (small("if x[0] { return [x[0]]; } return [x[1]];"), "known only when the array runs"),
        (small("let i = 0; return [x[0]"), "a.ace:5:49: `}` where `]` is wanted"),
        (small("return [x[0] + $];"), "a.ace:5:40: '$' begins nothing that can stand here"),
        (small("z = 1; return [x[0]];"), "no local is called `z`; a new one begins with `let z = …`"),
        (small("for i in 0..100000000 { } return [x[0]];"), "takes more than 20000000 steps"),
        (small("return [f(x[0])];"), "no function is called `f`"),
        (small("return [byte(x[0], 1)];"), "an array where `word[]` is wanted"),
        (small("let a: int = x[0]; return [a];"), "a word where `int` is wanted"),
        ("algorithm a; variant v {} table t = [1, 2, 3];".to_owned(), "a table of 3 words"),
        ("variant v {}".to_owned(), "the file names no algorithm"),
        ("algorithm a; include \"b.ace\";".to_owned(), "\"b.ace\" is not found beside this file"),
        (small(&format!("return [{}x[0]{}];", "(".repeat(200), ")".repeat(200))), "nested more than 64 deep"),
        (
            small(&format!("return [x[0]{}];", " + x[1]".repeat(100))),
            "more than 64 operations one in the other",
        ),
        (small("fn"), "a.ace:5:28: `}` where `=` is wanted"),
    ] {
        let message = error(&text);
        assert!(message.contains(wanted), "{text}\nsays {message}\nwanted {wanted}");
    }
}

#[test]
fn functions_that_call_themselves_end() {
    let text = "algorithm a; variant v {} input x: word[1] big; fn f(a: word) -> word { return f(a); }
        run -> word[1] big { return [f(x[0])]; }";
    assert!(error(text).contains("functions call each other more than"));
}

fn misfit(text: &str, shape: &Shape) -> String {
    let program = Program::parse("a.ace", text, &|_| None).unwrap_or_else(|error| panic!("{error}"));
    match compile(&program, "v", shape, Effort { looks: 200_000, ..Effort::default() }) {
        Err(error @ Error::Fit(_)) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{text} compiles"),
    }
}

/// One cause a row: the line is that of the operation that has to do without or, if none of them alone does, that of `run`.
#[test]
fn what_does_not_fit_names_its_line() {
    let head = "algorithm a;\nvariant v {}\ninput x: word[4] little;\n";
    let tables = "table a = [for i in 0..256 : i];\ntable b = [for i in 0..256 : i + 1];\ntable c = [for i in 0..256 : i + 2];\n";
    let standard = Shape::standard();
    let no_product = Shape { multipliers: 0, ..standard.clone() };
    for (shape, text, wanted) in [
        // A third table of one lane.
        (
            &standard,
            format!(
                "{head}{tables}run -> word[4] little {{\n  let p = a[byte(x[0], 0)];\n  let q = b[byte(x[1], 0)];\n  \
                 let r = c[byte(x[2], 0)];\n  return [p, q, r, x[3]];\n}}\n"
            ),
            "a.ace:10:13: v does not fit the array: lane 0 has 2 tables, and a, b, c are looked up there",
        ),
        // An operation that no element does, in a function.
        (
            &no_product,
            format!(
                "{head}fn times(a: word, b: word) -> word {{\n  return a * b;\n}}\nrun -> word[4] little {{\n  \
                 return [times(x[0], x[1]), x[1], x[2], x[3]];\n}}\n"
            ),
            "a.ace:5:10: v does not fit the array: a product, and the array has no multiplier",
        ),
        // The first constant behind the last one that there is room for.
        (
            &standard,
            format!(
                "{head}run -> word[4] little {{\n  let y = x[0];\n  for i in 0..64 {{ y = (y ^ (1000 + i)) + x[1]; }}\n  \
                 y = y ^ 5;\n  return [y, x[1], x[2], x[3]];\n}}\n"
            ),
            "a.ace:7:7: v does not fit the array: 65 constants of ALUs up to here, and there is room for 64",
        ),
        // A key: its declaration.
        (
            &standard,
            format!(
                "{head}key k: word[500];\nsetup(s) {{ return [for i in 0..500 : 0]; }}\nrun -> word[4] little {{\n  \
                 let y = x[0];\n  for i in 0..500 {{ y = y ^ k[i]; }}\n  return [y, x[1], x[2], x[3]];\n}}\n"
            ),
            "a.ace:4:1: v does not fit the array: the key has 500 words, and there is room for 192",
        ),
        // Elements of one kind: no single operation is one too many.
        (
            &standard,
            format!(
                "{head}run -> word[4] little {{\n  let y = x[0];\n  for i in 0..514 {{ y = y + (y <<< 7); }}\n  \
                 return [y, x[1], x[2], x[3]];\n}}\n"
            ),
            "a.ace:4:1: v does not fit the array: its ALUs alone take 257 contexts of 256",
        ),
    ] {
        let message = misfit(&text, shape);
        assert_eq!(message, wanted, "{text}");
    }
    // No schedule, with so few tries: what most often had no place, which is one of the lines that make round keys.
    let program = algorithms::program("des_keys.ace").unwrap();
    let few = Effort { looks: 200_000, ..Effort::default() };
    let Err(Error::Fit(misfit)) = compile(&program, "tdes_encrypt_keys", &standard, few) else {
        panic!("three schedules are found at once")
    };
    let message = misfit.to_string();
    assert!(
        message.ends_with("routes are not found in 256 contexts; most often this had no free place"),
        "{message}"
    );
    let line: usize = message.split(':').nth(1).and_then(|line| line.parse().ok()).expect(&message);
    let text = algorithms::file("des_keys.ace").unwrap();
    let within = |from: &str, to: &str| {
        let at = |what: &str| text.lines().position(|line| line.starts_with(what)).expect(what) + 1;
        at(from)..at(to)
    };
    assert!(
        message.starts_with("des_keys.ace:") && within("// Bits of two words", "run ").contains(&line),
        "{message}"
    );
}

/// What has routes and asks for more blocks, stages or words than there are is named with the operation that does.
#[test]
fn what_comes_too_late_names_its_operation() {
    // 1100 slots lie between the first word and the key's, in an interval that the elements would allow to be short.
    let text = "algorithm a;\nvariant v {}\ninput x: word[2] little;\nkey k: word[1];\nsetup(s) { return [0]; }\n\
        run -> word[2] little {\n  let y = x[0];\n  for i in 0..200 { y = y * x[1]; }\n  return [y ^ k[0], x[1]];\n}\n";
    let message = misfit(text, &Shape { stages: 2, ..Shape::standard() });
    assert!(message.starts_with("a.ace:"), "{message}");
    assert!(message.contains("in 256 contexts"), "{message}");
}

#[test]
fn what_does_not_fit_says_what_is_missing() {
    let lanes = "algorithm a; variant v {} input x: word[1] big;
        table a = [for i in 0..256 : i]; table b = [for i in 0..256 : i + 1]; table c = [for i in 0..256 : i + 2];
        run -> word[3] big { return [a[byte(x[0], 0)], b[byte(x[0], 0)], c[byte(x[0], 0)]]; }";
    assert!(
        error(lanes).contains("lane 0 has 2 tables, and a, b, c are looked up there"),
        "{}",
        error(lanes)
    );
    let long = "algorithm a; variant v {} input x: word[1] big;
        run -> word[1] big { let y = x[0]; for i in 0..514 { y = y + (y <<< 7); } return [y]; }";
    let message = error(long);
    assert_eq!(message, "a.ace:2:9: v does not fit the array: its ALUs alone take 257 contexts of 256");
    let truth = "algorithm a; variant v {} input x: word[1] big;
        run -> word[1] big { return [logic(16, x[0], x[0])]; }";
    assert!(error(truth).contains("the truth table of 2 words has 4 bits"), "{}", error(truth));
}

#[test]
fn a_diagnostic_shows_its_line() {
    let Err(Error::Source(diagnostic)) = Program::parse("a.ace", "algorithm a;\nvariant v {};\n", &|_| None)
    else {
        panic!("it parses")
    };
    assert!(diagnostic.drawn().contains("variant v {};"), "{}", diagnostic.drawn());
}

/// A schedule that is right, with a store in it.
fn right() -> (Graph, Shape, Schedule) {
    let shape = Shape::standard();
    let built = algorithms::program("rc6.ace").unwrap().build("rc6_encrypt").unwrap();
    let graph = passes::all(&built.graph, &shape, Goal::default());
    let found = schedule(&graph, &shape, Effort::default()).unwrap();
    check(&graph, &shape, &found).unwrap();
    assert!(!found.stores.is_empty());
    (graph, shape, found)
}

#[test]
fn the_checker_refuses_schedules_that_are_wrong() {
    let (graph, shape, found) = right();
    let ii = found.ii as i64;
    let alu = |op: &Op| matches!(op, Op::Logic(_) | Op::Sum(_));
    let first = graph.nodes.iter().position(|node| alu(&node.op)).unwrap();
    let refused = |change: &dyn Fn(&mut Schedule), wanted: &str| {
        let mut wrong = found.clone();
        change(&mut wrong);
        let message = check(&graph, &shape, &wrong).map_err(|error| error.to_string());
        let message = message.expect_err(wanted);
        assert!(message.contains(wanted), "{message}\nwanted {wanted}");
    };
    fn place(schedule: &mut Schedule, id: usize) -> &mut ace_array::schedule::Place {
        schedule.places[id].as_mut().unwrap()
    }
    refused(&|wrong| wrong.places[first] = None, "has no place");
    refused(&|wrong| place(wrong, first).unit.index = shape.alus, "cannot be done at");
    refused(&|wrong| place(wrong, first).unit.kind = Kind::Rotator, "cannot be done at");
    refused(&|wrong| place(wrong, first).slot = -1, "cannot be done at");
    refused(&|wrong| place(wrong, first).slot += 10 * ii, ", and the line has ");
    refused(&|wrong| place(wrong, first).slot += 1, "");
    refused(&|wrong| place(wrong, first).ports[0] = 3, "ports that its element has not");
    refused(&|wrong| wrong.ii -= 1, "");
    refused(&|wrong| wrong.ii = 0, "contexts of");
    // Two operations of one ALU in slots that are an interval apart.
    let other = (first + 1..graph.nodes.len()).find(|id| alu(&graph.nodes[*id].op)).unwrap();
    let (slot, unit) = {
        let place = found.places[first].as_ref().unwrap();
        (place.slot, place.unit)
    };
    refused(
        &|wrong| {
            place(wrong, other).slot = slot + ii;
            place(wrong, other).unit = unit;
        },
        "is taken twice",
    );
    // A key that comes over the network, and a value that comes from a key memory.
    let keyed = graph.nodes.iter().position(|node| node.args.iter().any(|arg| graph.is_key(*arg))).unwrap();
    let at = graph.nodes[keyed].args.iter().position(|arg| graph.is_key(*arg)).unwrap();
    refused(&|wrong| wrong.routes[keyed][at] = Route::Direct, "comes by Direct");
    let plain = graph.nodes.iter().position(|node| alu(&node.op) && !graph.is_key(node.args[0])).unwrap();
    refused(&|wrong| wrong.routes[plain][0] = Route::Key, "comes by Key");
    let (value, store) = found.stores.iter().next().map(|(id, store)| (*id, *store)).unwrap();
    refused(&|wrong| wrong.stores.retain(|id, _| *id != value), "was not stored");
    let moved = |slot: i64| Store { slot: store.slot + slot, ..store };
    refused(&|wrong| *wrong.stores.get_mut(&value).unwrap() = moved(5 * ii), "is stored in slot");
    refused(&|wrong| wrong.stores.get_mut(&value).unwrap().memory = shape.memories, "is stored in slot");
    let reader = (0..graph.nodes.len()).find_map(|id| {
        found.routes[id].iter().position(|route| matches!(route, Route::Stored { .. })).map(|at| (id, at))
    });
    let (id, at) = reader.unwrap();
    refused(&|wrong| wrong.routes[id][at] = Route::Stored { slot: 0 }, "");
}

#[test]
fn a_set_that_is_damaged_is_refused() {
    let shape = Shape::standard();
    let program = algorithms::program("aes.ace").unwrap();
    let compiled = compile(&program, "aes128_encrypt", &shape, Effort::default()).unwrap();
    let bytes = compiled.set.to_bytes();
    assert_eq!(Set::from_bytes(&bytes, &shape).unwrap(), compiled.set);
    for bit in (0..8 * bytes.len()).step_by(101) {
        let mut wrong = bytes.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert!(Set::from_bytes(&wrong, &shape).is_err(), "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert!(Set::from_bytes(&bytes[..length], &shape).is_err(), "{length} bytes");
    }
    let other = Shape { memories: 3, ..shape };
    let message = Set::from_bytes(&bytes, &other).unwrap_err().to_string();
    assert!(message.contains("it is for array"), "{message}");
}

#[test]
fn the_same_source_has_the_same_bytes() {
    let set = || {
        let program = algorithms::program("cast128.ace").unwrap();
        compile(&program, "cast128_short_encrypt", &Shape::standard(), Effort::default())
            .unwrap()
            .set
            .to_bytes()
    };
    assert_eq!(set(), set());
}

#[test]
fn the_rtl_has_this_shape() {
    let package = include_str!("../../../rtl/array/array_pkg.sv");
    assert_eq!(
        package,
        ace_array::rtl::package(&Shape::standard()),
        "`ace array rtl > rtl/array/array_pkg.sv`"
    );
}

#[test]
fn a_shape_that_cannot_be_built_is_refused() {
    for (from, to, wanted) in [
        ("alus = 2", "alus = 0", "0 elements of kind ALU"),
        ("line = 16", "line = 64", "line = 64: a power of two from 8 to 32"),
        ("contexts = 256", "contexts = 250", "contexts = 250: a power of two"),
        ("alu_operands = 3", "alu_operands = 4", "2 or 3 are possible"),
        ("key_words = 512", "key_words = 128", "leave no room"),
        ("stages = 32", "stagse = 32", "unknown field"),
    ] {
        let text = ace_array::shape::SHAPE.replace(from, to);
        let message = Shape::parse(&text).unwrap_err().to_string();
        assert!(message.contains(wanted), "{message}");
    }
}

// SPDX-License-Identifier: Apache-2.0
//! `ace array graph`: what sources say, for other programs.

use std::path::PathBuf;

use ace_array::algorithms;
use ace_array::frontend::{Built, Order};
use ace_array::graph::{Graph, Link, Node, Op};
use ace_report::print_json;
use anyhow::Result;
use serde_json::{Map, Value, json};

pub fn print(sources: &[PathBuf]) -> Result<()> {
    let programs = if sources.is_empty() {
        algorithms::names().map(|name| Ok(algorithms::program(name)?)).collect::<Result<Vec<_>>>()?
    } else {
        sources.iter().map(|source| super::program(source)).collect::<Result<Vec<_>>>()?
    };
    let mut all = Map::new();
    for program in programs {
        for variant in &program.variants {
            all.insert(variant.clone(), described(&program.build(variant)?));
        }
    }
    Ok(print_json(&all)?)
}

fn described(built: &Built) -> Value {
    let graph = &built.graph;
    let order = |order: Order| match order {
        Order::Little => "little",
        Order::Big => "big",
        Order::Des => "des",
    };
    let tables: Vec<&[u32]> = graph.tables.iter().map(|table| table.words.as_slice()).collect();
    let nodes: Vec<Value> = graph.nodes.iter().map(|node| operation(graph, node)).collect();
    json!({
        "code": built.code, "decrypt": built.decrypt, "keys": built.keys, "chain": built.chain,
        "input": order(built.input), "output": order(built.output),
        "input_words": graph.inputs, "key_words": graph.keys,
        "tables": tables, "nodes": nodes, "outputs": graph.outputs,
    })
}

/// The operation's name, its arguments' numbers, and what else it says.
fn operation(graph: &Graph, node: &Node) -> Value {
    let args = &node.args;
    match &node.op {
        Op::Input(word) => json!(["input", args, word]),
        Op::Key(word) => json!(["key", args, word]),
        Op::Const(value) => json!(["const", args, value]),
        Op::Logic(truth) => json!(["logic", args, truth]),
        Op::Sum(minus) => json!(["sum", args, minus]),
        Op::Rotate(by) => json!(["rotate", args, by]),
        Op::RotateBy { right } => json!([if *right { "right_by" } else { "left_by" }, args]),
        Op::Shift { right, by } => json!([if *right { "right" } else { "left" }, args, by]),
        Op::Multiply => json!(["multiply", args]),
        Op::Carryless(half) => {
            let (low, high) = half.has();
            json!(["carryless", args, low, high])
        }
        Op::Quadratic { rotate } => json!(["quadratic", args, 5 * u32::from(*rotate)]),
        Op::Lookup { table, lane, six } => json!(["look", args, table, lane, six]),
        Op::Quad { lanes, links, six } => {
            let words: Vec<usize> = lanes.iter().map(|(_, table)| graph.tables[*table].words.len()).collect();
            let links: Vec<&str> = links.iter().map(named).collect();
            json!(["quad", args, lanes, links, six, words])
        }
        Op::Again | Op::Output(_) | Op::Pin(_) => json!(["same", args]),
    }
}

fn named(link: &Link) -> &'static str {
    match link {
        Link::Xor => "xor",
        Link::Plus => "plus",
        Link::Minus => "minus",
    }
}

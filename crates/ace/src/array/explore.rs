// SPDX-License-Identifier: Apache-2.0
//! `ace array explore`: shapes against area and throughput.

use std::collections::BTreeMap;

use ace_array::explore::{Area, area, front, interval, shapes};
use ace_array::frontend::Built;
use ace_array::graph::Op;
use ace_array::schedule::{Effort, Goal};
use ace_array::shape::{Kind, Shape};
use ace_array::{algorithms, passes};
use ace_board::array::{Routed, routed};
use anyhow::{Context, Result, bail};

use crate::page::Output;
use ace_report::{print_json, say};
use serde_json::json;

#[derive(clap::Args)]
pub struct Args {
    /// Variants that count, as aes:aes128_encrypt
    #[arg(default_values_t = DEFAULT.map(str::to_owned))]
    names: Vec<String>,
    /// ALUs at most; rotators and quads go to as many, or to four
    #[arg(long, default_value_t = 6, value_name = "N")]
    most: usize,
    /// Schedule on every shape, instead of counting what the elements allow at least: minutes
    #[arg(long)]
    schedule: bool,
    /// Print every shape, not only those that no other one beats
    #[arg(long)]
    all: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// The paper's seven.
const DEFAULT: [&str; 7] = [
    "aes:aes128_encrypt",
    "des:des_encrypt",
    "cast128:cast128_encrypt",
    "cast256:cast256_encrypt",
    "rc6:rc6_encrypt",
    "md5:md5",
    "sha1:sha1",
];

struct Point {
    shape: Shape,
    /// By algorithm; none where it does not fit.
    contexts: Vec<Option<usize>>,
    /// Geometric mean of bits a clock; nothing if one of them does not fit.
    worth: f64,
}

pub fn run(page: &mut Output, args: &Args, like: &Shape) -> Result<()> {
    if !(2..=8).contains(&args.most) {
        bail!("--most {}: 2 to 8", args.most);
    }
    let mut built = Vec::new();
    for name in &args.names {
        let (file, variant) =
            name.split_once(':').with_context(|| format!("{name}: as aes:aes128_encrypt"))?;
        built.push(algorithms::program(&format!("{file}.ace"))?.build(variant)?);
    }
    let effort = args.schedule.then(|| Effort { tries: 2, ..Effort::default() });
    let mut points = Vec::new();
    for shape in shapes(like, args.most) {
        let contexts: Vec<Option<usize>> = built
            .iter()
            .map(|b| interval(&passes::all(&b.graph, &shape, Goal::default()), &shape, effort).ok())
            .collect();
        let bits = |(b, contexts): (&Built, &Option<usize>)| {
            let words = b.graph.inputs - b.chain.len();
            contexts.map_or(f64::NEG_INFINITY, |ii| (32.0 * words as f64 / ii as f64).ln())
        };
        let worth = (built.iter().zip(&contexts).map(bits).sum::<f64>() / built.len().max(1) as f64).exp();
        points.push(Point { shape, contexts, worth });
    }
    let costs: Vec<(usize, f64)> = points.iter().map(|p| (area(&p.shape).multiplexers, p.worth)).collect();
    let best = front(&costs);
    let routed = routed()?;
    let names: Vec<&str> = built.iter().map(|b| b.variant.as_str()).collect();
    let mut order: Vec<usize> = (0..points.len()).filter(|at| best[*at] || args.all).collect();
    order.sort_by_key(|at| costs[*at].0);
    if args.json {
        let row = |at: &usize| {
            let Point { shape, contexts, worth } = &points[*at];
            let taken = area(shape);
            json!({
                "alus": shape.count(Kind::Alu), "operands": shape.alu_operands, "rotators": shape.count(Kind::Rotator),
                "quads": shape.count(Kind::Quad), "multiplexers": taken.multiplexers, "lines": taken.lines,
                "blocks": taken.blocks, "contexts": names.iter().zip(contexts).collect::<BTreeMap<_, _>>(),
                "bits_a_clock": worth, "front": best[*at], "this_shape": shape == like,
            })
        };
        print_json(&order.iter().map(row).collect::<Vec<_>>())?;
        return Ok(());
    }
    say!(
        page,
        "| ALUs | operands | rotators | quads | multiplexers, LUT4 | DPR16X4 | block RAM | {} | bits a clock | bits a clock and 1000 LUT4 | |",
        names.join(" | ")
    );
    say!(page, "|--:|--:|--:|--:|--:|--:|--:|{}--:|--:|---|", "--:|".repeat(names.len()));
    for at in order {
        let Point { shape, contexts, worth } = &points[at];
        let taken = area(shape);
        let intervals: Vec<String> =
            contexts.iter().map(|ii| ii.map_or("–".to_owned(), |ii| ii.to_string())).collect();
        let here = if shape == like { "this shape" } else { "" };
        // Counted from how the RTL is built, and of a tile that was synthesised what it has.
        let found = Routed::tile(&routed, shape).map(|tile| found(tile, &taken)).unwrap_or_default();
        say!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {worth:.2} | {:.2} | {here}{}{found} |",
            shape.count(Kind::Alu),
            shape.alu_operands,
            shape.count(Kind::Rotator),
            shape.count(Kind::Quad),
            taken.multiplexers,
            taken.lines,
            taken.blocks,
            intervals.join(" | "),
            1000.0 * worth / taken.multiplexers.max(1) as f64,
            if best[at] && args.all { " front" } else { "" },
        );
    }
    if Routed::tile(&routed, like).is_none() {
        say!(
            page,
            "\narray/routed.json has no tile of this shape: all counts are the model's. `python -m ace_flow array-route tile \
             --keep` synthesises and routes one."
        );
    }
    let products: Vec<String> = built.iter().map(|built| products(built, like)).collect();
    say!(
        page,
        "\nProducts of a block on this shape, and how many of them are without carries: {}.",
        products.join(", ")
    );
    Ok(())
}

/// What synthesis made of a tile, and where the model counts otherwise.
fn found(tile: &Routed, taken: &Area) -> String {
    let of = |kind: &str| tile.cells.get(kind).copied().unwrap_or_default() as usize;
    let counted = [("DPR16X4", "dpr16x4", taken.lines), ("block RAM", "ebr", taken.blocks)];
    let differ = counted.iter().filter(|(_, kind, count)| of(kind) != *count);
    let differ: Vec<String> = differ.map(|(name, kind, _)| format!("{name} {}", of(kind))).collect();
    let exact = match differ.is_empty() {
        true => "lines and memories as counted".to_owned(),
        false => format!("other than counted: {}", differ.join(", ")),
    };
    format!("; synthesised {} LUT4 in all, {exact}, {:.1} MHz", of("lut4"), tile.fmax_mhz)
}

/// The multiplier's operations of an algorithm.
fn products(built: &Built, shape: &Shape) -> String {
    let graph = passes::all(&built.graph, shape, Goal::default());
    let count = |of: fn(&Op) -> bool| graph.nodes.iter().filter(|node| of(&node.op)).count();
    let all = count(|op| matches!(op, Op::Multiply | Op::Quadratic { .. } | Op::Carryless(_)));
    let without = count(|op| matches!(op, Op::Carryless(_)));
    format!("{} {all} ({without})", built.variant)
}

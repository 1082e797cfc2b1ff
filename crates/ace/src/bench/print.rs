// SPDX-License-Identifier: Apache-2.0
//! Tables of `ace bench dataplane`.

use ace_bench::plane::Policies;
use ace_bench::{SuiteTiming, cores};
use ace_report::{Table, say};

use crate::page::Output;

pub fn rows(page: &mut Output, title: &str, rows: &[SuiteTiming]) {
    say!(page, "{title}\n");
    let table = Table::of(rows).left("suite", |r| &r.suite).left("", |r| r.direction);
    let table = table.right("bytes", |r| r.bytes).right("ns", |r| format!("{:.0}", r.nanoseconds));
    let table = table.right("Mpps", |r| format!("{:.2}", r.mpps));
    let table = table.right("Gbit/s", |r| format!("{:.2}", r.gbit_per_second));
    let table = table.right("of bare", |r| beside(r.bare_nanoseconds, r.nanoseconds).0);
    let table = table.right("bare, ns", |r| beside(r.bare_nanoseconds, r.nanoseconds).1);
    let table = table.right("portable, ns", |r| format!("{:.0}", r.portable_nanoseconds));
    page.table(&table.right("allocations", |r| r.allocations));
}

/// How much of the bare library's speed there is, and its own nanoseconds, for a table.
fn beside(bare: Option<f64>, ours: f64) -> (String, String) {
    bare.map_or(("-".into(), "-".into()), |bare| (format!("{:.2}", bare / ours), format!("{bare:.0}")))
}

pub fn cores(page: &mut Output, rows: &[cores::CoreScaling]) {
    let Some(first) = rows.first() else { return };
    say!(
        page,
        "Data plane and engine on {} cores, a shard on each, packets sealed and opened again; {} rounds, one core \
         and all in turns, medians.\n",
        first.cores,
        cores::ROUNDS
    );
    let mpps = |value: f64| format!("{value:.2}");
    let table = Table::of(rows).left("suite", |r| &r.suite).right("bytes", |r| r.bytes);
    let table = table.right("one core, Mpps", |r| mpps(r.one_mpps)).right("all, Mpps", |r| mpps(r.all_mpps));
    let table = table.right("times", |r| mpps(r.times));
    let table = table.right("one, Mpps of CPU time", |r| mpps(r.one_cpu_mpps));
    page.table(&table.right("all", |r| mpps(r.all_cpu_mpps)).right("times", |r| mpps(r.cpu_times)));
}

pub fn policies(page: &mut Output, policies: &Policies) {
    say!(
        page,
        "\n{} rules: {:.0} ns a look-up past the flow cache, {:.0} ns from it",
        policies.rules,
        policies.uncached_nanoseconds,
        policies.cached_nanoseconds
    );
    say!(
        page,
        "{} security associations: {:.3} s to parse {:.1} MB of SA file, {:.3} s to install",
        policies.rules,
        policies.parse_seconds,
        policies.file_bytes as f64 / 1e6,
        policies.install_seconds
    );
}

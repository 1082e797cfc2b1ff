// SPDX-License-Identifier: Apache-2.0
//! `ace sas suites --matrix`: what of each suite is where, and what of that is proven.

use std::collections::BTreeMap;

use ace_board::array::ArraySlot;
use ace_board::array::signed::SetManifest;
use ace_board::capability::Capability;
use ace_board::library::{board_images, configurations, manifest, tie_of};
use ace_board::record::Tie;
use ace_engine::{Direction, Need, evp, software};
use ace_ipsec::model::{AUTHS, CIPHERS, ForeignNames};
use ace_library::Library;
use ace_report::{Outcome, Table, print_json};
use anyhow::Result;
use serde::Serialize;

use crate::array::dedicated;
use crate::library::for_figures;
use crate::page::Output;

/// What an image names that has the array in its slots, and the configuration that is the array.
const ARRAY: &str = "array";

/// One suite, or those that differ in the length of the key alone.
#[derive(Serialize)]
struct Row {
    suite: String,
    #[serde(flatten)]
    cells: Cells,
}

#[derive(PartialEq, Serialize)]
struct Cells {
    cpu: bool,
    provider: bool,
    /// From what the gateway takes SAs of it.
    gateway: &'static str,
    /// Configurations that do both directions, or that do one.
    fabric_rows: Vec<String>,
    /// Algorithms of which context sets do it.
    array_sets: Vec<String>,
    /// Boards of which an image does it.
    board_images: Vec<String>,
    /// What of these is proven to be its RTL.
    proven: Vec<&'static str>,
    legacy: bool,
}

/// A configuration of fabric.
struct Fixed {
    name: String,
    can: Vec<Capability>,
    /// Whether it is no variant of another one, which is that one with other contents of a few LUTs.
    base: bool,
    proven: bool,
}

/// What a library holds.
struct Contents {
    fabric: Vec<Fixed>,
    array: Vec<Capability>,
    array_proven: bool,
    /// By algorithm, what its sets do.
    sets: Vec<(String, Vec<Capability>)>,
    /// By board, what it has in its slots.
    images: Vec<(String, Vec<Capability>)>,
}

impl Contents {
    fn of(library: &Library) -> Result<Self> {
        let ties: BTreeMap<&str, bool> = configurations(library)
            .map(|image| (image.name(), tie_of(image, &manifest(image)) == Tie::Equivalence))
            .collect();
        let proven = |name: &str| ties.get(name).is_some_and(|proven| *proven);
        let base: BTreeMap<&str, bool> =
            configurations(library).map(|image| (image.name(), image.base().is_none())).collect();
        let table = dedicated();
        let fabric = table.iter().map(|one| Fixed {
            name: one.name.clone(),
            can: one.can.clone(),
            base: base.get(&one.name[..]).is_some_and(|base| *base),
            proven: proven(&one.name),
        });
        let fabric: Vec<Fixed> = fabric.collect();
        let sets = library.sets().iter().map(SetManifest::stated).collect::<Result<Vec<_>, _>>()?;
        let array = ArraySlot::can();
        let in_slots = |slots: &str| -> Vec<Capability> {
            let of = |name: &str| {
                if name == ARRAY {
                    return array.clone();
                }
                fabric.iter().find(|one| one.name == name).map(|one| one.can.clone()).unwrap_or_default()
            };
            slots.split_whitespace().flat_map(of).collect()
        };
        let images = board_images(library)?.into_iter();
        let images = images.map(|image| (image.board, in_slots(&image.slots))).collect();
        let sets = sets.into_iter().map(|set| (set.algorithm, set.can)).collect();
        Ok(Self { array_proven: proven(ARRAY), fabric, array, sets, images })
    }

    /// A row; `whole` says that associated data are whole packets, which frames of the array do not hold.
    fn row(&self, suite: &str, needs: &[Need], names: &ForeignNames, legacy: bool, whole: bool) -> Row {
        let some = !needs.is_empty();
        let all =
            |can: &[Capability]| some && needs.iter().all(|need| can.iter().any(|one| one.serves(need)));
        let any = |can: &[Capability]| needs.iter().any(|need| can.iter().any(|one| one.serves(need)));
        // One configuration for both directions before one for each, and bases before their variants.
        let of = |does: &dyn Fn(&[Capability]) -> bool, bases: bool| -> Vec<&Fixed> {
            self.fabric.iter().filter(|one| does(&one.can) && (one.base || !bases)).collect()
        };
        let ways = [of(&all, true), of(&all, false), of(&any, true), of(&any, false)];
        let rows = ways.into_iter().find(|rows| !rows.is_empty()).unwrap_or_default();
        let array = all(&self.array) && !whole;
        let mut sets: Vec<String> =
            self.sets.iter().filter(|(_, can)| array && any(can)).map(|(name, _)| name.clone()).collect();
        sets.dedup();
        let mut boards: Vec<String> = self
            .images
            .iter()
            .filter(|(_, can)| all(can) && !whole)
            .map(|(board, _)| board.clone())
            .collect();
        boards.dedup();
        let fabric_proven = !rows.is_empty() && rows.iter().all(|one| one.proven);
        let proven = [("fabric", fabric_proven), ("array", array && self.array_proven)];
        let cells = Cells {
            cpu: some && needs.iter().all(software::can),
            provider: some && needs.iter().all(evp::computes),
            gateway: if names.kernel.is_empty() { "SA file" } else { "SA file, XFRM" },
            fabric_rows: rows.into_iter().map(|one| one.name.clone()).collect(),
            array_sets: sets,
            board_images: boards,
            proven: proven.into_iter().filter_map(|(name, so)| so.then_some(name)).collect(),
            legacy,
        };
        Row { suite: suite.to_owned(), cells }
    }
}

/// A name with its length of key apart: `aes-128-cbc` is `aes-`, `128`, `-cbc`.
fn split(name: &str) -> Option<[&str; 3]> {
    let lengths = ["-128-", "-192-", "-256-"];
    let at = lengths.into_iter().find_map(|bits| name.find(bits))? + 1;
    Some([&name[..at], &name[at..at + 3], &name[at + 3..]])
}

/// Rows that differ in the length of the key alone become one: `aes-128/192-cbc`.
fn joined(rows: Vec<Row>) -> Vec<Row> {
    let mut out: Vec<Row> = Vec::new();
    for row in rows {
        let parts = split(&row.suite);
        let same = |other: &&mut Row| {
            other.cells == row.cells
                && parts.is_some_and(|[before, _, after]| {
                    let middle = other.suite.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
                    middle.is_some_and(|lengths| lengths.split('/').all(|one| ["128", "192"].contains(&one)))
                })
        };
        match (out.iter_mut().find(same), parts) {
            (Some(other), Some([_, length, after])) => {
                let at = other.suite.len() - after.len();
                other.suite.insert_str(at, &format!("/{length}"));
            }
            _ => out.push(row),
        }
    }
    out
}

/// Names, or a dash.
fn some(names: &[String]) -> String {
    if names.is_empty() { "\u{2013}".to_owned() } else { names.join(", ") }
}

fn yes(so: bool) -> &'static str {
    if so { "yes" } else { "\u{2013}" }
}

pub fn print(page: &mut Output, as_json: bool) -> Result<Outcome> {
    let contents = Contents::of(&for_figures()?)?;
    let ciphers = CIPHERS.iter().map(|suite| {
        let needs: Vec<Need> = Direction::BOTH.into_iter().filter_map(|way| suite.need(way)).collect();
        // GMAC's packets are associated data as a whole.
        let whole = suite.combined() && !suite.encrypts();
        contents.row(suite.name, &needs, &suite.names, suite.legacy.is_some(), whole)
    });
    let auths = AUTHS.iter().map(|suite| {
        contents.row(suite.name, suite.need().as_slice(), &suite.names, suite.legacy.is_some(), false)
    });
    let rows = joined(ciphers.chain(auths).collect());
    if as_json {
        print_json(&rows)?;
        return Ok(Outcome::Well);
    }
    let table = Table::of(&rows).left("suite", |row| &row.suite);
    let table = table.left("CPU", |row| yes(row.cells.cpu)).left("provider", |row| yes(row.cells.provider));
    let table = table.left("gateway", |row| row.cells.gateway);
    let table = table.left("fabric row", |row| some(&row.cells.fabric_rows));
    let table = table.left("array set", |row| some(&row.cells.array_sets));
    // A page has no room for the names of several; JSON has them.
    let table = table.left("board image", |row| match row.cells.board_images.len() {
        0 | 1 => some(&row.cells.board_images),
        several => format!("{several} boards"),
    });
    let table = table.left("proven to RTL", |row| match row.cells.proven[..] {
        [] => "\u{2013}".to_owned(),
        ref proven => proven.join(", "),
    });
    page.table(&table.left("legacy", |row| yes(row.cells.legacy)));
    Ok(Outcome::Well)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(suite: &str, legacy: bool) -> Row {
        let (cpu, provider, gateway) = (true, true, "SA file");
        let (fabric_rows, array_sets, board_images) = (Vec::new(), Vec::new(), Vec::new());
        let cells = Cells {
            cpu,
            provider,
            gateway,
            fabric_rows,
            array_sets,
            board_images,
            proven: Vec::new(),
            legacy,
        };
        Row { suite: suite.to_owned(), cells }
    }

    #[test]
    fn lengths_of_keys_share_a_row_where_nothing_else_differs() {
        let names = ["aes-128-cbc", "aes-192-cbc", "aes-256-cbc", "aes-128-ctr", "des-cbc", "aes-256-ctr"];
        let mut rows: Vec<_> = names.iter().map(|name| row(name, false)).collect();
        rows[2].cells.legacy = true;
        let found: Vec<_> = joined(rows).into_iter().map(|row| row.suite).collect();
        assert_eq!(found, ["aes-128/192-cbc", "aes-256-cbc", "aes-128/256-ctr", "des-cbc"]);
    }
}

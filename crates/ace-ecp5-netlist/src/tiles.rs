// SPDX-License-Identifier: Apache-2.0
//! One type of tile, as a `bits.db` of Project Trellis describes it.

use std::collections::HashMap;

use ace_ecp5::device::Device;

/// An interned name of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Name(u32);

/// What a name says about where its wire is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// In one tile.
    Plain,
    /// The output of this LUT of a logic tile, or of the multiplexer behind it.
    LogicOutput(u8),
    /// A clock of a row, driven by the row's tap.
    Branch,
    /// A clock of a column of taps: the spine's in a spine tile, else driven by the spine.
    Trunk,
    /// The clock of this number that a quadrant gives to its spines.
    Feed(u8),
    /// One for the whole device.
    Global,
}

/// All names.
#[derive(Debug, Default)]
pub(crate) struct Names {
    ids: HashMap<String, Name>,
    texts: Vec<(String, NameKind)>,
}

impl Names {
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.ids.get(text) {
            return *name;
        }
        let name = Name(u32::try_from(self.texts.len()).expect("few names"));
        self.ids.insert(text.to_owned(), name);
        self.texts.push((text.to_owned(), classify(text)));
        name
    }

    pub fn get(&self, text: &str) -> Option<Name> {
        self.ids.get(text).copied()
    }

    pub fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize].0
    }

    pub fn kind(&self, name: Name) -> NameKind {
        self.texts[name.0 as usize].1
    }
}

fn classify(text: &str) -> NameKind {
    if let [b'F', digit @ b'0'..=b'7'] = text.as_bytes() {
        NameKind::LogicOutput(digit - b'0')
    } else if text.starts_with("G_HPBX") {
        NameKind::Branch
    } else if text.starts_with("G_VPTX") {
        NameKind::Trunk
    } else if let Some(number) = text.strip_prefix("G_HPRX") {
        NameKind::Feed(number.get(..2).and_then(|n| n.parse().ok()).unwrap_or(u8::MAX))
    } else if text.starts_with("G_") {
        NameKind::Global
    } else {
        NameKind::Plain
    }
}

/// A wire as a tile sees it: so many rows down and columns right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RelWire {
    pub down: i16,
    pub right: i16,
    pub name: Name,
}

/// A bit of a tile and the value that it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bit {
    pub frame: u16,
    pub bit: u16,
    pub set: bool,
}

/// A group of bits that must all match.
pub(crate) type Bits = Box<[Bit]>;

/// A routing multiplexer.
#[derive(Debug)]
pub(crate) struct Mux {
    pub sink: RelWire,
    pub arcs: Vec<(RelWire, Bits)>,
    /// Every bit that an arc sets, in order, each once.
    pub own: Vec<(u16, u16)>,
}

impl Mux {
    fn finish(mut self) -> Self {
        let bits = self.arcs.iter().flat_map(|(_, bits)| bits.iter()).filter(|b| b.set);
        self.own = bits.map(|b| (b.frame, b.bit)).collect();
        self.own.sort_unstable();
        self.own.dedup();
        self
    }
}

/// A setting with named values.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    pub options: Vec<(String, Bits)>,
}

/// What the bits of a tile mean.
#[derive(Debug)]
pub(crate) struct TileType {
    pub name: String,
    pub muxes: Vec<Mux>,
    pub fixed: Vec<(RelWire, RelWire)>,
    /// Numbers: the bits of each digit, the lowest first; `None` where another tile has the digit.
    pub words: HashMap<String, Vec<Option<Bits>>>,
    pub choices: HashMap<String, Choice>,
}

/// Wires of other devices that share a tile type are left out.
fn wire(text: &str, device: &Device, names: &mut Names) -> Option<RelWire> {
    let mut rest = text;
    if let Some((prefix, name)) = text.split_at_checked(4)
        && matches!(prefix, "25K_" | "45K_" | "85K_")
    {
        if device.die() != &prefix[..2] {
            return None;
        }
        rest = name;
    }
    let (mut down, mut right, mut tail) = (0, 0, rest);
    if let Some((count, after)) = offset(tail, 'S', 'N') {
        (down, tail) = (count, after);
    }
    if let Some((count, after)) = offset(tail, 'E', 'W') {
        (right, tail) = (count, after);
    }
    match tail.strip_prefix('_') {
        Some(name) if tail.len() < rest.len() => Some(RelWire { down, right, name: names.intern(name) }),
        _ => Some(RelWire { down: 0, right: 0, name: names.intern(rest) }),
    }
}

/// A direction and a count at the beginning of a name.
fn offset(text: &str, plus: char, minus: char) -> Option<(i16, &str)> {
    let sign = match text.chars().next()? {
        c if c == plus => 1,
        c if c == minus => -1,
        _ => return None,
    };
    let digits = text[1..].bytes().take_while(u8::is_ascii_digit).count();
    let count: i16 = text.get(1..1 + digits)?.parse().ok()?;
    Some((sign * count, &text[1 + digits..]))
}

fn bits<'a>(words: impl Iterator<Item = &'a str>) -> Option<Bits> {
    words
        .filter(|word| *word != "-")
        .map(|word| {
            let (set, word) = word.strip_prefix('!').map_or((true, word), |rest| (false, rest));
            let (frame, bit) = word.strip_prefix('F')?.split_once('B')?;
            Some(Bit { frame: frame.parse().ok()?, bit: bit.parse().ok()?, set })
        })
        .collect()
}

enum Section {
    None,
    Mux(Option<Mux>),
    Word(String, Vec<Option<Bits>>),
    Choice(String, Choice),
}

/// Reads a `bits.db`; an error is the number of the line.
pub(crate) fn parse(text: &str, name: &str, device: &Device, names: &mut Names) -> Result<TileType, usize> {
    let mut tile = TileType {
        name: name.to_owned(),
        muxes: Vec::new(),
        fixed: Vec::new(),
        words: HashMap::new(),
        choices: HashMap::new(),
    };
    let mut section = Section::None;
    let close = |section: Section, tile: &mut TileType| match section {
        Section::None | Section::Mux(None) => {}
        Section::Mux(Some(mux)) => tile.muxes.push(mux.finish()),
        Section::Word(name, digits) => drop(tile.words.insert(name, digits)),
        Section::Choice(name, choice) => drop(tile.choices.insert(name, choice)),
    };
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split_ascii_whitespace();
        let Some(first) = words.next().filter(|word| !word.starts_with('#')) else { continue };
        if first.starts_with('.') {
            close(std::mem::replace(&mut section, Section::None), &mut tile);
            let subject = words.next().ok_or(number + 1)?;
            section = match first {
                ".mux" => {
                    let empty = |sink| Mux { sink, arcs: Vec::new(), own: Vec::new() };
                    Section::Mux(wire(subject, device, names).map(empty))
                }
                ".config" => Section::Word(subject.to_owned(), Vec::new()),
                ".config_enum" => Section::Choice(subject.to_owned(), Choice::default()),
                ".fixed_conn" => {
                    let from = words.next().ok_or(number + 1)?;
                    let pair = (wire(subject, device, names), wire(from, device, names));
                    if let (Some(to), Some(from)) = pair {
                        tile.fixed.push((to, from));
                    }
                    Section::None
                }
                _ => return Err(number + 1),
            };
            continue;
        }
        match &mut section {
            Section::Mux(mux) => {
                let group = bits(words).ok_or(number + 1)?;
                if let (Some(mux), Some(source)) = (mux, wire(first, device, names)) {
                    mux.arcs.push((source, group));
                }
            }
            Section::Choice(_, choice) => {
                choice.options.push((first.to_owned(), bits(words).ok_or(number + 1)?));
            }
            Section::Word(_, digits) => {
                let group = bits(std::iter::once(first).chain(words)).ok_or(number + 1)?;
                digits.push((!group.is_empty()).then_some(group));
            }
            Section::None => return Err(number + 1),
        }
    }
    close(section, &mut tile);
    Ok(tile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ace_ecp5::device::{LFE5U_25F, LFE5U_45F};

    #[test]
    fn wires_are_relative_to_their_tile() {
        let mut names = Names::default();
        let mut place = |text, device| {
            wire(text, device, &mut names).map(|w| (w.down, w.right, names.text(w.name).to_owned()))
        };
        assert_eq!(place("E1_H02W0701", &LFE5U_45F), Some((0, 1, "H02W0701".into())));
        assert_eq!(place("N3_V06S0203", &LFE5U_45F), Some((-3, 0, "V06S0203".into())));
        assert_eq!(place("S1E1_JA0", &LFE5U_45F), Some((1, 1, "JA0".into())));
        assert_eq!(place("45K_S1_JA0", &LFE5U_45F), Some((1, 0, "JA0".into())));
        assert_eq!(place("45K_S1_JA0", &LFE5U_25F), None);
        assert_eq!(place("WRE0_SLICE", &LFE5U_45F), Some((0, 0, "WRE0_SLICE".into())));
    }

    #[test]
    fn a_tile_is_read() {
        let text = "# c\n.mux A0\nF5 F1B3 !F4B2\nF7 -\n\n.config W 11\nF1B1\n-\n.config_enum E X\nX -\nY !F2B3\n\
                    .fixed_conn DI0 F0\n";
        let mut names = Names::default();
        let tile = parse(text, "T", &LFE5U_45F, &mut names).expect("good");
        assert_eq!(tile.muxes[0].arcs.len(), 2);
        assert_eq!(tile.muxes[0].arcs[0].1[1], Bit { frame: 4, bit: 2, set: false });
        assert_eq!(tile.words["W"][0].as_ref().map(|b| b.len()), Some(1));
        assert_eq!(tile.words["W"][1], None);
        assert_eq!(tile.choices["E"].options.len(), 2);
        assert_eq!(tile.fixed.len(), 1);
        assert_eq!(parse("A0\n", "T", &LFE5U_45F, &mut names).err(), Some(1));
        assert_eq!(parse(".mux A0\nF5 X\n", "T", &LFE5U_45F, &mut names).err(), Some(2));
    }
}

// SPDX-License-Identifier: Apache-2.0
//! What `ip xfrm state` and `ip xfrm policy` print, taken apart by the table of words.

use super::words::{self, Fate, Takes, Word};

/// One SA or one policy, as it is printed.
pub struct Block<'a> {
    /// The line of its addresses, from 1.
    pub line: usize,
    /// The words that it has and that mean something here.
    items: Vec<Item<'a>>,
    /// What it has and an SA file has no place for: line and words.
    pub left_out: Vec<(usize, String)>,
    /// Why it has no place in an SA file: line and words.
    pub refused: Vec<(usize, String)>,
    /// Whether it is a policy.
    pub policy: bool,
    /// Whether it is the rule of a socket, which no other packet asks for.
    pub socket: bool,
}

struct Item<'a> {
    line: &'static str,
    word: &'static str,
    /// What stands behind it.
    values: Vec<&'a str>,
}

/// Everything in a text.
pub struct Printed<'a> {
    /// SAs and policies in their order.
    pub blocks: Vec<Block<'a>>,
    /// Lines that belong to none.
    pub strays: Vec<usize>,
}

/// What the lines that follow belong to.
#[derive(Clone, Copy, PartialEq)]
enum Section {
    Lines,
    Lifetime,
    Stats,
    Context,
    Template,
}

/// Takes a text apart. Whatever it says, this ends and says what it did not know.
pub fn printed(text: &str) -> Printed<'_> {
    let (mut blocks, mut strays, mut section) = (Vec::<Block>::new(), Vec::new(), Section::Lines);
    // `ip -o` puts a backslash where otherwise a line ends.
    let lines =
        text.lines().enumerate().flat_map(|(at, line)| line.split('\\').map(move |part| (at + 1, part)));
    for (at, line) in lines {
        let indented = line.starts_with(char::is_whitespace);
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.first() else { continue };
        if !indented {
            let front = words::find("front", first);
            let rest = if front.is_some() { words.get(1..).unwrap_or_default() } else { &words[..] };
            if rest.first() == Some(&"src") {
                let mut block = Block::new(at);
                if let Some(front) = front {
                    block.refused.push((at, format!("`{}`: {}", front.word, front.why)));
                }
                // Whether this is the line of an SA or a selector the next line tells; the words of the former are
                // among those of the latter.
                block.take(at, "sel", rest);
                blocks.push(block);
                section = Section::Lines;
                continue;
            }
            strays.push(at);
            continue;
        }
        let Some(block) = blocks.last_mut() else {
            strays.push(at);
            continue;
        };
        section = block.line_of(at, section, &words);
    }
    Printed { blocks, strays }
}

impl<'a> Block<'a> {
    fn new(line: usize) -> Self {
        Self {
            line,
            items: Vec::new(),
            left_out: Vec::new(),
            refused: Vec::new(),
            policy: false,
            socket: false,
        }
    }

    /// One indented line; says what the next one belongs to.
    fn line_of(&mut self, at: usize, section: Section, words: &[&'a str]) -> Section {
        let rest = |from| words.get(from..).unwrap_or_default();
        match (words, section) {
            (["proto", ..], Section::Template) => self.take(at, "template", words),
            (["level" | "share" | "enc-mask", ..], Section::Template) => {
                self.take(at, "level", words);
                return Section::Template;
            }
            (["proto", ..], _) => {
                // The line before was of an SA: its words are no selector's.
                for item in &mut self.items {
                    item.line = "head";
                }
                self.take(at, "proto", words);
            }
            (["dir" | "socket", _, _, ..], _) if !self.has("proto", "proto") => {
                self.policy = true;
                self.socket = words[0] == "socket";
                self.take(at, "policy", words);
            }
            (["lifetime", ..], _) => return Section::Lifetime,
            (["limit:" | "expire", ..], Section::Lifetime) => self.limits(at, words),
            ([bytes, packets], Section::Lifetime) if bytes.ends_with("(bytes),") => {
                self.push("lifetime", "current", vec![bytes, packets]);
            }
            (["add" | "use", ..], Section::Lifetime) => {}
            (["stats:"], _) => return Section::Stats,
            (["replay-window", ..], Section::Stats) => self.take(at, "stats", words),
            (["anti-replay", "context:", ..], _) => self.take(at, "context", rest(2)),
            (["anti-replay", "esn", "context:", ..], _) => {
                self.take(at, "context", rest(3));
                return Section::Context;
            }
            (["seq-hi" | "replay_window", ..], Section::Context) => {
                self.take(at, "context", words);
                return Section::Context;
            }
            // The bitmap.
            (bits, Section::Context)
                if bits.iter().all(|b| b.len() == 8 && b.bytes().all(|c| c.is_ascii_hexdigit())) =>
            {
                return Section::Context;
            }
            (["replay-window", ..], _) => self.take(at, "replay-window", words),
            (["encap", ..], _) => self.take(at, "encap", rest(1)),
            (["crypto", "offload", "parameters:", ..], _) => self.take(at, "offload", rest(3)),
            (["sel", ..], _) => self.take(at, "sel", rest(1)),
            (["tmpl", ..], _) => {
                self.push("line", "tmpl", Vec::new());
                self.take(at, "template", rest(1));
                return Section::Template;
            }
            (["mark", ..], _) if words.contains(&"output-mark") => {
                let of = words.iter().position(|word| *word == "output-mark").unwrap_or(words.len());
                self.take(at, "line", &words[..of]);
                self.take(at, "line", &words[of..]);
            }
            _ => self.take(at, "line", words),
        }
        match section {
            Section::Lifetime | Section::Template => section,
            _ => Section::Lines,
        }
    }

    fn push(&mut self, line: &'static str, word: &'static str, values: Vec<&'a str>) {
        self.items.push(Item { line, word, values });
    }

    /// `limit: soft N(bytes), hard N(bytes)`, `expire add: soft N(sec), hard N(sec)`.
    fn limits(&mut self, at: usize, words: &[&'a str]) {
        let of_use = words.get(1) == Some(&"use:");
        let from = if words[0] == "expire" { 2 } else { 1 };
        for pair in words.get(from..).unwrap_or_default().chunks(2) {
            match pair {
                ["soft", limit] => {
                    self.push("lifetime", if of_use { "soft use" } else { "soft" }, vec![limit])
                }
                ["hard", limit] => {
                    self.push("lifetime", if of_use { "hard use" } else { "hard" }, vec![limit])
                }
                _ => self.refused.push((at, format!("`{}` is not known of a lifetime", pair.join(" ")))),
            }
        }
    }

    /// The words of a line, as the table has them. A word that is not in it is no reason to guess.
    fn take(&mut self, at: usize, line: &'static str, words: &[&'a str]) {
        // Both lines of a template are as those of an SA.
        let kinds: &[&str] =
            if line == "template" { &["head", "proto"] } else { std::slice::from_ref(&line) };
        let find = |written: &str| kinds.iter().find_map(|kind| words::find(kind, written));
        let mut words = words.iter().copied().peekable();
        while let Some(written) = words.next() {
            if written.starts_with("(0x") {
                continue;
            }
            let Some(word) = find(written) else {
                self.refused.push((at, format!("`{}` is not known here", written)));
                return;
            };
            self.judge(at, word);
            let mut values = Vec::new();
            match word.takes {
                Takes::Nothing => {}
                Takes::One => values.extend(words.next().map(|value| value.trim_end_matches(','))),
                Takes::Rest => values.extend(words.by_ref()),
                Takes::Value => match words.next() {
                    Some(value) => {
                        self.value(at, word, value);
                        values.push(value);
                    }
                    None => self.refused.push((at, format!("nothing stands behind `{}`", word.word))),
                },
                Takes::Values => {
                    while let Some(value) =
                        words.next_if(|next| !next.starts_with('(') && find(next).is_none())
                    {
                        self.value(at, word, value);
                        values.push(value);
                    }
                }
            }
            if values.contains(&"(ERROR") {
                self.refused.push((at, format!("`{}` is cut off", word.word)));
                return;
            }
            let line = if line == "template" { line } else { word.line };
            self.push(line, word.word, values);
        }
    }

    fn value(&mut self, at: usize, of: &'static Word, value: &str) {
        match words::find(words::values(of), value) {
            Some(known) => self.judge(at, known),
            None => self.refused.push((at, format!("`{} {}` is not known here", of.word, value))),
        }
    }

    fn judge(&mut self, at: usize, word: &Word) {
        let message = || format!("`{}`: {}", word.word, word.why);
        match word.fate {
            Fate::Done | Fate::Aside => {}
            Fate::LeftOut => self.left_out.push((at, message())),
            Fate::Refused => self.refused.push((at, message())),
        }
    }

    /// Whether a word stands there.
    pub fn has(&self, line: &str, word: &str) -> bool {
        self.all(line, word).is_some()
    }

    /// Whether a word of several stands behind another.
    pub fn flag(&self, flag: &str) -> bool {
        self.all("replay-window", "flag").is_some_and(|flags| flags.contains(&flag))
    }

    /// All that stands behind the first such word.
    pub fn all(&self, line: &str, word: &str) -> Option<&[&'a str]> {
        let item = self.items.iter().find(|item| item.line == line && item.word == word)?;
        Some(&item.values)
    }

    /// What stands behind the first such word.
    pub fn get(&self, line: &str, word: &str) -> Option<&'a str> {
        self.all(line, word)?.first().copied()
    }

    /// What stands behind every such word.
    pub fn every<'s>(&'s self, line: &'s str, word: &'s str) -> impl Iterator<Item = &'a str> + 's {
        let items = self.items.iter().filter(move |item| item.line == line && item.word == word);
        items.filter_map(|item| item.values.first().copied())
    }

    /// A number, decimal or hexadecimal, without the same in brackets behind it.
    pub fn number(&self, line: &str, word: &str) -> Option<u64> {
        number(self.get(line, word)?)
    }
}

/// A number as it is printed.
pub fn number(written: &str) -> Option<u64> {
    let written = written.split('(').next()?;
    match written.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => written.parse().ok(),
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The language: one file an algorithm, read and run to a graph of words.
//!
//! [`Program::parse`] reads a file and what it includes, [`Program::build`] makes one variant of it.

mod ast;
mod keys;
mod operate;
mod parse;
mod run;
mod token;
mod value;

use std::sync::Arc;

pub use ast::Order;
use ast::{Expr, Item, Stmt, Type};
pub use keys::cipher;
use run::{Machine, Result, typed};
use value::{Value, Word};

use crate::Error;
use crate::error::{Diagnostic, Span, Wrong};
use crate::ir::graph::{Graph, Op, Table};

/// Sources beyond this are refused.
const BYTES: usize = 1 << 18;
const INCLUDES: usize = 8;
/// Words of a block, of a result and of a key at most.
const WORDS: i64 = 64;
const KEY_WORDS: i64 = 1024;

/// A source with what it includes.
pub struct Program {
    files: Vec<(String, String)>,
    items: Vec<(Item, Span)>,
    /// The algorithm's name, as its source gives it.
    pub algorithm: String,
    /// Byte 0 of the frames that ask for it; 0 if the file names none.
    pub code: u8,
    /// The names of its variants, in the order of the source.
    pub variants: Vec<String>,
}

/// One variant of an algorithm, before any pass.
pub struct Built {
    /// The algorithm's name.
    pub algorithm: String,
    /// The variant's name.
    pub variant: String,
    /// As its program's.
    pub code: u8,
    /// The variant's number `decrypt` is not 0: frames that decrypt ask for it.
    pub decrypt: bool,
    /// The variant's number `keys` is not 0: it makes the expanded key of the cipher whose code and direction these are.
    pub keys: bool,
    /// What a block's words and a key's words make of each other, as the source says it.
    pub graph: Graph,
    /// How the bytes of a block are words.
    pub input: Order,
    /// How the words of a result are bytes.
    pub output: Order,
    /// A hash's first state; it is the first input words of each block, and each result the next block's.
    pub chain: Vec<u32>,
    /// Where its source says what becomes of a block.
    pub(crate) run: Span,
    setup: Option<(Machine, String, Vec<Stmt>, Span)>,
}

impl Program {
    /// Reads `name`, whose text is `text`; `include` finds the text of other files.
    pub fn parse(
        name: &str,
        text: &str,
        include: &dyn Fn(&str) -> Option<String>,
    ) -> std::result::Result<Program, Error> {
        let mut program = Program {
            files: Vec::new(),
            items: Vec::new(),
            algorithm: String::new(),
            code: 0,
            variants: Vec::new(),
        };
        let read = program.read(name, text, include);
        read.and_then(|()| program.names()).map_err(|wrong| program.error(wrong))?;
        Ok(program)
    }

    /// The files that it was read from, the source itself first: name and text.
    pub fn files(&self) -> &[(String, String)] {
        &self.files
    }

    fn read(&mut self, name: &str, text: &str, include: &dyn Fn(&str) -> Option<String>) -> Result<()> {
        let file = self.files.len();
        let whole = Span { file, start: 0, end: 0 };
        self.files.push((name.to_owned(), text.to_owned()));
        if text.len() > BYTES {
            return Err(Wrong::new(whole, format!("the source is longer than {BYTES} bytes")));
        }
        if file > INCLUDES {
            return Err(Wrong::new(whole, format!("more than {INCLUDES} files are included")));
        }
        for (item, span) in parse::parse(file, text)?.items {
            let Item::Include(other) = &item else {
                self.items.push((item, span));
                continue;
            };
            if self.files.iter().any(|(known, _)| known == other) {
                continue;
            }
            let Some(text) = include(other) else {
                return Err(Wrong::new(span, format!("{other:?} is not found beside this file")));
            };
            self.read(other, &text, include)?;
        }
        Ok(())
    }

    fn names(&mut self) -> Result<()> {
        for (item, span) in &self.items {
            match item {
                Item::Algorithm(name, code) if self.algorithm.is_empty() => {
                    self.algorithm.clone_from(name);
                    self.code = *code as u8;
                }
                Item::Algorithm(..) => return Err(Wrong::new(*span, "a file has one algorithm")),
                Item::Variant { name, .. } if self.variants.contains(name) => {
                    return Err(Wrong::new(*span, format!("there is a variant `{name}` already")));
                }
                Item::Variant { name, .. } => self.variants.push(name.clone()),
                _ => {}
            }
        }
        if self.algorithm.is_empty() {
            return Err(Wrong::new(Span::default(), "the file names no algorithm").help("`algorithm NAME;`"));
        }
        if self.variants.is_empty() {
            return Err(Wrong::new(Span::default(), "the file has no variant").help("`variant NAME {}`"));
        }
        Ok(())
    }

    pub(crate) fn error(&self, wrong: Wrong) -> Error {
        Error::Source(self.diagnostic(wrong))
    }

    pub(crate) fn diagnostic(&self, wrong: Wrong) -> Box<Diagnostic> {
        let (name, text) = self.files.get(wrong.span.file).cloned().unwrap_or_default();
        let end = wrong.span.end.min(text.len());
        let bytes = wrong.span.start.min(end)..end;
        Box::new(Diagnostic { name, text, bytes, message: wrong.message, help: wrong.help })
    }

    /// Runs the source for a variant.
    pub fn build(&self, variant: &str) -> std::result::Result<Built, Error> {
        self.make(variant).map_err(|wrong| self.error(wrong))
    }

    /// The words of a key of so many bytes, as the variant's set-up makes them on the host.
    pub fn expand(&self, built: &mut Built, secret: &[u8]) -> std::result::Result<Vec<u32>, Error> {
        built.expand(secret).map_err(|wrong| self.error(wrong))
    }

    fn make(&self, variant: &str) -> Result<Built> {
        let mut machine = Machine::new();
        let found = self.items.iter().find_map(|(item, _)| match item {
            Item::Variant { name, params } if name == variant => Some(params),
            _ => None,
        });
        let Some(params) = found else {
            let known = self.variants.join(", ");
            return Err(Wrong::new(Span::default(), format!("there is no variant `{variant}`")).help(known));
        };
        for (name, value) in params {
            machine.globals.insert(name.clone(), Value::Int(*value));
        }
        let keys = self.sets_up_keys(variant);
        machine.graph.setup = keys;
        let mut chain = Vec::new();
        let (mut input, mut setup, mut out) = (None, None, None);
        for (item, span) in &self.items {
            let span = *span;
            match item {
                Item::Algorithm(..) | Item::Variant { .. } | Item::Include(_) => {}
                Item::Fn(name, function) => {
                    machine.functions.insert(name.clone(), Arc::new(function.clone()));
                }
                Item::Const { name, value } => {
                    let value = machine.eval(value)?;
                    define(&mut machine, name, value, span)?;
                }
                Item::Table { name, value } => {
                    let words = known_words(&mut machine, value)?;
                    if !matches!(words.len(), 64 | 256) {
                        return Err(Wrong::new(value.span, format!("a table of {} words", words.len()))
                            .help("the array looks up 256 words by a byte, or 64 by its upper six bits"));
                    }
                    machine.graph.tables.push(Table { name: name.clone(), words });
                    let table = Value::Table(machine.graph.tables.len() - 1);
                    define(&mut machine, name, table, span)?;
                }
                Item::Chain { name, start, order } => {
                    if machine.graph.inputs > 0 {
                        return Err(Wrong::new(span, "the chain comes before the input, and there is one"));
                    }
                    chain = known_words(&mut machine, start)?;
                    let words = inputs(&mut machine, chain.len() as i64, start.span)?;
                    define(&mut machine, name, words, span)?;
                    input = Some(*order);
                }
                Item::Input { name, words, order } => {
                    if input.is_some_and(|known| known != *order) || machine.graph.inputs > chain.len() {
                        return Err(Wrong::new(span, "one input, of one order of bytes, is possible"));
                    }
                    let (count, at) = (machine.int(words)?, words.span);
                    let words = inputs(&mut machine, count, at)?;
                    define(&mut machine, name, words, span)?;
                    input = Some(*order);
                }
                // What a cipher is sent, the set-up of it makes.
                Item::Key { .. } | Item::Setup { .. } if keys => {}
                Item::Key { name, words } => {
                    let count = machine.int(words)?;
                    if machine.graph.keys > 0 || !(1..=KEY_WORDS).contains(&count) {
                        return Err(Wrong::new(
                            words.span,
                            format!("one key of 1 to {KEY_WORDS} words is possible"),
                        ));
                    }
                    machine.graph.stand(span);
                    let nodes = (0..count as usize)
                        .map(|word| Value::Word(Word::Node(machine.graph.add(Op::Key(word), Vec::new()))));
                    let nodes = Value::array(nodes.collect());
                    machine.graph.keys = count as usize;
                    define(&mut machine, name, nodes, span)?;
                }
                Item::Setup { secret, body } => setup = Some((secret.clone(), body.clone(), span)),
                Item::Run { words, order, body } => {
                    if out.is_some() {
                        return Err(Wrong::new(span, "a file has one `run`"));
                    }
                    let count = machine.int(words)?;
                    let values = machine.body(Vec::new(), body, span)?;
                    let most = if keys { keys::WORDS } else { WORDS };
                    self.outputs(&mut machine, values, (count, most), span)?;
                    out = Some((*order, words.span, span));
                }
            }
        }
        let whole = Span::default();
        let (output, count, run) = out.ok_or_else(|| Wrong::new(whole, "the file has no `run`"))?;
        let input = input.ok_or_else(|| Wrong::new(whole, "the file has no `input`"))?;
        if !chain.is_empty() && chain.len() != machine.graph.outputs.len() {
            return Err(Wrong::new(whole, "the result has not as many words as the chain"));
        }
        if machine.graph.keys > 0 && setup.is_none() {
            return Err(Wrong::new(whole, "the file has a key and no `setup`"));
        }
        let graph = machine.graph.clone();
        if keys {
            self.sets_up(variant, &graph, (input, output), !chain.is_empty(), count)?;
        }
        Ok(Built {
            algorithm: self.algorithm.clone(),
            variant: variant.to_owned(),
            code: self.code,
            decrypt: self.number(variant, "decrypt") != 0,
            keys,
            graph,
            input,
            output,
            chain,
            run,
            setup: setup.map(|(secret, body, span)| (machine, secret, body, span)),
        })
    }

    /// What a variant's number of this name is; 0 if it has none.
    fn number(&self, variant: &str, wanted: &str) -> i64 {
        let numbers = self.items.iter().find_map(|(item, _)| match item {
            Item::Variant { name, params } if name == variant => Some(params),
            _ => None,
        });
        numbers.into_iter().flatten().find(|(name, _)| name == wanted).map_or(0, |(_, value)| *value)
    }

    fn outputs(
        &self,
        machine: &mut Machine,
        values: Value,
        (count, most): (i64, i64),
        span: Span,
    ) -> Result<()> {
        let words = typed(values, Type { word: true, array: true }, span)?;
        let Value::Array(words) = words else { return Ok(()) };
        if words.len() as i64 != count || !(1..=most).contains(&count) {
            return Err(Wrong::new(span, format!("`run` returns {} words, not {count}", words.len()))
                .help(format!("1 to {most} are possible")));
        }
        machine.graph.stand(span);
        for (at, word) in words.iter().enumerate() {
            let Value::Word(word) = word else { continue };
            let id = machine.id(*word);
            let out = machine.graph.add(Op::Output(at), vec![id]);
            machine.graph.outputs.push(out);
        }
        Ok(())
    }
}

impl Built {
    fn expand(&mut self, secret: &[u8]) -> Result<Vec<u32>> {
        let Some((machine, name, body, span)) = &mut self.setup else { return Ok(Vec::new()) };
        let bytes = Value::array(secret.iter().map(|byte| Value::Int(i64::from(*byte))).collect());
        let mut machine = machine.fresh();
        let value = machine.body(vec![(name.clone(), bytes)], body, *span)?;
        let words = words_of(value, *span)?;
        if words.len() != self.graph.keys {
            return Err(Wrong::new(
                *span,
                format!("`setup` returns {} words of {}", words.len(), self.graph.keys),
            ));
        }
        Ok(words)
    }
}

fn define(machine: &mut Machine, name: &str, value: Value, span: Span) -> Result<()> {
    if machine.globals.insert(name.to_owned(), value).is_some() {
        return Err(Wrong::new(span, format!("`{name}` is there already")));
    }
    Ok(())
}

fn inputs(machine: &mut Machine, count: i64, span: Span) -> Result<Value> {
    let first = machine.graph.inputs;
    if count < 1 || first as i64 + count > WORDS {
        return Err(Wrong::new(span, format!("a block has 1 to {WORDS} words")));
    }
    machine.graph.inputs += count as usize;
    machine.graph.stand(span);
    let words = (first..machine.graph.inputs).map(|word| machine.graph.add(Op::Input(word), Vec::new()));
    Ok(Value::array(words.map(|id| Value::Word(Word::Node(id))).collect()))
}

fn known_words(machine: &mut Machine, expr: &Expr) -> Result<Vec<u32>> {
    let value = machine.eval(expr)?;
    words_of(value, expr.span)
}

fn words_of(value: Value, span: Span) -> Result<Vec<u32>> {
    let Value::Array(values) = value else {
        return Err(Wrong::new(span, format!("{} where an array of known words is wanted", value.name())));
    };
    let word = |value: &Value| match value.as_word() {
        Some(Word::Known(word)) => Ok(word),
        _ => Err(Wrong::new(span, "an element is no word that is known")),
    };
    values.iter().map(word).collect()
}

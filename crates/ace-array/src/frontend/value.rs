// SPDX-License-Identifier: Apache-2.0
//! Values while a source runs in the compiler: numbers that are known, words that are known or a node of the graph.

use std::sync::Arc;

use super::ast::Type;
use crate::ir::graph::Id;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Known(u32),
    Node(Id),
}

#[derive(Clone, Debug)]
pub enum Value {
    Int(i64),
    Word(Word),
    /// A byte of a node, or its upper six bits: what a table is looked up with.
    Byte {
        node: Id,
        lane: usize,
        six: bool,
    },
    Array(Arc<Vec<Value>>),
    Table(usize),
}

impl Value {
    pub fn name(&self) -> &'static str {
        match self {
            Value::Int(_) => "a number",
            Value::Word(_) => "a word",
            Value::Byte { .. } => "a byte of a word",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
        }
    }

    pub fn array(values: Vec<Value>) -> Value {
        Value::Array(Arc::new(values))
    }

    /// A number that fits a word is one.
    pub fn as_word(&self) -> Option<Word> {
        match self {
            Value::Word(word) => Some(*word),
            Value::Int(value) => u32::try_from(*value).ok().map(Word::Known),
            _ => None,
        }
    }

    /// What it is where something is said to be of a type, or nothing if it cannot be.
    pub fn of_type(self, ty: Type) -> Option<Value> {
        let one = |value: Value| match (&value, ty.word) {
            (_, true) => value.as_word().map(Value::Word),
            (Value::Int(_), false) => Some(value),
            _ => None,
        };
        match (self, ty.array) {
            (Value::Array(values), true) => {
                values.iter().cloned().map(one).collect::<Option<Vec<Value>>>().map(Value::array)
            }
            (_, true) | (Value::Array(_), false) => None,
            (value, false) => one(value),
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.word { "word" } else { "int" })?;
        f.write_str(if self.array { "[]" } else { "" })
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Runs a source: loops, functions and numbers are done with when it ends, and what is left is a graph of words.

use std::collections::HashMap;
use std::sync::Arc;

use super::ast::{Expr, ExprKind, Function, Stmt, StmtKind};
use super::value::{Value, Word};
use crate::error::{Span, Wrong};
use crate::ir::graph::{Graph, NOT, Op, Pin};

pub type Result<T> = std::result::Result<T, Wrong>;

/// What a source may take, so that none runs for ever or fills the memory.
const STEPS: usize = 20_000_000;
const NODES: usize = 20_000;
const ARRAY: i64 = 4096;
const CALLS: usize = 12;

pub struct Machine {
    pub graph: Graph,
    pub globals: HashMap<String, Value>,
    pub functions: HashMap<String, Arc<Function>>,
    locals: Vec<(String, Value)>,
    /// Where the running function's locals begin.
    base: usize,
    calls: usize,
    steps: usize,
}

impl Machine {
    pub fn new() -> Machine {
        Machine {
            graph: Graph::default(),
            globals: HashMap::new(),
            functions: HashMap::new(),
            locals: Vec::new(),
            base: 0,
            calls: 0,
            steps: 0,
        }
    }

    /// Runs a body that has to return, with a few locals.
    pub fn body(&mut self, locals: Vec<(String, Value)>, body: &[Stmt], span: Span) -> Result<Value> {
        if self.calls == CALLS {
            return Err(Wrong::new(span, format!("functions call each other more than {CALLS} deep")));
        }
        let (base, length) = (self.base, self.locals.len());
        self.base = length;
        self.calls += 1;
        self.locals.extend(locals);
        let out = self.block(body);
        self.locals.truncate(length);
        self.base = base;
        self.calls -= 1;
        out?.ok_or_else(|| Wrong::new(span, "this ends without `return`"))
    }

    fn step(&mut self, span: Span) -> Result<()> {
        self.steps += 1;
        if self.steps > STEPS {
            return Err(Wrong::new(span, format!("the source takes more than {STEPS} steps to compile")));
        }
        Ok(())
    }

    fn block(&mut self, body: &[Stmt]) -> Result<Option<Value>> {
        let length = self.locals.len();
        for stmt in body {
            let out = self.stmt(stmt)?;
            if out.is_some() {
                self.locals.truncate(length);
                return Ok(out);
            }
        }
        self.locals.truncate(length);
        Ok(None)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Option<Value>> {
        self.step(stmt.span)?;
        match &stmt.kind {
            StmtKind::Let { name, ty, value } => {
                let span = value.span;
                let mut value = self.eval(value)?;
                if let Some(ty) = ty {
                    value = typed(value, *ty, span)?;
                }
                self.locals.push((name.clone(), value));
            }
            StmtKind::Assign { name, at, value } => {
                let span = value.span;
                let value = self.eval(value)?;
                let at = at.iter().map(|e| Ok((self.int(e)?, e.span))).collect::<Result<Vec<_>>>()?;
                let base = self.base;
                let Some((_, slot)) = self.locals[base..].iter_mut().rev().find(|(local, _)| local == name)
                else {
                    return Err(Wrong::new(stmt.span, format!("no local is called `{name}`"))
                        .help(format!("a new one begins with `let {name} = …`")));
                };
                let mut slot = slot;
                for (index, span) in at {
                    let Value::Array(values) = slot else {
                        return Err(Wrong::new(span, format!("{} has no elements", slot.name())));
                    };
                    let length = values.len();
                    let found =
                        usize::try_from(index).ok().and_then(|index| Arc::make_mut(values).get_mut(index));
                    slot = found.ok_or_else(|| outside(span, index, length))?;
                }
                // A word stays one, whatever known number it becomes.
                *slot = match (&*slot, value) {
                    (Value::Word(_), value @ Value::Int(_)) => {
                        let word =
                            value.as_word().ok_or_else(|| Wrong::new(span, "this number is no word"))?;
                        Value::Word(word)
                    }
                    (_, value) => value,
                };
            }
            StmtKind::For { name, from, to, body } => {
                let (from, to) = (self.int(from)?, self.int(to)?);
                for value in from..to {
                    self.step(stmt.span)?;
                    self.locals.push((name.clone(), Value::Int(value)));
                    let out = self.block(body);
                    self.locals.pop();
                    if let Some(value) = out? {
                        return Ok(Some(value));
                    }
                }
            }
            StmtKind::If(arms) => {
                for (condition, body) in arms {
                    let holds = match condition {
                        Some(condition) => self.int(condition)? != 0,
                        None => true,
                    };
                    if holds {
                        return self.block(body);
                    }
                }
            }
            StmtKind::Return(value) => return self.eval(value).map(Some),
        }
        Ok(None)
    }

    /// A number that is known.
    pub fn int(&mut self, expr: &Expr) -> Result<i64> {
        match self.eval(expr)? {
            Value::Int(value) => Ok(value),
            Value::Word(Word::Known(_)) => Err(Wrong::new(expr.span, "a word where a number is wanted")
                .help("`int(…)` makes a known word one")),
            Value::Word(Word::Node(_)) => Err(Wrong::new(
                expr.span,
                "this depends on the block or the key, and is known only when the array runs",
            )
            .help("the array has no branches on data, so that its time says nothing about them")),
            other => Err(Wrong::new(expr.span, format!("{} where a number is wanted", other.name()))),
        }
    }

    pub fn node(&mut self, op: Op, args: Vec<Word>, span: Span) -> Result<Word> {
        if self.graph.nodes.len() > NODES {
            return Err(Wrong::new(span, format!("the algorithm has more than {NODES} operations")));
        }
        if args.iter().all(|arg| matches!(arg, Word::Known(_))) {
            let known: Vec<u32> =
                args.iter().map(|arg| if let Word::Known(v) = arg { *v } else { 0 }).collect();
            return Ok(Word::Known(self.graph.apply(&op, &known, &[], &[])));
        }
        self.graph.stand(span);
        let args = args.into_iter().map(|arg| self.id(arg)).collect();
        Ok(Word::Node(self.graph.add(op, args)))
    }

    /// A word as a node of the graph.
    pub fn id(&mut self, word: Word) -> usize {
        match word {
            Word::Node(id) => id,
            Word::Known(value) => self.graph.add(Op::Const(value), Vec::new()),
        }
    }

    pub fn eval(&mut self, expr: &Expr) -> Result<Value> {
        self.step(expr.span)?;
        match &expr.kind {
            ExprKind::Number(value) => Ok(Value::Int(*value)),
            ExprKind::Name(name) => {
                let local = self.locals[self.base..].iter().rev().find(|(local, _)| local == name);
                let found = local.map(|(_, value)| value).or_else(|| self.globals.get(name)).cloned();
                found.ok_or_else(|| Wrong::new(expr.span, format!("nothing is called `{name}` here")))
            }
            ExprKind::Array(values) => {
                values.iter().map(|value| self.eval(value)).collect::<Result<Vec<_>>>().map(Value::array)
            }
            ExprKind::Each { name, from, to, value } => {
                let (from, to) = (self.int(from)?, self.int(to)?);
                if to.saturating_sub(from) > ARRAY {
                    return Err(Wrong::new(expr.span, format!("an array has at most {ARRAY} elements")));
                }
                let mut out = Vec::new();
                for at in from..to {
                    self.locals.push((name.clone(), Value::Int(at)));
                    let element = self.eval(value);
                    self.locals.pop();
                    out.push(element?);
                }
                Ok(Value::array(out))
            }
            ExprKind::Index(of, at) => self.index(of, at),
            ExprKind::Call(name, args) => self.call(name, args, expr.span),
            ExprKind::At(value, context) => self.pin(value, context, expr.span),
            ExprKind::Unary(mark, inner) => {
                let value = self.eval(inner)?;
                match (*mark, &value) {
                    ("-", Value::Int(value)) => Ok(Value::Int(value.wrapping_neg())),
                    ("~", Value::Int(value)) => Ok(Value::Int(!value)),
                    ("-", Value::Word(word)) => {
                        self.node(Op::Sum(1), vec![*word], expr.span).map(Value::Word)
                    }
                    ("~", Value::Word(word)) => self.node(NOT, vec![*word], expr.span).map(Value::Word),
                    _ => Err(Wrong::new(expr.span, format!("`{mark}` of {}", value.name()))),
                }
            }
            ExprKind::Binary(mark, left, right) => {
                let a = self.eval(left)?;
                let b = self.eval(right)?;
                super::operate::binary(self, mark, (a, left.span), (b, right.span), expr.span)
            }
        }
    }

    /// A word whose operation has to be in a context.
    fn pin(&mut self, value: &Expr, at: &Expr, span: Span) -> Result<Value> {
        let context = self.int(at)?;
        let context = usize::try_from(context)
            .map_err(|_| Wrong::new(at.span, format!("context {context}; they begin with 0")))?;
        match self.eval(value)? {
            Value::Word(word @ Word::Node(_)) => {
                self.graph.pins.push(Pin { context, span });
                self.node(Op::Pin(self.graph.pins.len() - 1), vec![word], span).map(Value::Word)
            }
            Value::Word(Word::Known(_)) | Value::Int(_) => {
                Err(Wrong::new(value.span, "this is known before the array runs, and is no operation of it"))
            }
            other => Err(Wrong::new(value.span, format!("{} where a word is wanted", other.name()))
                .help("`at` gives one operation a context; in `[for … : … at …]` each element has its own")),
        }
    }

    fn index(&mut self, of: &Expr, at: &Expr) -> Result<Value> {
        let value = self.eval(of)?;
        let index = self.eval(at)?;
        let known = match &index {
            Value::Int(index) => Some(*index),
            _ => None,
        };
        match (&value, &index, known) {
            (Value::Array(values), _, Some(index)) => {
                let found = usize::try_from(index).ok().and_then(|index| values.get(index)).cloned();
                found.ok_or_else(|| outside(at.span, index, values.len()))
            }
            (Value::Table(table), _, Some(index)) => {
                let words = &self.graph.tables[*table].words;
                let found = usize::try_from(index).ok().and_then(|index| words.get(index));
                found
                    .map(|word| Value::Word(Word::Known(*word)))
                    .ok_or_else(|| outside(at.span, index, words.len()))
            }
            (Value::Table(table), Value::Byte { node, lane, six }, _) => {
                let length = self.graph.tables[*table].words.len();
                if (length == 64) != *six {
                    return Err(Wrong::new(
                        at.span,
                        format!("a table of {length} words is looked up by another width"),
                    )
                    .help("`byte` looks up 256 words, `top6` looks up 64"));
                }
                let op = Op::Lookup { table: *table, lane: *lane, six: *six };
                self.node(op, vec![Word::Node(*node)], at.span).map(Value::Word)
            }
            (Value::Array(_), Value::Byte { .. }, _) => {
                Err(Wrong::new(of.span, "an array cannot be looked up when the array of elements runs")
                    .help("declare it with `table`"))
            }
            (Value::Table(_), Value::Word(_), _) => {
                Err(Wrong::new(at.span, "a table is looked up by a byte of a word")
                    .help("`byte(word, lane)`, or `top6(word, lane)` for tables of 64 words"))
            }
            (Value::Array(_) | Value::Table(_), other, _) => {
                Err(Wrong::new(at.span, format!("{} is no index that is known", other.name())))
            }
            (other, _, _) => Err(Wrong::new(of.span, format!("{} has no elements", other.name()))),
        }
    }

    fn call(&mut self, name: &str, args: &[Expr], span: Span) -> Result<Value> {
        let values = args.iter().map(|arg| Ok((self.eval(arg)?, arg.span))).collect::<Result<Vec<_>>>()?;
        let Some(function) = self.functions.get(name).cloned() else {
            return super::operate::builtin(self, name, &values, span);
        };
        if values.len() != function.params.len() {
            let wanted = function.params.len();
            return Err(Wrong::new(span, format!("`{name}` takes {wanted} arguments, not {}", values.len())));
        }
        let mut locals = Vec::new();
        for ((param, ty), (value, span)) in function.params.iter().zip(values) {
            locals.push((param.clone(), typed(value, *ty, span)?));
        }
        let out = self.body(locals, &function.body, span)?;
        typed(out, function.result, span)
    }
}

pub fn typed(value: Value, ty: super::ast::Type, span: Span) -> Result<Value> {
    let name = value.name();
    value.of_type(ty).ok_or_else(|| Wrong::new(span, format!("{name} where `{ty}` is wanted")))
}

fn outside(span: Span, index: i64, length: usize) -> Wrong {
    Wrong::new(span, format!("element {index} of {length}"))
}

impl Machine {
    /// The same names, and nothing that ran.
    pub fn fresh(&self) -> Machine {
        Machine {
            graph: self.graph.clone(),
            globals: self.globals.clone(),
            functions: self.functions.clone(),
            ..Machine::new()
        }
    }
}

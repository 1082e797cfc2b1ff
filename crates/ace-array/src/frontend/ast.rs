// SPDX-License-Identifier: Apache-2.0
//! A source as it is written.

use crate::error::Span;

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
    /// Operations one in the other.
    pub height: usize,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Number(i64),
    Name(String),
    Array(Vec<Expr>),
    /// `[for i in a..b : value]`
    Each {
        name: String,
        from: Box<Expr>,
        to: Box<Expr>,
        value: Box<Expr>,
    },
    Index(Box<Expr>, Box<Expr>),
    Call(String, Vec<Expr>),
    /// `value at context`
    At(Box<Expr>, Box<Expr>),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
}

/// What a parameter, a result or a `let` is said to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    pub word: bool,
    pub array: bool,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Let {
        name: String,
        ty: Option<Type>,
        value: Expr,
    },
    Assign {
        name: String,
        at: Vec<Expr>,
        value: Expr,
    },
    For {
        name: String,
        from: Expr,
        to: Expr,
        body: Vec<Stmt>,
    },
    /// Conditions with what is done, the last one maybe without a condition.
    If(Vec<(Option<Expr>, Vec<Stmt>)>),
    Return(Expr),
}

/// How a block's bytes are words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The first byte of four is the word's lowest.
    Little,
    /// The first byte of four is the word's highest.
    Big,
    /// Big, through DES's initial permutation, each half rotated right by one.
    Des,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub params: Vec<(String, Type)>,
    pub result: Type,
    pub body: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub enum Item {
    /// Its name, and the code by which frames ask for it.
    Algorithm(String, i64),
    Variant {
        name: String,
        params: Vec<(String, i64)>,
    },
    Include(String),
    /// A hash's state: words that go from block to block, and what they are before the first one.
    Chain {
        name: String,
        start: Expr,
        order: Order,
    },
    Input {
        name: String,
        words: Expr,
        order: Order,
    },
    Key {
        name: String,
        words: Expr,
    },
    Const {
        name: String,
        value: Expr,
    },
    Table {
        name: String,
        value: Expr,
    },
    Fn(String, Function),
    /// The key's bytes to its words.
    Setup {
        secret: String,
        body: Vec<Stmt>,
    },
    Run {
        words: Expr,
        order: Order,
        body: Vec<Stmt>,
    },
}

#[derive(Clone, Debug)]
pub struct File {
    pub items: Vec<(Item, Span)>,
}

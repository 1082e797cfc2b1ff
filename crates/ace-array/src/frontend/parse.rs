// SPDX-License-Identifier: Apache-2.0
//! Tokens to a file's items. Descends by hand, so that each error says what was wanted where.

use super::ast::{Expr, ExprKind, File, Function, Item, Order, Stmt, StmtKind, Type};
use super::token::{Token, tokens};
use crate::error::{Span, Wrong};

type Result<T> = std::result::Result<T, Wrong>;

/// Nesting beyond this is refused, so that no source overflows the stack; long chains of operations nest as well.
const DEPTH: usize = 64;

/// By what binds less first.
const LEVELS: [&[&str]; 9] = [
    &["||"],
    &["&&"],
    &["==", "!=", "<", "<=", ">", ">="],
    &["|"],
    &["^"],
    &["&"],
    &["<<<", ">>>", "<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

pub fn parse(file: usize, source: &str) -> Result<File> {
    let mut parser = Parser { tokens: tokens(file, source)?, at: 0, depth: 0 };
    let mut items = Vec::new();
    while parser.peek() != &Token::End {
        let start = parser.span();
        let item = parser.item()?;
        items.push((item, start));
    }
    Ok(File { items })
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(Span::default(), |(_, span)| *span)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len());
        token
    }

    fn wanted<T>(&self, what: &str) -> Result<T> {
        Err(Wrong::new(self.span(), format!("{} where {what} is wanted", self.peek().shown())))
    }

    fn is(&self, mark: &str) -> bool {
        matches!(self.peek(), Token::Mark(found) if *found == mark)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(found) if found == word)
    }

    fn take(&mut self, mark: &str) -> bool {
        let is = self.is(mark);
        if is {
            self.next();
        }
        is
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.next();
        }
        is
    }

    fn expect(&mut self, mark: &str) -> Result<()> {
        if self.take(mark) { Ok(()) } else { self.wanted(&format!("`{mark}`")) }
    }

    fn name(&mut self) -> Result<String> {
        match self.peek() {
            Token::Name(name) => {
                let name = name.clone();
                self.next();
                Ok(name)
            }
            _ => self.wanted("a name"),
        }
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Parser) -> Result<T>) -> Result<T> {
        if self.depth == DEPTH {
            return Err(Wrong::new(self.span(), format!("nested more than {DEPTH} deep")));
        }
        self.depth += 1;
        let out = inner(self);
        self.depth -= 1;
        out
    }

    fn item(&mut self) -> Result<Item> {
        const ITEMS: &str = "algorithm, include, variant, chain, input, key, const, table, fn, setup or run at the file's level";
        let Token::Name(word) = self.peek().clone() else { return self.wanted(ITEMS) };
        self.next();
        let item = match word.as_str() {
            "algorithm" => {
                let name = self.name()?;
                let code = match self.take("=").then(|| self.next()) {
                    None => 0,
                    Some(Token::Number(code @ 0..256)) => code,
                    Some(_) => {
                        self.at -= 1;
                        return self.wanted("a frame's code, 0 to 255");
                    }
                };
                Item::Algorithm(name, code)
            }
            "include" => match self.peek().clone() {
                Token::Text(name) => {
                    self.next();
                    Item::Include(name)
                }
                _ => return self.wanted("a file's name in quotes"),
            },
            "variant" => return self.variant(),
            "chain" => {
                let name = self.name()?;
                self.expect("=")?;
                let start = self.expr()?;
                Item::Chain { name, start, order: self.order()? }
            }
            "input" => {
                let name = self.name()?;
                self.expect(":")?;
                let words = self.words()?;
                Item::Input { name, words, order: self.order()? }
            }
            "key" => {
                let name = self.name()?;
                self.expect(":")?;
                Item::Key { name, words: self.words()? }
            }
            "const" | "table" => {
                let name = self.name()?;
                self.expect("=")?;
                let value = self.expr()?;
                if word == "const" { Item::Const { name, value } } else { Item::Table { name, value } }
            }
            "fn" => return self.function(),
            "setup" => {
                self.expect("(")?;
                let secret = self.name()?;
                self.expect(")")?;
                return Ok(Item::Setup { secret, body: self.block()? });
            }
            "run" => {
                self.expect("->")?;
                let words = self.words()?;
                let order = self.order()?;
                return Ok(Item::Run { words, order, body: self.block()? });
            }
            _ => {
                self.at -= 1;
                return self.wanted(ITEMS);
            }
        };
        self.expect(";")?;
        Ok(item)
    }

    fn variant(&mut self) -> Result<Item> {
        let name = self.name()?;
        self.expect("{")?;
        let mut params = Vec::new();
        while !self.take("}") {
            let param = self.name()?;
            self.expect("=")?;
            match self.next() {
                Token::Number(value) => params.push((param, value)),
                _ => {
                    self.at -= 1;
                    return self.wanted("a number");
                }
            }
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(Item::Variant { name, params })
    }

    /// `word[n]`
    fn words(&mut self) -> Result<Expr> {
        if !self.take_word("word") {
            return self.wanted("`word[…]`");
        }
        self.expect("[")?;
        let words = self.expr()?;
        self.expect("]")?;
        Ok(words)
    }

    fn order(&mut self) -> Result<Order> {
        let order = match self.peek() {
            Token::Name(name) if name == "little" => Order::Little,
            Token::Name(name) if name == "big" => Order::Big,
            Token::Name(name) if name == "des" => Order::Des,
            _ => return self.wanted("the order of bytes (`little`, `big` or `des`)"),
        };
        self.next();
        Ok(order)
    }

    fn ty(&mut self) -> Result<Type> {
        let word = self.take_word("word");
        if !word && !self.take_word("int") {
            return self.wanted("a type (`word`, `int`, `word[]` or `int[]`)");
        }
        let array = self.take("[");
        if array {
            self.expect("]")?;
        }
        Ok(Type { word, array })
    }

    fn function(&mut self) -> Result<Item> {
        let name = self.name()?;
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.take(")") {
            let param = self.name()?;
            self.expect(":")?;
            params.push((param, self.ty()?));
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        self.expect("->")?;
        let result = self.ty()?;
        Ok(Item::Fn(name, Function { params, result, body: self.block()? }))
    }

    fn block(&mut self) -> Result<Vec<Stmt>> {
        self.deeper(|parser| {
            parser.expect("{")?;
            let mut body = Vec::new();
            while !parser.take("}") {
                body.push(parser.stmt()?);
            }
            Ok(body)
        })
    }

    fn range(&mut self) -> Result<(String, Expr, Expr)> {
        let name = self.name()?;
        if !self.take_word("in") {
            return self.wanted("`in`");
        }
        let from = self.expr()?;
        self.expect("..")?;
        Ok((name, from, self.expr()?))
    }

    fn stmt(&mut self) -> Result<Stmt> {
        let start = self.span();
        let kind = if self.take_word("let") {
            let name = self.name()?;
            let ty = if self.take(":") { Some(self.ty()?) } else { None };
            self.expect("=")?;
            let value = self.expr()?;
            self.expect(";")?;
            StmtKind::Let { name, ty, value }
        } else if self.take_word("for") {
            let (name, from, to) = self.range()?;
            StmtKind::For { name, from, to, body: self.block()? }
        } else if self.take_word("return") {
            let value = self.expr()?;
            self.expect(";")?;
            StmtKind::Return(value)
        } else if self.take_word("if") {
            let condition = self.expr()?;
            let mut arms = vec![(Some(condition), self.block()?)];
            while self.take_word("else") {
                if self.take_word("if") {
                    let condition = self.expr()?;
                    arms.push((Some(condition), self.block()?));
                } else {
                    arms.push((None, self.block()?));
                    break;
                }
            }
            StmtKind::If(arms)
        } else {
            let name = match self.peek() {
                Token::Name(_) => self.name()?,
                _ => return self.wanted("a statement"),
            };
            let mut at = Vec::new();
            while self.take("[") {
                at.push(self.expr()?);
                self.expect("]")?;
            }
            self.expect("=")?;
            let value = self.expr()?;
            self.expect(";")?;
            StmtKind::Assign { name, at, value }
        };
        let end = self.tokens[self.at.saturating_sub(1)].1;
        Ok(Stmt { kind, span: start.to(end) })
    }

    fn expr(&mut self) -> Result<Expr> {
        let value = self.deeper(|parser| parser.level(0))?;
        if !self.take_word("at") {
            return Ok(value);
        }
        let context = self.deeper(|parser| parser.level(0))?;
        let (span, height) = (value.span.to(context.span), value.height.max(context.height) + 1);
        let pinned = Expr { kind: ExprKind::At(Box::new(value), Box::new(context)), span, height };
        pinned.check()?;
        Ok(pinned)
    }

    fn level(&mut self, level: usize) -> Result<Expr> {
        let Some(marks) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        while let Some(mark) = marks.iter().find(|mark| self.is(mark)) {
            self.next();
            let right = self.level(level + 1)?;
            let (span, height) = (left.span.to(right.span), left.height.max(right.height) + 1);
            left = Expr { kind: ExprKind::Binary(mark, Box::new(left), Box::new(right)), span, height };
            left.check()?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr> {
        let start = self.span();
        for mark in ["-", "~"] {
            if self.take(mark) {
                let inner = self.deeper(Parser::unary)?;
                let (span, height) = (start.to(inner.span), inner.height + 1);
                return Ok(Expr { kind: ExprKind::Unary(mark, Box::new(inner)), span, height });
            }
        }
        let mut value = self.atom()?;
        while self.take("[") {
            let index = self.expr()?;
            let span = start.to(self.span());
            self.expect("]")?;
            let height = value.height.max(index.height) + 1;
            value = Expr { kind: ExprKind::Index(Box::new(value), Box::new(index)), span, height };
            value.check()?;
        }
        Ok(value)
    }

    fn list(&mut self, end: &str) -> Result<Vec<Expr>> {
        let mut out = Vec::new();
        while !self.take(end) {
            out.push(self.expr()?);
            if !self.take(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(out)
    }

    fn atom(&mut self) -> Result<Expr> {
        let start = self.span();
        let kind = match self.peek().clone() {
            Token::Number(value) => {
                self.next();
                ExprKind::Number(value)
            }
            Token::Name(name) => {
                self.next();
                if self.take("(") { ExprKind::Call(name, self.list(")")?) } else { ExprKind::Name(name) }
            }
            Token::Mark("(") => {
                self.next();
                let inner = self.expr()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Mark("[") => {
                self.next();
                if self.take_word("for") {
                    let (name, from, to) = self.range()?;
                    self.expect(":")?;
                    let value = Box::new(self.expr()?);
                    self.expect("]")?;
                    ExprKind::Each { name, from: Box::new(from), to: Box::new(to), value }
                } else {
                    ExprKind::Array(self.list("]")?)
                }
            }
            _ => return self.wanted("a value"),
        };
        let end = self.tokens[self.at.saturating_sub(1)].1;
        let inner = match &kind {
            ExprKind::Call(_, list) | ExprKind::Array(list) => list.iter().map(|e| e.height).max(),
            ExprKind::Each { from, to, value, .. } => [from, to, value].iter().map(|e| e.height).max(),
            _ => None,
        };
        Ok(Expr { kind, span: start.to(end), height: inner.unwrap_or(0) + 1 })
    }
}

impl Expr {
    fn check(&self) -> Result<()> {
        if self.height > DEPTH {
            return Err(Wrong::new(self.span, format!("more than {DEPTH} operations one in the other"))
                .help("give a part a name with `let`"));
        }
        Ok(())
    }
}

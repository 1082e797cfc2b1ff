// SPDX-License-Identifier: Apache-2.0
//! Text to tokens with their places.

use winnow::LocatingSlice;
use winnow::ascii::{hex_digit1, multispace1, till_line_ending};
use winnow::combinator::{alt, eof, repeat};
use winnow::error::ContextError;
use winnow::prelude::*;
use winnow::token::{any, literal, one_of, take_while};

use crate::error::{Span, Wrong};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    Name(String),
    Number(i64),
    Text(String),
    Mark(&'static str),
    End,
}

impl Token {
    pub fn shown(&self) -> String {
        match self {
            Token::Name(name) => format!("`{name}`"),
            Token::Number(value) => format!("`{value}`"),
            Token::Text(text) => format!("\"{text}\""),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::End => "the end of the file".to_owned(),
        }
    }
}

/// The longest first.
const MARKS: [&str; 33] = [
    "<<<", ">>>", "..", "->", "<<", ">>", "==", "!=", "<=", ">=", "&&", "||", "{", "}", "(", ")", "[", "]",
    ",", ";", ":", "=", "+", "-", "*", "/", "%", "&", "|", "^", "~", "<", ">",
];

type Input<'a> = LocatingSlice<&'a str>;
type Result<T> = std::result::Result<T, ContextError>;

fn blank(input: &mut Input<'_>) -> Result<()> {
    repeat(0.., alt((multispace1.void(), (literal("//"), till_line_ending).void()))).parse_next(input)
}

fn number(input: &mut Input<'_>) -> Result<Token> {
    let digits = |text: &str, radix| i64::from_str_radix(&text.replace('_', ""), radix);
    alt((
        (
            alt((literal("0x"), literal("0X"))),
            (hex_digit1, take_while(0.., |c: char| c.is_ascii_hexdigit() || c == '_')).take(),
        )
            .try_map(|(_, text): (&str, &str)| digits(text, 16)),
        (one_of('0'..='9'), take_while(0.., |c: char| c.is_ascii_digit() || c == '_'))
            .take()
            .try_map(|text: &str| digits(text, 10)),
    ))
    .map(Token::Number)
    .parse_next(input)
}

fn name(input: &mut Input<'_>) -> Result<Token> {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    (one_of(first), take_while(0.., |c: char| c.is_ascii_alphanumeric() || c == '_'))
        .take()
        .map(|text: &str| Token::Name(text.to_owned()))
        .parse_next(input)
}

fn text(input: &mut Input<'_>) -> Result<Token> {
    (literal("\""), take_while(0.., |c: char| c != '"' && c != '\n'), literal("\""))
        .map(|(_, text, _): (&str, &str, &str)| Token::Text(text.to_owned()))
        .parse_next(input)
}

fn mark(input: &mut Input<'_>) -> Result<Token> {
    for mark in MARKS {
        if literal::<_, _, ContextError>(mark).parse_next(input).is_ok() {
            return Ok(Token::Mark(mark));
        }
    }
    Err(ContextError::new())
}

/// All tokens of a file, with the end as the last one.
pub fn tokens(file: usize, source: &str) -> std::result::Result<Vec<(Token, Span)>, Wrong> {
    let mut input = LocatingSlice::new(source);
    let mut out = Vec::new();
    loop {
        let _ = blank(&mut input);
        if eof::<_, ContextError>.parse_next(&mut input).is_ok() {
            out.push((Token::End, Span { file, start: source.len(), end: source.len() }));
            return Ok(out);
        }
        match alt((number, name, text, mark)).with_span().parse_next(&mut input) {
            Ok((token, bytes)) => out.push((token, Span { file, start: bytes.start, end: bytes.end })),
            Err(_) => {
                let (what, bytes) =
                    any::<_, ContextError>.with_span().parse_next(&mut input).unwrap_or((' ', 0..0));
                let span = Span { file, start: bytes.start, end: bytes.end };
                return Err(Wrong::new(span, format!("{what:?} begins nothing that can stand here"))
                    .help("a number has at most 63 bits, a text ends in its line"));
            }
        }
    }
}

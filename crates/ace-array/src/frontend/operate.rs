// SPDX-License-Identifier: Apache-2.0
//! What operators and the functions of the language itself do.

use super::run::{Machine, Result};
use super::value::{Value, Word};
use crate::error::{Span, Wrong};
use crate::ir::domain::Half;
use crate::ir::graph::{AND, OR, Op, XOR};

pub fn binary(
    machine: &mut Machine,
    mark: &str,
    (a, at_a): (Value, Span),
    (b, at_b): (Value, Span),
    span: Span,
) -> Result<Value> {
    if let (Value::Int(a), Value::Int(b)) = (&a, &b) {
        return ints(mark, *a, *b, span).map(Value::Int);
    }
    let word = |value: &Value, at: Span| match value.as_word() {
        Some(word) => Ok(word),
        None if matches!(value, Value::Int(_)) => Err(Wrong::new(at, "this number is no word of 32 bits")),
        None => Err(Wrong::new(at, format!("`{mark}` of {}", value.name()))),
    };
    let left = word(&a, at_a)?;
    if matches!(mark, "<<<" | ">>>" | "<<" | ">>") {
        return shifted(machine, mark, left, (b, at_b), span).map(Value::Word);
    }
    let right = word(&b, at_b)?;
    let op = match mark {
        "+" => Op::Sum(0),
        "-" => Op::Sum(2),
        "*" => Op::Multiply,
        "^" => XOR,
        "&" => AND,
        "|" => OR,
        _ => {
            let what = match mark {
                "/" | "%" => "divides",
                "&&" | "||" => "decides",
                _ => "compares",
            };
            return Err(Wrong::new(span, format!("`{mark}` of a word"))
                .help(format!("the array {what} nothing; `int(…)` makes a known word a number")));
        }
    };
    machine.node(op, vec![left, right], span).map(Value::Word)
}

fn shifted(
    machine: &mut Machine,
    mark: &str,
    left: Word,
    (by, at): (Value, Span),
    span: Span,
) -> Result<Word> {
    let known = match by {
        Value::Int(by) => Some(by),
        Value::Word(Word::Known(by)) => Some(i64::from(by)),
        Value::Word(Word::Node(_)) => None,
        other => return Err(Wrong::new(at, format!("`{mark}` by {}", other.name()))),
    };
    let op = match (mark, known) {
        ("<<<", Some(by)) => Op::Rotate(by.rem_euclid(32) as u32),
        (">>>", Some(by)) => Op::Rotate((-(by.rem_euclid(32))).rem_euclid(32) as u32),
        (_, Some(by)) => {
            let by = u32::try_from(by).ok().filter(|by| *by < 32);
            let by = by.ok_or_else(|| Wrong::new(at, "a word is shifted by 0 to 31"))?;
            Op::Shift { right: mark == ">>", by }
        }
        ("<<<" | ">>>", None) => {
            let Value::Word(amount) = by else { return Err(Wrong::new(at, "this is no amount")) };
            return machine.node(Op::RotateBy { right: mark == ">>>" }, vec![left, amount], span);
        }
        (_, None) => {
            return Err(Wrong::new(at, "the array shifts by known numbers").help("it rotates by words"));
        }
    };
    machine.node(op, vec![left], span)
}

fn ints(mark: &str, a: i64, b: i64, span: Span) -> Result<i64> {
    let shift = || u32::try_from(b).ok().filter(|b| *b < 63);
    let out = match mark {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div_euclid(b),
        "%" => a.checked_rem_euclid(b),
        "&" => Some(a & b),
        "|" => Some(a | b),
        "^" => Some(a ^ b),
        "<<" => shift().and_then(|by| a.checked_mul(1 << by)),
        ">>" => shift().map(|by| a >> by),
        "==" => Some(i64::from(a == b)),
        "!=" => Some(i64::from(a != b)),
        "<" => Some(i64::from(a < b)),
        "<=" => Some(i64::from(a <= b)),
        ">" => Some(i64::from(a > b)),
        ">=" => Some(i64::from(a >= b)),
        "&&" => Some(i64::from(a != 0 && b != 0)),
        "||" => Some(i64::from(a != 0 || b != 0)),
        _ => {
            return Err(Wrong::new(span, format!("`{mark}` of numbers has no width"))
                .help("`word(…)` makes one a word"));
        }
    };
    out.ok_or_else(|| Wrong::new(span, format!("{a} {mark} {b} is no number of 64 bits")))
}

/// The functions that the language has.
const FUNCTIONS: [&str; 11] = [
    "word",
    "int",
    "byte",
    "top6",
    "quadratic",
    "logic",
    "clmul_low",
    "clmul_high",
    "clmul_fold",
    "again",
    "len",
];

/// What one of [`FUNCTIONS`] makes of its arguments.
pub fn builtin(machine: &mut Machine, name: &str, args: &[(Value, Span)], span: Span) -> Result<Value> {
    let wrong = |at: Span, what: &Value| Err(Wrong::new(at, format!("`{name}` of {}", what.name())));
    match (name, args) {
        ("word", [(value, at)]) => match (value.as_word(), value) {
            (Some(word), _) => Ok(Value::Word(word)),
            (None, Value::Int(_)) => Err(Wrong::new(*at, "this number is no word of 32 bits")),
            (None, other) => wrong(*at, other),
        },
        ("int", [(value, at)]) => match value {
            Value::Int(value) => Ok(Value::Int(*value)),
            Value::Word(Word::Known(value)) => Ok(Value::Int(i64::from(*value))),
            Value::Word(Word::Node(_)) => Err(Wrong::new(
                *at,
                "this depends on the block or the key, and is known only when the array runs",
            )),
            other => wrong(*at, other),
        },
        ("byte" | "top6", [(value, at), (lane, at_lane)]) => {
            let lane = match lane {
                Value::Int(lane @ 0..=3) => *lane as usize,
                _ => return Err(Wrong::new(*at_lane, "a word's bytes are 0 to 3, from the lowest")),
            };
            let six = name == "top6";
            match value.as_word() {
                Some(Word::Known(value)) => {
                    Ok(Value::Int(i64::from(value >> (8 * lane) & 255) >> (2 * i64::from(six))))
                }
                Some(Word::Node(node)) => Ok(Value::Byte { node, lane, six }),
                None => wrong(*at, value),
            }
        }
        ("again", [(value, at)]) => match value.as_word() {
            Some(word) => machine.node(Op::Again, vec![word], span).map(Value::Word),
            None => wrong(*at, value),
        },
        ("quadratic", [(value, at)]) => match value.as_word() {
            Some(word) => machine.node(Op::Quadratic { rotate: false }, vec![word], span).map(Value::Word),
            None => wrong(*at, value),
        },
        ("clmul_low" | "clmul_high" | "clmul_fold", [(a, at_a), (b, at_b)]) => {
            let Some(left) = a.as_word() else { return wrong(*at_a, a) };
            let Some(right) = b.as_word() else { return wrong(*at_b, b) };
            let half = match name {
                "clmul_low" => Half::Low,
                "clmul_high" => Half::High,
                _ => Half::Fold,
            };
            machine.node(Op::Carryless(half), vec![left, right], span).map(Value::Word)
        }
        ("logic", [(Value::Int(truth), at), words @ ..]) if (1..=3).contains(&words.len()) => {
            let Some(truth) = u8::try_from(*truth).ok().filter(|t| u32::from(*t) < 1 << (1 << words.len()))
            else {
                let bits = 1 << words.len();
                return Err(Wrong::new(
                    *at,
                    format!("the truth table of {} words has {bits} bits", words.len()),
                ));
            };
            let mut args = Vec::new();
            for (value, at) in words {
                let Some(word) = value.as_word() else { return wrong(*at, value) };
                args.push(word);
            }
            machine.node(Op::Logic(truth), args, span).map(Value::Word)
        }
        ("len", [(Value::Array(values), _)]) => Ok(Value::Int(values.len() as i64)),
        _ if FUNCTIONS.contains(&name) => Err(Wrong::new(span, format!("`{name}` takes other arguments"))),
        _ => Err(Wrong::new(span, format!("no function is called `{name}`"))
            .help(format!("the language has {}", FUNCTIONS.join(", ")))),
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Typed access to a TOML table, with errors that carry the line.

use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Collects what is wrong and what is worth a warning.
pub struct Report<'a> {
    file: &'a str,
    text: &'a str,
    /// Where lines end.
    ends: Vec<usize>,
    /// With the offset, so that they can be sorted.
    errors: Vec<(usize, String)>,
    warnings: Vec<(usize, String)>,
}

impl<'a> Report<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
        Self { file, text, ends, errors: Vec::new(), warnings: Vec::new() }
    }

    pub fn error(&mut self, at: usize, message: impl AsRef<str>) {
        let message = self.place(at, message.as_ref());
        self.errors.push((at, message));
    }

    pub fn warning(&mut self, at: usize, message: impl AsRef<str>) {
        let message = self.place(at, message.as_ref());
        self.warnings.push((at, message));
    }

    pub fn line(&self, at: usize) -> usize {
        1 + self.ends.partition_point(|&end| end < at)
    }

    pub fn errors(self) -> Vec<String> {
        self.into_parts().0
    }

    /// Errors and warnings, each in the order of the file.
    pub fn into_parts(self) -> (Vec<String>, Vec<String>) {
        let sorted = |mut messages: Vec<(usize, String)>| {
            messages.sort_by_key(|&(at, _)| at);
            messages.into_iter().map(|(_, message)| message).collect()
        };
        (sorted(self.errors), sorted(self.warnings))
    }

    fn place(&self, at: usize, message: &str) -> String {
        format!("{}:{}: {message}", self.file, self.line(at))
    }

    /// The value as it is written, shortened. Not for secrets.
    fn quote(&self, value: &Spanned<DeValue<'_>>) -> String {
        let written = self.text.get(value.span()).unwrap_or_default();
        let mut short: String = written.chars().take(40).collect();
        if short.len() < written.len() {
            short.push('…');
        }
        format!("`{}`", short.replace('\n', " "))
    }
}

/// One table of the file.
pub struct Fields<'a> {
    table: &'a DeTable<'a>,
    /// Where the table begins: the place of errors about what is missing.
    pub at: usize,
    /// In front of every message.
    who: String,
}

impl<'a> Fields<'a> {
    pub fn new(table: &'a DeTable<'a>, at: usize, who: String) -> Self {
        Self { table, at, who }
    }

    /// A message about this table.
    pub fn say(&self, message: impl AsRef<str>) -> String {
        format!("{}{}", self.who, message.as_ref())
    }

    pub fn error(&self, report: &mut Report<'_>, at: usize, message: impl AsRef<str>) {
        report.error(at, self.say(message));
    }

    pub fn refuse_unknown_keys(&self, report: &mut Report<'_>, known: &[&str]) {
        for key in self.table.keys() {
            let name = key.get_ref().as_ref();
            if known.contains(&name) {
                continue;
            }
            let hint = match nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("allowed: {}", known.join(", ")),
            };
            let short: String = name.chars().take(40).collect();
            self.error(report, key.span().start, format!("unknown key `{short}`; {hint}"));
        }
    }

    pub fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(key)
    }

    /// Where the value of `key` stands, or the table if there is none.
    pub fn at_key(&self, key: &str) -> usize {
        self.get(key).map_or(self.at, |value| value.span().start)
    }

    pub fn missing(&self, report: &mut Report<'_>, key: &str, allowed: &str) {
        self.error(report, self.at, format!("`{key}` is missing; allowed: {allowed}"));
    }

    /// A wrong value: what it is and what is allowed.
    pub fn wrong(&self, report: &mut Report<'_>, key: &str, what: &str, allowed: &str) {
        let Some(value) = self.get(key) else { return };
        let stop = if what.ends_with('?') { "" } else { ";" };
        let message = format!("`{key}`: {} {what}{stop} allowed: {allowed}", report.quote(value));
        self.error(report, value.span().start, message);
    }

    pub fn boolean(&self, report: &mut Report<'_>, key: &str) -> Option<bool> {
        let value = self.get(key)?;
        let found = value.get_ref().as_bool();
        if found.is_none() {
            self.wrong(report, key, "is not a truth value", "true, false");
        }
        found
    }

    pub fn string(&self, report: &mut Report<'_>, key: &str, allowed: &str) -> Option<&'a str> {
        let value = self.get(key)?;
        let found = value.get_ref().as_str();
        if found.is_none() {
            self.wrong(report, key, "is not a string", allowed);
        }
        found
    }

    /// A string that must never be quoted.
    pub fn secret(&self, report: &mut Report<'_>, key: &str) -> Option<&'a str> {
        let value = self.get(key)?;
        let found = value.get_ref().as_str();
        if found.is_none() {
            self.error(
                report,
                value.span().start,
                format!("`{key}` is not a string; allowed: hex digits in quotes"),
            );
        }
        found
    }

    /// One of several words.
    pub fn choice<T: Copy>(&self, report: &mut Report<'_>, key: &str, choices: &[(&str, T)]) -> Option<T> {
        let names = || choices.iter().map(|&(name, _)| name).collect::<Vec<_>>();
        let find = |word: &str| choices.iter().find(|&&(name, _)| name == word).map(|&(_, value)| value);
        self.word(report, key, names, find)
    }

    /// As [`Fields::choice`], and it has to be there.
    pub fn required_choice<T: Copy>(
        &self,
        report: &mut Report<'_>,
        key: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        if self.get(key).is_none() {
            let allowed: Vec<_> = choices.iter().map(|&(name, _)| name).collect();
            self.missing(report, key, &allowed.join(", "));
        }
        self.choice(report, key, choices)
    }

    /// A word that `find` knows; `names` are those that an error lists.
    pub fn word<'n, T>(
        &self,
        report: &mut Report<'_>,
        key: &str,
        names: impl Fn() -> Vec<&'n str>,
        find: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let value = self.get(key)?;
        let Some(word) = value.get_ref().as_str() else {
            self.wrong(report, key, "is not a string", &names().join(", "));
            return None;
        };
        let found = find(word);
        if found.is_none() {
            let names = names();
            let what = match nearest(&word.to_ascii_lowercase().replace('_', "-"), &names) {
                Some(near) => format!("is unknown; did you mean `{near}`?"),
                None => "is unknown".to_owned(),
            };
            self.wrong(report, key, &what, &names.join(", "));
        }
        found
    }

    /// A whole number within `range`.
    pub fn integer(&self, report: &mut Report<'_>, key: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let value = self.get(key)?;
        let found = value.get_ref().as_integer().map(|n| i128::from_str_radix(n.as_str(), n.radix()).ok());
        let allowed = || format!("{} to {}", range.start(), range.end());
        match found {
            None => self.wrong(report, key, "is not a whole number", &allowed()),
            Some(n) => match n.and_then(|n| u64::try_from(n).ok()).filter(|n| range.contains(n)) {
                None => self.wrong(report, key, "is out of range", &allowed()),
                number => return number,
            },
        }
        None
    }

    /// A table inside this one.
    pub fn table(&self, report: &mut Report<'_>, key: &str) -> Option<Fields<'a>> {
        let value = self.get(key)?;
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(report, key, "is not a table", "{ key = value, … }");
            return None;
        };
        Some(Fields::new(table, value.span().start, self.say(format!("{key}: "))))
    }
}

/// The known word that is near enough to be meant.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    if word.len() > 40 {
        return None;
    }
    let scored = known.iter().map(|&candidate| (strsim::levenshtein(word, candidate), candidate));
    scored
        .min()
        .filter(|&(distance, candidate)| distance <= candidate.len().div_ceil(3))
        .map(|(_, near)| near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words() {
        assert_eq!(nearest("ciper", &["cipher", "auth"]), Some("cipher"));
        assert_eq!(nearest("auth-key", &["auth", "auth_key"]), Some("auth_key"));
        assert_eq!(nearest("colour", &["cipher", "auth"]), None);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Anybody's file of pins: where ports are, and how their pads are to be set.

use std::collections::BTreeMap;

use crate::error::NetlistError;

/// Which port is at which ball, and how it is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenPins {
    /// For example `CABGA381`.
    pub package: String,
    /// Name and ball.
    pub locations: Vec<(String, String)>,
    /// `IOBUF` by port: `IO_TYPE`, `DRIVE`, …
    pub attributes: BTreeMap<String, BTreeMap<String, String>>,
}

impl OpenPins {
    /// Reads the `LOCATE` and `IOBUF` statements of a constraint file (LPF) and passes over the others.
    ///
    /// # Errors
    /// A `LOCATE` or `IOBUF` that is not of the known form, or a name or a ball that is used twice.
    pub fn parse(package: &str, text: &str) -> Result<Self, NetlistError> {
        let mut pins = Self { package: package.to_owned(), ..Self::default() };
        for (number, line) in text.lines().enumerate() {
            let line = line.split(['#']).next().unwrap_or("").split("//").next().unwrap_or("");
            for statement in line.split(';') {
                let words: Vec<&str> = statement.split_ascii_whitespace().collect();
                let wrong = |what: &str| NetlistError::Pins(number + 1, format!("expected {what}"));
                match words[..] {
                    ["LOCATE", "COMP", name, "SITE", ball] => {
                        pins.locate(number + 1, plain(name), plain(ball))?
                    }
                    ["LOCATE", ..] => return Err(wrong("LOCATE COMP \"name\" SITE \"ball\"")),
                    ["IOBUF", "PORT", name, ref settings @ ..] => {
                        let own = pins.attributes.entry(plain(name).to_owned()).or_default();
                        for setting in settings {
                            let (key, value) = setting
                                .split_once('=')
                                .ok_or_else(|| wrong("IOBUF PORT \"name\" KEY=VALUE"))?;
                            own.insert(key.to_owned(), plain(value).to_owned());
                        }
                    }
                    ["IOBUF", "ALLPORTS", ..] => {}
                    ["IOBUF", ..] => return Err(wrong("IOBUF PORT \"name\" KEY=VALUE")),
                    _ => {}
                }
            }
        }
        Ok(pins)
    }

    fn locate(&mut self, line: usize, name: &str, ball: &str) -> Result<(), NetlistError> {
        if self.locations.iter().any(|(n, b)| n == name || b == ball) {
            return Err(NetlistError::Pins(line, format!("{name} or {ball} is there twice")));
        }
        self.locations.push((name.to_owned(), ball.to_owned()));
        Ok(())
    }
}

fn plain(word: &str) -> &str {
    word.trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_read() {
        let text = "# c\nLOCATE COMP \"a[0]\" SITE \"B11\"; // why\nFREQUENCY PORT \"a\" 25 MHZ;\n\
                    IOBUF PORT \"a[0]\" IO_TYPE=LVCMOS25 DRIVE=4; LOCATE COMP \"b\" SITE \"C1\";\n";
        let pins = OpenPins::parse("CABGA381", text).expect("good");
        assert_eq!(pins.locations.len(), 2);
        assert_eq!(pins.attributes["a[0]"]["DRIVE"], "4");
        assert!(
            OpenPins::parse("CABGA381", "LOCATE COMP \"a\" SITE \"B1\";LOCATE COMP \"b\" SITE \"B1\";")
                .is_err()
        );
        assert!(OpenPins::parse("CABGA381", "IOBUF PORT \"a\" DRIVE;").is_err());
        assert!(OpenPins::parse("CABGA381", "LOCATE COMP \"a\"").is_err());
    }
}

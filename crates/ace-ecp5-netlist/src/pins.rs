// SPDX-License-Identifier: Apache-2.0
//! The names of pads: `LOCATE COMP "name" SITE "ball";` lines of a constraint file.

use super::error::NetlistError;
use super::pads::IO_TYPE;

/// Which port is at which ball.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pins {
    /// For example `CABGA381`.
    pub package: String,
    /// Name and ball.
    pub locations: Vec<(String, String)>,
}

impl Pins {
    /// Reads the `LOCATE` lines of a constraint file (LPF) and passes over the others.
    ///
    /// # Errors
    /// A `LOCATE` that is not of this form, or a name or a ball that is used twice.
    pub fn parse(package: &str, text: &str) -> Result<Self, NetlistError> {
        let mut locations: Vec<(String, String)> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let mut words = line.trim().trim_end_matches(';').split_ascii_whitespace();
            match words.next() {
                Some("LOCATE") => {}
                Some("IOBUF")
                    if words.nth(2) != Some(&format!("IO_TYPE={IO_TYPE}")) || words.next().is_some() =>
                {
                    return Err(NetlistError::Pins(
                        number + 1,
                        format!("expected IOBUF PORT \"name\" IO_TYPE={IO_TYPE}"),
                    ));
                }
                _ => continue,
            }
            let words: Vec<&str> = words.collect();
            let ["COMP", name, "SITE", ball] = words[..] else {
                return Err(NetlistError::Pins(
                    number + 1,
                    "expected LOCATE COMP \"name\" SITE \"ball\"".into(),
                ));
            };
            let (name, ball) = (name.trim_matches('"').to_owned(), ball.trim_matches('"').to_owned());
            if locations.iter().any(|(n, b)| *n == name || *b == ball) {
                return Err(NetlistError::Pins(number + 1, format!("{name} or {ball} is there twice")));
            }
            locations.push((name, ball));
        }
        Ok(Self { package: package.to_owned(), locations })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_read() {
        let text = "# c\nLOCATE COMP \"a[0]\" SITE \"B11\";\nIOBUF PORT \"a[0]\" IO_TYPE=LVCMOS33;\n";
        let pins = Pins::parse("CABGA381", text).expect("good");
        assert_eq!(pins.locations, [("a[0]".to_owned(), "B11".to_owned())]);
        let twice = format!("{text}{text}");
        assert!(matches!(Pins::parse("CABGA381", &twice), Err(NetlistError::Pins(5, _))));
        assert!(Pins::parse("CABGA381", "LOCATE COMP \"a\"").is_err());
    }
}

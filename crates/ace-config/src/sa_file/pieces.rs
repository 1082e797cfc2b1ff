// SPDX-License-Identifier: Apache-2.0
//! An SA file cut at its `[[sa]]` lines, so that whoever has read it before reads what has changed alone.

/// A file's text in pieces. Put together they are the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces<'t> {
    /// What stands before the first SA.
    pub head: &'t str,
    /// An SA each, in the order of the file, with the line `[[sa]]` in front.
    pub sas: Vec<&'t str>,
}

impl<'t> Pieces<'t> {
    /// Cuts a text. `None`: a string over several lines could hold what looks like the beginning of an SA.
    ///
    /// Of a file that is right each piece is one SA if there are as many pieces as SAs: a header in other words, such as
    /// `[["sa"]]`, makes fewer.
    pub fn of(text: &'t str) -> Option<Self> {
        if text.contains("\"\"\"") || text.contains("'''") {
            return None;
        }
        let mut cuts = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let rest = line.trim_start_matches([' ', '\t']).strip_prefix("[[sa]]");
            if rest.is_some_and(|rest| rest.trim_start().is_empty() || rest.trim_start().starts_with('#')) {
                cuts.push(at);
            }
            at += line.len();
        }
        let ends = cuts.iter().skip(1).copied().chain([text.len()]);
        let sas = cuts.iter().zip(ends).filter_map(|(begin, end)| text.get(*begin..end)).collect();
        let head = text.get(..cuts.first().copied().unwrap_or(text.len()))?;
        Some(Self { head, sas })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cut_at_its_sas_and_nothing_is_lost() {
        let text = "# keys\nallow_legacy = true\n[[sa]]\nname = \"a\"\n  [[sa]] # two\r\nname = \"[[sa]]\"\n\t[[sa]]";
        let pieces = Pieces::of(text).unwrap();
        assert_eq!(pieces.head, "# keys\nallow_legacy = true\n");
        assert_eq!(
            pieces.sas,
            ["[[sa]]\nname = \"a\"\n", "  [[sa]] # two\r\nname = \"[[sa]]\"\n", "\t[[sa]]"]
        );
        assert_eq!(Pieces::of(""), Some(Pieces { head: "", sas: Vec::new() }));
        assert_eq!(Pieces::of("[[sa]]x\n[[sa]] x\n# [[sa]]\n").unwrap().sas.len(), 0);
        assert_eq!(Pieces::of("name = '''\n[[sa]]\n'''"), None);
        assert_eq!(Pieces::of("name = \"\"\"\n[[sa]]\n\"\"\""), None);
    }
}

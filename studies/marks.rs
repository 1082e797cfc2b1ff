// SPDX-License-Identifier: Apache-2.0
//! What every page says of itself: its first lines, and what kind each figure is.

use std::fmt;

use ace_report::{Page, say};
use serde::Serialize;

/// Where a figure comes from. Every table of a study has one for each column of figures, or for each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// The paper has it.
    Published,
    /// Solved for the figure beside it: no test of anything.
    Fitted,
    /// Of a model that has no parameter which was solved for the figure beside it.
    Predicted,
    /// Counted or timed.
    Measured(By),
}

/// How a figure was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Clocks of simulated RTL at the clock of what was placed and routed, or times that follow from such.
    Rtl,
    /// Clocks or cells of what was placed and routed.
    Placed,
    /// Bits and bytes of what is stored or loaded.
    Bits,
    /// Wall time on a processor.
    Wall,
}

impl fmt::Display for Mark {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Published => "paper",
            Self::Fitted => "fitted",
            Self::Predicted => "predicted",
            Self::Measured(By::Rtl) => "measured: RTL",
            Self::Measured(By::Placed) => "measured: placed",
            Self::Measured(By::Bits) => "measured: bits",
            Self::Measured(By::Wall) => "measured: wall clock",
        })
    }
}

impl Mark {
    /// A column's head with its mark.
    pub fn head(self, head: &str) -> String {
        format!("{head} ({self})")
    }
}

/// The head of a table of figures and the line below it: words first, then figures, each with its mark.
pub(crate) fn heads(words: &[&str], figures: &[(&str, Mark)]) -> String {
    let marked = figures.iter().map(|(head, mark)| mark.head(head));
    let all: Vec<String> = words.iter().map(|word| (*word).to_owned()).chain(marked).collect();
    format!("| {} |\n|{}{}", all.join(" | "), "---|".repeat(words.len()), "--:|".repeat(figures.len()))
}

/// The first lines of a study's page. Figures in them are computed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Opening {
    /// What the paper says.
    pub claimed: Vec<String>,
    /// What stands here for what it built.
    pub built: Vec<String>,
    /// What comes out as it says.
    pub holds: Vec<String>,
    /// What does not.
    pub fails: Vec<String>,
    /// What was solved for.
    pub fitted: Vec<String>,
}

impl Opening {
    /// Puts it on a page, and what the marks mean below it.
    pub fn print(&self, page: &mut Page) {
        let parts = [
            ("The paper claims", &self.claimed),
            ("Built here", &self.built),
            ("Holds", &self.holds),
            ("Does not hold", &self.fails),
            ("Fitted", &self.fitted),
        ];
        for (what, lines) in parts {
            for line in lines {
                say!(page, "* **{what}:** {line}");
            }
        }
        say!(
            page,
            "\nMarks: *paper*, as published; *fitted*, solved for the figure beside it; *predicted*, of a model without such a \
             parameter; *measured*, of simulated RTL at the placed clock, of what was placed, of stored bits, or by wall \
             clock. Nothing was tried on silicon.\n"
        );
    }
}

/// `1.6 to 7.8`: the least and the most, one figure where they are the same, or that there is none.
pub(crate) fn range(values: impl IntoIterator<Item = f64>, digits: usize) -> String {
    let bounds = values.into_iter().fold(None, |bounds: Option<(f64, f64)>, value| {
        let (low, high) = bounds.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    });
    bounds.map_or("none".into(), |(low, high)| {
        let (low, high) = (format!("{low:.digits$}"), format!("{high:.digits$}"));
        if low == high { low } else { format!("{low} to {high}") }
    })
}

/// A figure with so many digits, or an empty cell.
pub(crate) fn cell(figure: Option<f64>, digits: usize) -> String {
    figure.map_or(String::new(), |figure| format!("{figure:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_have_a_mark_and_a_line_below() {
        let figures = [("Mb/s", Mark::Published), ("ours", Mark::Measured(By::Rtl))];
        assert_eq!(
            heads(&["task"], &figures),
            "| task | Mb/s (paper) | ours (measured: RTL) |\n|---|--:|--:|"
        );
    }

    #[test]
    fn a_range_is_of_what_there_is() {
        assert_eq!(range([2.0, 1.04, 3.96], 1), "1.0 to 4.0");
        assert_eq!(range([2.01, 2.04], 1), "2.0");
        assert_eq!(range([], 1), "none");
    }

    /// Every table of every page, but those of goals, has a mark: in its head, its rows, the heading above it or the
    /// paragraph right above it. A page opens with what is claimed and what is fitted.
    #[test]
    fn every_table_of_a_page_has_a_mark() {
        let marks = [
            Mark::Published,
            Mark::Fitted,
            Mark::Predicted,
            Mark::Measured(By::Rtl),
            Mark::Measured(By::Placed),
            Mark::Measured(By::Bits),
            Mark::Measured(By::Wall),
        ]
        .map(|mark| mark.to_string());
        let forms =
            marks.map(|mark| [format!("({mark})"), format!("| {mark} |"), format!("All of it {mark}.")]);
        let marked = |text: &str| forms.iter().flatten().any(|form| text.contains(form));
        let mut pages = 0;
        for entry in std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap() {
            let path = entry.unwrap().path().join("results.md");
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            pages += 1;
            for part in [
                "**The paper claims:**",
                "**Built here:**",
                "**Holds:**",
                "**Does not hold:**",
                "**Fitted:**",
            ] {
                assert!(text.contains(part), "{}: no {part}", path.display());
            }
            let (mut heading, mut above) = ("", "");
            for block in text.split("\n\n") {
                let block = block.trim();
                if block.starts_with('|') {
                    let what = format!("{heading}\n{above}\n{block}");
                    assert!(
                        heading.starts_with("## Goal") || marked(&what),
                        "{}: no mark: {what}",
                        path.display()
                    );
                }
                if block.starts_with('#') {
                    (heading, above) = (block, "");
                } else {
                    above = block;
                }
            }
        }
        assert!(pages >= 6, "{pages}");
    }

    #[test]
    fn the_opening_has_a_line_for_each_thing_said() {
        let mut page = Page::new();
        let line = |text: &str| vec![text.to_owned()];
        let opening =
            Opening { claimed: line("a"), built: line("b"), holds: line("c"), ..Opening::default() };
        opening.print(&mut page);
        let text = page.render(ace_report::Style::Md);
        assert!(text.starts_with("* **The paper claims:** a\n* **Built here:** b\n* **Holds:** c\n\nMarks:"));
    }
}

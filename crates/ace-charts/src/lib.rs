// SPDX-License-Identifier: Apache-2.0
//! What pages draw with, as text that a page embeds or a server gives: [uPlot](https://github.com/leeoniya/uPlot) whole and
//! unchanged, with its licence, and ours around it. Nothing of it comes from elsewhere when a page is open.
//!
//! The report of a run and the gateway's page have the same colours, tables that sort, and charts with axes, a window and
//! keys. uPlot draws on a canvas: a hundred thousand points are drawn in less than a frame, and its 51 kB have no
//! dependencies. A bar of a timeline is drawn in its `draw` hook.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

/// The version of uPlot.
pub const UPLOT_VERSION: &str = "1.6.32";
/// uPlot's code (npm's `uplot`, `dist/uPlot.iife.min.js`): defines `uPlot`.
pub const UPLOT_JS: &str = include_str!("../assets/uplot/uplot.min.js");
/// uPlot's style (`dist/uPlot.min.css`).
pub const UPLOT_CSS: &str = include_str!("../assets/uplot/uplot.min.css");
/// uPlot's licence (MIT), which goes where uPlot goes.
pub const UPLOT_LICENCE: &str = include_str!("../assets/uplot/LICENSE");
/// What is ours around it: defines `Ace`. It needs [`UPLOT_JS`] before it.
pub const JS: &str = include_str!("../assets/charts.js");
/// How pages look, behind [`UPLOT_CSS`].
pub const CSS: &str = include_str!("../assets/charts.css");

/// How many colours there are for what a page tells apart: `--c0`, `--c1`, … of [`CSS`]. They repeat.
pub const COLOURS: usize = 8;

/// Data as the text of a `<script type="application/json">`: no name in it can end that, or begin a comment.
#[must_use]
pub fn embedded(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG 2.1, 1.4.3, of two colours in six digits.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |colour: &str| {
            let part = |at: usize| {
                let c = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).expect("a colour")) / 255.0;
                if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    #[test]
    fn text_and_bars_can_be_seen_by_day_and_by_night() {
        let schemes: Vec<&str> = CSS.split(":root {").skip(1).collect();
        assert_eq!(schemes.len(), 2);
        for scheme in schemes {
            let scheme = scheme.split('}').next().expect("an end");
            let colour = |name: &str| {
                let digits = scheme.split(&format!("--{name}: ")).nth(1).expect(name);
                &digits[..7]
            };
            let least = |a: &str, b: &str, wanted: f64| {
                let found = contrast(colour(a), colour(b));
                assert!(found >= wanted, "{a} on {b}: {found:.2}");
            };
            for text in ["ink", "quiet", "accent"] {
                least(text, "ground", 4.5);
            }
            let repeating: Vec<String> = (0..COLOURS).map(|at| format!("c{at}")).collect();
            let fixed = ["exposed", "hidden", "refused", "wire", "processor"];
            let bars: Vec<&str> = repeating.iter().map(String::as_str).chain(fixed).collect();
            for bar in &bars {
                least("on", bar, 4.5);
                least(bar, "idle", 3.0);
                assert_eq!(
                    bars.iter().filter(|other| colour(other) == colour(bar)).count(),
                    1,
                    "{bar} twice"
                );
            }
            // An idle track recedes.
            assert!(contrast(colour("idle"), colour("ground")) < 1.3);
        }
        assert!(!CSS.contains(&format!("--c{COLOURS}:")));
    }

    #[test]
    fn nothing_comes_from_elsewhere_and_the_licence_is_there() {
        assert!(
            UPLOT_JS.starts_with(&format!("/*! https://github.com/leeoniya/uPlot (v{UPLOT_VERSION}) */"))
        );
        assert!(UPLOT_LICENCE.starts_with("The MIT License"));
        for text in [UPLOT_JS, UPLOT_CSS, JS, CSS] {
            for outside in ["src=", "@import", "url(", "fetch(", "XMLHttpRequest", "</script", "</style"] {
                assert!(!text.contains(outside), "{outside}");
            }
        }
    }

    #[test]
    fn a_name_cannot_end_the_data() {
        let name = "</script><!--<script>&";
        let text = embedded(&format!("[\"{name}\"]"));
        assert!(!text.contains(['<', '>', '&']), "{text}");
        assert_eq!(text, "[\"\\u003c/script\\u003e\\u003c!--\\u003cscript\\u003e\\u0026\"]");
    }
}

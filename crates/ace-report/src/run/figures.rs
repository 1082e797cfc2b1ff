// SPDX-License-Identifier: Apache-2.0
//! Figures and names as people read them, and as HTML wants them.

use ace_board::trace::Picos;

/// A modelled duration for people: 3 significant digits and a unit.
pub fn duration(picos: Picos) -> String {
    let value = picos as f64;
    let (scaled, unit) = match picos {
        0 => return "0 s".to_owned(),
        1..1_000_000 => (value / 1e3, "ns"),
        1_000_000..1_000_000_000 => (value / 1e6, "µs"),
        1_000_000_000..1_000_000_000_000 => (value / 1e9, "ms"),
        _ => (value / 1e12, "s"),
    };
    let digits = if scaled >= 100.0 {
        0
    } else if scaled >= 10.0 {
        1
    } else {
        2
    };
    format!("{scaled:.digits$} {unit}")
}

/// A share in per cent, 0 when there is no whole.
pub fn percent(part: Picos, whole: Picos) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// Text as HTML, where it is no mark-up.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// WCAG 2.1, 1.4.3, of two colours in six digits.
    pub fn contrast(a: &str, b: &str) -> f64 {
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
    fn durations_have_three_digits() {
        assert_eq!(duration(0), "0 s");
        assert_eq!(duration(1_234), "1.23 ns");
        assert_eq!(duration(12_345_678), "12.3 µs");
        assert_eq!(duration(999_000_000_000), "999 ms");
        assert_eq!(duration(2_500_000_000_000), "2.50 s");
        assert_eq!(percent(1, 0), 0.0);
    }

    #[test]
    fn names_cannot_break_out_of_the_page() {
        assert_eq!(escape("<b a=\"x\">&"), "&lt;b a=&quot;x&quot;&gt;&amp;");
    }
}

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

/// Mb/s for people: 3 significant digits.
pub fn mbps(rate: f64) -> String {
    let digits = if rate >= 100.0 { 0 } else { usize::from(rate < 10.0) + 1 };
    if rate > 0.0 && rate < 0.01 { "< 0.01".to_owned() } else { format!("{rate:.digits$}") }
}

/// A count with a comma between its thousands.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Text as HTML, where it is no mark-up.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn rates_have_three_digits_and_counts_commas() {
        let rates = [0.0, 0.001, 0.5, 9.876, 98.76, 812.4, 12_345.6].map(mbps);
        assert_eq!(rates, ["0.00", "< 0.01", "0.50", "9.88", "98.8", "812", "12346"]);
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn names_cannot_break_out_of_the_page() {
        assert_eq!(escape("<b a=\"x\">&"), "&lt;b a=&quot;x&quot;&gt;&amp;");
    }
}

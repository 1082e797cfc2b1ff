// SPDX-License-Identifier: Apache-2.0
//! Every word that `ip xfrm state` and `ip xfrm policy` print, and what becomes of it. The reader takes its grammar from
//! here, docs/sa-file.md has the table as it is rendered here, and a test walks it. The words are those of iproute2's
//! `ip/ipxfrm.c` up to 6.17.

use std::fmt::Write as _;

/// What becomes of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is in the SA file.
    Done,
    /// It says nothing of how packets are protected, or which.
    Aside,
    /// The SA is in the file without it. It is named as left out, and the exit code is 1.
    LeftOut,
    /// The SA is left out with it. Both are named, and the exit code is 1.
    Refused,
}

/// What stands behind a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// One word of any spelling.
    One,
    /// One word, which stands in the table as well: its line is this word.
    Value,
    /// Words of the table, to the next one that is none.
    Values,
    /// All to the end of the line.
    Rest,
}

/// One word.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// Where it stands: the kind of line, or the word that it is a value of.
    pub line: &'static str,
    /// As it is printed.
    pub word: &'static str,
    /// What stands behind it.
    pub takes: Takes,
    /// What becomes of it.
    pub fate: Fate,
    /// Why, or what it becomes.
    pub why: &'static str,
}

/// Kinds of line as the table names them, and for people.
pub const LINES: &[(&str, &str)] = &[
    ("front", "in front of an SA or a policy"),
    ("head", "the line of addresses of an SA"),
    ("proto", "the line `proto`"),
    ("replay-window", "the line `replay-window`"),
    ("line", "lines of their own"),
    ("encap", "the line `encap`"),
    ("context", "the lines `anti-replay`"),
    ("offload", "the line `crypto offload parameters`"),
    ("sel", "selectors: the line `sel`, the first line of a policy"),
    ("lifetime", "the lines `lifetime`"),
    ("stats", "the lines `stats`"),
    ("policy", "the line of a policy that begins with `dir` or `socket`"),
    ("level", "below `tmpl`"),
    ("proto of an SA", "behind `proto`"),
    ("flag of a policy", "behind `flag` of a policy"),
    ("level value", "behind `level`"),
];

const fn word(line: &'static str, word: &'static str, takes: Takes, fate: Fate, why: &'static str) -> Word {
    Word { line, word, takes, fate, why }
}

use Fate::{Aside, Done, LeftOut, Refused};
use Takes::{Nothing, One, Rest, Value, Values};

const WHERE: &str = "which packets: `selector`";
const COUNTS: &str = "counts what was";
const MONITOR: &str = "of `ip xfrm monitor`: what was, not what is";
const MOBILE: &str = "Mobile IPv6";

/// All of them.
pub const WORDS: &[Word] = &[
    word("front", "Deleted", Nothing, Refused, MONITOR),
    word("front", "Updated", Nothing, Refused, MONITOR),
    word("front", "Expired", Nothing, Refused, MONITOR),
    word("head", "src", One, Done, "`local` or `remote`"),
    word("head", "dst", One, Done, "`remote` or `local`"),
    word("proto", "proto", Value, Done, "`protocol`"),
    word("proto", "spi", One, Done, "`spi`"),
    word("proto", "reqid", One, Done, "which policies lead to the SA"),
    word("proto", "mode", Value, Done, "`mode`"),
    word("proto of an SA", "esp", Nothing, Done, "`protocol = \"esp\"`"),
    word("proto of an SA", "ah", Nothing, Done, "`protocol = \"ah\"`"),
    word("proto of an SA", "comp", Nothing, Refused, "IPComp is not here"),
    word("proto of an SA", "route2", Nothing, Refused, MOBILE),
    word("proto of an SA", "hao", Nothing, Refused, MOBILE),
    word("proto of an SA", "ipsec-any", Nothing, Refused, "which protocol is not said"),
    word("mode", "tunnel", Nothing, Done, "`mode = \"tunnel\"`"),
    word("mode", "transport", Nothing, Done, "`mode = \"transport\"`"),
    word("mode", "beet", Nothing, Refused, "encloses what this engine does not"),
    word("mode", "ro", Nothing, Refused, MOBILE),
    word("mode", "in_trigger", Nothing, Refused, MOBILE),
    word("replay-window", "replay-window", One, Done, "`replay_window`, from 32 on; 0 is 0"),
    word("replay-window", "seq", One, Aside, "the number of the message that asked for the SA"),
    word("replay-window", "flag", Values, Done, "each below"),
    word("replay-window", "extra_flag", Values, Done, "each below"),
    word("flag", "noecn", Nothing, Done, "`ecn = false`"),
    word("flag", "decap-dscp", Nothing, Done, "inbound: `copy_dscp = true`"),
    word("flag", "nopmtudisc", Nothing, Done, "outbound: `copy_df = false`"),
    word("flag", "wildrecv", Nothing, Refused, MOBILE),
    word("flag", "icmp", Nothing, LeftOut, "errors of ICMP about a packet do not follow it into its SA"),
    word("flag", "af-unspec", Nothing, Done, "a selector of any address is for both families"),
    word("flag", "align4", Nothing, Done, "as RFC 4302 has it for IPv4; of IPv6 it is refused"),
    word("flag", "esn", Nothing, Done, "`esn = true`"),
    word("extra_flag", "dont-encap-dscp", Nothing, Done, "outbound: `copy_dscp = false`"),
    word("extra_flag", "oseq-may-wrap", Nothing, Refused, "numbers would come twice under one key"),
    word("line", "mark", Rest, Refused, "no SA or rule here looks at marks"),
    word(
        "line",
        "output-mark",
        Rest,
        Done,
        "outbound: `output_mark`, as far as the mask goes; inbound it is left out",
    ),
    word("line", "auth", Rest, Done, "`auth`, `auth_key`"),
    word("line", "auth-trunc", Rest, Done, "`auth`, `auth_key`"),
    word("line", "aead", Rest, Done, "`cipher`, `key`"),
    word("line", "enc", Rest, Done, "`cipher`, `key`"),
    word("line", "comp", Rest, Refused, "IPComp is not here"),
    word("line", "coa", Rest, Refused, MOBILE),
    word("line", "lastused", Rest, Aside, COUNTS),
    word("line", "if_id", Rest, Done, "`if_id`; of a policy: SAs of the same one alone are its"),
    word("line", "tfcpad", Rest, Done, "outbound tunnels: `tfc_padding`"),
    word("line", "dir", Value, Done, "`direction`"),
    word("line", "pcpu-num", Rest, Done, "`core`"),
    word("line", "security", Rest, Refused, "no SA or rule here has a security label"),
    word("line", "tmpl", Rest, Done, "which SA a policy leads to"),
    word("dir", "in", Nothing, Done, "`direction = \"in\"`"),
    word("dir", "out", Nothing, Done, "`direction = \"out\"`"),
    word("dir", "fwd", Nothing, Done, "as `in`: what is passed on had to come protected"),
    word("encap", "type", Value, Done, "each below"),
    word("encap", "sport", One, Aside, "with the type"),
    word("encap", "dport", One, Aside, "with the type"),
    word("encap", "addr", One, Aside, "with the type"),
    word(
        "type",
        "espinudp",
        Nothing,
        LeftOut,
        "an SA file says nothing of UDP around ESP: a gateway's peer does",
    ),
    word("type", "espinudp-nonike", Nothing, LeftOut, "ESP without the non-IKE marker of old drafts"),
    word("type", "espintcp", Nothing, LeftOut, "an SA file says nothing of TCP around ESP"),
    word("context", "seq", One, Done, "inbound: `first_sequence` is the next one"),
    word("context", "oseq", One, Done, "outbound: `first_sequence` is the next one"),
    word("context", "seq-hi", One, Done, "its high half"),
    word("context", "oseq-hi", One, Done, "its high half"),
    word("context", "bitmap", One, Done, "numbers up to the highest are not taken again, seen or not"),
    word("context", "replay_window", One, Done, "`replay_window`"),
    word("context", "bitmap-length", One, Aside, "of the bitmap below"),
    word("offload", "dev", One, Aside, "who computes, not what"),
    word("offload", "dir", One, Aside, "who computes, not what"),
    word("offload", "mode", One, Aside, "who computes, not what"),
    word("sel", "src", One, Done, WHERE),
    word("sel", "dst", One, Done, WHERE),
    word("sel", "proto", One, Done, WHERE),
    word("sel", "sport", One, Done, WHERE),
    word("sel", "dport", One, Done, WHERE),
    word("sel", "type", One, Done, "types of ICMP; of mobility headers they are refused"),
    word("sel", "code", One, Done, "codes of ICMP"),
    word("sel", "key", One, Refused, "selectors here have no keys of GRE"),
    word("sel", "(dport)", One, Refused, MOBILE),
    word("sel", "dev", One, Refused, "selectors here have no devices"),
    word("sel", "uid", One, Done, "0; of another user it is refused"),
    word("lifetime", "soft", One, Done, "`lifetime`, without what was used up"),
    word("lifetime", "hard", One, Done, "`lifetime`, without what was used up"),
    word("lifetime", "current", One, Done, "what was used up of bytes and packets"),
    word("lifetime", "add", Rest, Aside, "times count from when the file is loaded"),
    word("lifetime", "use", Rest, Aside, "times count from when the file is loaded"),
    word("stats", "replay-window", One, Aside, COUNTS),
    word("stats", "replay", One, Aside, COUNTS),
    word("stats", "failed", One, Aside, COUNTS),
    word("policy", "dir", Value, Done, "`direction`"),
    word("policy", "socket", One, Aside, "of one socket of one program"),
    word("policy", "action", Value, Done, "each below"),
    word("policy", "index", One, Aside, "the kernel's own"),
    word("policy", "priority", One, Done, "the order of SAs in the file"),
    word("policy", "ptype", Value, Done, "each below"),
    word("policy", "share", Value, Done, "each below"),
    word("policy", "flag", Values, Done, "each below"),
    word("action", "allow", Nothing, Done, "with `tmpl`; a rule without is left out"),
    word("action", "block", Nothing, Refused, "an SA file has no rules without SAs, but `default_policy`"),
    word("ptype", "main", Nothing, Done, "the only kind that is used"),
    word("ptype", "sub", Nothing, Refused, MOBILE),
    word("share", "any", Nothing, Done, "every packet uses the SA"),
    word("share", "session", Nothing, Refused, "an SA here is for all that its selector matches"),
    word("share", "user", Nothing, Refused, "an SA here is for all that its selector matches"),
    word("share", "unique", Nothing, Refused, "an SA here is for all that its selector matches"),
    word("flag of a policy", "localok", Nothing, LeftOut, "no program's own rule comes before the file's"),
    word("flag of a policy", "icmp", Nothing, LeftOut, "errors of ICMP about a packet do not follow it"),
    word("level", "level", Value, Done, "each below"),
    word("level", "share", Value, Done, "as in a policy"),
    word("level", "enc-mask", One, Aside, "which algorithms IKE is asked for"),
    word("level", "auth-mask", One, Aside, "which algorithms IKE is asked for"),
    word("level", "comp-mask", One, Aside, "which algorithms IKE is asked for"),
    word("level value", "required", Nothing, Done, "packets without an SA are dropped"),
    word("level value", "use", Nothing, Refused, "it lets packets pass in clear when there is no SA"),
];

/// The word of a kind of line.
pub fn find(line: &str, word: &str) -> Option<&'static Word> {
    WORDS.iter().find(|known| known.line == line && known.word == word)
}

/// The kind of line of the values of a word.
pub fn values(of: &Word) -> &'static str {
    match (of.line, of.word) {
        ("proto", "proto") => "proto of an SA",
        ("policy", "flag") => "flag of a policy",
        ("level", "level") => "level value",
        _ => of.word,
    }
}

/// The table, for docs/sa-file.md.
pub fn page() -> String {
    let mut out = String::from("| where | word | what becomes of it | |\n|---|---|---|---|\n");
    for word in WORDS {
        let place = LINES.iter().find(|(line, _)| *line == word.line);
        let place = place.map_or_else(|| format!("behind `{}`", word.line), |(_, place)| (*place).to_owned());
        let fate = match word.fate {
            Done => "done",
            Aside => "is not about packets",
            LeftOut => "**left out**, named",
            Refused => "the SA is **left out**, named",
        };
        // A String takes all that is written.
        let _ = writeln!(out, "| {place} | `{}` | {fate} | {} |", word.word, word.why);
    }
    out
}

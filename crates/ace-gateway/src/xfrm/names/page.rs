// SPDX-License-Identifier: Apache-2.0
//! The table as docs/xfrm.md shows it, and against the header that is installed.

use std::fmt::Write;

use super::*;

pub const GROUPS: [Group; 8] = [
    Group::Sa,
    Group::SaId,
    Group::Spi,
    Group::SaDump,
    Group::Policy,
    Group::PolicyId,
    Group::PolicyAll,
    Group::Event,
];

impl Group {
    /// Messages, for people.
    pub fn messages(self) -> &'static str {
        match self {
            Group::Sa => "NEWSA, UPDSA",
            Group::SaId => "DELSA, GETSA, GETAE",
            Group::Spi => "ALLOCSPI",
            Group::SaDump => "GETSA of all",
            Group::Policy => "NEWPOLICY, UPDPOLICY",
            Group::PolicyId => "DELPOLICY, GETPOLICY",
            Group::PolicyAll => "GETPOLICY of all, FLUSHPOLICY",
            Group::Event => "NEWAE",
        }
    }
}

pub const NOTICES: &[Word] = &[
    word("XFRMNLGRP_ACQUIRE", 1, Done, ""),
    word("XFRMNLGRP_EXPIRE", 2, Done, ""),
    word("XFRMNLGRP_SA", 3, Done, ""),
    word("XFRMNLGRP_POLICY", 4, Done, ""),
    word("XFRMNLGRP_AEVENTS", 5, Done, "NEWAE when somebody has put numbers forward"),
    word("XFRMNLGRP_REPORT", 6, Done, "nothing is ever told"),
    word("XFRMNLGRP_MIGRATE", 7, Done, "nothing is ever told"),
    word("XFRMNLGRP_MAPPING", 8, Done, ""),
];

/// What begins and ends the part of the page that is made here.
const BEGIN: &str = "<!-- made of crates/ace-gateway/src/xfrm/names.rs -->\n";
const END: &str = "<!-- until here -->\n";

fn fate(fate: Fate) -> String {
    match fate {
        Fate::Done => "done".to_owned(),
        Fate::Refused(errno) => format!("{:?}", nix::errno::Errno::from_raw(errno)),
    }
}

fn words(page: &mut String, title: &str, words: &[Word]) {
    let _ = write!(page, "\n### {title}\n\n| name | | |\n|---|---|---|\n");
    for word in words {
        let _ = writeln!(page, "| `{}` | {} | {} |", word.name, fate(word.fate), word.what);
    }
}

fn tables() -> String {
    let mut page = String::new();
    words(&mut page, "Messages", MESSAGES);
    page += "\n### Attributes\n\nAn attribute that is not carried out in a request is refused by it, and so is one that this table does \
             not have (EOPNOTSUPP); one that is too short is ERANGE.\n\n| name | done in | else | |\n|---|---|---|---|\n";
    for row in ATTRIBUTES {
        let groups: Vec<_> =
            GROUPS.iter().filter(|group| row.on.contains(group)).map(|group| group.messages()).collect();
        let refused = fate(Fate::Refused(row.errno));
        let zero = if row.zero { "; zeros are as none" } else { "" };
        let _ = writeln!(page, "| `{}` | {} | {refused}{zero} | {} |", row.name, groups.join(", "), row.what);
    }
    words(&mut page, "Flags of SAs", SA_FLAGS);
    words(&mut page, "Extra flags of SAs", EXTRA_FLAGS);
    words(&mut page, "Modes", MODES);
    words(&mut page, "Directions of policies", WAYS);
    words(&mut page, "Actions of policies", ACTIONS);
    words(&mut page, "Flags of policies", POLICY_FLAGS);
    words(&mut page, "Groups of notices", NOTICES);
    page
}

#[test]
fn the_page_shows_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/xfrm.md");
    let page = std::fs::read_to_string(path).expect("docs/xfrm.md");
    let (before, rest) = page.split_once(BEGIN).expect("where the tables begin");
    let (_, after) = rest.split_once(END).expect("where they end");
    let wanted = format!("{before}{BEGIN}{}\n{END}{after}", tables());
    if std::env::var_os("ACE_WRITE_PAGE").is_some() {
        std::fs::write(path, wanted).expect("the page is ours");
    } else {
        assert!(
            page == wanted,
            "docs/xfrm.md is stale: ACE_WRITE_PAGE=1 cargo test -p ace-gateway the_page_shows"
        );
    }
}

/// Names of the header that begin in one of these ways, but for those that say how many there are or what is old.
fn of_the_header() -> Option<Vec<String>> {
    let header = std::fs::read_to_string("/usr/include/linux/xfrm.h").ok()?;
    let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let begins =
        ["XFRM_MSG_", "XFRMA_", "XFRM_STATE_", "XFRM_SA_XFLAG_", "XFRM_MODE_", "XFRM_POLICY_", "XFRMNLGRP_"];
    let counts = ["_BASE", "_MAX", "_NONE", "_MASK", "_xxx"];
    // Of other messages (GETSADINFO, GETSPDINFO), types of policies, and a second name.
    let others =
        ["XFRMA_SAD_", "XFRMA_SPD_", "XFRM_POLICY_TYPE_", "XFRMA_OUTPUT_MARK", "XFRMA_REPLAY_ESN_MAX"];
    let mut names: Vec<String> = header
        .split(word)
        .filter(|name| begins.iter().any(|begin| name.starts_with(begin)))
        .filter(|name| !counts.iter().any(|count| name.ends_with(count)))
        .filter(|name| !others.iter().any(|other| name.starts_with(other)))
        .map(str::to_owned)
        .collect();
    names.sort_unstable();
    names.dedup();
    Some(names)
}

#[test]
fn every_name_of_the_header_is_in_the_table() {
    let lists = [MESSAGES, SA_FLAGS, EXTRA_FLAGS, POLICY_FLAGS, MODES, ACTIONS, WAYS, NOTICES];
    let ours: Vec<&str> = lists
        .into_iter()
        .flatten()
        .map(|word| word.name)
        .chain(ATTRIBUTES.iter().map(|row| row.name))
        .collect();
    let Some(names) = of_the_header() else {
        eprintln!("no linux/xfrm.h on this machine: the table was not compared with it");
        return;
    };
    assert!(names.len() > 70, "{names:?}");
    let missing: Vec<_> = names.iter().filter(|name| !ours.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "neither done nor refused: {missing:?}");
}

#[test]
fn numbers_are_said_once() {
    for list in [MESSAGES, SA_FLAGS, EXTRA_FLAGS, POLICY_FLAGS, MODES, ACTIONS, WAYS, NOTICES] {
        assert!(list.is_sorted_by(|one, other| one.number < other.number), "{list:?}");
    }
    assert!(ATTRIBUTES.is_sorted_by(|one, other| one.number < other.number));
}

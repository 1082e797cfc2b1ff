// SPDX-License-Identifier: Apache-2.0
//! Every name of `linux/xfrm.h`, and what becomes of it: done, or refused by an errno and why. Requests are checked against
//! this table, docs/xfrm.md shows it, and tests send each of its rows.

use nix::libc::{EOPNOTSUPP, ERANGE};
use tracing::debug;

use super::shapes::Errno;
use super::wire;

/// What becomes of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Done,
    Refused(Errno),
}

/// Requests that take attributes alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// NEWSA, UPDSA.
    Sa,
    /// DELSA, GETSA of one, GETAE.
    SaId,
    /// ALLOCSPI.
    Spi,
    /// GETSA of all.
    SaDump,
    /// NEWPOLICY, UPDPOLICY.
    Policy,
    /// DELPOLICY, GETPOLICY of one.
    PolicyId,
    /// GETPOLICY of all, FLUSHPOLICY.
    PolicyAll,
    /// NEWAE.
    Event,
}

/// An attribute.
#[derive(Debug)]
pub struct Attribute {
    pub name: &'static str,
    pub number: u16,
    /// Bytes that it has at least.
    pub least: usize,
    /// Where it is carried out; elsewhere it is refused.
    pub on: &'static [Group],
    /// Elsewhere one of zeros is as none.
    pub zero: bool,
    pub errno: Errno,
    pub what: &'static str,
}

/// A message, or a bit or value of a field.
#[derive(Debug)]
pub struct Word {
    pub name: &'static str,
    pub number: u32,
    pub fate: Fate,
    pub what: &'static str,
}

const fn attribute(
    (name, number, least): (&'static str, u16, usize),
    on: &'static [Group],
    what: &'static str,
) -> Attribute {
    Attribute { name, number, least, on, zero: false, errno: EOPNOTSUPP, what }
}

const fn none(of: (&'static str, u16, usize), what: &'static str) -> Attribute {
    attribute(of, &[], what)
}

/// Nothing where all its bytes are zeros.
const fn zero(of: (&'static str, u16, usize), what: &'static str) -> Attribute {
    Attribute { zero: true, ..none(of, what) }
}

const SA: &[Group] = &[Group::Sa];
const SET_MARK: Attribute = Attribute {
    zero: true,
    ..attribute(
        ("XFRMA_SET_MARK", 29, 4),
        SA,
        "outbound, where the gateway has neither `user` nor `mark`; else EOPNOTSUPP and a line in the log",
    )
};
const STATE: &[Group] = &[Group::Sa, Group::Event];
const TYPE: &[Group] = &[Group::Policy, Group::PolicyId, Group::PolicyAll];
const IF_ID: &[Group] = &[Group::Sa, Group::Policy, Group::PolicyId];

pub const ATTRIBUTES: &[Attribute] = &[
    none(("XFRMA_UNSPEC", 0, 0), "no attribute"),
    attribute(("XFRMA_ALG_AUTH", 1, 68), SA, "ICV as long as Linux has it by default"),
    attribute(("XFRMA_ALG_CRYPT", 2, 68), SA, ""),
    none(("XFRMA_ALG_COMP", 3, 68), "there is no IPComp"),
    attribute(
        ("XFRMA_ENCAP", 4, 24),
        SA,
        "of type 2, UDP (RFC 3948), where the gateway has `encapsulation = \"udp\"`; others EOPNOTSUPP",
    ),
    attribute(
        ("XFRMA_TMPL", 5, 64),
        &[Group::Policy],
        "one; nested ones, optional ones, those for a share or some algorithms alone EOPNOTSUPP",
    ),
    none(("XFRMA_SA", 6, 224), "in notices of SAs that are gone"),
    none(("XFRMA_POLICY", 7, 168), "in notices of policies that are gone"),
    none(("XFRMA_SEC_CTX", 8, 8), "there are no security labels"),
    attribute(
        ("XFRMA_LTIME_VAL", 9, 32),
        STATE,
        "bytes and packets that count as carried; in answers what was",
    ),
    attribute(
        ("XFRMA_REPLAY_VAL", 10, 12),
        STATE,
        "numbers go on behind it, and never back (EINVAL): whatever is below counts as used or received",
    ),
    none(("XFRMA_REPLAY_THRESH", 11, 4), "events are for changes alone"),
    none(("XFRMA_ETIMER_THRESH", 12, 4), "events are for changes alone"),
    attribute(("XFRMA_SRCADDR", 13, 16), &[Group::SaId], "has to be the SA's source (else ESRCH)"),
    none(("XFRMA_COADDR", 14, 16), "there is no Mobile IPv6"),
    none(("XFRMA_LASTUSED", 15, 8), "never told"),
    attribute(("XFRMA_POLICY_TYPE", 16, 6), TYPE, "the main type; others EOPNOTSUPP"),
    none(("XFRMA_MIGRATE", 17, 80), "MIGRATE is not there; a daemon makes the SA anew"),
    attribute(("XFRMA_ALG_AEAD", 18, 72), SA, ""),
    none(("XFRMA_KMADDRESS", 19, 40), "as MIGRATE"),
    attribute(("XFRMA_ALG_AUTH_TRUNC", 20, 72), SA, ""),
    zero(("XFRMA_MARK", 21, 8), "one table of rules for all marks"),
    attribute(
        ("XFRMA_TFCPAD", 22, 4),
        SA,
        "outbound ESP tunnels; what is more than `mtu` of the inside is as much as that. Elsewhere EINVAL",
    ),
    attribute(("XFRMA_REPLAY_ESN_VAL", 23, 24), STATE, "as REPLAY_VAL; windows to 4096"),
    attribute(("XFRMA_SA_EXTRA_FLAGS", 24, 4), SA, "as the flags below"),
    attribute(("XFRMA_PROTO", 25, 1), &[Group::SaDump], "SAs of one protocol"),
    attribute(("XFRMA_ADDRESS_FILTER", 26, 36), &[Group::SaDump], "SAs between two nets"),
    none(("XFRMA_PAD", 27, 0), "no attribute"),
    none(("XFRMA_OFFLOAD_DEV", 28, 8), "no card computes for the gateway"),
    SET_MARK,
    Attribute {
        number: 30,
        name: "XFRMA_SET_MARK_MASK",
        what: "with SET_MARK; bits that it leaves out are zeros, as nothing inside has a mark",
        ..SET_MARK
    },
    Attribute {
        zero: true,
        ..attribute(
            ("XFRMA_IF_ID", 31, 4),
            IF_ID,
            "of a device of `[[interface]]`; where there is none with that number, ENODEV and a line in the log",
        )
    },
    none(("XFRMA_MTIMER_THRESH", 32, 4), "MAPPING is sent with every change"),
];

const fn word(name: &'static str, number: u32, fate: Fate, what: &'static str) -> Word {
    Word { name, number, fate, what }
}

use Fate::{Done, Refused};
const NOT_HERE: Fate = Refused(EOPNOTSUPP);

pub const MESSAGES: &[Word] = &[
    word("XFRM_MSG_NEWSA", 0x10, Done, ""),
    word("XFRM_MSG_DELSA", 0x11, Done, ""),
    word("XFRM_MSG_GETSA", 0x12, Done, "one, or all"),
    word("XFRM_MSG_NEWPOLICY", 0x13, Done, ""),
    word("XFRM_MSG_DELPOLICY", 0x14, Done, ""),
    word("XFRM_MSG_GETPOLICY", 0x15, Done, "one, or all"),
    word("XFRM_MSG_ALLOCSPI", 0x16, Done, ""),
    word(
        "XFRM_MSG_ACQUIRE",
        0x17,
        NOT_HERE,
        "told: a packet came for a policy without an SA, again after 30 s; not taken",
    ),
    word("XFRM_MSG_EXPIRE", 0x18, NOT_HERE, "told, soft and hard; not taken"),
    word("XFRM_MSG_UPDPOLICY", 0x19, Done, ""),
    word(
        "XFRM_MSG_UPDSA",
        0x1a,
        Done,
        "completes an SPI of ALLOCSPI; of an SA that is there it changes the lifetimes, and refuses (EOPNOTSUPP) to change more",
    ),
    word("XFRM_MSG_POLEXPIRE", 0x1b, NOT_HERE, "policies do not end by themselves"),
    word("XFRM_MSG_FLUSHSA", 0x1c, Done, ""),
    word("XFRM_MSG_FLUSHPOLICY", 0x1d, Done, ""),
    word(
        "XFRM_MSG_NEWAE",
        0x1e,
        Done,
        "with NLM_F_REPLACE, as Linux wants it: puts an SA's numbers and what it has carried forward",
    ),
    word("XFRM_MSG_GETAE", 0x1f, Done, ""),
    word("XFRM_MSG_REPORT", 0x20, NOT_HERE, "never sent: it is Mobile IPv6's"),
    word("XFRM_MSG_MIGRATE", 0x21, NOT_HERE, "a daemon makes the SA anew"),
    word("XFRM_MSG_NEWSADINFO", 0x22, NOT_HERE, "the answer to GETSADINFO; not taken"),
    word("XFRM_MSG_GETSADINFO", 0x23, Done, ""),
    word("XFRM_MSG_NEWSPDINFO", 0x24, NOT_HERE, "the answer to GETSPDINFO; hash tables are not set"),
    word("XFRM_MSG_GETSPDINFO", 0x25, Done, ""),
    word("XFRM_MSG_MAPPING", 0x26, NOT_HERE, "told: a peer's UDP endpoint has moved; not taken"),
    word("XFRM_MSG_SETDEFAULT", 0x27, NOT_HERE, "without a policy nothing leaves"),
    word("XFRM_MSG_GETDEFAULT", 0x28, NOT_HERE, "as SETDEFAULT"),
];

pub const SA_FLAGS: &[Word] = &[
    word("XFRM_STATE_NOECN", 1, Done, ""),
    word("XFRM_STATE_DECAP_DSCP", 2, Done, "inbound tunnels"),
    word("XFRM_STATE_NOPMTUDISC", 4, Done, "outbound tunnels"),
    word("XFRM_STATE_WILDRECV", 8, NOT_HERE, "it is Mobile IPv6's"),
    word("XFRM_STATE_ICMP", 16, NOT_HERE, "errors of ICMP need a policy that they fit themselves"),
    word("XFRM_STATE_AF_UNSPEC", 32, Done, "an SA without a selector carries both families"),
    word(
        "XFRM_STATE_ALIGN4",
        64,
        Done,
        "AH over IPv4 is aligned so (RFC 4302, 3.3.3.2.1), with and without it; over IPv6 EOPNOTSUPP",
    ),
    word("XFRM_STATE_ESN", 128, Done, ""),
];

pub const EXTRA_FLAGS: &[Word] = &[
    word("XFRM_SA_XFLAG_DONT_ENCAP_DSCP", 1, Done, ""),
    word("XFRM_SA_XFLAG_OSEQ_MAY_WRAP", 2, NOT_HERE, "no number is used twice"),
];

pub const POLICY_FLAGS: &[Word] = &[
    word("XFRM_POLICY_LOCALOK", 1, NOT_HERE, "sockets have no policies of their own"),
    word("XFRM_POLICY_ICMP", 2, NOT_HERE, "as XFRM_STATE_ICMP"),
];

pub const MODES: &[Word] = &[
    word("XFRM_MODE_TRANSPORT", 0, Done, ""),
    word("XFRM_MODE_TUNNEL", 1, Done, ""),
    word("XFRM_MODE_ROUTEOPTIMIZATION", 2, NOT_HERE, "it is Mobile IPv6's"),
    word("XFRM_MODE_IN_TRIGGER", 3, NOT_HERE, "it is Mobile IPv6's"),
    word("XFRM_MODE_BEET", 4, NOT_HERE, ""),
];

pub const ACTIONS: &[Word] = &[
    word(
        "XFRM_POLICY_ALLOW",
        0,
        Done,
        "with a template; without one nothing passes: the gateway sends nothing in clear",
    ),
    word("XFRM_POLICY_BLOCK", 1, Done, ""),
];

pub const WAYS: &[Word] = &[
    word("XFRM_POLICY_IN", 0, Done, ""),
    word("XFRM_POLICY_OUT", 1, Done, ""),
    word(
        "XFRM_POLICY_FWD",
        2,
        Done,
        "kept and told; what comes in has to fit one of direction `in`, whether it is forwarded or not",
    ),
];

/// Whether a request may have its attributes, as far as their kinds say it.
///
/// # Errors
/// ERANGE for one that is too short, and what the table says of one that is not carried out. One that it does not know is
/// refused: a newer header may have it.
pub fn check(group: Group, attributes: &[u8]) -> Result<(), Errno> {
    for (kind, value) in wire::attributes(attributes) {
        let Some(row) = ATTRIBUTES.iter().find(|row| row.number == kind) else { return Err(EOPNOTSUPP) };
        if value.len() < row.least {
            return Err(ERANGE);
        }
        let nothing = row.zero && value.iter().all(|byte| *byte == 0);
        if !row.on.contains(&group) && !nothing {
            debug!(name = row.name, what = row.what, "refused");
            return Err(row.errno);
        }
    }
    Ok(())
}

/// Whether every bit of a field is carried out.
///
/// # Errors
/// What the table says of the first that is not.
pub fn bits(words: &[Word], field: u32) -> Result<(), Errno> {
    (0..u32::BITS)
        .map(|at| field & 1 << at)
        .filter(|bit| *bit != 0)
        .try_for_each(|bit| value(words, bit, EOPNOTSUPP))
}

/// Whether a value is carried out; `unknown` if the table does not have it.
///
/// # Errors
/// What the table says.
pub fn value(words: &[Word], number: u32, unknown: Errno) -> Result<(), Errno> {
    match words.iter().find(|word| word.number == number) {
        Some(Word { fate: Done, .. }) => Ok(()),
        Some(Word { fate: Refused(errno), name, what, .. }) => {
            debug!(name, what, "refused");
            Err(*errno)
        }
        None => Err(unknown),
    }
}

#[cfg(test)]
mod page;

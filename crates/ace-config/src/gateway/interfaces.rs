// SPDX-License-Identifier: Apache-2.0
//! Devices inside besides that of `[inside]`, a tenant's each: packets of one are looked up among the rules of its number
//! alone, so that tenants may have the same nets.

use std::path::PathBuf;

use ipnet::IpNet;

use super::{GatewayConfig, Inside, NAME, device, required};
use crate::sa_file::fields::{Fields, Report};

/// A device with a number, as Linux has XFRM interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// `if_id` of its SAs and policies; never 0.
    pub if_id: u32,
    /// The device.
    pub inside: Inside,
    /// Where its routes are; `None`: where those of `[inside]` are.
    pub table: Option<u32>,
    /// The network namespace in which the device is; `None`: the gateway's.
    pub netns: Option<PathBuf>,
}

/// Where the routes into a device are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// In the main one.
    Main,
    /// In that of a mark, which the gateway's own packets carry and so do not see.
    Marked(u32),
    /// In one of its own, to which whoever made it leads packets.
    Own(u32),
}

/// A device inside, with or without a number.
#[derive(Clone, Copy, Debug)]
pub struct Device<'c> {
    /// 0: that of `[inside]`.
    pub if_id: u32,
    /// What it is.
    pub inside: &'c Inside,
    /// Where its routes are.
    pub table: Table,
    /// The network namespace in which it is; `None`: the gateway's.
    pub netns: Option<&'c PathBuf>,
}

impl Device<'_> {
    /// Whether others may have the same nets where the gateway is: then addresses on the wire do not say whose a packet is.
    pub fn is_apart(&self) -> bool {
        self.netns.is_some() || matches!(self.table, Table::Own(_))
    }
}

impl GatewayConfig {
    /// All devices inside, that of `[inside]` first.
    pub fn devices(&self) -> impl Iterator<Item = Device<'_>> {
        let usual = self.outside.mark.map_or(Table::Main, Table::Marked);
        let first = Device { if_id: 0, inside: &self.inside, table: usual, netns: None };
        std::iter::once(first).chain(self.interfaces.iter().map(move |one| Device {
            if_id: one.if_id,
            inside: &one.inside,
            table: match (one.table, &one.netns) {
                (Some(table), _) => Table::Own(table),
                // No packet of the gateway's own is there.
                (None, Some(_)) => Table::Main,
                (None, None) => usual,
            },
            netns: one.netns.as_ref(),
        }))
    }
}

const KEYS: &[&str] =
    &["name", "if_id", "address", "routes", "mtu", "offload", "clamp_mss", "table", "netns"];
/// Where `ip netns` has namespaces.
const NAMESPACES: &str = "/run/netns";

/// Every `[[interface]]`. What one does not say of its device is as `[inside]` has it.
pub(super) fn interfaces(
    report: &mut Report<'_>,
    top: &Fields<'_>,
    inside: Option<&Inside>,
) -> Vec<Interface> {
    let Some(value) = top.get("interface") else { return Vec::new() };
    let (Some(tables), Some(inside)) = (value.get_ref().as_array(), inside) else {
        if value.get_ref().as_array().is_none() {
            top.wrong(report, "interface", "is not a list of tables", "[[interface]]");
        }
        return Vec::new();
    };
    let mut all: Vec<Interface> = Vec::new();
    for table in tables.iter() {
        let at = table.span().start;
        let Some(inner) = table.get_ref().as_table() else {
            report.error(at, "`interface` holds something that is not a table; allowed: [[interface]]");
            continue;
        };
        let fields = Fields::new(inner, at, "interface: ".to_owned());
        all.extend(interface(report, &fields, inside, &all));
    }
    all
}

fn interface(
    report: &mut Report<'_>,
    fields: &Fields<'_>,
    inside: &Inside,
    before: &[Interface],
) -> Option<Interface> {
    fields.refuse_unknown_keys(report, KEYS);
    const NUMBER: &str = "`if_id` of the SAs and policies that are its: 1 to 4294967295";
    if fields.get("if_id").is_none() {
        fields.missing(report, "if_id", NUMBER);
    }
    let if_id = fields.integer(report, "if_id", 1..=u32::MAX.into()).and_then(|it| u32::try_from(it).ok());
    required(report, fields, "name", NAME)?;
    let device = device(report, fields, "name", (inside.mtu, inside.offload, inside.clamp_mss))?;
    // Tables up to 255 are the system's own, or have names.
    let table = fields.integer(report, "table", 256..=0x7fff_ffff).and_then(|it| u32::try_from(it).ok());
    const NETNS: &str = "a network namespace: its name for `ip netns`, or the path of its file";
    let netns = fields.string(report, "netns", NETNS).map(|name| {
        if name.is_empty() {
            fields.wrong(report, "netns", "is empty", NETNS);
        }
        PathBuf::from(NAMESPACES).join(name)
    });
    let one = Interface { if_id: if_id?, inside: device, table, netns };
    let (tun, place) = (&one.inside.tun, (one.table, &one.netns));
    if *tun == inside.tun || before.iter().any(|other| other.inside.tun == *tun) {
        fields.wrong(report, "name", "is another device's", "a name for each");
    }
    if before.iter().any(|other| other.if_id == one.if_id) {
        fields.wrong(report, "if_id", "is another [[interface]]'s", "a number for each");
    }
    let there = before.iter().filter(|other| (other.table, &other.netns) == place);
    let there = there.map(|other| &other.inside).chain((place == (None, &None)).then_some(inside));
    let routed: Vec<IpNet> = there.flat_map(|other| other.routes.iter().copied()).collect();
    if let Some(twice) = one.inside.routes.iter().find(|route| routed.contains(route)) {
        let what = format!("has {twice}, which leads into another device");
        let allowed = "each prefix once in a table; `table` or `netns` gives the interface one of its own";
        fields.wrong(report, "routes", &what, allowed);
    }
    Some(one)
}

// SPDX-License-Identifier: Apache-2.0
//! Which of several cores an SA is for. Both directions of a tunnel have one core, and so has the SA that takes over from
//! another: what one sends after the other arrives in that order. SAs that name a core (RFC 9611) are that one's.

use std::collections::HashMap;
use std::net::IpAddr;
use std::ops::RangeInclusive;

use ace_ipsec::{Direction, Protocol, SaSpec};
use ipnet::IpNet;

use super::{CoreError, Wanted};

/// An inbound SA, as the kernel finds it.
pub type Arriving = (Protocol, u32);

/// The cores of SAs, by what is known of a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Homes {
    count: usize,
    inbound: HashMap<Arriving, usize>,
    outbound: HashMap<u32, usize>,
}

impl Homes {
    /// The core of what arrives with an SPI; what nobody knows is divided by the SPI alone, as the kernel does it.
    pub fn inbound(&self, protocol: Protocol, spi: u32) -> usize {
        let home = self.inbound.get(&(protocol, spi)).copied();
        home.unwrap_or_else(|| by_spi(spi, self.count))
    }

    /// The core of what left with an SPI.
    pub fn outbound(&self, spi: u32) -> usize {
        self.outbound.get(&spi).copied().unwrap_or_else(|| by_spi(spi, self.count))
    }

    /// SPIs of a protocol that are not where they would be by themselves, in their order.
    pub fn odd(&self, protocol: Protocol) -> Vec<(u32, usize)> {
        let all = self.inbound.iter().filter(|((of, _), _)| *of == protocol);
        let mut odd: Vec<(u32, usize)> = all
            .map(|((_, spi), core)| (*spi, *core))
            .filter(|(spi, core)| by_spi(*spi, self.count) != *core)
            .collect();
        odd.sort_unstable();
        odd
    }

    /// How many cores there are.
    pub fn count(&self) -> usize {
        self.count
    }
}

/// Where an SPI belongs of which nothing is known.
pub fn by_spi(spi: u32, cores: usize) -> usize {
    spi as usize % cores.max(1)
}

/// What tells an SA from another.
type Identity = (Direction, Protocol, IpAddr, IpAddr, u32);

/// A pair of ends, and what goes between them, from here to there.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Tunnel {
    ends: (IpAddr, IpAddr),
    nets: (Option<IpNet>, Option<IpNet>),
    protocol: Option<u8>,
    ports: (Option<RangeInclusive<u16>>, Option<RangeInclusive<u16>>),
    if_id: u32,
}

impl Tunnel {
    fn of(sa: &SaSpec) -> Self {
        let s = &sa.selector;
        let mut nets = (s.source, s.destination);
        let mut ports = (s.source_ports.clone(), s.destination_ports.clone());
        if sa.direction == Direction::In {
            nets = (nets.1, nets.0);
            ports = (ports.1, ports.0);
        }
        Self { ends: (sa.local, sa.remote), nets, protocol: s.protocol, ports, if_id: sa.if_id }
    }
}

fn identity(sa: &SaSpec) -> Identity {
    (sa.direction, sa.protocol, sa.local, sa.remote, sa.spi)
}

/// Gives SAs their cores, and remembers which they have.
pub struct Divider {
    count: usize,
    known: HashMap<Identity, usize>,
    tunnels: HashMap<Tunnel, usize>,
}

/// Who has what of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Division {
    /// For each SA, in the order of the file.
    pub cores: Vec<usize>,
    pub homes: Homes,
}

impl Divider {
    pub fn new(count: usize) -> Self {
        Self { count: count.max(1), known: HashMap::new(), tunnels: HashMap::new() }
    }

    /// An SA that is there stays where it is. A tunnel that is new goes where the fewest are.
    ///
    /// # Errors
    /// An SA names a core that there is not.
    pub fn divide(&mut self, wanted: &Wanted) -> Result<Division, CoreError> {
        let count = self.count;
        let mut cores = vec![None; wanted.sas.len()];
        let mut tunnels: HashMap<Tunnel, usize> = HashMap::new();
        let mut sizes = vec![0_usize; count];
        for (sa, core) in wanted.specs().zip(&mut cores) {
            if let Some(named) = sa.core {
                let named = usize::from(named);
                if named >= count {
                    return Err(CoreError::NoCore { name: sa.name.clone(), core: named, count });
                }
                *core = Some(named);
            } else if let Some(&before) = self.known.get(&identity(sa)) {
                *core = Some(before);
                tunnels.entry(Tunnel::of(sa)).or_insert_with(|| {
                    sizes[before] += 1;
                    before
                });
            }
        }
        for (sa, core) in wanted.specs().zip(&mut cores).filter(|(_, core)| core.is_none()) {
            let tunnel = Tunnel::of(sa);
            *core = Some(match tunnels.get(&tunnel).or_else(|| self.tunnels.get(&tunnel)) {
                Some(&same) => same,
                None => (0..count).min_by_key(|core| sizes[*core]).unwrap_or(0),
            });
            let core = core.unwrap_or(0);
            tunnels.entry(tunnel).or_insert_with(|| {
                sizes[core] += 1;
                core
            });
        }
        let mut homes = Homes { count, ..Homes::default() };
        let mut all = Vec::with_capacity(cores.len());
        for (sa, core) in wanted.specs().zip(cores) {
            let mut core = core.unwrap_or(0);
            match sa.direction {
                // Of two addresses with one SPI the kernel cannot tell which it is.
                Direction::In => core = *homes.inbound.entry((sa.protocol, sa.spi)).or_insert(core),
                Direction::Out => drop(homes.outbound.insert(sa.spi, core)),
            }
            all.push(core);
        }
        let unnamed = wanted.specs().zip(&all).filter(|(sa, _)| sa.core.is_none());
        self.known = unnamed.map(|(sa, core)| (identity(sa), *core)).collect();
        self.tunnels = tunnels;
        Ok(Division { cores: all, homes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sa(name: &str, spi: u32, direction: &str, net: u8, more: &str) -> String {
        let (src, dst) = if direction == "out" { (1, 2) } else { (2, 1) };
        format!(
            "[[sa]]\nname = \"{name}\"\nspi = {spi}\ndirection = \"{direction}\"\nmode = \"tunnel\"\nlocal = \"192.0.2.1\"\n\
             remote = \"192.0.2.2\"\nselector = {{ src = \"10.{net}.{src}.0/24\", dst = \"10.{net}.{dst}.0/24\" }}\n\
             cipher = \"aes-128-gcm-16\"\nkey = \"{:040x}\"\n{more}",
            u64::from(spi) * 3 + u64::from(direction == "in")
        )
    }

    fn divide(divider: &mut Divider, sas: &[String]) -> Vec<usize> {
        divider.divide(&Wanted::of(&sas.concat())).unwrap().cores
    }

    #[test]
    fn both_directions_of_a_tunnel_and_what_takes_over_have_one_core() {
        let mut divider = Divider::new(2);
        let mut all = Vec::new();
        for net in 0..4_u8 {
            // SPIs say nothing of it.
            all.push(sa(&format!("o{net}"), 0x1000 + 2 * u32::from(net), "out", net, ""));
            all.push(sa(&format!("i{net}"), 0x1001 + 2 * u32::from(net), "in", net, ""));
        }
        let first = divide(&mut divider, &all);
        assert_eq!(first, [0, 0, 1, 1, 0, 0, 1, 1]);
        // New keys beside the old ones, and then alone.
        let new = |net: u8| [sa("no", 0x2001, "out", net, ""), sa("ni", 0x2003, "in", net, "")];
        all.splice(2..2, new(1));
        assert_eq!(divide(&mut divider, &all)[2..6], [1, 1, 1, 1]);
        all.drain(4..6);
        assert_eq!(divide(&mut divider, &all)[2..4], [1, 1]);
        // A selector is edited, tunnels go: who is there stays.
        all[2] = sa("no", 0x2001, "out", 9, "");
        all.drain(..2);
        assert_eq!(divide(&mut divider, &all), [1, 1, 0, 0, 1, 1]);
        // The next one goes where there is least.
        all.push(sa("more", 0x3000, "out", 20, ""));
        assert_eq!(*divide(&mut divider, &all).last().unwrap(), 0);
    }

    #[test]
    fn an_sa_that_names_a_core_is_that_ones() {
        let mut divider = Divider::new(2);
        let all = [sa("a", 0x1000, "out", 0, "core = 1\n"), sa("b", 0x1001, "out", 0, "core = 0\n")];
        let division = divider.divide(&Wanted::of(&all.concat())).unwrap();
        assert_eq!(division.cores, [1, 0]);
        assert_eq!((division.homes.outbound(0x1000), division.homes.outbound(0x1001)), (1, 0));
        let far = divider.divide(&Wanted::of(&sa("a", 0x1000, "out", 0, "core = 2\n"))).unwrap_err();
        assert_eq!(
            far.to_string(),
            "SA a: `core` is 2, and the gateway has 2; allowed: 0 to 1, or another `cores` of [engine]"
        );
    }
}

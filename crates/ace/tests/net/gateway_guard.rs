// SPDX-License-Identifier: Apache-2.0
//! What protects goes away under a gateway: it ends, and nothing leaves in clear.

use crate::gateway::{B, GCM, UDP, gateway, sas};
use crate::netns::World;

const RAW: &str = "encapsulation = \"none\"\n";
const TWO: &str = "[engine]\ncores = 2\n";

#[test]
fn a_device_that_is_gone_ends_the_gateway() {
    for outside in [UDP.to_owned(), RAW.to_owned(), format!("{UDP}{TWO}"), format!("{RAW}{TWO}")] {
        let Some(world) = World::new() else { return };
        let a = gateway(&world, 1, &outside, &sas(1, "tunnel", '0', GCM));
        gateway(&world, 2, &outside, &sas(2, "tunnel", '0', GCM));
        assert_eq!(world.ping("a", B, 3), 3);
        world.ip("a", "link delete ace0").expect("root may");
        assert_eq!(world.ended(a), Some(1), "{outside}");
        let said = world.read("a.log");
        let last = said.lines().last().expect("it says why");
        assert!(last.contains("ace0") && last.contains("start the gateway anew"), "{said}");
    }
}

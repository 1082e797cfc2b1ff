// SPDX-License-Identifier: Apache-2.0
//! Where simulations of slots come from.

use crate::array::Sets;
use crate::config::SlotKind;
use crate::manifest::Configuration;
use crate::model::{Model, ModelError, SlotModel};

/// Which simulations the slots run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Models {
    /// Those of the RTL.
    #[default]
    Rtl,
    /// Those of the synthesised netlists.
    Netlist,
}

impl Models {
    /// As reports and commands write it: `rtl` or `netlist`.
    pub fn name(self) -> &'static str {
        match self {
            Models::Rtl => "rtl",
            Models::Netlist => "netlist",
        }
    }
}

/// Where the simulation of a configuration comes from.
pub trait ModelSource {
    /// Whether it has models of slots of this kind.
    fn runs(&self, kind: SlotKind) -> bool {
        kind == SlotKind::Fabric
    }

    /// A new slot that runs `configuration`, out of reset.
    fn open(&self, configuration: &Configuration, models: Models) -> Result<Box<dyn SlotModel>, ModelError>;
}

/// The shared objects that the manifests name.
#[derive(Clone, Copy, Debug, Default)]
pub struct SharedObjects;

impl ModelSource for SharedObjects {
    fn open(&self, configuration: &Configuration, models: Models) -> Result<Box<dyn SlotModel>, ModelError> {
        let file = match (models, &configuration.netlist_model) {
            (Models::Rtl, _) => &configuration.model,
            (Models::Netlist, Some(file)) => file,
            (Models::Netlist, None) => return Err(ModelError::NoNetlist(configuration.name.clone())),
        };
        Ok(Box::new(Model::open(file, &configuration.lut_init)?))
    }
}

/// Of slots of both kinds: context sets for those with the array, and shared objects for the others.
#[derive(Clone, Debug)]
pub(crate) struct OfBoth {
    pub sets: Sets,
}

impl ModelSource for OfBoth {
    fn runs(&self, _: SlotKind) -> bool {
        true
    }

    fn open(&self, configuration: &Configuration, models: Models) -> Result<Box<dyn SlotModel>, ModelError> {
        match configuration.context_set {
            true => self.sets.open(configuration, models),
            false => SharedObjects.open(configuration, models),
        }
    }
}

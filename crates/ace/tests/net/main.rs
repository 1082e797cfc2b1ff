// SPDX-License-Identifier: Apache-2.0
//! Gateways between network namespaces. They are timed, so they do not run beside the tests of `it`.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
mod gateway;
mod gateway_array;
mod gateway_check;
mod gateway_classes;
mod gateway_engines;
mod gateway_firewall;
mod gateway_guard;
mod gateway_metrics;
mod gateway_nat;
mod gateway_outputs;
mod gateway_path;
mod gateway_standby;
mod gateway_tenants;
mod gateway_trace;
mod link;
mod netns;
mod xfrm;
mod xfrm_run;

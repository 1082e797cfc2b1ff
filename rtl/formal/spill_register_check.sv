// SPDX-License-Identifier: Apache-2.0
//
// spill_register: nothing is seen but what counts.
bind spill_register cell_rules #(
  .Width(Width),
  .Zero (1'b1)
) u_rules (.*);

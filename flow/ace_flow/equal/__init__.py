# SPDX-License-Identifier: Apache-2.0
"""What ace_flow.to_rtl is made of: the RTL and the netlist as machines in one graph, and what of them is the same."""

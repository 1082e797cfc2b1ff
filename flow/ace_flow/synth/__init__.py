# SPDX-License-Identifier: Apache-2.0
"""RTL to a netlist of ECP5 cells, and what is done to it afterwards."""

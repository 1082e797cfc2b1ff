# SPDX-License-Identifier: Apache-2.0
"""A netlist is its RTL, and functions of the RTL are those of the standard."""

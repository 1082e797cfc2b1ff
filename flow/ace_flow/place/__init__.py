# SPDX-License-Identifier: Apache-2.0
"""A netlist placed, routed and packed."""

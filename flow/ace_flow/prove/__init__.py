# SPDX-License-Identifier: Apache-2.0
"""The bits of a configuration are its netlist."""

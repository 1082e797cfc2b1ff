# SPDX-License-Identifier: Apache-2.0
"""The way of a configuration: from RTL to a loadable, measured configuration."""

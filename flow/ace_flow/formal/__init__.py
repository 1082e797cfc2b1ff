# SPDX-License-Identifier: Apache-2.0
"""Properties of cells, shell and fronts, for all inputs."""

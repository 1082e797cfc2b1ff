# SPDX-License-Identifier: Apache-2.0
"""Models of RTL and netlists, the frames that they are given, and what is measured of them."""

# SPDX-License-Identifier: Apache-2.0
"""Anybody's design for the ECP5, from the bits to its RTL (docs/open-designs.md)."""

# SPDX-License-Identifier: Apache-2.0
"""Recordings through boards whose slots run the RTL."""

# SPDX-License-Identifier: Apache-2.0
"""The array: its models, its slot, its bits and its rates."""

# SPDX-License-Identifier: Apache-2.0
"""IDEA with its key in the contents of LUTs."""

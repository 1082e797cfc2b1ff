# SPDX-License-Identifier: Apache-2.0
"""Programs and units of the Molen processor."""

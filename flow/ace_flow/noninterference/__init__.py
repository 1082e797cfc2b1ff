# SPDX-License-Identifier: Apache-2.0
"""Two runs with other secrets show the same outside."""

# SPDX-License-Identifier: Apache-2.0
"""Boards at their pins: models, a host for them, and what they are tried with."""

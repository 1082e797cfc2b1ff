# SPDX-License-Identifier: Apache-2.0
"""Changes of the RTL that tests and proofs have to refute."""

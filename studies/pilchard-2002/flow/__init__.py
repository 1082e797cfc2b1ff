# SPDX-License-Identifier: Apache-2.0
"""What went through the VPN of 2002's suite, on the virtual clock."""

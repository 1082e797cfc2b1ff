# SPDX-License-Identifier: Apache-2.0
"""Images: one bitstream for one real board, from its data file to the proof of its bits."""

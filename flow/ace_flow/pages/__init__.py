# SPDX-License-Identifier: Apache-2.0
"""Pages, tables and pictures are outputs: docs/pages.toml says of which commands and of which results files."""

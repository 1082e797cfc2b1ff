# SPDX-License-Identifier: Apache-2.0
"""From a row to a configuration: the steps, what the library holds of them, and the manifest."""

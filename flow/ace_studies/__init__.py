# SPDX-License-Identifier: Apache-2.0
"""What studies add to the flow: studies/PAPER-YEAR/flow is the package ace_studies.PAPER_YEAR."""

import importlib.util
import sys
from pathlib import Path

for _folder in sorted((Path(__file__).resolve().parents[2] / "studies").glob("*/flow/__init__.py")):
    _paper = _folder.parents[1].name.replace("-", "_")
    _spec = importlib.util.spec_from_file_location(
        f"{__name__}.{_paper}", _folder, submodule_search_locations=[str(_folder.parent)]
    )
    _package = importlib.util.module_from_spec(_spec)
    sys.modules[_spec.name] = _package
    _spec.loader.exec_module(_package)
    globals()[_paper] = _package

# SPDX-License-Identifier: Apache-2.0
"""The book's hook: mkdocs calls it (mkdocs.yml) with docs/, and it brings in what stands outside.

Pages of other folders (README.md, those of algorithms, examples and studies) become pages of the book, which hold their place in
the tree. A file that a page links to and that is no page becomes one below source/: a reader needs no network and
sees the version that the page is of. A link that leads nowhere stays as it is, and `mkdocs build --strict` names it.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from ace_flow.tools import ROOT

# Pages outside docs/: what they are called in the book.
ROOT_PAGES = {"README.md": "index.md"}
OUTSIDE = ("*.md", "studies/*/*.md", "algorithms/*/README.md", "examples/*/README.md", "tests/*/README.md")
# Code, which has no links: fences whole, and between backticks.
CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*$|(`+)(?!`).+?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<=\]\()(?!<)(?P<target>[^()\s#]+)(?P<anchor>#[^()\s]*)?(?=[\s)])")
# What mkdocs.yml has in place of the algorithms' pages.
ALGORITHMS = "algorithms/"
LANGUAGES = {".sv": "systemverilog", ".svh": "systemverilog", ".rs": "rust", ".py": "python", ".toml": "toml"}
LANGUAGES |= {".sh": "bash", ".cc": "cpp", ".lpf": "text", ".json": "json"}


def outside() -> dict[str, str]:
    """Pages outside docs/, by their path in the repository; what they are called in the book."""
    found = [path.relative_to(ROOT) for pattern in OUTSIDE for path in sorted(ROOT.glob(pattern))]
    return {str(path): ROOT_PAGES.get(str(path), str(path)) for path in found}


def place(target: str, page: str) -> str | None:
    """The path in the repository that a link of a page leads to; None of a link to elsewhere."""
    if "://" in target or target.startswith(("mailto:", "/")):
        return None
    path = os.path.normpath(PurePosixPath(page).parent / target)
    if (ROOT / path).is_dir():
        path = next(
            (f"{path}/{name}" for name in ("results.md", "README.md") if (ROOT / path / name).is_file()), path
        )
    return None if path.startswith("..") or not (ROOT / path).is_file() else path


def in_book(path: str) -> str:
    """What a file of the repository is called in the book."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if (page := outside().get(path)) is not None:
        return page
    return f"source/{path}" + (".md" if is_text(ROOT / path) else "")


def is_text(path: Path) -> bool:
    """Whether a file can be shown."""
    try:
        path.read_text()
    except UnicodeDecodeError:
        return False
    return True


def rewritten(text: str, target: Callable[[re.Match[str]], str]) -> str:
    """A page with other targets of its links; code stays as it is."""
    parts, at = [], 0
    for code in CODE.finditer(text):
        parts += [LINK.sub(target, text[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*parts, LINK.sub(target, text[at:])])


def targets(text: str, page: str) -> list[str]:
    """The files of the repository that a page links to."""
    found: list[str] = []

    def note(match: re.Match[str]) -> str:
        if (path := place(match["target"], page)) is not None:
            found.append(path)
        return match[0]

    rewritten(text, note)
    return found


def listing(path: str) -> str:
    """A source as a page, of which search knows nothing."""
    file = ROOT / path
    fence = "`" * 5
    language = LANGUAGES.get(file.suffix, "text")
    head = f"---\nsearch:\n  exclude: true\n---\n\n# {path}\n\n"
    return f"{head}{fence}{language}\n{file.read_text().rstrip()}\n{fence}\n"


def repository_path(file: File) -> str:
    """Where a page of the book stands in the repository."""
    by_name = {name: path for path, name in outside().items()}
    return by_name.get(file.src_uri, f"docs/{file.src_uri}")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Algorithms are a folder each, and no list names them."""
    rooms = [{path.split("/")[1]: name} for path, name in outside().items() if path.startswith(ALGORITHMS)]

    def filled(entries: list[Any]) -> list[Any]:
        return [
            {title: rooms if below == ALGORITHMS else filled(below) if isinstance(below, list) else below}
            for entry in entries
            for title, below in entry.items()
        ]

    config.nav = filled(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Brings in pages from outside, and files that any page links to."""
    for path, name in outside().items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / path)))
    linked = set()
    for file in files.documentation_pages():
        page = repository_path(file)
        linked |= set(targets((ROOT / page).read_text(), page))
    for path in sorted(linked):
        if files.get_file_from_path(name := in_book(path)) is not None:
            continue
        if name.endswith(".md"):
            files.append(File.generated(config, name, content=listing(path)))
        else:
            files.append(File.generated(config, name, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links as they are in the book."""
    if page.file.src_uri.startswith("source/"):
        return markdown
    here = repository_path(page.file)
    folder = PurePosixPath(page.file.src_uri).parent

    def target(match: re.Match[str]) -> str:
        path = place(match["target"], here)
        if path is None:
            return match[0]
        return os.path.relpath(in_book(path), folder) + (match["anchor"] or "")

    return rewritten(markdown, target)

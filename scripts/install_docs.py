# SPDX-License-Identifier: Apache-2.0
"""Puts README and all pages that it leads to below a folder, as they are in the repository.

A link that leads to a page or a picture goes on leading there. One that leads to a source, which stays in the repository,
becomes its text with the path behind it. Argument: the folder.
"""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^()\s]+)\)")
PICTURES = {".svg", ".png", ".webp"}
# What is installed beside pages; all else that is linked to is a source.
FILES = {"LICENSE", "board.toml"}


def target(page: Path, link: str) -> Path | None:
    """The file of the repository that a link of a page leads to, or nothing where it leads elsewhere."""
    path = link.split("#")[0]
    if not path or re.match(r"[a-z]+:", link):
        return None
    return Path((page.parent / path).resolve()).relative_to(ROOT)


def is_installed(path: Path) -> bool:
    """Whether a file that a page leads to comes along."""
    return (ROOT / path).is_file() and (path.suffix in {".md", *PICTURES} or str(path) in FILES)


def rewritten(page: Path, text: str) -> tuple[str, set[Path]]:
    """The text of a page as it is installed, and the files that it leads to."""
    found = set()

    def link(match: re.Match) -> str:
        words, path = match[1], target(page, match[2])
        if path is None:
            return match[0]
        if is_installed(path):
            found.add(path)
            return match[0]
        return words if str(path) in words else f"{words} ({path} of the repository)"

    for match in PICTURE.finditer(text):
        path = target(page, match[1])
        if path is not None and is_installed(path):
            found.add(path)
    return LINK.sub(link, text), found


def install(folder: Path) -> int:
    """Puts them there; says how many."""
    waiting, done = {Path("README.md"), *(Path(name) for name in FILES)}, set()
    while waiting:
        page = waiting.pop()
        done.add(page)
        place = folder / page
        place.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix == ".md":
            text, found = rewritten(ROOT / page, (ROOT / page).read_text())
            place.write_text(text)
            waiting |= found - done
        else:
            shutil.copyfile(ROOT / page, place)
        place.chmod(0o644)
    return len(done)


if __name__ == "__main__":
    print(f"{install(Path(sys.argv[1]))} pages and pictures in {sys.argv[1]}")

# SPDX-License-Identifier: Apache-2.0
"""The book and its pictures as a browser shows them: python -m ace_flow screenshots [--out DIR]

Pages and all pictures, wide and narrow, by day and by night, are left as PNG files (build/screenshots). It fails where words
of a picture lie on each other or outside of it, where a picture cannot be read, or where a page is wider than its window.
Needs chromium; mkdocs builds the book first.
"""

import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ace_flow.layout import BUILD
from ace_flow.tools import ROOT, ToolError

OUT = BUILD / "screenshots"
# Of the book: one of each shape. Long pages are shown from their beginning.
PAGES = (
    "index.html",
    "tutorial.html",
    "how-to/examples.html",
    "slot.html",
    "configurations.html",
    "proof.html",
    "algorithms/aes/index.html",
    "studies/drp-2006/results.html",
)
WIDTHS = {"wide": 1200, "narrow": 400}
SCHEMES = {"day": 1, "night": 0}
HEIGHT = 1600
# Of letters in a picture, in pixels where it is wide: a third of it in a narrow window.
SMALLEST = 15.0
SECONDS = 120
# In every picture: words that lie on each other or that are cut, and the smallest letters.
PROBE = """<script>addEventListener("load",()=>{const found=[];
for(const svg of document.querySelectorAll("svg")){const name=svg.parentNode.id,all=svg.getBoundingClientRect();
 const words=[...svg.querySelectorAll("text")].filter(e=>e.textContent.trim()&&!e.querySelector("text"));
 const boxes=words.map(e=>({e,r:e.getBoundingClientRect(),t:!!e.closest("[transform*=rotate]")}));
 for(const{e,r}of boxes)if(r.left<all.left-1||r.right>all.right+1||r.top<all.top-1||r.bottom>all.bottom+1)
  found.push({name,what:"cut",words:[e.textContent]});
 const frames=[...svg.querySelectorAll("rect")].map(e=>e.getBoundingClientRect()).sort((a,b)=>a.width*a.height-b.width*b.height);
 for(const{e,r,t}of boxes){const x=(r.left+r.right)/2,y=(r.top+r.bottom)/2,
  b=t?0:frames.find(b=>x>b.left&&x<b.right&&y>b.top&&y<b.bottom);
  if(b&&(r.left<b.left+3||r.right>b.right-3))found.push({name,what:"over the edge of a box",words:[e.textContent]})}
 boxes.forEach((a,i)=>boxes.slice(0,i).forEach(b=>{if(a.t||b.t)return;
  const x=Math.min(a.r.right,b.r.right)-Math.max(a.r.left,b.r.left),
   y=Math.min(a.r.bottom,b.r.bottom)-Math.max(a.r.top,b.r.top),high=Math.min(a.r.height,b.r.height);
  if(x>1.5&&y>high*.35)found.push({name,what:"on each other",words:[a.e.textContent,b.e.textContent]})}));
 const small=Math.min(...words.map(e=>parseFloat(getComputedStyle(e).fontSize)*all.width/(svg.viewBox.baseVal.width||all.width)));
 found.push({name,what:"smallest",pixels:small})}
document.body.dataset.found=JSON.stringify(found)})</script>"""
FRAME = """<script>addEventListener("load",()=>{const f=document.querySelector("iframe"),d=f.contentDocument;
const wide=[...d.querySelectorAll("body *")].filter(e=>e.getBoundingClientRect().right>f.clientWidth+1&&
 !e.closest("pre,.md-typeset__scrollwrap,.md-tabs,.md-nav,.md-header,.md-search,.md-sidebar,.highlight,[hidden]")&&
 getComputedStyle(e).visibility!="hidden"&&e.getBoundingClientRect().width>0);
document.body.dataset.found=JSON.stringify({scroll:d.scrollingElement.scrollWidth-f.clientWidth,
 wide:wide.slice(0,3).map(e=>e.tagName+" "+e.textContent.trim().slice(0,40)),words:d.body.innerText.length})})</script>"""
FOUND = re.compile(r'data-found="([^"]*)"')


def pictures() -> list[Path]:
    """All pictures of the book."""
    return sorted((ROOT / "docs" / "pictures").glob("*.svg"))


def chromium(page: Path, size: tuple[int, int], scheme: str, *args: str) -> str:
    """Runs the browser on a page; what it prints."""
    with tempfile.TemporaryDirectory() as profile:
        command = [
            "chromium",
            *["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"],
            *["--allow-file-access-from-files", "--virtual-time-budget=10000"],
            f"--user-data-dir={profile}",
            f"--window-size={size[0]},{size[1]}",
            f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
            *args,
            page.as_uri(),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        if done.returncode != 0:
            raise ToolError(f"chromium failed on {page} (exit {done.returncode}): {done.stderr[-1000:]}")
        return done.stdout


def found(page: Path, size: tuple[int, int], scheme: str = "day"):
    """What the script of a page found."""
    dom = chromium(page, size, scheme, "--dump-dom")
    if (match := FOUND.search(dom)) is None:
        raise ToolError(f"{page}: its script did not run")
    return json.loads(html.unescape(match[1]))


def shoot(page: Path, size: tuple[int, int], scheme: str, out: Path) -> None:
    """A picture of a page."""
    chromium(page, size, scheme, f"--screenshot={out}")
    if not out.is_file() or out.stat().st_size < 3000:
        raise ToolError(f"{out}: nothing is on it")


def sheet(folder: Path, width: int) -> tuple[Path, Path]:
    """All pictures below each other: as pages show them, and with their insides for the script."""
    style = (
        "<!doctype html><html style='color-scheme:light dark'><style>body{margin:0;background:Canvas;color:CanvasText;"
        f"font:12px monospace;width:{width}px}}img,svg{{width:100%;height:auto;display:block}}</style><body>"
    )
    shown, probed = style, style
    for path in pictures():
        text = re.sub(r"<\?xml.*?\?>", "", path.read_text())
        shown += f"<p>{path.name}</p><img src='{path.as_uri()}'>"
        probed += f"<div id='{path.name}'>{text}</div>"
    files = folder / f"pictures-{width}.html", folder / f"probed-{width}.html"
    files[0].write_text(shown)
    files[1].write_text(probed + PROBE)
    return files


def height(width: int) -> int:
    """Of all pictures at this width."""
    total = 0.0
    for path in pictures():
        box = re.search(r'viewBox="([^"]*)"', path.read_text())
        _, _, wide, high = map(float, box[1].split())
        total += 45 + width * high / wide
    return int(total)


def judged(folder: Path) -> list[str]:
    """What is wrong with pictures, where they are wide."""
    width, wrong = WIDTHS["wide"], []
    for entry in found(sheet(folder, width)[1], (width, height(width))):
        if entry["what"] != "smallest":
            wrong.append(f"{entry['name']}: {' and '.join(map(repr, entry['words']))}: {entry['what']}")
        elif entry["pixels"] < SMALLEST:
            wrong.append(f"{entry['name']}: letters of {entry['pixels']:.1f} pixels")
    return wrong


def show_pictures(folder: Path, out: Path) -> None:
    """Shows all pictures, one below the other."""
    for name, width in WIDTHS.items():
        shown, _ = sheet(folder, width)
        for scheme in SCHEMES:
            shoot(shown, (max(width, 500), height(width)), scheme, out / f"pictures-{name}-{scheme}.png")


def check_pages(site: Path, folder: Path, out: Path) -> list[str]:
    """Shows pages of the book; what is wrong with them."""

    def one(page: str, name: str, width: int) -> list[str]:
        if not (site / page).is_file():
            return [f"{page}: there is no such page"]
        # In a frame: a window of its own is never narrower than 500.
        stem = page.removesuffix(".html").replace("/", "-")
        frame = folder / f"{stem}-{width}.html"
        frame.write_text(
            "<!doctype html><html style='color-scheme:light dark'><body style='margin:0'>"
            f"<iframe style='border:0' width='{width}' height='{HEIGHT}' src='{(site / page).as_uri()}'></iframe>{FRAME}"
        )
        size = (max(width, 500), HEIGHT)
        scheme = "day" if name == "wide" else "night"
        shoot(frame, size, scheme, out / f"book-{stem}-{name}-{scheme}.png")
        told = found(frame, size)
        if told["scroll"] > 1 or told["wide"]:
            return [
                f"{page}: wider than a window of {width} pixels: {', '.join(told['wide']) or told['scroll']}"
            ]
        return [] if told["words"] > 200 else [f"{page}: nothing is on it"]

    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(one, page, *width) for page in PAGES for width in WIDTHS.items()]
        return [line for job in jobs for line in job.result()]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=OUT, help="where they go (default: build/screenshots)")
    parser.add_argument("--pictures", action="store_true", help="pictures alone, without the book")
    told = parser.parse_args()
    if shutil.which("chromium") is None:
        print("error: chromium is not installed (Debian: chromium)", file=sys.stderr)
        return 2
    out = told.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            show_pictures(folder, out)
            wrong = judged(folder)
            if not told.pictures:
                site = folder / "site"
                command = [
                    sys.executable,
                    "-m",
                    "mkdocs",
                    "build",
                    "--strict",
                    "--quiet",
                    "--site-dir",
                    str(site),
                ]
                environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
                subprocess.run(command, check=True, cwd=ROOT, env=environment)
                wrong += check_pages(site, folder, out)
    except (ToolError, subprocess.SubprocessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{len(list(out.glob('*.png')))} pictures in {out}")
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

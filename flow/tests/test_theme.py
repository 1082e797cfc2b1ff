# SPDX-License-Identifier: Apache-2.0
"""The documentation's plots: the same bytes on every run, the reader's colours, no name on another."""

import re
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

from ace_flow import tools

sys.path.insert(0, str(tools.ROOT / "scripts"))
import theme


def crowded(names: int) -> list[tuple[float, float, str]]:
    """Points on a slope, nearer to each other than their names are long."""
    return [(100 + 9 * at, 100 + 4 * at, f"configuration-{at}") for at in range(names)]


def drawn(folder: Path, rows: list[tuple[float, float, str]], high: int = 440) -> str:
    figure, axes = theme.plot("Throughput & size", "LUT4", "Mb/s", high)
    axes.plot([x for x, _, _ in rows], [y for _, y, _ in rows], "o", color=theme.BLUE, label="of one kind")
    theme.logarithmic(axes.xaxis)
    theme.logarithmic(axes.yaxis)
    theme.legend(figure)
    theme.name_points(axes, rows)
    theme.write(figure, "plot", folder)
    return (folder / "plot.svg").read_text()


class Theme(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_a_plot_is_the_same_bytes_on_every_run(self) -> None:
        self.assertEqual(drawn(self.folder, crowded(8)), drawn(self.folder, crowded(8)))

    def test_a_plot_follows_the_readers_colours_and_fonts(self) -> None:
        text = drawn(self.folder, crowded(3))
        self.assertIn("prefers-color-scheme:dark", text)
        self.assertIn('aria-label="Throughput &amp; size"', text)
        for not_there in (theme.INK, "#ffffff", "DejaVu", "<metadata", "#000000"):
            self.assertNotIn(not_there, text)
        words = {
            element.text for element in ElementTree.fromstring(text).iter() if element.tag.endswith("text")
        }
        self.assertLessEqual({"Throughput & size", "LUT4", "Mb/s", "of one kind", "configuration-2"}, words)
        for number in re.findall(r"[xy]=\"-?\d+\.(\d+)\"", text):
            self.assertLessEqual(len(number), 2)

    def test_each_point_has_its_name_where_no_other_one_is(self) -> None:
        rows = crowded(12)
        figure, axes = theme.plot("t", "x", "y", 520)
        axes.plot([x for x, _, _ in rows], [y for _, y, _ in rows], "o")
        theme.name_points(axes, rows)
        names = [words for words in axes.texts if words.get_text()]
        self.assertEqual({words.get_text() for words in names}, {name for _, _, name in rows})
        boxes = [words.get_window_extent() for words in names]
        for at, box in enumerate(boxes):
            self.assertFalse(any(box.overlaps(other) for other in boxes[:at]), names[at].get_text())
        theme.plt.close(figure)

    def test_a_name_without_room_is_an_error(self) -> None:
        with self.assertRaisesRegex(ValueError, r"configuration-\d+: no room for this name"):
            drawn(self.folder, [(1 + at / 1e4, 1, name) for at, (_, _, name) in enumerate(crowded(90))], 300)

    def test_what_does_not_fit_is_an_error(self) -> None:
        figure, axes = theme.plot("t", "x", "y")
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        axes.text(0.9, 0.5, "words that go far beyond the right edge of the picture")
        with self.assertRaisesRegex(ValueError, r"plot\.svg: .* does not fit"):
            theme.write(figure, "plot", self.folder)


if __name__ == "__main__":
    unittest.main()

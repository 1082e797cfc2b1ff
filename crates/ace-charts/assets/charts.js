// SPDX-License-Identifier: Apache-2.0
// What the report of a run and the gateway's page share: figures for people, tables that sort, and uPlot with a timeline
// of bars, a window that all charts of a figure show, and keys for it. Names come from files of others: they are put into
// the page as text, never as markup.
"use strict";
const Ace = (() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const make = (name, properties = {}, ...inside) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...inside);
    return made;
  };

  /** What the colours of a picture mean: kinds with `name`, `colour` and perhaps `striped`. */
  const key = (kinds) => make("ul", { className: "key" }, ...kinds.map((kind) => {
    const sample = make("span", { className: kind.striped ? "striped" : "" });
    sample.style.backgroundColor = `var(--${kind.colour})`;
    return make("li", {}, sample, kind.name);
  }));

  /** Three significant digits. */
  const three = (value) => value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);

  /** Nanoseconds for people, as `duration` of ace-report has them. */
  function duration(ns) {
    if (ns === 0) return "0 s";
    const [unit, scale] = ns < 1e3 ? ["ns", 1] : ns < 1e6 ? ["µs", 1e3] : ns < 1e9 ? ["ms", 1e6] : ["s", 1e9];
    return `${three(ns / scale)} ${unit}`;
  }

  /** The unit in which an axis of so many nanoseconds is read. */
  const unitOf = (ns) => (ns < 2e3 ? ["ns", 1] : ns < 2e6 ? ["µs", 1e3] : ns < 2e9 ? ["ms", 1e6] : ["s", 1e9]);

  /** Mb/s for people; `null` is nothing yet. */
  const mbps = (value) => (value == null ? "" : value > 0 && value < 0.01 ? "< 0.01" : three(value));

  const count = new Intl.NumberFormat("en");

  // ---- tables

  const isNumber = (value) => typeof value === "number";
  const compare = (a, b) => (isNumber(a) && isNumber(b) ? a - b : isNumber(a) ? 1 : isNumber(b) ? -1
    : String(a).localeCompare(String(b), "en", { numeric: true }));

  /** Heads that sort: `ordered(column, descending)` does it, and is told so once for the first order. */
  function heads(table, names, first, ordered) {
    let now = first;
    const cells = names.map((name, column) => {
      const button = make("button", { type: "button", textContent: name.text ?? name });
      button.addEventListener("click", () => {
        now = { column, down: now?.column === column ? !now.down : Boolean(name.number) };
        mark();
        ordered(now);
      });
      const cell = make("th", { scope: "col", className: name.number ? "number" : "" }, button);
      return cell;
    });
    const mark = () => cells.forEach((cell, column) => {
      if (now?.column === column) cell.setAttribute("aria-sort", now.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    mark();
    table.tHead?.remove();
    table.createTHead().insertRow().append(...cells);
    return () => now;
  }

  /** A table that is filled again and again and keeps its order and whoever has the focus.
   * A cell is text, a number, or `{ text, value }`, sorted by its value. */
  function table(place, names, first = null, ordered = null) {
    let rows = [];
    let signature = JSON.stringify(names);
    const value = (cell) => (cell !== null && typeof cell === "object" ? cell.value : cell) ?? "";
    const text = (cell) => (cell !== null && typeof cell === "object" ? cell.text
      : isNumber(cell) ? count.format(cell) : cell ?? "");
    const fill = (order) => {
      const shown = order && !ordered
        ? rows.toSorted((a, b) => (order.down ? -1 : 1) * compare(value(a[order.column]), value(b[order.column]))) : rows;
      const body = document.createElement("tbody");
      for (const cells of shown) {
        const row = body.insertRow();
        cells.forEach((cell, column) => {
          const made = row.insertCell();
          made.textContent = text(cell);
          made.dataset.label = names[column].text ?? names[column];
          if (names[column].number) made.className = "number";
        });
      }
      if (shown.length === 0) {
        body.insertRow().append(make("td", { colSpan: names.length, textContent: "none" }));
      }
      for (const old of [...place.tBodies]) old.remove();
      place.append(body);
    };
    const begin = () => heads(place, names, first, (now) => (ordered ? ordered(now) : fill(now)));
    let order = begin();
    return (cells, anew = names) => {
      // Other columns: a board behind a cable has no modelled time.
      const wanted = JSON.stringify(anew);
      if (signature !== wanted) {
        names = anew;
        order = begin();
      }
      signature = wanted;
      rows = cells;
      fill(order());
    };
  }

  /** Makes a table that is there sortable. Cells have what they are sorted by in `data-value`, where it is not their text. */
  function sortable(place) {
    const names = [...place.tHead.rows[0].cells].map((cell) => (
      { text: cell.textContent, number: cell.classList.contains("number") }));
    const of = (row, column) => {
      const cell = row.cells[column];
      return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
    };
    heads(place, names, null, ({ column, down }) => {
      const rows = [...place.tBodies[0].rows];
      rows.sort((a, b) => (down ? -1 : 1) * compare(of(a, column), of(b, column)));
      place.tBodies[0].append(...rows);
    });
  }

  // ---- charts

  /** Axes, and what else all charts have. */
  const axis = (label, more = {}) => ({
    stroke: () => colour("ink"),
    grid: { stroke: () => colour("line"), width: 1 },
    ticks: { stroke: () => colour("line"), width: 1 },
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    label, labelSize: 20, size: 36, ...more,
  });
  // What stands left and right of the plots of a figure, which are one above the other.
  const [LEFT, RIGHT] = [68, 22];

  const charts = new Set();
  dark.addEventListener("change", () => charts.forEach((plot) => plot.redraw(false, true)));

  /** A chart as wide as its place, drawn anew when that changes or night falls. */
  function chart(place, height, options, data) {
    // Those whose place is gone.
    for (const plot of charts) {
      if (!plot.root.isConnected) {
        plot.destroy();
        charts.delete(plot);
      }
    }
    const wide = () => Math.max(place.clientWidth, 100);
    const plot = new uPlot({ width: wide(), height, ms: 1, legend: { show: false }, ...options }, data, place);
    new ResizeObserver(() => {
      if (wide() !== plot.width) plot.setSize({ width: wide(), height: plot.height });
    }).observe(place);
    charts.add(plot);
    return plot;
  }

  /** What part of a whole of so many units the charts of a figure show: one window for all, by mouse, buttons and keys. */
  function zoom(figure, total, said) {
    const [plots, listeners] = [[], []];
    let [from, to] = [0, total];
    const show = (a, b) => {
      const wide = Math.max(b - a, total * 1e-7);
      from = Math.max(Math.min(a, total - wide), 0);
      to = Math.min(from + wide, total);
      // What is as good as the end is the end.
      if (from < total * 1e-9) from = 0;
      for (const plot of plots) plot.setScale("x", { min: from, max: to });
      for (const listener of listeners) listener(from, to);
      told.textContent = said(from, to);
    };
    const by = (factor) => {
      const middle = (from + to) / 2;
      show(middle - (to - from) * factor / 2, middle + (to - from) * factor / 2);
    };
    const along = (part) => show(from + (to - from) * part, to + (to - from) * part);
    const doing = {
      "+": () => by(0.5), "=": () => by(0.5), "-": () => by(2), ArrowLeft: () => along(-0.25),
      ArrowRight: () => along(0.25), Home: () => show(0, total), End: () => along(total / (to - from)),
    };
    const told = make("output", { className: "note" });
    const buttons = [["+", "nearer", "+"], ["−", "farther", "-"], ["←", "earlier", "ArrowLeft"], ["→", "later", "ArrowRight"],
      ["whole", "", "Home"]].map(([text, label, key]) => {
      const button = make("button", { type: "button", textContent: text });
      if (label) button.setAttribute("aria-label", label);
      button.addEventListener("click", () => doing[key]());
      return button;
    });
    figure.prepend(make("div", { className: "controls" }, ...buttons, told));
    figure.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in doing)) return;
      doing[event.key]();
      event.preventDefault();
    });
    // The data of a chart may be that of its window alone: what uPlot takes for the whole.
    figure.addEventListener("dblclick", (event) => event.target.closest(".uplot") && show(0, total));
    told.textContent = said(from, to);
    return {
      /** A drag over one chart goes to all of them. */
      hook: ({ scales: { x } }, scale) => {
        const near = (a, b) => Math.abs(a - b) < total * 1e-9;
        if (scale === "x" && x.min != null && !(near(x.min, from) && near(x.max, to))) show(x.min, x.max);
      },
      add: (plot) => plots.push(plot),
      listen: (listener) => listeners.push(listener),
      whole: () => from === 0 && to === total,
      show,
    };
  }

  const ROW = 40;
  const NAME = 15;

  function stripes(context, back, front) {
    const tile = Object.assign(document.createElement("canvas"), { width: 8, height: 8 });
    const pen = tile.getContext("2d");
    pen.fillStyle = back;
    pen.fillRect(0, 0, 8, 8);
    pen.strokeStyle = front;
    pen.globalAlpha = 0.5;
    for (const x of [-8, 0, 8]) {
      pen.beginPath();
      pen.moveTo(x, 8);
      pen.lineTo(x + 8, 0);
      pen.stroke();
    }
    return context.createPattern(tile, "repeat");
  }

  /** Rows of bars over time. A row has `name` and columns `start`, `end` (sorted, in units of the axis), `kind`; a kind has
   * `colour` and perhaps `striped`. `label(row, at)` stands in a bar that has room, `about(row, at)` below the picture. */
  function timeline(place, { rows, kinds, total, x, label, about, zoom: of }) {
    const words = make("figcaption", { textContent: "" });
    const hint = words.textContent = "Point at a bar, or walk from bar to bar: ↑ and ↓ choose a row, n and p the next and the previous bar. "
      + "Drag to zoom, double click for the whole; + − ← → Home do so too.";
    let chosen = { row: 0, at: -1 };
    const find = (row, time) => {
      let [low, high] = [0, row.start.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (row.start[middle] <= time) low = middle + 1; else high = middle;
      }
      return low - 1;
    };
    const draw = (plot) => {
      const { ctx: pen } = plot;
      const { left, top, width, height } = plot.bbox;
      const ratio = width / plot.over.clientWidth;
      const { min, max } = plot.scales.x;
      const at = (time) => left + (time - min) / (max - min) * width;
      const paints = kinds.map((kind) => (kind.striped ? stripes(pen, colour(kind.colour), colour("on")) : colour(kind.colour)));
      pen.save();
      pen.beginPath();
      pen.rect(left, top, width, height);
      pen.clip();
      pen.textBaseline = "middle";
      rows.forEach((row, number) => {
        const y = top + number * ROW * ratio;
        pen.font = `${12 * ratio}px system-ui, sans-serif`;
        pen.textAlign = "left";
        pen.fillStyle = colour("ink");
        pen.fillText(row.name, left + 2 * ratio, y + NAME * ratio / 2);
        const [upper, high] = [y + NAME * ratio, (ROW - NAME - 4) * ratio];
        pen.fillStyle = colour("idle");
        pen.fillRect(left, upper, width, high);
        // Bars that are nearer to each other than half a pixel are drawn as one.
        let open = null;
        const close = () => {
          if (!open) return;
          pen.fillStyle = paints[open.kind];
          const wide = Math.max(open.to - open.from, ratio);
          pen.fillRect(open.from, upper, wide, high);
          const text = open.count === 1 || open.same ? label(row, open.at) : "";
          if (text && wide > 24 * ratio) {
            const begin = Math.max(open.from, left);
            const room = Math.min(open.to, left + width) - begin;
            if (pen.measureText(text).width + 8 * ratio < room) {
              if (kinds[open.kind].striped) {
                pen.fillStyle = colour(kinds[open.kind].colour);
                const half = pen.measureText(text).width / 2 + 4 * ratio;
                pen.fillRect(begin + room / 2 - half, upper + 2 * ratio, 2 * half, high - 4 * ratio);
              }
              pen.fillStyle = colour("on");
              pen.textAlign = "center";
              pen.fillText(text, begin + room / 2, upper + high / 2);
              pen.textAlign = "left";
            }
          }
          open = null;
        };
        for (let bar = Math.max(find(row, min), 0); bar < row.start.length && row.start[bar] < max; bar += 1) {
          if (row.end[bar] < min) continue;
          const [from, to, kind] = [at(row.start[bar]), at(row.end[bar]), row.kind[bar]];
          const text = label(row, bar);
          if (open && open.kind === kind && from - open.to < 0.5) {
            open.to = Math.max(open.to, to);
            open.count += 1;
            open.same &&= open.text === text;
          } else {
            close();
            open = { from, to, kind, at: bar, count: 1, same: true, text };
          }
        }
        close();
        if (number === chosen.row && chosen.at >= 0) {
          pen.strokeStyle = colour("ink");
          pen.lineWidth = 2 * ratio;
          const [from, to] = [at(row.start[chosen.at]), at(row.end[chosen.at])];
          pen.strokeRect(from, upper, Math.max(to - from, 2 * ratio), high);
        }
      });
      pen.restore();
    };
    const plot = chart(place, ROW * rows.length + 62, {
      padding: [4, RIGHT, 0, LEFT],
      scales: { x: { time: false }, y: { range: [0, 1] } },
      axes: [axis(x), { show: false }],
      series: [{}, { show: false }],
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false } },
      hooks: {
        draw: [draw],
        setScale: of ? [of.hook] : [],
        setCursor: [(plot) => {
          const { left, top } = plot.cursor;
          if (left < 0 || top == null) return;
          const row = rows[Math.floor(top / ROW)];
          if (!row) return;
          const time = plot.posToVal(left, "x");
          const near = 2 * (plot.scales.x.max - plot.scales.x.min) / plot.over.clientWidth;
          const bar = find(row, time + near);
          // The pointer's way would be read aloud.
          words.removeAttribute("aria-live");
          words.textContent = bar >= 0 && row.end[bar] + near >= time ? `${row.name}: ${about(row, bar)}` : hint;
        }],
      },
    }, [[0, total], [null, null]]);
    of?.add(plot);
    place.after(words);
    const choose = (row, bar) => {
      chosen = { row: Math.min(Math.max(row, 0), rows.length - 1), at: bar };
      const track = rows[chosen.row];
      chosen.at = Math.min(bar, track.start.length - 1);
      words.setAttribute("aria-live", "polite");
      words.textContent = `${track.name}: ${chosen.at < 0 ? `${track.start.length} bars` : about(track, chosen.at)}`;
      const [min, max] = [plot.scales.x.min, plot.scales.x.max];
      if (chosen.at >= 0 && of && (track.start[chosen.at] < min || track.end[chosen.at] > max)) {
        const middle = (track.start[chosen.at] + track.end[chosen.at]) / 2;
        of.show(middle - (max - min) / 2, middle + (max - min) / 2);
      }
      plot.redraw(false);
    };
    const keys = {
      ArrowDown: () => choose(chosen.row + 1, -1), ArrowUp: () => choose(chosen.row - 1, -1),
      n: () => choose(chosen.row, chosen.at + 1), p: () => choose(chosen.row, Math.max(chosen.at - 1, 0)),
    };
    place.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
      keys[event.key]();
      event.preventDefault();
    });
    return plot;
  }

  /** Lines of Mb/s over `x`. A line has `name`, `colour`, and perhaps `dash` and `fill`. */
  function rates(place, { lines, data, x, height = 170, zoom: of }) {
    const top = (plot, low, high) => [0, Math.max(high ?? 0, 0.1) * 1.08];
    const stepped = uPlot.paths.stepped({ align: 1 });
    const plot = chart(place, height, {
      padding: [8, RIGHT, 0, 0],
      scales: { x: { time: false }, y: { range: top } },
      axes: [axis(x), axis("Mb/s", { size: LEFT - 20 })],
      legend: { show: true, live: true, markers: { width: 2, fill: () => "transparent",
        stroke: (plot, at) => `var(--${lines[at - 1].colour})`,
        dash: (plot, at) => (!lines[at - 1].dash ? "solid" : lines[at - 1].dash[0] < 3 ? "dotted" : "dashed") } },
      series: [
        { label: "at", value: (plot, value) => (value == null ? "–" : value.toPrecision(5)) },
        ...lines.map((line) => ({
          label: line.name, stroke: () => colour(line.colour), width: line.fill && lines.length > 2 ? 1 : 2, dash: line.dash,
          fill: line.fill ? () => `${colour(line.colour)}22` : undefined, paths: stepped, points: { show: false },
          value: (plot, value) => (value == null ? "–" : `${mbps(value)} Mb/s`),
        })),
      ],
      cursor: { y: false, drag: { x: Boolean(of), y: false } },
      hooks: { setScale: of ? [of.hook] : [] },
    }, data);
    of?.add(plot);
    return plot;
  }

  return { count, duration, key, mbps, rates, sortable, table, timeline, unitOf, zoom };
})();

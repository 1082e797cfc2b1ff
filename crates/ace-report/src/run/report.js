// SPDX-License-Identifier: Apache-2.0
// Draws what the page's data has. Every figure in it was computed by `ace run`.
"use strict";
(() => {
  const run = JSON.parse(document.getElementById("run").textContent);
  document.querySelectorAll("table.sortable").forEach(Ace.sortable);
  const DASHES = [[8, 3], [2, 3], [10, 3, 2, 3], [5, 5], [1, 4]];

  function draw(figure, board) {
    const [unit, scale] = Ace.unitOf(board.total);
    const total = board.total / scale;
    const x = `modelled time, ${unit}`;
    const rows = board.rows.map((row) => {
      let at = 0;
      const start = row.start.map((delta) => (at += delta) / scale);
      return { ...row, start, end: start.map((from, n) => from + row.took[n] / scale) };
    });
    const said = (from, to) => `${Ace.duration(from * scale)} to ${Ace.duration(to * scale)}`;
    const zoom = Ace.zoom(figure, total, said);

    // The associations with most bytes have lines of their own, in the colours behind those of configurations.
    const bytes = run.sas.map(() => 0);
    board.packets.sa.forEach((sa, n) => { bytes[sa] = (bytes[sa] ?? 0) + board.packets.bytes[n]; });
    const order = [...bytes.keys()].filter((sa) => bytes[sa] > 0).sort((a, b) => bytes[b] - bytes[a]);
    const own = order.length > DASHES.length ? order.slice(0, DASHES.length - 1) : order;
    const rest = order.length - own.length;
    const used = board.kinds.filter((kind) => kind.named).length;
    const one = (name, n) => ({ name, colour: `c${(used + n) % run.colours}`, dash: DASHES[n] });
    const lines = [{ name: "all SAs", colour: "ink", fill: true }];
    if (order.length > 1) lines.push(...own.map((sa, n) => one(run.sas[sa] ?? "?", n)));
    if (rest > 0) lines.push(one(`${rest} others`, own.length));
    const lineOf = new Map(own.map((sa, n) => [sa, n + 1]));
    const ends = board.packets.end.map((end) => end / scale);
    const bins = (from, to) => {
      const count = Math.min(Math.max(Math.floor(figure.clientWidth / 10), 12), 100);
      const wide = (to - from) / count;
      const sums = lines.map(() => new Array(count + 1).fill(0));
      ends.forEach((end, n) => {
        if (end < from || end > to) return;
        const bin = Math.min(Math.floor((end - from) / wide), count - 1);
        sums[0][bin] += board.packets.bytes[n];
        if (lines.length > 1) sums[lineOf.get(board.packets.sa[n]) ?? lines.length - 1][bin] += board.packets.bytes[n];
      });
      const rate = 8 / (wide * scale * 1e-9) / 1e6;
      for (const sum of sums) {
        for (let bin = 0; bin < count; bin += 1) sum[bin] *= rate;
        sum[count] = sum[count - 1];
      }
      return [Array.from({ length: count + 1 }, (_, bin) => from + bin * wide), ...sums];
    };
    const rates = Ace.rates(figure.querySelector(".rates"), { lines, data: bins(0, total), x, zoom });
    zoom.listen((from, to) => {
      const data = bins(from, to);
      rates.setData(data, false);
      rates.setScale("x", { min: from, max: to });
      rates.setScale("y", { min: 0, max: Math.max(...data[1]) });
    });

    Ace.timeline(figure.querySelector(".bars"), {
      rows, kinds: board.kinds, total, x, zoom,
      label: (row, at) => {
        const kind = board.kinds[row.kind[at]];
        return kind.named ? kind.name : board.words[row.what[at]];
      },
      about: (row, at) => {
        const of = row.packet[at] < 0 ? "" : `: packet ${row.packet[at]} of ${run.sas[row.sa[at]] ?? "?"}`;
        const size = row.bytes[at] < 0 ? "" : `, ${Ace.count.format(row.bytes[at])} bytes`;
        const kind = board.kinds[row.kind[at]];
        const how = kind.striped ? `; ${kind.name}` : "";
        return `${board.words[row.what[at]]}${of}${size}, ${Ace.duration(row.took[at])} from ${Ace.duration(row.start[at] * scale)}${how}`;
      },
    });
  }

  for (const figure of document.querySelectorAll("figure.run")) draw(figure, run.boards[figure.dataset.board]);
})();

// SPDX-License-Identifier: Apache-2.0
"use strict";
const at = (id) => document.getElementById(id);
const words = (text) => ({ text });
const figures = (text) => ({ text, number: true });
const micros = (ns) => (ns == null ? "" : { text: (ns / 1e3).toFixed(2), value: ns });
const seconds = (value) => ({ text: value.toFixed(6), value });
const rate = (value) => ({ text: Ace.mbps(value), value: value ?? -1 });
// A page of thousands of rows is read by nobody: the gateway finds and sorts, and gives so many.
const ROWS = 200;
const turn = { asked: 0, count: 0, timer: 0 };

// ---- throughput

const LINES = [
  { name: "protected", colour: "c0", fill: true },
  { name: "taken back", colour: "exposed", dash: [8, 4] },
];
const history = [[], [], []];
const chart = Ace.rates(at("rate"), { lines: LINES, data: history, x: "time since the gateway began, s", height: 210 });

function rates({ status, protected_mbps: out, decapsulated_mbps: back }) {
  const last = history[0].at(-1);
  // Begun anew.
  if (last !== undefined && status.seconds < last) history.forEach((column) => column.splice(0));
  if (last === status.seconds) return;
  [status.seconds, out, back].forEach((value, n) => history[n].push(value));
  if (history[0].length > 121) history.forEach((column) => column.shift());
  chart.setData(history);
}

// ---- tables

const SLOTS = [words("slot"), words("holds"), figures("loads"), figures("operations")];
const TIMES = [figures("executing, modelled s"), figures("loading, modelled s")];
const slotRows = Ace.table(at("slots"), SLOTS);
const costRows = Ace.table(at("costs"), [words("operation"), figures("bytes from"), figures("processor, µs"), figures("board, µs"),
  words("now"), figures("by processor"), figures("by board")]);
const droppedRows = Ace.table(at("dropped"), [words("where"), words("what"), figures("count")], { column: 2, down: true });

const COLUMNS = ["name", "spi", "direction", "peer", "suite", "packets", "bytes", "mbps", "dropped"];
let order = { column: 7, down: true };
const saRows = Ace.table(at("sas"), [words("name"), words("SPI"), words("direction"), words("peer"), words("suite"),
  figures("packets"), figures("bytes"), figures("Mb/s"), figures("dropped")], order, (now) => {
  order = now;
  ask();
});
let typing = 0;
at("find").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(ask, 150);
});

function sas({ status, sas: shown, found }) {
  saRows(shown.map((sa) => [sa.name, `0x${sa.spi.toString(16)}`, sa.direction, sa.remote, sa.suite,
    sa.counters.forwarded.packets, sa.counters.forwarded.bytes, rate(sa.mbps), sa.dropped]));
  const count = Ace.count.format;
  const text = found === status.sas && shown.length === found ? `all ${count(found)} SAs`
    : `${count(found)} of ${count(status.sas)} SAs found` + (shown.length < found ? `, the first ${count(shown.length)} are shown` : "");
  // What has not changed is not read aloud again.
  if (at("found").textContent !== text) at("found").textContent = text;
}

// ---- loads

let drawn = "";
let zoom = null;
// By configuration; a colour stays when older loads are no longer there.
const colours = new Map();
function loads(board) {
  const all = board?.timeline ?? [];
  at("loading").hidden = all.length === 0;
  const last = all.at(-1);
  const key = JSON.stringify([all.length, last, all[0]]);
  // Whoever looks at a part goes on to see it.
  if (key === drawn || (zoom && !zoom.whole())) return;
  drawn = key;
  if (all.length === 0) {
    at("when").textContent = "None yet.";
    return;
  }
  const begin = all[0].modelled_start_seconds;
  const end = Math.max(...all.map((load) => load.modelled_start_seconds + load.modelled_load_seconds));
  const total = Math.max((end - begin) * 1e9, 1);
  const [unit, scale] = Ace.unitOf(total);
  for (const { configuration } of all) {
    if (!colours.has(configuration)) colours.set(configuration, `c${colours.size % 8}`);
  }
  const kinds = [...new Set(all.map((load) => load.configuration))].map((name) => ({ name, colour: colours.get(name) }));
  kinds.push({ name: "refused", colour: "refused", striped: true });
  const shown = kinds.filter((kind) => !kind.striped || all.some((load) => load.refused));
  const rows = board.slots.map((slot, n) => {
    const mine = all.filter((load) => load.slot === n);
    const start = mine.map((load) => (load.modelled_start_seconds - begin) * 1e9 / scale);
    return {
      name: slot.name, mine, start, end: mine.map((load, n) => start[n] + load.modelled_load_seconds * 1e9 / scale),
      kind: mine.map((load) => (load.refused ? kinds.length - 1 : kinds.findIndex((kind) => kind.name === load.configuration))),
    };
  });
  const focused = document.activeElement === at("loads");
  const place = at("loads").cloneNode(false);
  at("loading").replaceChildren(Ace.key(shown), place);
  zoom = Ace.zoom(at("loading"), total / scale, (from, to) => `${Ace.duration(from * scale)} to ${Ace.duration(to * scale)}`);
  Ace.timeline(place, {
    rows, kinds, total: total / scale, zoom, x: `modelled time since the first of these loads, ${unit}`,
    label: (row, n) => row.mine[n].configuration,
    about: (row, n) => `${row.mine[n].configuration}, ${Ace.duration(row.mine[n].modelled_load_seconds * 1e9)} of modelled time`
      + (row.mine[n].refused ? ", refused" : ""),
  });
  if (focused) place.focus();
  at("when").textContent = `The last ${all.length} loads over ${Ace.duration(total)} of modelled time; the last one: ${last.configuration} into ${board.slots[last.slot]?.name ?? last.slot}, ${Ace.duration(last.modelled_load_seconds * 1e9)}.`;
}

function show(state) {
  const { status, slots } = state;
  const { board } = slots;
  const now = (value) => (value == null ? "–" : Ace.mbps(value));
  at("line").textContent = `${Ace.count.format(status.sas)} SAs, ${now(state.protected_mbps)} Mb/s protected and ${now(state.decapsulated_mbps)} Mb/s taken back.`
    + (slots.board_fails ? ` Every operation on the board has failed so far: ${slots.board_fails}` : "");
  at("about").textContent = `Version ${status.version}, engine ${status.engine}, up ${Math.floor(status.seconds)} s.`
    + (board ? ` Library: ${board.library ?? "none"}.` : "");
  rates(state);
  // Nobody models the time of a board behind a cable.
  const link = board?.link;
  slotRows((board?.slots ?? []).map((slot) => [slot.name, slot.resident ?? "nothing", slot.loads, slot.operations,
    ...(link ? [] : [seconds(slot.modelled_execute_seconds), seconds(slot.modelled_load_seconds)])]),
  link ? SLOTS : [...SLOTS, ...TIMES]);
  at("link").textContent = link
    ? `Behind ${link.interface}: ${link.loss ?? "a session is open"}, ${link.sessions_lost} lost, ${link.sessions_renewed} begun anew; ${link.frames} frames sent, ${link.resent} again; ${link.loads_by_cable} loads over the cable, ${link.loads_by_name} by name.` +
      (link.round_trip_seconds == null ? "" : ` Round trip ${(link.round_trip_seconds * 1e6).toFixed(1)} µs.`)
    : "";
  loads(board);
  costRows(slots.costs.map((cost) => [cost.operation, cost.bytes, micros(cost.cpu_ns), micros(cost.board_ns),
    cost.barred ? `${cost.at} (the board failed)` : cost.at, cost.by_cpu, cost.by_board]));
  sas(state);
  const clear = {covered_but_in_clear: status.clear_dropped ?? 0};
  const causes = [["firewall", clear], ["dropped", status.packets.dropped], ["gateway", status.gateway], ["kernel", status.losses]];
  droppedRows(causes.flatMap(([where, of]) =>
    Object.entries(of).filter(([, count]) => count > 0).map(([what, count]) => [where, what.replaceAll("_", " "), count])));
}

async function ask() {
  clearTimeout(turn.timer);
  turn.asked += 1;
  const number = turn.asked;
  const query = new URLSearchParams({ find: at("find").value, by: COLUMNS[order.column], down: order.down ? 1 : 0, rows: ROWS });
  try {
    const state = await (await fetch(`state.json?${query}`)).json();
    // Somebody has typed on: the answer to an older question is none.
    if (number !== turn.asked) return;
    show(state);
    turn.count += 1;
    document.body.dataset.turns = turn.count;
    document.body.classList.remove("stale");
    document.body.dataset.wide = document.documentElement.scrollWidth > innerWidth;
  } catch (error) {
    if (number !== turn.asked) return;
    at("line").textContent = `The gateway does not answer: ${error.message}`;
    document.body.classList.add("stale");
  }
  turn.timer = setTimeout(ask, 1000);
}
ask();

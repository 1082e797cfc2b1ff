// SPDX-License-Identifier: Apache-2.0
"use strict";
// Names come from files of others: they are put into the page as text, never as markup.
const SVG = "http://www.w3.org/2000/svg";
const at = (id) => document.getElementById(id);
const history = [];

function table(id, heads, rows) {
  const place = at(id);
  place.replaceChildren();
  const line = (cells, kind) => {
    const row = place.insertRow();
    for (const cell of cells) {
      const made = document.createElement(kind);
      made.textContent = cell ?? "";
      if (typeof cell === "number") made.className = "number";
      row.append(made);
    }
  };
  line(heads, "th");
  if (rows.length === 0) line(["none"], "td");
  for (const cells of rows) line(cells, "td");
}

function shape(name, attributes, inside) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (inside) {
    const title = document.createElementNS(SVG, "title");
    title.textContent = inside;
    made.append(title);
  }
  return made;
}

function bits(value) {
  for (const unit of ["bit/s", "kbit/s", "Mbit/s"]) {
    if (value < 1000) return `${value.toPrecision(3)} ${unit}`;
    value /= 1000;
  }
  return `${value.toPrecision(3)} Gbit/s`;
}

function rates(status) {
  const now = [status.seconds, status.packets.protected.bytes, status.packets.decapsulated.bytes];
  history.push(now);
  if (history.length > 121) history.shift();
  const rate = [1, 2].map((n) => history.slice(1).map((one, i) => {
    const took = one[0] - history[i][0];
    return took > 0 ? Math.max(0, (one[n] - history[i][n]) * 8 / took) : 0;
  }));
  const most = Math.max(1, ...rate.flat());
  const lines = rate.map((points, n) => shape("polyline", {
    class: ["one", "two"][n],
    points: points.map((value, i) => `${600 - (points.length - 1 - i) * 5},${118 - value / most * 114}`).join(" "),
  }));
  at("rate").replaceChildren(...lines);
  at("out").textContent = bits(rate[0].at(-1) ?? 0);
  at("in").textContent = bits(rate[1].at(-1) ?? 0);
}

function loads(board) {
  const picture = at("loads");
  const all = board?.timeline ?? [];
  picture.replaceChildren();
  if (all.length === 0) {
    at("when").textContent = "None yet.";
    return;
  }
  const begin = all[0].modelled_start_seconds;
  const end = Math.max(...all.map((load) => load.modelled_start_seconds + load.modelled_load_seconds));
  const scale = 598 / Math.max(end - begin, 1e-9);
  picture.setAttribute("viewBox", `0 0 600 ${board.slots.length * 18 + 4}`);
  for (const load of all) {
    const words = `${load.configuration} into slot ${load.slot}: ${(load.modelled_load_seconds * 1e3).toFixed(2)} ms of modelled time`;
    picture.append(shape("rect", {
      class: load.refused ? "load refused" : "load",
      x: 1 + (load.modelled_start_seconds - begin) * scale, y: 3 + load.slot * 18,
      width: Math.max(1.5, load.modelled_load_seconds * scale), height: 14,
    }, words));
  }
  const last = all.at(-1);
  at("when").textContent = `The last ${all.length} loads over ${(end - begin).toFixed(6)} s of modelled time, one line a slot; the last one: ${last.configuration} into slot ${last.slot}.`;
}

function show({ status, sas, slots }) {
  const { board } = slots;
  at("line").textContent = `Version ${status.version}, engine ${status.engine}, ${status.sas} SAs, up ${Math.floor(status.seconds)} s.` +
    (board ? ` Library: ${board.library ?? "none"}.` : "") +
    (slots.board_fails ? ` Every operation on the board has failed so far: ${slots.board_fails}` : "");
  rates(status);
  // Nobody models the time of a board behind a cable.
  const link = board?.link;
  const modelled = link ? [] : ["executing, modelled s", "loading, modelled s"];
  table("slots", ["slot", "holds", "loads", "operations", ...modelled],
    (board?.slots ?? []).map((slot) => [slot.name, slot.resident ?? "nothing", slot.loads, slot.operations,
      ...(link ? [] : [slot.modelled_execute_seconds.toFixed(6), slot.modelled_load_seconds.toFixed(6)])]));
  at("link").textContent = link
    ? `Behind ${link.interface}: ${link.loss ?? "a session is open"}, ${link.sessions_lost} lost, ${link.sessions_renewed} begun anew; ${link.frames} frames sent, ${link.resent} again; ${link.loads_by_cable} loads over the cable, ${link.loads_by_name} by name.` +
      (link.round_trip_seconds == null ? "" : ` Round trip ${(link.round_trip_seconds * 1e6).toFixed(1)} us.`)
    : "";
  loads(board);
  const micros = (ns) => (ns == null ? "" : (ns / 1e3).toFixed(2));
  table("costs", ["operation", "bytes from", "processor us", "board us", "now", "by processor", "by board"],
    slots.costs.map((cost) => [cost.operation, cost.bytes, micros(cost.cpu_ns), micros(cost.board_ns),
      cost.barred ? `${cost.at} (the board failed)` : cost.at, cost.by_cpu, cost.by_board]));
  // A page of thousands of rows is read by nobody; `ace gateway sas` has them all.
  table("sas", ["name", "SPI", "direction", "peer", "suite", "packets", "bytes", "dropped"],
    sas.slice(0, 200).map((sa) => [sa.name, `0x${sa.spi.toString(16)}`, sa.direction, sa.remote,
      sa.auth === "none" ? sa.cipher : `${sa.cipher} + ${sa.auth}`, sa.counters.forwarded.packets,
      sa.counters.forwarded.bytes, Object.values(sa.counters.dropped).reduce((sum, count) => sum + count, 0)]));
  const clear = {covered_but_in_clear: status.clear_dropped ?? 0};
  const causes = [["firewall", clear], ["dropped", status.packets.dropped], ["gateway", status.gateway], ["kernel", status.losses]];
  table("dropped", ["where", "what", "count"], causes.flatMap(([where, of]) =>
    Object.entries(of).filter(([, count]) => count > 0).map(([what, count]) => [where, what.replaceAll("_", " "), count])));
}

async function turn() {
  try {
    show(await (await fetch("state.json")).json());
    document.body.classList.remove("stale");
    document.body.dataset.turns = history.length;
    document.body.dataset.wide = document.documentElement.scrollWidth > innerWidth;
  } catch (error) {
    at("line").textContent = `The gateway does not answer: ${error.message}`;
    document.body.classList.add("stale");
  }
  setTimeout(turn, 1000);
}
turn();

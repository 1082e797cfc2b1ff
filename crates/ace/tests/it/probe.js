// SPDX-License-Identifier: Apache-2.0
// Runs in a page in a frame, and leaves what it found where `--dump-dom` shows it. `own` is what a test looks for besides.
addEventListener("load", async () => {
  const pause = (time = 60) => new Promise((done) => { setTimeout(done, time); });
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = (colour) => {
    const [r, g, b] = parts(colour);
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  };
  const press = (element, key) => element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  /** How many colours a canvas has: one that nobody has drawn on has one. */
  const colours = (canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let at = 0; at < data.length; at += 4) seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
    return seen.size;
  };
  const found = {};
  try {
    await pause(300);
    const ground = luminance(getComputedStyle(document.body).backgroundColor);
    found.width = innerWidth;
    found.night = ground < 0.2;
    found.scrolls = document.documentElement.scrollWidth > innerWidth;
    const seen = [...document.querySelectorAll("main *")].filter((e) => !e.closest(".unseen, .plot, noscript") && e.getClientRects().length > 0);
    found.cut = seen.filter((e) => e.getBoundingClientRect().right > innerWidth + 1 || e.scrollWidth > e.clientWidth + 1
      && e.clientWidth > 0 && getComputedStyle(e).overflowX !== "visible").map((e) => e.outerHTML.slice(0, 120));
    [found.worst, found.small] = [99, 99];
    for (const e of seen.filter((e) => e.matches("h1,h2,h3,p,td,th,li,a,output,figcaption,button"))) {
      const style = getComputedStyle(e);
      const ink = luminance(style.color);
      found.worst = Math.min(found.worst, (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05));
      if (e.textContent) found.small = Math.min(found.small, parseFloat(style.fontSize));
    }
    found.canvases = [...document.querySelectorAll("canvas")].map(colours);
    found.own = await window.own({ pause, press });
    found.violations = [];
    if (window.axe) {
      const { violations, passes } = await axe.run(document, { resultTypes: ["violations"] });
      found.violations = violations.filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
      found.rules = passes.length;
    }
  } catch (error) {
    found.error = `${error} ${error.stack}`;
  }
  parent.document.body.dataset.found = JSON.stringify(found);
});

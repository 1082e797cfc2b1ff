// SPDX-License-Identifier: Apache-2.0
//! The report and the gateway's page in a browser: wide and narrow, by day and by night, by keys and as axe-core judges
//! them. Pictures of them stay in build/screenshots.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{TRAFFIC, ace, built, installed, root, stderr};

const PROBE: &str = include_str!("probe.js");

/// axe-core, which says what who uses keys or a screen reader cannot use. npm brings it, pinned in flow/prose; `None`, and
/// words about it, where it is not.
fn axe() -> Option<String> {
    let path = root().join(".venv-prose/node_modules/axe-core/axe.min.js");
    let text = fs::read_to_string(&path).ok();
    assert!(
        text.is_some() || std::env::var_os("CI").is_none(),
        "CI has no {}: make test-code",
        path.display()
    );
    if text.is_none() {
        eprintln!("no {} (make lint, make test-code): nothing was checked with axe-core", path.display());
    }
    text
}

fn chromium(profile: &Path, args: &[&str], page: &Path) -> Vec<u8> {
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"])
        .arg("--force-device-scale-factor=1")
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(args)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("chromium starts");
    assert!(output.status.success(), "{}", stderr(&output));
    output.stdout
}

/// What of a page was found in one of its four looks.
struct Look {
    what: String,
    own: Value,
}

/// Opens a page in all four looks, checks what is true of every page, and gives what `own` of the script has found in each.
fn looks(name: &str, page: &str, script: &str, heights: [u32; 2]) -> Vec<Look> {
    let folder = tempfile::tempdir().expect("a folder");
    let axe = axe();
    let scripts = format!("<script>{script}</script><script>{PROBE}</script>");
    let quoted = |page: String| page.replace('&', "&amp;").replace('"', "&quot;");
    let shown = quoted(page.to_owned());
    let axed = axe.as_ref().map_or(String::new(), |axe| format!("<script>{axe}</script>"));
    let probed = quoted(page.replace("</body>", &format!("{axed}{scripts}</body>")));
    let pictures = root().join("build/screenshots");
    fs::create_dir_all(&pictures).expect("a folder");
    let pictures = pictures.canonicalize().expect("a folder");
    let mut all = Vec::new();
    for (width, height) in [1200, 400].into_iter().zip(heights) {
        // In a frame: a window of its own is never narrower than 500.
        let framed = |kind: &str, page: &str| {
            let path = folder.path().join(format!("{kind}-{width}.html"));
            let frame = format!(
                "<!doctype html><meta charset=\"utf-8\"><html style=\"color-scheme:light dark\"><body style=\"margin:0\"><iframe \
                 style=\"border:0\" width=\"{width}\" height=\"{height}\" srcdoc=\"{page}\"></iframe></body></html>"
            );
            fs::write(&path, frame).expect("written");
            path
        };
        let (shown, probed) = (framed("shown", &shown), framed("probed", &probed));
        for (time, scheme) in [("day", 1), ("night", 0)] {
            let size = format!("--window-size={width},{height}");
            let scheme = format!("--blink-settings=preferredColorScheme={scheme}");
            let picture = pictures.join(format!("{name}-{width}-{time}.png"));
            let shot = format!("--screenshot={}", picture.display());
            let budget = "--virtual-time-budget=20000";
            chromium(folder.path(), &[&size, &scheme, budget, &shot], &shown);
            assert!(fs::metadata(&picture).is_ok_and(|m| m.len() > 20_000), "{}", picture.display());
            let dom = chromium(folder.path(), &[&size, &scheme, budget, "--dump-dom"], &probed);
            let dom = String::from_utf8_lossy(&dom).into_owned();
            let found = dom.split("data-found=\"").nth(1).and_then(|rest| rest.split('"').next());
            let found = found.expect("the probe ran").replace("&quot;", "\"").replace("&lt;", "<");
            let found = found.replace("&gt;", ">").replace("&amp;", "&");
            let what = format!("{name} {width} {time}: {found}");
            let found: Value = serde_json::from_str(&found).expect("what the probe found");
            assert_eq!(found["error"], Value::Null, "{what}");
            assert_eq!(found["width"], json!(width), "{what}");
            assert_eq!(found["night"], json!(time == "night"), "{what}");
            assert_eq!((&found["scrolls"], &found["cut"]), (&json!(false), &json!([])), "cut off: {what}");
            assert!(found["worst"].as_f64() >= Some(4.5), "AA wants a contrast of 4.5: {what}");
            assert!(found["small"].as_f64() >= Some(12.0), "text too small to be read: {what}");
            let canvases = found["canvases"].as_array().expect("a list");
            assert!(
                !canvases.is_empty() && canvases.iter().all(|c| c.as_u64() > Some(5)),
                "not drawn: {what}"
            );
            assert_eq!(found["violations"], json!([]), "{what}");
            assert!(axe.is_none() || found["rules"].as_u64() > Some(10), "axe-core ran: {what}");
            all.push(Look { what, own: found["own"].clone() });
        }
    }
    all
}

/// What is looked for in a report: keys, a drag, tables that sort, and that figures of both languages are the same.
const REPORT: &str = r#"window.own = async ({ pause, press }) => {
  const figure = document.querySelector("figure.run");
  const [bars, told] = [figure.querySelector(".bars"), figure.querySelector("output")];
  const whole = told.textContent;
  const windows = [];
  for (const key of ["+", "ArrowRight", "-", "Home"]) {
    press(bars, key);
    await pause();
    windows.push(told.textContent);
  }
  // From a quarter to a half of the throughput's width: all charts of the figure follow.
  const over = figure.querySelector(".rates .u-over");
  const { left, top, width, height } = over.getBoundingClientRect();
  const mouse = (type, part, on = over) => on.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true, view: window,
    clientX: left + width * part, clientY: top + height / 2, movementX: 9, button: 0, buttons: type === "mouseup" ? 0 : 1 }));
  mouse("mouseenter", 0.25); mouse("mousemove", 0.25); mouse("mousedown", 0.25);
  await pause();
  mouse("mousemove", 0.5, document); mouse("mousemove", 0.5);
  await pause();
  mouse("mouseup", 0.5, document); mouse("mouseup", 0.5);
  await pause();
  const dragged = told.textContent;
  bars.querySelector(".u-over").dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
  await pause();
  const reset = told.textContent;
  press(bars, "n");
  await pause();
  const first = figure.querySelector("figcaption").textContent;
  const heads = document.querySelector("table.sortable").tHead.rows[0].cells;
  heads[4].firstChild.click();
  const sorted = [...document.querySelector("table.sortable").tBodies[0].rows].map((row) => Number(row.cells[4].dataset.value));
  return { whole, windows, dragged, reset, first, sorted, order: heads[4].getAttribute("aria-sort"),
    lead: document.querySelector(".lead").textContent, lies: SAMPLES.filter(([ns, text]) => Ace.duration(ns) !== text),
    key: [...figure.querySelectorAll(".key li")].map((li) => [li.textContent, getComputedStyle(li.firstChild).backgroundColor]),
    first_screen: bars.getBoundingClientRect().bottom };
};"#;

#[test]
fn the_report_can_be_read_and_used_wide_and_narrow_by_day_and_by_night() {
    if !built() || !installed("chromium") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("out.pcap");
    let args =
        ["run", TRAFFIC, "--sas", "tests/demo/protect.toml", "--unsigned", "--policy", "both", "--report"];
    let out = ace(&args, &[folder.path(), "-o".as_ref(), &output]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let page = fs::read_to_string(folder.path().join("report.html")).expect("a page");
    let samples = [0, 1, 12, 999, 1_000, 12_345, 999_000, 1_234_567, 99_900_000, 2_500_000_000_u64];
    let samples = samples.map(|ns| (ns, ace_report::run::duration(ns * 1000)));
    let script = format!("const SAMPLES = {};{REPORT}", json!(samples));
    let total = |of: &Value| {
        let text = of.as_str().expect("a window");
        let (from, to) = text.split_once(" to ").expect("from where to where");
        let ns = |text: &str| {
            let (value, unit) = text.split_once(' ').expect("a figure and a unit");
            let unit = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)]
                .into_iter()
                .find(|(name, _)| *name == unit);
            value.parse::<f64>().expect("a figure") * unit.expect("a unit").1
        };
        (ns(from), ns(to))
    };
    for Look { what, own } in looks("report", &page, &script, [2600, 5200]) {
        let whole = total(&own["whole"]);
        assert!(whole.0 == 0.0 && whole.1 > 1e6, "{what}");
        let windows: Vec<(f64, f64)> = own["windows"].as_array().expect("a list").iter().map(total).collect();
        let near = |a: f64, b: f64| (a - b).abs() < 0.02 * whole.1;
        let wanted = [(0.25, 0.75), (0.375, 0.875), (0.0, 1.0), (0.0, 1.0)];
        for ((from, to), wanted) in windows.iter().zip(wanted) {
            let fits = near(*from, wanted.0 * whole.1) && near(*to, wanted.1 * whole.1);
            assert!(fits, "{from} to {to}, wanted {wanted:?}: {what}");
        }
        assert_eq!(windows[3], whole, "{what}");
        let (from, to) = total(&own["dragged"]);
        assert!(near(from, 0.25 * whole.1) && near(to, 0.5 * whole.1), "a drag shows its part: {what}");
        assert_eq!(total(&own["reset"]), whole, "a double click shows the whole: {what}");
        assert!(own["first"].as_str().is_some_and(|text| text.starts_with("slot 0: load ")), "{what}");
        let sorted: Vec<f64> =
            own["sorted"].as_array().expect("rows").iter().filter_map(Value::as_f64).collect();
        assert!(sorted.len() > 1 && sorted.is_sorted_by(|a, b| a >= b), "{what}");
        assert_eq!((&own["order"], &own["lies"]), (&json!("descending"), &json!([])), "{what}");
        let lead = own["lead"].as_str().expect("a sentence");
        for part in [
            "277 packets of 4 SAs went through 2 slots in ",
            " Mb/s); ",
            "hidden behind work",
            "none dropped",
        ] {
            assert!(lead.contains(part), "{part}: {what}");
        }
        // Names and colours, each once.
        let key = own["key"].as_array().expect("a list");
        for name in ["aes", "3des", "md5", "sha1", "host link", "idle"] {
            assert!(
                key.iter().any(|one| one[0].as_str().is_some_and(|text| text.starts_with(name))),
                "{name}: {what}"
            );
        }
        let mut colours: Vec<String> = key.iter().map(|one| one[1].to_string()).collect();
        colours.sort_unstable();
        colours.dedup();
        assert_eq!(colours.len(), key.len(), "a colour for each: {what}");
        let narrow = what.contains(" 400 ");
        assert!(
            narrow || own["first_screen"].as_f64() < Some(800.0),
            "the first screen has the picture: {what}"
        );
    }
}

/// What is looked for in the gateway's page: that keys sort and that what is typed is looked for, and its time.
#[cfg(target_os = "linux")]
const GATEWAY: &str = r##"window.own = async ({ pause }) => {
  const sas = document.querySelector("#sas");
  const before = sas.tBodies[0].rows.length;
  const bytes = sas.tHead.rows[0].cells[6];
  bytes.firstChild.focus();
  bytes.firstChild.click();
  await pause(300);
  const sorted = [bytes.getAttribute("aria-sort"), document.activeElement === bytes.firstChild];
  const find = document.querySelector("#find");
  find.value = "branch-0999";
  find.dispatchEvent(new Event("input", { bubbles: true }));
  await pause(600);
  const rows = [...sas.tBodies[0].rows].map((row) => row.cells[0].textContent);
  const axes = [...document.querySelectorAll(".u-axis")].length;
  return { before, sorted, rows, asked: ASKED, axes, found: document.querySelector("#found").textContent,
    line: document.querySelector("#line").textContent, images: document.images.length, turns: document.body.dataset.turns };
};"##;

#[cfg(target_os = "linux")]
#[test]
fn the_page_of_a_gateway_with_ten_thousand_sas_can_be_read_and_used() {
    use ace_gateway::engines::{BoardView, CostView, LoadView, Place, SlotView, View};
    use ace_gateway::shown::{Query, Samples};
    use ace_gateway::status::{Sa, SaCounters, State, Status, Traffic};

    if !installed("chromium") {
        return;
    }
    let sa = |id: u32, seconds: f64| Sa {
        id,
        // A name that would be markup, were it not text.
        name: if id == 9_998 { "<img src=x onerror=alert(1)>".to_owned() } else { format!("branch-{id:05}") },
        spi: 0x1000 + id,
        direction: if id.is_multiple_of(2) { "out" } else { "in" }.to_owned(),
        remote: Some(std::net::IpAddr::from([10, 1, (id / 250) as u8, (id % 250) as u8])),
        cipher: "aes-128-cbc".to_owned(),
        auth: "hmac-sha1-96".to_owned(),
        counters: SaCounters {
            forwarded: Traffic { packets: u64::from(id), bytes: (f64::from(id) * seconds * 1e3) as u64 },
            ..SaCounters::default()
        },
        ..Sa::default()
    };
    let state = |seconds: f64| {
        let mut status = Status { version: "1".to_owned(), seconds, sas: 10_000, ..Status::default() };
        status.figures.engine = "auto".to_owned();
        let packets = &mut status.figures.packets;
        packets.protected.bytes = ((30.0 * seconds - (seconds / 3.0).cos() * 40.0) * 1e6) as u64;
        packets.decapsulated.bytes = ((12.0 * seconds + (seconds / 5.0).sin() * 20.0) * 1e6) as u64;
        packets.dropped = [("replayed".to_owned(), 7), ("no_sa".to_owned(), 1_234)].into();
        let slot = |at: usize, resident: &str| SlotView {
            name: format!("slot {at}"),
            resident: Some(resident.to_owned()),
            loads: 3 + at as u64,
            operations: 12_345,
            modelled_execute_seconds: 0.25,
            modelled_load_seconds: 0.0125,
            ..SlotView::default()
        };
        let load = |(at, name): (usize, &&str)| LoadView {
            slot: at % 2,
            configuration: (*name).to_owned(),
            modelled_start_seconds: 1.0 + 0.004 * at as f64,
            modelled_load_seconds: 0.0026,
            refused: at == 5,
            ..LoadView::default()
        };
        let names = ["aes", "sha1", "3des", "md5", "aes", "camellia", "sha1"];
        let board = BoardView {
            slots: vec![slot(0, "aes"), slot(1, "sha1")],
            timeline: names.iter().enumerate().map(load).collect(),
            ..BoardView::default()
        };
        let cost = CostView {
            operation: "aes".to_owned(),
            bytes: 1024,
            cpu_ns: Some(812.0),
            board_ns: Some(40_321.0),
            at: Place::Cpu,
            by_cpu: 123_456,
            ..CostView::default()
        };
        let slots = View { board: Some(board), costs: vec![cost], ..View::default() };
        State { status, sas: (0..10_000).map(|id| sa(id, seconds)).collect(), slots }
    };
    let mut samples = Samples::default();
    let mut turns = Vec::new();
    let mut last = None;
    for second in 0..60 {
        let state = state(100.0 + f64::from(second));
        let shown = samples.shown(&state, &Query::of("find=&by=mbps&down=1&rows=200"));
        turns.push(serde_json::to_value(&shown).expect("JSON"));
        last = Some(
            serde_json::to_value(samples.shown(&state, &Query::of("find=branch-0999&rows=200")))
                .expect("JSON"),
        );
    }
    let full = turns.last().expect("a turn").clone();
    // Only the first row of earlier turns: that much is drawn of them.
    for turn in &mut turns[..59] {
        turn["sas"].as_array_mut().expect("rows").truncate(1);
    }
    let data = ace_charts::embedded(&json!([turns, last, full]).to_string());
    let file = |name: &str| {
        let path = root().join("crates/ace-gateway/src/page").join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    // All that the server gives, in one file; the answers to what the page asks are there before.
    let server = format!(
        "<script type=\"application/json\" id=\"data\">{data}</script><script>\
         const [TURNS, FOUND, FULL] = JSON.parse(document.getElementById('data').textContent), ASKED = [];\
         window.fetch = async (url) => {{ ASKED.push(String(url)); return {{ json: async () => String(url).includes('branch-0999') \
         ? FOUND : FULL }}; }};</script>"
    );
    let scripts = format!(
        "{server}<script>{}</script><script>{}</script><script>{};TURNS.forEach(show);</script>",
        ace_charts::UPLOT_JS,
        ace_charts::JS,
        file("page.js")
    );
    let style = format!("<style>{}{}</style></head>", ace_charts::UPLOT_CSS, ace_charts::CSS);
    let page: String = file("page.html")
        .lines()
        .filter(|line| !line.contains("<script") && !line.contains("<link"))
        .collect();
    let page = page.replace("</head>", &style).replace("</body>", &format!("{scripts}</body>"));
    // A turn of 200 rows out of ten thousand, once a second; by the clock, which stands still for the looks below.
    let folder = tempfile::tempdir().expect("a folder");
    let timed = folder.path().join("timed.html");
    let timer = "const began = performance.now(); for (let n = 0; n < 5; n += 1) show(FULL); \
                 document.body.dataset.each = (performance.now() - began) / 5;";
    fs::write(&timed, page.replace("</body>", &format!("<script>{timer}</script></body>"))).expect("written");
    let dom = String::from_utf8_lossy(&chromium(folder.path(), &["--dump-dom"], &timed)).into_owned();
    let each = dom.split("data-each=\"").nth(1).and_then(|rest| rest.split('"').next()?.parse::<f64>().ok());
    eprintln!("a turn of the page takes {each:?} ms");
    assert!(each > Some(0.0) && each < Some(400.0), "{each:?} ms");
    for Look { what, own } in looks("gateway-page", &page, GATEWAY, [1900, 3200]) {
        assert_eq!(own["before"], 200, "{what}");
        assert_eq!(own["sorted"], json!(["descending", true]), "the focus stays: {what}");
        assert_eq!(
            own["rows"].as_array().map(Vec::len),
            Some(9),
            "what was looked for, and a name with markup: {what}"
        );
        assert_eq!((&own["found"], &own["images"]), (&json!("9 of 10,000 SAs found"), &json!(0)), "{what}");
        let asked = own["asked"].as_array().expect("a list");
        for part in ["by=mbps&down=1&rows=200", "by=bytes&down=1", "find=branch-0999"] {
            assert!(
                asked.iter().any(|url| url.as_str().is_some_and(|url| url.contains(part))),
                "{part}: {what}"
            );
        }
        assert!(
            own["line"]
                .as_str()
                .is_some_and(|line| line.starts_with("10,000 SAs, ") && line.contains(" Mb/s protected")),
            "{what}"
        );
        assert!(own["axes"].as_u64() >= Some(3), "{what}");
    }
}

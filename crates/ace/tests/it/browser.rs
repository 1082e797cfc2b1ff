// SPDX-License-Identifier: Apache-2.0
//! The report in a browser: wide and narrow, by day and by night. Pictures of it stay in build/screenshots.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{TRAFFIC, ace, built, installed, root, stderr};

/// Runs in the page and leaves what it found where `--dump-dom` shows it.
const PROBE: &str = r#"<script>addEventListener("load",()=>{
const rgb=c=>c.match(/[\d.]+/g).map(Number),f=v=>(v/=255,v<=.04045?v/12.92:((v+.055)/1.055)**2.4);
const lum=c=>{const[r,g,b]=rgb(c);return .2126*f(r)+.7152*f(g)+.0722*f(b)};
const ground=getComputedStyle(document.body).backgroundColor;let worst=99,small=99;
for(const e of document.querySelectorAll("h1,h2,h3,p,td,th,li,a,svg text:not(.on)")){
 const s=getComputedStyle(e),c=lum(e.namespaceURI.endsWith("svg")?s.fill:s.color),g=lum(ground);
 worst=Math.min(worst,(Math.max(c,g)+.05)/(Math.min(c,g)+.05));
 const t=e.namespaceURI.endsWith("svg")?e.getBoundingClientRect().height/1.17:parseFloat(s.fontSize);
 if(e.textContent)small=Math.min(small,t)}
const out=[...document.querySelectorAll("body>*")].filter(e=>e.getBoundingClientRect().right>innerWidth+1);
parent.document.body.dataset.found=JSON.stringify({width:innerWidth,overflow:out.length,worst,small,night:lum(ground)<.2,
 bars:document.querySelectorAll("rect>title").length,tracks:document.querySelectorAll("rect.idle").length,
 tables:[...document.querySelectorAll(".wide table")].filter((e,i)=>i<1&&e.scrollWidth>e.parentNode.clientWidth).length})
})</script>"#;

#[derive(serde::Deserialize)]
struct Found {
    width: f64,
    overflow: usize,
    worst: f64,
    small: f64,
    night: bool,
    bars: usize,
    tracks: usize,
    tables: usize,
}

fn chromium(profile: &Path, args: &[&str], page: &Path) -> Vec<u8> {
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(args)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("chromium starts");
    assert!(output.status.success(), "{}", stderr(&output));
    output.stdout
}

#[test]
fn the_report_can_be_read_wide_and_narrow_by_day_and_by_night() {
    if !built() {
        return;
    }
    if !installed("chromium") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("out.pcap");
    let args =
        ["run", TRAFFIC, "--sas", "tests/demo/protect.toml", "--unsigned", "--policy", "both", "--report"];
    let out = ace(&args, &[folder.path(), "-o".as_ref(), &output]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let page = fs::read_to_string(folder.path().join("report.html")).expect("a page");
    let probed = page.replace("</body>", &format!("{PROBE}</body>"));
    let probed = probed.replace('&', "&amp;").replace('"', "&quot;");

    let pictures = root().join("build/screenshots");
    fs::create_dir_all(&pictures).expect("a folder");
    let pictures = pictures.canonicalize().expect("a folder");
    for (width, height) in [(1200, 1900), (400, 2700)] {
        // In a frame: a window of its own is never narrower than 500.
        let framed = folder.path().join(format!("framed-{width}.html"));
        let frame = format!(
            "<!doctype html><html style=\"color-scheme:light dark\"><body style=\"margin:0\"><iframe \
             style=\"border:0\" width=\"{width}\" height=\"{height}\" srcdoc=\"{probed}\"></iframe></body></html>"
        );
        fs::write(&framed, frame).expect("written");
        for (time, scheme) in [("day", 1), ("night", 0)] {
            let size = format!("--window-size={width},{height}");
            let scheme = format!("--blink-settings=preferredColorScheme={scheme}");
            let picture = pictures.join(format!("report-{width}-{time}.png"));
            let shot = format!("--screenshot={}", picture.display());
            chromium(folder.path(), &[&size, &scheme, &shot], &framed);
            assert!(fs::metadata(&picture).is_ok_and(|m| m.len() > 20_000), "{}", picture.display());
            let dom = chromium(folder.path(), &[&size, &scheme, "--dump-dom"], &framed);
            let dom = String::from_utf8_lossy(&dom).into_owned();
            let found = dom.split("data-found=\"").nth(1).and_then(|rest| rest.split('"').next());
            let found = found.expect("the probe ran").replace("&quot;", "\"");
            let what = format!("{width} {time}: {found}");
            let found: Found = serde_json::from_str(&found).expect("what the probe found");
            assert_eq!(found.width, f64::from(width), "{what}");
            assert_eq!(found.night, time == "night", "{what}");
            assert_eq!((found.overflow, found.tables), (0, 0), "something is cut off at the side: {what}");
            assert!(found.worst >= 4.5, "AA wants a contrast of 4.5: {what}");
            assert!(found.small >= 10.0, "text too small to be read: {what}");
            // Two slots and the link, of each policy from beginning to end and in detail.
            assert!(found.tracks == 12 && found.bars > 100, "{what}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! `ace library verify`: every configuration as it was signed and proven, every context set as a slot would read it,
//! within its bounds, and what its source says (a set that is not has no count, but a problem that names it).

use ace_board::library::{
    configurations, is_board_image, tied_by_proof, verify as verify_image, verify_board_image,
};
use ace_library::FileError;
use anyhow::Result;
use serde_json::json;

use super::args::{ReadArgs, and_images, and_sets, counted, signers, version_and_signers, warned};
use crate::page::Output;
use ace_board::array::signed;
use ace_report::{Outcome, print_json, say};

#[derive(clap::Args)]
pub struct Verify {
    #[command(flatten)]
    read: ReadArgs,
}

pub fn verify(page: &mut Output, args: &Verify) -> Result<Outcome> {
    let path = args.read.file.existing()?;
    let guard = args.read.guard()?;
    let mut problems = Vec::new();
    let (mut checked, mut images, mut sets, mut as_sources) = (0, 0, 0, 0);
    let mut opened = None;
    match guard.open(&path) {
        Ok(found) => {
            for image in found.library.images().iter().filter(|image| is_board_image(image)) {
                match verify_board_image(&found.library, image) {
                    Ok(_) => images += 1,
                    Err(problem) => problems.push(problem.to_string()),
                }
            }
            for image in configurations(&found.library) {
                match verify_image(&found.library, image) {
                    Ok(()) => checked += 1,
                    Err(problem) => problems.push(problem.to_string()),
                }
            }
            for set in found.library.sets() {
                match signed::verify(set) {
                    Ok(()) => {
                        sets += 1;
                        match signed::validate(set) {
                            Ok(()) => as_sources += 1,
                            Err(problem) => problems.push(problem.to_string()),
                        }
                    }
                    Err(problem) => problems.push(format!("{problem:#}")),
                }
            }
            problems.extend(args.read.of_other_devices(&found.library));
            opened = Some(warned(found));
        }
        Err(error @ FileError::Refused { .. }) => problems.push(error.to_string()),
        Err(error) => return Err(error.into()),
    }
    if args.read.file.json {
        print_json(&json!({
            "version": opened.as_ref().map(|opened| opened.library.version),
            "signed_by": opened.as_ref().map(signers), "configurations": checked, "images": images, "sets": sets,
            "sets_within_bounds": sets, "sets_as_sources": as_sources, "problems": problems,
            "proven_to_rtl": opened.as_ref().map(|opened| tied_by_proof(&opened.library)),
        }))?;
    } else if let (Some(opened), []) = (&opened, &problems[..]) {
        let about = version_and_signers(opened);
        let rtl = tied_by_proof(&opened.library);
        say!(
            page,
            "{}: {about}, {}, all as signed and proven, {rtl} of them to the RTL{}{}{}",
            path.display(),
            counted(checked),
            and_images(images),
            and_sets(sets),
            if sets > 0 { ", all within their own block and bank" } else { "" }
        );
        if sets > 0 {
            say!(page, "{as_sources} of {sets} sets are what their sources say, for all keys and blocks");
        }
    }
    for problem in &problems {
        eprintln!("ace: {problem}");
    }
    Ok(Outcome::well_if(problems.is_empty()))
}

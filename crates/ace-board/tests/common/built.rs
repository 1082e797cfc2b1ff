// SPDX-License-Identifier: Apache-2.0
//! What this checkout has: configurations that the flow has built, algorithms, and published answers.

use ace_board::{Catalogue, Configuration, Unsigned};
use ace_engine::algorithm::{ALGORITHMS, Algorithm};

use super::repository;

/// How much a test does: all of it with `ACE_TESTS=all` (`make test-all`), else a part that takes seconds.
pub fn cases<T>(part: T, all: T) -> T {
    if std::env::var_os("ACE_TESTS").is_some_and(|v| v == "all") { all } else { part }
}

/// The configurations that the flow has built and that compute something in our table. Without any, tests that
/// need them print why they do nothing; `ACE_REQUIRE_BUILD=1` makes that a failure.
pub fn built() -> Catalogue {
    // What is built is what is tested, signed or not.
    let mut catalogue = Catalogue { unsigned: Unsigned::Unproven, ..Catalogue::find(None) };
    catalogue
        .configurations
        .retain(|c| ALGORITHMS.iter().any(|a| c.can.iter().any(|can| can.algorithm == a.name)));
    if std::env::var_os("ACE_REQUIRE_BUILD").is_some_and(|v| v == "1") {
        for algorithm in in_hardware() {
            let of = |c: &Configuration| c.can.iter().any(|can| can.algorithm == algorithm);
            assert!(
                catalogue.configurations.iter().any(of),
                "no configuration for {algorithm}: `make models`"
            );
        }
        assert!(catalogue.problems.is_empty(), "{:?}", catalogue.problems);
    } else if catalogue.configurations.is_empty() {
        eprintln!("skipped: no configurations in {} (`make models` builds them)", catalogue.folder.display());
    }
    catalogue
}

/// Those of which the flow has made the netlist as well: without `ACE_TESTS=all` a fifth, which the commit chooses.
pub fn with_netlists() -> Catalogue {
    let mut catalogue = built();
    let all = catalogue.configurations.len();
    catalogue.configurations.retain(|c| c.netlist_model.is_some());
    let some = catalogue.configurations.len();
    if std::env::var_os("ACE_REQUIRE_BUILD").is_some_and(|v| v == "1") {
        assert!(cases(5 * some, some) >= all, "netlists of {some} of {all}: `make test`, `make test-all`");
    }
    catalogue
}

/// The rooms of the algorithms of this checkout.
fn rooms() -> Vec<ace_algorithms::Algorithm> {
    ace_algorithms::load(&repository("algorithms")).unwrap()
}

/// The algorithms that have a configuration, those of studies aside: others are in software only.
fn in_hardware() -> Vec<String> {
    rooms().into_iter().filter(|room| room.hardware).map(|room| room.name).collect()
}

/// Published known answers: what they are of, and the file.
pub fn published() -> Vec<(String, std::path::PathBuf)> {
    rooms().iter().flat_map(|room| room.known_answers().unwrap()).collect()
}

/// The algorithms of our table that a configuration computes.
pub fn algorithms(configuration: &Configuration) -> Vec<&'static Algorithm> {
    let can = |a: &Algorithm| configuration.can.iter().any(|c| c.algorithm == a.name && c.code == a.code);
    ALGORITHMS.iter().copied().filter(|a| can(a)).collect()
}

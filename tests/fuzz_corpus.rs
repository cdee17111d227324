//! Runs every input of `fuzz/corpus` through its fuzz target, on every compiler and in every test run. Inputs that
//! fuzzing finds are added there as regression tests.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

#[path = "support/fuzzing.rs"]
mod fuzzing;

use fuzzing::TARGETS;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus")
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_target_has_corpus_and_every_corpus_target() {
    let mut targets: Vec<_> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    targets.sort();
    assert_eq!(names_in(&corpus()), targets);
    for target in &targets {
        assert!(names_in(&corpus().join(target)).len() >= 3, "{target} has hardly any input");
    }
}

#[test]
fn every_corpus_input_passes_its_target() {
    let mut failed = Vec::new();
    for target in TARGETS {
        for name in names_in(&corpus().join(target.name)) {
            let input = fs::read(corpus().join(target.name).join(&name)).unwrap();
            if catch_unwind(AssertUnwindSafe(|| (target.check)(&input))).is_err() {
                failed.push(format!("{}/{name}", target.name));
            }
        }
    }
    assert!(failed.is_empty(), "inputs that do not hold: {failed:?}");
}

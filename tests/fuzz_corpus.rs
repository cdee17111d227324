//! Runs every input of `fuzz/corpus`, and damaged copies of it, through its fuzz target, on every compiler and in every
//! test run. Inputs that fuzzing finds are added there as regression tests.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

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

/// The damaged copies of each input. `cargo xtask fuzz` tries millions, guided by what they reach.
const COPIES: usize = 24;

/// A change of an input.
#[derive(Debug, Clone, Copy)]
enum Mutation {
    /// Replaces a byte.
    Replace(Index, u8),
    /// Inserts a byte.
    Insert(Index, u8),
    /// Removes the bytes between two places.
    Remove(Index, Index),
    /// Repeats the bytes between two places.
    Repeat(Index, Index),
    /// Ends the input early.
    Truncate(Index),
}

fn any_mutation() -> impl Strategy<Value = Mutation> {
    let byte = proptest::prop_oneof![any::<u8>(), proptest::sample::select(br#"{}[]",:\<>&%/0-"#.to_vec())];
    (0..5_u8, any::<Index>(), any::<Index>(), byte).prop_map(|(kind, one, other, byte)| match kind {
        0 => Mutation::Replace(one, byte),
        1 => Mutation::Insert(one, byte),
        2 => Mutation::Remove(one, other),
        3 => Mutation::Repeat(one, other),
        _ => Mutation::Truncate(one),
    })
}

fn apply(mutation: Mutation, input: &mut Vec<u8>) {
    let places = input.len() + 1;
    let between = |one: Index, other: Index| {
        let (one, other) = (one.index(places), other.index(places));
        one.min(other)..one.max(other)
    };
    match mutation {
        Mutation::Replace(at, byte) if !input.is_empty() => {
            let at = at.index(input.len());
            input[at] = byte;
        }
        Mutation::Insert(at, byte) | Mutation::Replace(at, byte) => {
            let at = at.index(input.len() + 1);
            input.insert(at, byte);
        }
        Mutation::Remove(one, other) => drop(input.drain(between(one, other))),
        Mutation::Repeat(one, other) => {
            let range = between(one, other);
            let (end, repeated) = (range.end, input[range].to_vec());
            input.splice(end..end, repeated);
        }
        Mutation::Truncate(at) => {
            let length = at.index(input.len() + 1);
            input.truncate(length);
        }
    }
}

#[test]
fn damaged_corpus_inputs_pass_their_target() {
    let mut runner = TestRunner::deterministic();
    let mutations = vec(any_mutation(), 1..5);
    let mut failed = Vec::new();
    for target in TARGETS {
        for name in names_in(&corpus().join(target.name)) {
            let whole = fs::read(corpus().join(target.name).join(&name)).unwrap();
            for _ in 0..COPIES {
                let mut input = whole.clone();
                for mutation in mutations.new_tree(&mut runner).unwrap().current() {
                    apply(mutation, &mut input);
                }
                if catch_unwind(AssertUnwindSafe(|| (target.check)(&input))).is_err() {
                    failed.push(format!("{} from {name}: {:?}", target.name, String::from_utf8_lossy(&input)));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} inputs that do not hold:\n{}", failed.len(), failed.join("\n"));
}

//! All fuzz targets as one libFuzzer program, which `cargo xtask fuzz` builds and runs. `TURNLEAF_FUZZ_TARGET` names
//! the target; all other settings are libFuzzer's own.
#![no_main]

use std::sync::OnceLock;
use std::{env, panic};

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/support/fuzzing.rs"]
mod fuzzing;

use fuzzing::{FuzzTarget, TARGETS};

static CHOSEN: OnceLock<&FuzzTarget> = OnceLock::new();

fuzz_target!(
    init: {
        // The panic hook is removed: a panic that the product catches is no finding, and one that leaves the target
        // ends the process without the hook, too.
        drop(panic::take_hook());
    },
    |input: &[u8]| (CHOSEN.get_or_init(selected_target).check)(input)
);

fn selected_target() -> &'static FuzzTarget {
    let name = env::var("TURNLEAF_FUZZ_TARGET").unwrap_or_default();
    let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    let chosen = TARGETS.iter().find(|target| target.name == name);
    chosen.unwrap_or_else(|| panic!("TURNLEAF_FUZZ_TARGET names one of {names:?}"))
}

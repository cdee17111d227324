//! All fuzz targets as one program for libFuzzer: `cargo xtask fuzz` builds it and runs it. `TURNLEAF_FUZZ_TARGET`
//! names the target; everything else is libFuzzer's.
#![no_main]

use std::sync::OnceLock;
use std::{env, panic};

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/support/fuzzing.rs"]
mod fuzzing;

use fuzzing::{TARGETS, Target};

static CHOSEN: OnceLock<&Target> = OnceLock::new();

fuzz_target!(
    init: {
        // A panic that the product catches is none; one that leaves the target ends the process without this hook, too.
        drop(panic::take_hook());
    },
    |input: &[u8]| (CHOSEN.get_or_init(selected_target).check)(input)
);

fn selected_target() -> &'static Target {
    let name = env::var("TURNLEAF_FUZZ_TARGET").unwrap_or_default();
    let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    let chosen = TARGETS.iter().find(|target| target.name == name);
    chosen.unwrap_or_else(|| panic!("TURNLEAF_FUZZ_TARGET names one of {names:?}"))
}

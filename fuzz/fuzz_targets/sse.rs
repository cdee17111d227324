//! The framer of server-sent events.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/support/invariants.rs"]
#[allow(dead_code)]
mod invariants;

fuzz_target!(|body: &[u8]| invariants::framer_holds(body));

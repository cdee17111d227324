//! The decoder of OpenAI Responses.
#![no_main]

use libfuzzer_sys::fuzz_target;
use turnleaf::server::platform::endpoint::Api;

#[path = "../../tests/support/invariants.rs"]
#[allow(dead_code)]
mod invariants;

fuzz_target!(|body: &[u8]| invariants::decoder_holds(Api::OpenaiResponses, "openai", body));

//! The fuzz targets: each reads bytes as something that strangers send and asserts what must hold of any bytes at all.
//! One list for libFuzzer (`fuzz/src/main.rs`) and for the test that runs the corpus (`tests/fuzz_corpus.rs`).

use turnleaf_platform::endpoint::Api;

#[path = "fuzzing/events.rs"]
mod events;
#[path = "fuzzing/imports.rs"]
mod imports;
#[path = "invariants.rs"]
#[expect(dead_code, reason = "the damages are for `provider_damage`")]
mod invariants;
#[path = "fuzzing/json.rs"]
mod json;
#[path = "fuzzing/markdown.rs"]
mod markdown;
#[path = "fuzzing/names.rs"]
mod names;
#[path = "fuzzing/page.rs"]
mod page;
#[path = "fuzzing/ranges.rs"]
mod ranges;

use invariants::framer_holds;

/// A reader of bytes with what must hold of it. The name is that of its folder in `fuzz/corpus`.
pub struct Target {
    pub name: &'static str,
    /// Panics where something does not hold.
    pub check: fn(&[u8]),
}

pub const TARGETS: &[Target] = &[
    Target { name: "sse", check: framer_holds },
    Target { name: "anthropic", check: |body| events::reply_holds(Api::Anthropic, body) },
    Target { name: "gemini", check: |body| events::reply_holds(Api::Gemini, body) },
    Target { name: "ollama", check: |body| events::reply_holds(Api::Ollama, body) },
    Target { name: "openai_chat", check: |body| events::reply_holds(Api::OpenaiChat, body) },
    Target { name: "openai_responses", check: |body| events::reply_holds(Api::OpenaiResponses, body) },
    Target { name: "events", check: events::reducer_holds },
    Target { name: "json_bounds", check: json::bounds_hold },
    Target { name: "markdown", check: markdown::renderer_holds },
    Target { name: "import", check: imports::formats_hold },
    Target { name: "archive", check: imports::archive_holds },
    Target { name: "page", check: page::converter_holds },
    Target { name: "ranges", check: ranges::selection_holds },
    Target { name: "file_name", check: names::file_name_holds },
];

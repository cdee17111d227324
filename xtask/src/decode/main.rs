//! Measures the speed and the allocations of decoding recorded responses: a part of `cargo xtask bench` that is
//! linked with Turnleaf. Prints one line of JSON per API, which `load` turns into figures.
//!
//! Each body is fed in pieces like those of a network, alternately through the framer alone and through the whole
//! decoder. The counting allocator exists only in this process.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use serde_json::{Value, json};
use turnleaf_platform::endpoint::ProviderApi;
use turnleaf_providers::openai_chat::Dialect;
use turnleaf_providers::replay::decoder_for_api;
use turnleaf_providers::sse::SseParser;

/// The size of one read from a socket.
const PIECE: usize = 4096;
const ROUNDS: usize = 7;
/// The minimum that a round decodes, so that the clock's resolution suffices.
const ROUND_BYTES: usize = 16 << 20;

/// The APIs with the directories of their recordings.
const APIS: [(ProviderApi, &[&str], &str); 5] = [
    (ProviderApi::OpenaiChat, &["openai_chat", "openai_compat"], "sse"),
    (ProviderApi::OpenaiResponses, &["openai_responses"], "sse"),
    (ProviderApi::Anthropic, &["anthropic"], "sse"),
    (ProviderApi::Gemini, &["gemini"], "sse"),
    (ProviderApi::Ollama, &["ollama_native"], "ndjson"),
];

#[derive(Parser)]
struct Arguments {
    /// The directory of the recordings.
    fixtures: PathBuf,
}

/// A response body with the dialect of its sender.
struct Recording {
    body: Vec<u8>,
    dialect: &'static Dialect,
}

fn main() -> ExitCode {
    let fixtures = Arguments::parse().fixtures;
    let done = APIS.iter().try_for_each(|(api, folders, ending)| {
        println!("{}", measure(*api, &read(&fixtures, folders, ending)?)?);
        anyhow::Ok(())
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("decode: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn read(fixtures: &Path, folders: &[&str], ending: &str) -> Result<Vec<Recording>> {
    let fallback = Dialect::from_name("openai").context("no dialect of OpenAI")?;
    let mut recordings = Vec::new();
    for folder in folders {
        let folder = fixtures.join(folder);
        for file in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = file?.path();
            if path.extension().is_some_and(|found| found == ending) {
                let about: Value = serde_json::from_slice(&std::fs::read(path.with_extension("json"))?)?;
                let dialect = about["provider"].as_str().and_then(Dialect::from_name).unwrap_or(fallback);
                recordings.push(Recording { body: std::fs::read(path)?, dialect });
            }
        }
    }
    ensure!(!recordings.is_empty(), "no recording in {folders:?}");
    Ok(recordings)
}

fn measure(api: ProviderApi, recordings: &[Recording]) -> Result<Value> {
    let bytes: usize = recordings.iter().map(|recording| recording.body.len()).sum();
    let times = ROUND_BYTES.div_ceil(bytes);
    let events: u64 = recordings.iter().map(|recording| decode(api, recording)).sum();
    ensure!(events > 0, "nothing was decoded");
    let timed = |work: &dyn Fn(&Recording)| {
        let start = Instant::now();
        for _ in 0..times {
            recordings.iter().for_each(work);
        }
        start.elapsed().as_secs_f64() / times as f64
    };
    let (mut framed, mut decoded) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        framed.push(timed(&|recording| frame(recording)));
        decoded.push(timed(&|recording| {
            black_box(decode(api, recording));
        }));
    }
    let counted = allocation_counter::measure(|| {
        recordings.iter().for_each(|recording| {
            black_box(decode(api, recording));
        })
    });
    let (framed, decoded) = (median(framed), median(decoded));
    Ok(json!({
        "api": api.as_str(),
        "bytes": bytes,
        "events": events,
        "megabytes_per_second": bytes as f64 / 1e6 / decoded,
        "events_per_second": events as f64 / decoded,
        "of_the_framer": framed / decoded,
        "allocations_per_event": counted.count_total as f64 / events as f64,
        "most_bytes_at_once": counted.bytes_max,
    }))
}

/// Decodes a body to its end like a run, and returns its events.
fn decode(api: ProviderApi, recording: &Recording) -> u64 {
    let mut decoder = decoder_for_api(api, recording.dialect);
    let mut items = Vec::new();
    for piece in recording.body.chunks(PIECE) {
        decoder.feed(piece, &mut items);
        black_box(&items);
        items.clear();
    }
    black_box(decoder.finish(&mut items));
    decoder.event_count()
}

/// Feeds the same bytes through the framer alone. It does not frame lines of JSON, but still scans them.
fn frame(recording: &Recording) {
    let mut framer = SseParser::default();
    for piece in recording.body.chunks(PIECE) {
        let _ = black_box(framer.feed(piece, &mut |event| drop(black_box(event))));
    }
    black_box(framer.finish());
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

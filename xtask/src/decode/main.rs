//! How fast recorded responses are decoded, and with how many allocations: the part of `cargo xtask bench` that is linked
//! with Turnleaf itself. Prints one JSON object an API, a line each; `load` makes figures of them.
//!
//! Every body is fed in pieces as a network brings them, through the framer alone and through the whole decoder, in turns.
//! The counting allocator is in this process only.

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

/// What one read of a socket gives.
const PIECE: usize = 4096;
const ROUNDS: usize = 7;
/// A round decodes at least this much, so that the clock is fine enough.
const ROUND_BYTES: usize = 16 << 20;

/// The APIs, with the folders of their recordings.
const APIS: [(ProviderApi, &[&str], &str); 5] = [
    (ProviderApi::OpenaiChat, &["openai_chat", "openai_compat"], "sse"),
    (ProviderApi::OpenaiResponses, &["openai_responses"], "sse"),
    (ProviderApi::Anthropic, &["anthropic"], "sse"),
    (ProviderApi::Gemini, &["gemini"], "sse"),
    (ProviderApi::Ollama, &["ollama_native"], "ndjson"),
];

#[derive(Parser)]
struct Arguments {
    /// The folder of the recordings.
    fixtures: PathBuf,
}

/// A response body and who sent it.
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

/// The events of a body, read to its end as a run reads it.
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

/// The same bytes through the framer alone; lines of JSON, which it does not frame, are looked through all the same.
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

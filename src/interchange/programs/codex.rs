//! Reader for the sessions of the Codex CLI: `~/.codex/sessions/**/rollout-*.jsonl` and
//! `~/.codex/archived_sessions`, alone or in a folder or archive.
//!
//! Confirmed by the product's source (repository `openai/codex`):
//! - the lines since September 2025, `{timestamp, type, payload}`: `RolloutLine`, `RolloutItem`, `SessionMeta`,
//!   `TurnContextItem`, `CompactedItem` and `EventMsg` in `codex-rs/protocol/src/protocol.rs`; which of them are
//!   written: `codex-rs/rollout/src/policy.rs`
//! - messages, reasoning, calls and results: `ResponseItem`, `ContentItem` and `FunctionCallOutputPayload` in
//!   `codex-rs/protocol/src/models.rs`; plans: `codex-rs/protocol/src/items.rs`
//! - what is context of the program in the name of the user: `codex-rs/core/src/event_mapping.rs` and
//!   `codex-rs/core/src/context/contextual_user_message.rs`; taking turns back: `drop_last_n_user_turns` in
//!   `codex-rs/core/src/context_manager/history.rs`
//! - the text of results: `codex-rs/core/src/tools/{mod,context}.rs`; names of sessions, `session_index.jsonl`:
//!   `codex-rs/rollout/src/session_index.rs`
//! - the first program, one JSON `{session, items}` per session: `codex-cli/src/utils/storage/save-rollout.ts`
//!
//! Derived from public readers and notes: the lines before September 2025, bare items after `{id, timestamp,
//! instructions, git}` and `{"record_type": "state"}` lines, without times (`Sinity/polylogue`); a fork repeats the
//! lines of its source behind its own `session_meta`.
//!
//! Inferred: items without an id are known by the number of their line, because files only grow; a count of tokens
//! belongs to the response before it; a result failed if its exit code is not zero.
//!
//! A session is a chat. Turns that were taken back are branches. Most events repeat the items and are ignored.
//!
//! Samples: `samples/codex`, hand-written after these definitions.

use std::collections::HashMap;

use serde_json::Value;

use crate::bounds;
use crate::domain::limits;
use crate::input::json_lines::JsonLine;
use crate::input::{Input, InputPart};
use crate::reading::fields;
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::{PartOutcomes, SeenConversations, deliver};
use crate::reading::session_lines::SessionLines;
use crate::report::{ImportIssue, IssueKind, IssueLocation};
use crate::sink::{FirstIssue, ImportError, ImportSink, report_issue};

mod contexts;
mod items;
mod keys;
mod records;
mod rollout;
mod tool_output;

use records::Record;

/// The names of sessions beside them.
const NAMES_FILE: &str = "session_index.jsonl";

/// Returns whether the value is a line of a session, or a whole session of the first program.
pub(crate) fn is_record(value: &Value) -> bool {
    records::is_record(value)
}

/// Reads all sessions.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let parts = input.parts();
    let is_archive = input.is_archive();
    let names = session_names(input, taker)?;
    let mut seen = SeenConversations::default();
    let mut outcomes = PartOutcomes::default();
    for (number, part) in parts.all().iter().enumerate() {
        if is_archive && part.base_name().ends_with(".jsonl.zst") {
            let text = "the session is compressed with Zstandard: decompress it and import it again";
            report_left_out(taker, part, text)?;
        }
        if is_archive && !is_session(part) {
            continue;
        }
        let mut open = SessionLines::default();
        let mut is_blank = true;
        let read = input.for_each_record(number, taker, &mut |line, _| {
            is_blank = false;
            collect(line, &mut open);
            Ok(())
        });
        outcomes.add(&part.name, read, input.is_exhausted(), taker)?;
        if !is_blank {
            close(part, open, &names, &mut seen, taker)?;
        }
    }
    outcomes.finish()
}

/// Returns whether a file of an archive is a session by its name.
fn is_session(part: &InputPart) -> bool {
    let name = part.base_name();
    let is_first_program = name.starts_with("rollout-") && name.ends_with(".json");
    is_first_program || (part.is_json_lines() && !["history.jsonl", NAMES_FILE].contains(&name))
}

fn report_left_out(taker: &mut dyn ImportSink, part: &InputPart, text: &str) -> Result<(), ImportError> {
    let location = IssueLocation { file: part.name.clone(), ..IssueLocation::default() };
    report_issue(taker, ImportIssue { kind: IssueKind::LeftOut, location, text: text.to_owned() })
}

/// Adds a line, or the items of a whole session, unless nothing in it is of use.
fn collect(line: JsonLine, to: &mut SessionLines) {
    match records::whole_session(line) {
        Ok(lines) => lines.into_iter().for_each(|line| to.add(line)),
        Err(line) if Record::of(&line.value).is_ignored() => {}
        Err(line) => to.add(line),
    }
}

fn close(
    part: &InputPart,
    lines: SessionLines,
    names: &HashMap<String, String>,
    seen: &mut SeenConversations,
    taker: &mut dyn ImportSink,
) -> Result<(), ImportError> {
    let mut notes = ConversationNotes::new(IssueLocation { file: part.name.clone(), ..IssueLocation::default() });
    lines.report_left_out(&mut notes);
    let conversation = rollout::conversation(&lines.lines, part.base_name(), names, &mut notes);
    let conversation = conversation.and_then(|found| seen.admit(found, &lines.lines, &mut notes));
    drop(lines);
    deliver(conversation, notes, taker)
}

/// Returns the names that the user gave sessions; the last name of a session counts.
fn session_names(input: &mut Input, taker: &mut dyn ImportSink) -> Result<HashMap<String, String>, ImportError> {
    let parts = input.parts();
    let mut names = SessionNames::new(bounds::SESSION_NAMES_BYTES);
    let is_names_file = |part: &InputPart| part.base_name() == NAMES_FILE;
    let Some(number) = parts.all().iter().position(is_names_file).filter(|_| input.is_archive()) else {
        return Ok(names.names);
    };
    // Without names, titles come from the messages.
    let _ = input.for_each_line(number, &mut FirstIssue::default(), &mut |line, _| {
        if let Some((id, name)) = fields::id(&line.value, "id").zip(fields::text(&line.value, "thread_name")) {
            names.add(id, name);
        }
        Ok(())
    });
    if names.is_full {
        let text = "it names too many sessions: the rest of the names was skipped";
        report_left_out(taker, &parts.all()[number], text)?;
    }
    Ok(names.names)
}

/// The names of sessions by their ids, up to a number of bytes.
struct SessionNames {
    names: HashMap<String, String>,
    bytes_left: usize,
    /// A name was left out.
    is_full: bool,
}

impl SessionNames {
    fn new(bytes: usize) -> Self {
        Self { names: HashMap::new(), bytes_left: bytes, is_full: false }
    }

    /// Adds the beginning of a name, or replaces the earlier one of the session.
    fn add(&mut self, id: String, name: &str) {
        // One more than a title has room for, so that a title is reported as too long.
        let name: String = name.chars().take(limits::TITLE_CHARS + 1).collect();
        let size = |id: &str, name: &str| id.len() + name.len() + size_of::<(String, String)>();
        let before = self.names.get(&id).map(|before| size(&id, before)).unwrap_or_default();
        match (self.bytes_left + before).checked_sub(size(&id, &name)) {
            Some(left) => {
                self.bytes_left = left;
                self.names.insert(id, name);
            }
            None => self.is_full = true,
        }
    }
}

#[cfg(test)]
mod tests;

//! Reader for the sessions of Claude Code: `~/.claude/projects/<project>/<session>.jsonl`, alone or in a folder or
//! archive of projects.
//!
//! Anthropic publishes no definition; the format is the program's own and changes with its versions. Derived from the
//! schemas, tests and notes of public readers:
//! - `d-kimuson/claude-code-viewer`, `src/lib/conversation-schema/` (schemas of every type of line, with tests on lines
//!   of versions 2.0 to 2.1 of 2026): `BaseEntrySchema.ts`, `SystemEntrySchema.ts`, `QueueOperationEntrySchema.ts`,
//!   `AttachmentEntrySchema.ts`, `ConversationSchema.test.ts`
//! - `daaain/claude-code-log`, `claude_code_log/models.py` (lines of 2025), `claude_code_log/dag.py` (parallel calls
//!   that fork the chain, subagents, compaction), `test/test_data/representative_messages.jsonl`
//! - `ryoppippi/ccusage`: the same usage on every line of one response, repeated responses
//! - public notes on 300 sessions of 2026 (types of lines and attachments, `compact_boundary`, `toolUseResult`)
//!
//! Confirmed: one line per content block, the lines of one response share `message.id` and `usage`; `parentUuid` chains
//! all lines that have a `uuid`; a result's parent is the line of its call, so parallel calls fork the chain although
//! nothing was edited; a compaction starts a new chain and names the old one in `logicalParentUuid`; subagents write
//! `isSidechain` lines, in 2025 into the session's file, later into `agent-<id>.jsonl` beside it or into
//! `<session>/subagents/`; a prompt that the user typed during a reply is an attachment `queued_command`.
//!
//! Inferred: the last line of the main chain is what the program showed last; a slash command counts as a message if a
//! response follows it, else it only ran in the program; a failure is one of the model that responded before.
//!
//! A session is a chat, and a fork of a session is a chat of its own with the messages before the fork. The work of
//! each subagent is a branch with its own beginning, because it did not see the chat.
//!
//! Samples: `samples/claude_code`, hand-written after those fields.

use std::collections::HashMap;

use serde_json::Value;

use crate::input::json_lines::JsonLine;
use crate::input::{Input, InputPart, InputParts};
use crate::reading::export_entries::candidate_filter;
use crate::reading::fields;
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::{PartOutcomes, SeenConversations, deliver};
use crate::reading::session_lines::SessionLines;
use crate::report::IssueLocation;
use crate::sink::{FirstIssue, ImportError, ImportSink};

mod content;
mod keys;
mod lines;
mod session;
mod steps;
mod user_text;

/// The prompts of all sessions, which the sessions hold, too.
const PROMPTS_FILE: &str = "history.jsonl";

/// Returns whether the value is a line of a session.
pub(crate) fn is_record(value: &Value) -> bool {
    let has_text = |name| fields::text(value, name).is_some();
    let in_session = has_text("sessionId");
    match fields::text(value, "type") {
        Some("user" | "assistant" | "system" | "attachment" | "progress") => {
            in_session && has_text("uuid") && value.get("parentUuid").is_some()
        }
        Some("summary") => has_text("summary") && has_text("leafUuid"),
        Some("file-history-snapshot") => value.get("snapshot").is_some_and(Value::is_object),
        Some(kind) => in_session && (keys::IGNORED_LINES.contains(&kind) || keys::TITLE_LINES.contains(&kind)),
        None => false,
    }
}

/// Reads all sessions, each with its subagents.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let parts = input.parts();
    let (sessions, mut agents) = session_parts(input);
    let mut reader =
        ClaudeCodeReader { seen: SeenConversations::default(), outcomes: PartOutcomes::default(), parts: &parts };
    for part in sessions {
        let mut session = CollectedSession::default();
        reader.collect(input, part, &mut session, taker)?;
        let id = session.id.clone().unwrap_or_default();
        for part in agents.remove(&id).unwrap_or_default() {
            session.starts_agent = true;
            reader.collect(input, part, &mut session, taker)?;
        }
        reader.close(part, session, taker)?;
    }
    let mut alone: Vec<usize> = agents.into_values().flatten().collect();
    alone.sort_unstable();
    for part in alone {
        let mut session = CollectedSession::default();
        reader.collect(input, part, &mut session, taker)?;
        reader.close(part, session, taker)?;
    }
    reader.outcomes.finish()
}

/// Returns the parts with sessions, and those with the work of subagents by the id of their session.
fn session_parts(input: &mut Input) -> (Vec<usize>, HashMap<String, Vec<usize>>) {
    let parts = input.parts();
    let is_archive = input.is_archive();
    let may_hold_chats = candidate_filter(input);
    let is_session = |part: &InputPart| {
        !is_archive || (may_hold_chats(part) && part.is_json_lines() && part.base_name() != PROMPTS_FILE)
    };
    let numbers: Vec<usize> = (0..parts.all().len()).filter(|&at| is_session(&parts.all()[at])).collect();
    let is_agent = |at: &usize| is_archive && parts.all()[*at].base_name().starts_with("agent-");
    let (agents, sessions): (Vec<usize>, Vec<usize>) = numbers.into_iter().partition(is_agent);
    let mut by_session: HashMap<String, Vec<usize>> = HashMap::new();
    for part in agents {
        let session = session_in_path(&parts.all()[part].name).or_else(|| first_session_id(input, part));
        by_session.entry(session.unwrap_or_default()).or_default().push(part);
    }
    (sessions, by_session)
}

/// Returns the folder above `subagents`, which bears the id of the session.
fn session_in_path(name: &str) -> Option<String> {
    let folders: Vec<&str> = name.split('/').collect();
    let at = folders.iter().rposition(|folder| *folder == "subagents")?;
    folders.get(at.checked_sub(1)?).map(|folder| (*folder).to_owned())
}

/// Returns the session that the first lines of a part name.
fn first_session_id(input: &mut Input, part: usize) -> Option<String> {
    let mut found = None;
    // Problems of the part are reported when it is read.
    let _ = input.for_each_record(part, &mut FirstIssue::default(), &mut |line, _| {
        found = fields::id(&line.value, "sessionId");
        if found.is_some() { Err(ImportError::Cancelled) } else { Ok(()) }
    });
    found
}

struct ClaudeCodeReader<'p> {
    seen: SeenConversations,
    outcomes: PartOutcomes,
    parts: &'p InputParts,
}

impl ClaudeCodeReader<'_> {
    /// Adds the lines of a part to a session.
    fn collect(
        &mut self,
        input: &mut Input,
        part: usize,
        session: &mut CollectedSession,
        taker: &mut dyn ImportSink,
    ) -> Result<(), ImportError> {
        let read = input.for_each_record(part, taker, &mut |line, _| {
            session.add(line);
            Ok(())
        });
        self.outcomes.add(&self.parts.all()[part].name, read, input.is_exhausted(), taker)
    }

    /// Delivers the chat of a session; a file without any line, such as a blank one, has none.
    fn close(&mut self, part: usize, session: CollectedSession, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        let CollectedSession { lines, id, has_lines, .. } = session;
        if !has_lines {
            return Ok(());
        }
        let file = self.parts.all()[part].name.clone();
        let mut notes = ConversationNotes::new(IssueLocation { file, ..IssueLocation::default() });
        lines.report_left_out(&mut notes);
        let conversation = session::conversation(&lines.lines, id, &mut notes);
        let conversation = conversation.and_then(|found| self.seen.admit(found, &lines.lines, &mut notes));
        drop(lines);
        deliver(conversation, notes, taker)
    }
}

/// The lines of a session that hold anything for a chat.
#[derive(Default)]
struct CollectedSession {
    lines: SessionLines,
    /// The session that the last line of its own file names: a copied beginning may name another.
    id: Option<String>,
    has_lines: bool,
    /// The lines of the session's own file are complete.
    starts_agent: bool,
}

impl CollectedSession {
    fn add(&mut self, mut line: JsonLine) {
        self.has_lines = true;
        if !self.starts_agent
            && let Some(id) = fields::id(&line.value, "sessionId")
        {
            self.id = Some(id);
        }
        let is_ignored = fields::text(&line.value, "type").is_some_and(|kind| keys::IGNORED_LINES.contains(&kind));
        if is_ignored && line.value.get("uuid").is_none() {
            return;
        }
        if let Value::Object(members) = &mut line.value {
            // It repeats the result and may be far larger.
            members.shift_remove(keys::RESULT_COPY);
            if is_ignored {
                members.retain(|name, _| keys::LINK.contains(&name.as_str()));
            }
        }
        self.lines.add(line);
    }
}

#[cfg(test)]
mod tests;

//! Reader for the chats of the Gemini CLI below `~/.gemini/tmp/<project>/`: recorded sessions
//! (`chats/session-*.json`, since 2026 `.jsonl`), saved chats (`checkpoint-<tag>.json`) and the log of prompts
//! (`logs.json`), alone or in a folder or archive.
//!
//! Confirmed by the product's source (repository `google-gemini/gemini-cli`):
//! - recorded sessions: `packages/core/src/services/chatRecordingTypes.ts` (all fields), `chatRecordingService.ts` (one
//!   JSON; then lines: the session, messages of which a later line with the same id replaces an earlier one, `$set`,
//!   `$rewindTo`; results of tools that are also recorded as messages of the user), the statuses of calls in
//!   `packages/core/src/scheduler/types.ts`
//! - the messages of a session that are shown again: `packages/core/src/utils/sessionUtils.ts`
//! - saved chats, in their first version a bare list of contents, and the log: `packages/core/src/core/logger.ts`
//! - restore points of tools, which repeat a session: `packages/core/src/utils/checkpointUtils.ts`
//! - the context that the program gives the model first: `packages/core/src/utils/environmentContext.ts`
//! - contents and parts: `Content` and `Part` of `googleapis/js-genai`, `src/types.ts`
//!
//! Inferred: a line that starts with `/` or `?` was a command of the program unless a response or an error follows it;
//! new messages of a `$set`, such as a summary, replaced earlier ones in the program: the earlier ones stay, and the
//! new ones follow them; a message that names no model belongs to the one that responded before.
//!
//! A session is a chat; a rewound part is a branch. A saved chat has no id: its name and its beginning identify it. The
//! log has only the prompts of the user, so it is imported for sessions that are not in the input.
//!
//! Samples: `samples/gemini_cli`, hand-written after these definitions.

use std::collections::HashSet;

use serde_json::Value;

use crate::bounds;
use crate::conversation::Conversation;
use crate::input::json_lines::JsonLine;
use crate::input::{Input, InputPart};
use crate::reading::export_entries::candidate_filter;
use crate::reading::fields;
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::{PartOutcomes, SeenConversations, deliver};
use crate::reading::session_lines::value_size;
use crate::report::{ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};

mod contents;
mod keys;
mod prompt_log;
mod recorded_chat;
mod recording;
mod saved_chat;

use prompt_log::PromptLog;
use recording::Recording;

/// Returns whether the value is a recorded session or a line of one, a saved chat or an entry of one, or an entry of
/// the log.
pub(crate) fn is_record(value: &Value) -> bool {
    let is_content = |value: &Value| saved_chat::is_content(value);
    let is_saved = fields::list(value, "history").first().is_some_and(is_content);
    recording::is_record(value) || prompt_log::is_entry(value) || is_content(value) || is_saved
}

/// Reads all chats.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let parts = input.parts();
    let is_archive = input.is_archive();
    let may_hold_chats = candidate_filter(input);
    let has_named = is_archive && parts.all().iter().any(is_chat_file);
    // A session that was resumed in a later version is written anew beside its first file.
    let is_outdated = |part: &InputPart| parts.index_of(&format!("{}l", part.name)).is_some();
    let is_chats = |part: &InputPart| may_hold_chats(part) && (!has_named || is_chat_file(part)) && !is_outdated(part);
    let mut reader = GeminiCliReader::default();
    for (number, part) in parts.all().iter().enumerate().filter(|(_, part)| is_chats(part)) {
        let mut file = PendingChatFile { name: part.name.clone(), ..PendingChatFile::default() };
        let read = input.for_each_record(number, taker, &mut |line, taker| reader.take(&mut file, line, taker));
        reader.outcomes.add(&part.name, read, input.is_exhausted(), taker)?;
        reader.close(file, taker)?;
    }
    reader.finish(taker)
}

/// Returns whether a file is a chat by its name: a session, that of a subagent in a folder below, a saved chat, a log.
fn is_chat_file(part: &InputPart) -> bool {
    let name = part.base_name();
    let is_json = name.ends_with(".json") || name.ends_with(".jsonl");
    let is_named = name.starts_with("session-") || name.starts_with("checkpoint-") || name == "logs.json";
    let in_chats = part.name.split('/').rev().skip(1).any(|folder| folder == "chats");
    is_json && (is_named || in_chats)
}

/// The content of a file that was read and is not delivered yet.
#[derive(Default)]
struct PendingChatFile {
    name: String,
    session: Option<Recording>,
    /// The contents of a saved chat that is a bare list.
    contents: Vec<Value>,
    bytes: usize,
}

impl PendingChatFile {
    fn location(&self) -> IssueLocation {
        IssueLocation { file: self.name.clone(), ..IssueLocation::default() }
    }

    fn base_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }
}

#[derive(Default)]
struct GeminiCliReader {
    seen: SeenConversations,
    outcomes: PartOutcomes,
    log: PromptLog,
    /// The recorded sessions.
    sessions: HashSet<String>,
}

impl GeminiCliReader {
    /// Takes one value of a file.
    fn take(
        &mut self,
        file: &mut PendingChatFile,
        line: JsonLine,
        taker: &mut dyn ImportSink,
    ) -> Result<(), ImportError> {
        let value = line.value;
        if value.get("toolCall").is_some() && value.get("history").is_some() {
            return report(taker, file, IssueKind::Lost, "a restore point, which repeats a session, is not imported");
        }
        if prompt_log::is_entry(&value) {
            self.log.add(value, &file.name);
            return Ok(());
        }
        if let Some(history) = value.get("history").and_then(Value::as_array) {
            let mut notes = ConversationNotes::new(file.location());
            keys::SAVED_CHAT.report_lost(&value, "", &mut notes);
            let chat = saved_chat::conversation(history, file.base_name(), &mut notes);
            return self.deliver(chat, history, notes, taker);
        }
        if saved_chat::is_content(&value) {
            file.bytes = file.bytes.saturating_add(value_size(&value));
            if file.bytes <= bounds::CONVERSATION_BYTES && file.contents.len() < bounds::MESSAGES {
                file.contents.push(value);
                return Ok(());
            }
            return report(taker, file, IssueKind::LeftOut, "the saved chat is too large: the rest of it was skipped");
        }
        if Recording::begins_with(&value) {
            let is_same = file.session.as_ref().is_some_and(|session| session.is_session(&value));
            if !is_same && let Some(before) = file.session.replace(Recording::default()) {
                self.close_session(before, file.location(), taker)?;
            }
        }
        if !recording::is_record(&value) {
            return report(taker, file, IssueKind::LeftOut, "it is not a chat of the Gemini CLI");
        }
        // The beginning may be a broken line.
        file.session.get_or_insert_default().add(value);
        Ok(())
    }

    /// Delivers the content of a file.
    fn close(&mut self, mut file: PendingChatFile, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        if let Some(session) = file.session.take() {
            self.close_session(session, file.location(), taker)?;
        }
        if file.contents.is_empty() {
            return Ok(());
        }
        let mut notes = ConversationNotes::new(file.location());
        let chat = saved_chat::conversation(&file.contents, file.base_name(), &mut notes);
        self.deliver(chat, &file.contents, notes, taker)
    }

    fn close_session(
        &mut self,
        session: Recording,
        location: IssueLocation,
        taker: &mut dyn ImportSink,
    ) -> Result<(), ImportError> {
        self.sessions.extend(session.id());
        let mut notes = ConversationNotes::new(location);
        let chat = recorded_chat::conversation(&session, &mut notes);
        self.deliver(chat, &session.messages, notes, taker)
    }

    /// Delivers the logs of the sessions that were not recorded.
    fn finish(mut self, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        let log = std::mem::take(&mut self.log);
        for session in log.into_sessions().filter(|session| !self.sessions.contains(&session.id)) {
            let file = session.file.clone();
            let mut notes = ConversationNotes::new(IssueLocation { file, ..IssueLocation::default() });
            let chat = session.conversation(&mut notes);
            let conversation = chat.and_then(|chat| self.seen.admit(chat, &session.entries, &mut notes));
            deliver(conversation, notes, taker)?;
        }
        self.outcomes.finish()
    }

    fn deliver(
        &mut self,
        chat: Option<Conversation>,
        source: &impl std::hash::Hash,
        mut notes: ConversationNotes,
        taker: &mut dyn ImportSink,
    ) -> Result<(), ImportError> {
        let conversation = chat.and_then(|chat| self.seen.admit(chat, source, &mut notes));
        deliver(conversation, notes, taker)
    }
}

fn report(taker: &mut dyn ImportSink, file: &PendingChatFile, kind: IssueKind, text: &str) -> Result<(), ImportError> {
    report_issue(taker, ImportIssue { kind, location: file.location(), text: text.to_owned() })
}

#[cfg(test)]
mod tests;

//! Reader for the activity of Gemini Apps in Google Takeout: `My Activity/Gemini Apps/MyActivity.json`, or the same log
//! as HTML, or the archive with one of them. Takeout offers both; its default is HTML (see `page`), whose names and dates are
//! in the language of the account (see `dates`). JSON is read instead where both are there, because its dates are exact.
//!
//! Google publishes no definition. Derived from public readers of the file:
//! - `AlexArchitect-Dev/gemini-takeout-refinery`, `refinery.py`: order, prompt within `title`, `safeHtmlItem`, the verb
//!   of another language (“Eingegebener Prompt: ”)
//! - `portable-ai-memory/portable-ai-memory`, `importer-mappings.md`: `titleUrl`, `details` of older exports
//! - `purarue/google_takeout_parser`, `google_takeout_parser/parse_json.py`: the members of any activity
//! - `purarue/google_takeout_parser` and `davidmalko87/gemini-chat-exporter` for the log as HTML: the classes of its cells,
//!   names of files in other languages; samples of its dates are in `dates`
//! - public notes on a file of 2,061 entries: several `safeHtmlItem` are regenerated answers, `subtitles` name attached
//!   files and Gems, `imageFile` and `attachedFiles` are files beside the log
//!
//! Confirmed by several of them: one entry per prompt, newest first, with `time`, and no id of the conversation in most
//! exports. Decided here: entries whose addresses name the same conversation are one chat; without such an address,
//! prompts that follow each other within half an hour are one chat, because an entry alone has no context and an account
//! has thousands of them. The id of a chat derives from its first entry, so that a chat that grew is found again.
//! Answers are converted from HTML to Markdown (see `html`).
//!
//! Hand-written samples for the tests follow these definitions: `samples/gemini_takeout/`.

use std::collections::HashMap;

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::bounds;
use crate::conversation::Conversation;
use crate::domain::turns::turn::Role;
use crate::input::{Input, InputPart, InputParts};
use crate::reading::export_entries;
use crate::reading::fields::{self, list, text};
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::{PartOutcomes, SeenConversations, deliver};
use crate::reading::session_lines::value_size;
use crate::reading::tree::order_messages;
use crate::report::{ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};
use activity::ActivityReader;
use dates::ZoneHints;

mod activity;
mod dates;
mod html;
mod keys;
mod page;

/// The pause between two prompts after which a new chat begins, if no entry names its conversation.
const PAUSE: TimeDelta = TimeDelta::minutes(30);

/// Returns whether the value is an activity of Gemini Apps, which were once called Bard.
pub(crate) fn is_activity(value: &Value) -> bool {
    let products = list(value, "products").iter().filter_map(Value::as_str);
    let mut names = text(value, "header").into_iter().chain(products);
    text(value, "title").is_some() && value.get("time").is_some() && names.any(names_gemini)
}

/// Returns whether the name of a part is that of the log as HTML.
pub(crate) fn is_html_log(part: &InputPart) -> bool {
    is_html(part) && (part.name.contains("Gemini") || part.base_name().eq_ignore_ascii_case("MyActivity.html"))
}

fn is_html(part: &InputPart) -> bool {
    let name = part.base_name().to_ascii_lowercase();
    name.ends_with(".html") || name.ends_with(".htm")
}

/// Returns whether an input has a log of Gemini as HTML.
pub(crate) fn has_html_log(input: &mut Input) -> Result<bool, ImportError> {
    let parts = input.parts();
    let is_archive = input.is_archive();
    let mut found: Vec<usize> = (0..parts.all().len()).filter(|&at| !is_archive || is_html(&parts.all()[at])).collect();
    found.sort_by_key(|&at| !is_html_log(&parts.all()[at]));
    for part in found.into_iter().take(bounds::DETECT_PARTS) {
        if is_page(input, part)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a part is a log of Gemini as HTML. Its name is in the language of the account, so the first entry
/// decides: each log is of one product.
fn is_page(input: &mut Input, part: usize) -> Result<bool, ImportError> {
    let is_candidate = match input.is_archive() {
        true => input.parts().all().get(part).is_some_and(is_html),
        // The mark of UTF-16 is no text here, and its zeros stand between the characters.
        false => {
            let start = input.read_start(part).unwrap_or_default();
            start.trim_start_matches(['\u{feff}', '\u{fffd}', '\0']).trim_start().starts_with('<')
        }
    };
    if !is_candidate {
        return Ok(false);
    }
    let mut is_gemini = false;
    let looked = input.for_each_piece(part, page::ENTRY, &mut |entry| {
        is_gemini = entry.is_some_and(|entry| names_gemini(&page::product(entry)));
        Err(ImportError::Cancelled)
    });
    match looked {
        Ok(_) | Err(ImportError::Cancelled | ImportError::Damaged(_)) => Ok(is_gemini),
        Err(ImportError::TooLarge(_)) if !input.is_exhausted() => Ok(is_gemini),
        Err(error) => Err(error),
    }
}

/// Returns whether a product is Gemini, which was once called Bard.
fn names_gemini(product: &str) -> bool {
    product.contains("Gemini") || product.contains("Bard")
}

/// Reads all files. A damaged part does not stop the others.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let parts = input.parts();
    let is_candidate = export_entries::candidate_filter(input);
    let mut seen = SeenConversations::default();
    let mut outcomes = PartOutcomes::default();
    let mut has_log = false;
    for (number, part) in parts.all().iter().enumerate().filter(|(_, part)| is_candidate(part)) {
        if is_page(input, number)? {
            continue;
        }
        let mut log = ActivityLog::new(&parts, part, &mut seen);
        let read = input
            .for_each_element(number, &["Gemini Apps"], taker, &mut |value, place, taker| log.add(value, place, taker));
        let read = log.end(read, taker);
        has_log |= log.is_gemini;
        // The logs of other products are beside it.
        let is_other = read.is_ok() && !log.is_gemini;
        if !is_other {
            outcomes.add(&part.name, read, input.is_exhausted(), taker)?;
        }
    }
    for (number, part) in parts.all().iter().enumerate() {
        if has_log || !is_page(input, number)? {
            continue;
        }
        let mut log = ActivityLog::new(&parts, part, &mut seen);
        let read = read_page(input, (number, part), &mut log, taker);
        let read = log.end(read, taker);
        outcomes.add(&part.name, read, input.is_exhausted(), taker)?;
    }
    outcomes.finish()
}

/// Reads a log as HTML. It is read twice, because its dates may say together which zone they are of.
fn read_page(
    input: &mut Input,
    (number, part): (usize, &InputPart),
    log: &mut ActivityLog<'_>,
    taker: &mut dyn ImportSink,
) -> Result<u64, ImportError> {
    let mut hints = ZoneHints::default();
    let looked = input.for_each_piece(number, page::ENTRY, &mut |entry| {
        hints.look_at(entry.unwrap_or_default());
        Ok(())
    });
    match looked {
        // The entries before the damage are read.
        Ok(_) | Err(ImportError::Damaged(_)) => {}
        Err(error) => return Err(error),
    }
    let mut count = 0_u64;
    input.for_each_piece(number, page::ENTRY, &mut |entry| {
        count += 1;
        let conversation = count.to_string();
        let place = IssueLocation { file: part.name.clone(), conversation, ..IssueLocation::default() };
        match entry {
            Some(entry) => log.add(page::activity(entry, hints), place, taker),
            None => {
                let text = bounds::byte_limit_text(bounds::CONVERSATION_BYTES as u64);
                report_issue(taker, ImportIssue { kind: IssueKind::LeftOut, location: place, text })
            }
        }
    })
}

/// The entries of one file, of which those of chats that may continue are held.
struct ActivityLog<'a> {
    parts: &'a InputParts,
    part: &'a InputPart,
    seen: &'a mut SeenConversations,
    /// The chat of the last entries without an address.
    latest: Option<OpenChat>,
    /// The chats whose entries name them. Entries of several may alternate.
    named: Vec<OpenChat>,
    named_at: HashMap<String, usize>,
    /// The size of all held entries.
    bytes: usize,
    /// Number of activities of other products.
    others: u64,
    is_gemini: bool,
}

/// The entries of a chat, in the order of the file.
struct OpenChat {
    entries: Vec<Value>,
    place: IssueLocation,
    bytes: usize,
}

impl<'a> ActivityLog<'a> {
    fn new(parts: &'a InputParts, part: &'a InputPart, seen: &'a mut SeenConversations) -> Self {
        let (named, named_at) = (Vec::new(), HashMap::new());
        Self { parts, part, seen, latest: None, named, named_at, bytes: 0, others: 0, is_gemini: false }
    }

    fn add(&mut self, value: Value, place: IssueLocation, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        if !is_activity(&value) {
            self.others += 1;
            return Ok(());
        }
        self.is_gemini = true;
        let bytes = value_size(&value);
        if self.bytes + bytes > bounds::CONVERSATION_BYTES {
            self.deliver_all(taker)?;
        }
        self.bytes += bytes;
        if let Some(id) = activity::conversation_id(&value) {
            let at = *self.named_at.entry(id.to_owned()).or_insert(self.named.len());
            if at == self.named.len() {
                self.named.push(OpenChat { entries: Vec::new(), place, bytes: 0 });
            }
            self.named[at].add(value, bytes);
            return Ok(());
        }
        match &mut self.latest {
            Some(chat) if chat.continues_with(&value) => {
                chat.add(value, bytes);
                Ok(())
            }
            chat => match chat.replace(OpenChat { entries: vec![value], place, bytes }) {
                Some(before) => self.deliver(before, taker),
                None => Ok(()),
            },
        }
    }

    /// Delivers the last chats, unless reading ended for good.
    fn end(&mut self, read: Result<u64, ImportError>, taker: &mut dyn ImportSink) -> Result<u64, ImportError> {
        match read {
            Ok(_) | Err(ImportError::Damaged(_) | ImportError::TooLarge(_)) => {
                let closed = self.close(taker);
                read.and_then(|read| closed.map(|()| read))
            }
            Err(_) => read,
        }
    }

    /// Delivers the last chats, and reports what the file holds of other products.
    fn close(&mut self, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        self.deliver_all(taker)?;
        if self.is_gemini && self.others > 0 {
            let times = if self.others > 1 { format!(" ({} times)", self.others) } else { String::new() };
            let location = IssueLocation { file: self.part.name.clone(), ..IssueLocation::default() };
            let text = format!("an activity of another product was skipped{times}");
            report_issue(taker, ImportIssue { kind: IssueKind::Lost, location, text })?;
        }
        Ok(())
    }

    fn deliver_all(&mut self, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        self.named_at.clear();
        let named = std::mem::take(&mut self.named);
        self.latest.take().into_iter().chain(named).try_for_each(|chat| self.deliver(chat, taker))
    }

    fn deliver(&mut self, chat: OpenChat, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        self.bytes = self.bytes.saturating_sub(chat.bytes);
        let mut notes = ConversationNotes::new(chat.place);
        let entries = in_order(chat.entries);
        let conversation = conversation(&entries, self.parts, self.part, &mut notes);
        let conversation = conversation.and_then(|conversation| self.seen.admit(conversation, &entries, &mut notes));
        deliver(conversation, notes, taker)
    }
}

impl OpenChat {
    fn add(&mut self, entry: Value, bytes: usize) {
        self.entries.push(entry);
        self.bytes += bytes;
    }

    /// Returns whether an entry is close enough to the last one to belong to the same chat.
    fn continues_with(&self, value: &Value) -> bool {
        let time = |of: &Value| fields::date(of, "time").valid_time();
        let last = self.entries.last().and_then(time);
        last.zip(time(value)).is_some_and(|(one, other)| (one - other).abs() <= PAUSE)
    }
}

/// Sorts the entries by time. The file begins with the newest, so that those of one time are reversed, too.
fn in_order(mut entries: Vec<Value>) -> Vec<Value> {
    entries.reverse();
    entries.sort_by_key(|entry| fields::date(entry, "time").valid_time());
    entries
}

/// Reads the chat of these entries, oldest first.
fn conversation(
    entries: &[Value],
    parts: &InputParts,
    part: &InputPart,
    notes: &mut ConversationNotes,
) -> Option<Conversation> {
    let first = entries.first()?;
    let made = || {
        let beginning = json!([first.get("time"), first.get("title")]);
        fields::content_id(&beginning)
    };
    let source_id = activity::conversation_id(first).map_or_else(made, str::to_owned);
    notes.set_conversation(&source_id);
    let mut reader = ActivityReader::new(parts, part);
    entries.iter().for_each(|entry| reader.add(entry, notes));
    let (nodes, last) = reader.into_nodes();
    let (messages, current) = order_messages(nodes, last.as_deref(), notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    let times = || messages.iter().filter_map(|message| message.created_at);
    let (created_at, updated_at) = (times().min(), times().max());
    // A chat without a prompt has no words of a person that could name it.
    let has_prompt = messages.iter().any(|message| message.role == Role::User);
    let title = text(first, "title").filter(|_| !has_prompt).unwrap_or_default().to_owned();
    Some(Conversation { source_id, title, created_at, updated_at, current, messages, ..Conversation::default() })
}

#[cfg(test)]
mod tests;

//! Selects the entries of an export archive that hold conversations, and reports those that are not imported.

use std::collections::HashSet;

use crate::input::{Input, InputPart};
use crate::reading::media::mime_of;
use crate::report::{ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};

/// Returns a filter for parts with conversations: the entries with the usual names; all JSON entries of an archive
/// without such names; the whole input if it is no archive.
pub(crate) fn conversation_filter(input: &Input) -> impl Fn(&InputPart) -> bool + use<> {
    let is_archive = input.is_archive();
    let has_named = input.parts().all().iter().any(is_conversations_file);
    move |part| !is_archive || if has_named { is_conversations_file(part) } else { is_json(part) }
}

/// Returns a filter for parts that may hold conversations of any format: the whole input if it is no archive,
/// whatever its name; of an archive the entries whose names suggest text.
pub(crate) fn candidate_filter(input: &Input) -> impl Fn(&InputPart) -> bool + use<> {
    const ENDINGS: [&str; 5] = [".json", ".jsonl", ".ndjson", ".txt", ".gz"];
    let is_archive = input.is_archive();
    move |part| {
        let name = part.base_name().to_ascii_lowercase();
        let is_text = !name.contains('.') || ENDINGS.iter().any(|ending| name.ends_with(ending));
        // A chat of AI Studio has its title as its name, which may contain a dot.
        let is_titled = part.name.contains(AI_STUDIO_FOLDER) && mime_of(&name).is_empty();
        !is_archive || ((is_text || is_titled) && !is_macos_metadata(part))
    }
}

/// The folder in which Google Drive keeps the chats of AI Studio.
const AI_STUDIO_FOLDER: &str = "Google AI Studio/";

/// Returns whether the name of a part suggests that it holds the chats of an export, for the order in which parts are
/// examined.
pub(crate) fn is_likely_chats(part: &InputPart) -> bool {
    let base = part.base_name();
    base.starts_with("conversations") || base == "prod-grok-backend.json" || part.name.contains(AI_STUDIO_FOLDER)
}

/// Returns whether a part has the name that a program gives the files of its chats: the activity of Gemini, recorded
/// sessions and saved chats. Fewer files with such a name are chats than with those of [`is_likely_chats`].
pub(crate) fn has_usual_name(part: &InputPart) -> bool {
    let base = part.base_name();
    let is_session = || base.starts_with("session-") || base.starts_with("checkpoint-");
    let is_rollout = || base.starts_with("rollout-") && base.contains(".json");
    let is_activity = || base == "MyActivity.json" && part.name.contains("Gemini");
    !is_macos_metadata(part) && (is_rollout() || (is_session() && base.contains(".json")) || is_activity())
}

/// Returns the names of the entries that begin like JSON, because the folder of an export may also hold files of its
/// chats. `None` if the input is no archive.
pub(crate) fn entries_beginning_with_json(input: &mut Input) -> Option<HashSet<String>> {
    if !input.is_archive() {
        return None;
    }
    let is_candidate = candidate_filter(input);
    let parts = input.parts();
    let is_json = |start: String| start.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']);
    let mut found = HashSet::new();
    for (at, part) in parts.all().iter().enumerate().filter(|(_, part)| is_candidate(part)) {
        if input.read_start(at).is_ok_and(is_json) {
            found.insert(part.name.clone());
        }
    }
    Some(found)
}

/// Matches `conversations.json`, or `conversations-000.json` and its siblings, in any folder.
fn is_conversations_file(part: &InputPart) -> bool {
    let name = part.base_name().to_ascii_lowercase();
    let Some(stem) = name.strip_suffix(".json") else { return false };
    let is_numbered =
        stem.strip_prefix("conversations-").is_some_and(|n| n.bytes().all(|digit| digit.is_ascii_digit()));
    !is_macos_metadata(part) && (stem == "conversations" || is_numbered)
}

/// Matches an archive inside the archive.
pub(crate) fn is_inner_archive(part: &InputPart) -> bool {
    !is_macos_metadata(part) && part.base_name().to_ascii_lowercase().ends_with(".zip")
}

fn is_json(part: &InputPart) -> bool {
    !is_macos_metadata(part) && part.base_name().to_ascii_lowercase().ends_with(".json")
}

/// Matches the metadata that macOS adds to archives.
fn is_macos_metadata(part: &InputPart) -> bool {
    part.name.starts_with("__MACOSX/") || part.base_name().starts_with("._")
}

/// Reports entries with user data that cannot be imported, by base name or by folder (`name/`), each once. Empty
/// entries hold `[]` or the like and are not reported.
pub(crate) fn report_unread_entries(
    input: &Input,
    taker: &mut dyn ImportSink,
    not_read: &[(&str, &str)],
) -> Result<(), ImportError> {
    let parts = input.parts();
    for (folder, text) in not_read.iter().filter(|(name, _)| name.ends_with('/')) {
        if let Some(part) =
            parts.all().iter().find(|part| part.name.starts_with(folder) || part.name.contains(&format!("/{folder}")))
        {
            let place = IssueLocation { file: part.name.clone(), ..IssueLocation::default() };
            report_issue(taker, ImportIssue { kind: IssueKind::Lost, location: place, text: (*text).to_owned() })?;
        }
    }
    for part in parts.all() {
        let base = part.base_name();
        let finding = |kind, text: &str| ImportIssue {
            kind,
            location: IssueLocation { file: part.name.clone(), ..IssueLocation::default() },
            text: text.to_owned(),
        };
        if let Some((_, text)) = not_read.iter().find(|(name, _)| *name == base && part.packed_bytes > 32) {
            report_issue(taker, finding(IssueKind::Lost, text))?;
        }
        if is_inner_archive(part) && base.to_ascii_lowercase().contains("conversations") {
            let text = "it is an archive inside the archive: extract it and import it separately";
            report_issue(taker, finding(IssueKind::LeftOut, text))?;
        }
    }
    Ok(())
}

/// Reports JSON entries of which the reader knows nothing, so that nothing is left out in silence.
pub(crate) fn report_unknown_entries(
    input: &Input,
    taker: &mut dyn ImportSink,
    not_read: &[(&str, &str)],
    ignored: &[&str],
) -> Result<(), ImportError> {
    let parts = input.parts();
    // Without entries of the usual names, every JSON entry is read.
    if !input.is_archive() || !parts.all().iter().any(is_conversations_file) {
        return Ok(());
    }
    let is_known = |part: &InputPart| {
        let base = part.base_name();
        let is_listed = |name: &str| match name.strip_suffix('/') {
            Some(folder) => part.name.split('/').any(|within| within == folder),
            None => name == base,
        };
        is_conversations_file(part) || ignored.contains(&base) || not_read.iter().any(|(name, _)| is_listed(name))
    };
    for part in parts.all().iter().filter(|part| is_json(part) && !is_known(part) && part.packed_bytes > 32) {
        let location = IssueLocation { file: part.name.clone(), ..IssueLocation::default() };
        let text = "the reader does not know this file: it is not imported".to_owned();
        report_issue(taker, ImportIssue { kind: IssueKind::Lost, location, text })?;
    }
    Ok(())
}

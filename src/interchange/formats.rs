//! The import formats: detection and dispatch to their readers.

use std::ops::ControlFlow;

use serde_json::Value;

use crate::conversation::Conversation;
use crate::input::Input;
use crate::report::ImportIssue;
use crate::sink::{ImportError, ImportSink, report_issue};
use crate::{archive, big_agi, bounds, chatgpt, claude, export_entries, git, librechat, llama_cpp, open_webui};

/// A supported import format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImportFormat {
    Chatgpt,
    Claude,
    OpenWebui,
    Librechat,
    LlamaCpp,
    BigAgi,
    /// Turnleaf's own archive.
    Turnleaf,
    /// Turnleaf's git export.
    Git,
}

/// Members under which formats keep their list of conversations in a top-level object.
const LISTS: [&str; 4] = ["conversations", "data", "chats", "items"];

/// Detects the format of an input from the first conversation that is recognized. `None` if the format is unknown.
///
/// # Errors
/// The input cannot be read, or a bound is reached.
pub fn detect(input: &mut Input) -> Result<Option<ImportFormat>, ImportError> {
    if git::is_repository(&input.parts()) {
        return Ok(Some(ImportFormat::Git));
    }
    match input.read_start(0) {
        Ok(start) if git::is_stream(&start) => return Ok(Some(ImportFormat::Git)),
        Ok(start) if archive::detect_version(&start).is_some() => return Ok(Some(ImportFormat::Turnleaf)),
        // One unreadable part does not decide about the others.
        Ok(_) | Err(ImportError::Damaged(_) | ImportError::TooLarge(_)) => {}
        Err(other) => return Err(other),
    }
    let parts = input.parts();
    let may_hold_chats = export_entries::candidate_filter(input);
    let mut candidates: Vec<usize> = (0..parts.all().len()).filter(|&at| may_hold_chats(&parts.all()[at])).collect();
    candidates.sort_by_key(|&at| !parts.all()[at].base_name().starts_with("conversations"));
    for part in candidates.into_iter().take(bounds::DETECT_PARTS) {
        let mut seen = 0;
        let mut format = None;
        let looked = input.for_each_element(part, &LISTS, &mut DiscardingSink, &mut |value, _, _| {
            seen += 1;
            format = format_of(&value);
            if format.is_some() || seen == bounds::DETECT_ELEMENTS { Err(ImportError::Cancelled) } else { Ok(()) }
        });
        match looked {
            _ if format.is_some() => return Ok(format),
            Err(why @ ImportError::TooLarge(_)) if input.is_exhausted() => return Err(why),
            Ok(_)
            | Err(
                ImportError::Cancelled
                | ImportError::WrongFormat(_)
                | ImportError::Damaged(_)
                | ImportError::TooLarge(_),
            ) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(None)
}

/// Returns the format of a conversation.
fn format_of(value: &Value) -> Option<ImportFormat> {
    type Recognizer = fn(&Value) -> bool;
    let known: [(ImportFormat, Recognizer); 6] = [
        (ImportFormat::Chatgpt, chatgpt::is_conversation),
        (ImportFormat::Claude, claude::is_conversation),
        (ImportFormat::OpenWebui, open_webui::is_conversation),
        (ImportFormat::LlamaCpp, llama_cpp::is_conversation),
        (ImportFormat::Librechat, librechat::is_conversation),
        (ImportFormat::BigAgi, big_agi::is_conversation),
    ];
    known.into_iter().find(|(_, is)| is(value)).map(|(format, _)| format)
}

/// Reads all conversations of a format.
///
/// # Errors
/// The input has another format, is truncated before any content, or exceeds a bound, or the sink stops the import.
/// Conversations that were delivered before stay valid.
pub fn read(format: ImportFormat, input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    for finding in input.take_issues() {
        report_issue(taker, finding)?;
    }
    match format {
        ImportFormat::Chatgpt => chatgpt::read(input, taker),
        ImportFormat::Claude => claude::read(input, taker),
        ImportFormat::OpenWebui => open_webui::read(input, taker),
        ImportFormat::Librechat => librechat::read(input, taker),
        ImportFormat::LlamaCpp => llama_cpp::read(input, taker),
        ImportFormat::BigAgi => big_agi::read(input, taker),
        ImportFormat::Turnleaf => archive::read(input, taker),
        ImportFormat::Git => git::read(input, taker),
    }
}

/// A sink that discards everything.
struct DiscardingSink;

impl ImportSink for DiscardingSink {
    fn take_conversation(&mut self, _: Conversation) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn take_issue(&mut self, _: ImportIssue) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

//! Reports what stands in the export beside its conversations.

use crate::input::{Input, InputPart};
use crate::report::{ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};

/// The lists of the file beside the conversations.
const LISTS: [(&str, &str); 3] = [
    ("projects", "projects and their documents are not imported"),
    ("tasks", "scheduled tasks are not imported"),
    ("media_posts", "pictures and videos that were made outside of chats are not imported"),
];

/// The bytes of a list that are read, enough for an empty one with its white space.
const EMPTY_BYTES: usize = 64;

/// Reports the lists that are not imported. A file that is no JSON object has none: the reader of conversations says
/// what is wrong with it.
pub(super) fn report(
    input: &mut Input,
    taker: &mut dyn ImportSink,
    is_chats: &dyn Fn(&InputPart) -> bool,
) -> Result<(), ImportError> {
    let parts = input.parts();
    for (at, part) in parts.all().iter().enumerate().filter(|(_, part)| is_chats(part)) {
        for (name, text) in LISTS {
            if has_rows(input, at, name) {
                let location = IssueLocation { file: part.name.clone(), ..IssueLocation::default() };
                report_issue(taker, ImportIssue { kind: IssueKind::Lost, location, text: text.to_owned() })?;
            }
        }
    }
    Ok(())
}

/// Returns whether a list has any elements; reads no further than its beginning.
fn has_rows(input: &mut Input, part: usize, name: &str) -> bool {
    match input.read_member(part, &[name], EMPTY_BYTES) {
        Ok(Some(text)) => {
            let text: Vec<u8> = text.into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
            !matches!(text.as_slice(), b"" | b"null" | b"[" | b"[]" | b"{}")
        }
        Ok(None) => true,
        // The reader of conversations reports it.
        Err(_) => false,
    }
}

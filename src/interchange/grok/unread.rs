//! Reports what stands in the export beside its conversations.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::input::{Input, InputPart};
use crate::report::{ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};

/// The lists of the file beside the conversations, of which only the lengths count.
#[derive(Default, Deserialize)]
struct Backend {
    #[serde(default)]
    projects: Option<Vec<IgnoredAny>>,
    #[serde(default)]
    tasks: Option<Vec<IgnoredAny>>,
    #[serde(default)]
    media_posts: Option<Vec<IgnoredAny>>,
}

/// Reports the lists that are not imported. A file that is no whole JSON object has none: the reader of conversations
/// says what is wrong with it.
pub(super) fn report(
    input: &mut Input,
    taker: &mut dyn ImportSink,
    is_chats: &dyn Fn(&InputPart) -> bool,
) -> Result<(), ImportError> {
    let parts = input.parts();
    for (at, part) in parts.all().iter().enumerate().filter(|(_, part)| is_chats(part)) {
        let backend = input.open_text(at).ok().and_then(|text| serde_json::from_reader::<_, Backend>(text).ok());
        let Backend { projects, tasks, media_posts } = backend.unwrap_or_default();
        let lists = [
            (projects, "projects and their documents are not imported"),
            (tasks, "scheduled tasks are not imported"),
            (media_posts, "pictures and videos that were made outside of chats are not imported"),
        ];
        for (list, text) in lists {
            if list.is_some_and(|list| !list.is_empty()) {
                let location = IssueLocation { file: part.name.clone(), ..IssueLocation::default() };
                report_issue(taker, ImportIssue { kind: IssueKind::Lost, location, text: text.to_owned() })?;
            }
        }
    }
    Ok(())
}

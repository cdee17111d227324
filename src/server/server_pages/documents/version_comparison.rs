//! Two versions of a document side by side, with differences marked as in the comparison of two paths.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use super::viewer::version_time;
use crate::domain::documents::document_prompt;
use crate::server::server_pages::compare::{DiffSide, marked_words};
use crate::server::server_pages::messages::compare as texts;
use crate::server::server_pages::messages::documents as words;
use crate::server::server_pages::{PageSection, ServerPage};
use crate::ui::erased::view;
use turnleaf_service::branches::compare::text_diff::TextDiff;
use turnleaf_service::documents::Document;

/// The content of the page.
pub struct VersionComparisonPage<'a> {
    pub document: &'a Document,
    pub left: DateTime<Utc>,
    pub right: DateTime<Utc>,
    pub diff: &'a TextDiff,
}

impl VersionComparisonPage<'_> {
    pub fn draw(&self) -> ServerPage {
        let note =
            if self.diff.is_same() { words::same().to_owned() } else { texts::same_percent(self.diff.same_percent) };
        let path = format!("/documents/{}", self.document.id);
        let side = |version: DateTime<Utc>, name: &'static str, only: DiffSide| {
            let address = format!("{path}?version={}", document_prompt::format_version(version));
            view! {
                <div class="compare-side" role="group" aria-label=name>
                    <p class="compare-name">{name}" "<a href=address>{version_time(version)}</a></p>
                    {marked_words(self.diff, only)}
                </div>
            }
        };
        let body = view! {
            <div class="compare">
                <p class="hint">{note}</p>
                <div class="compare-sides">
                    {side(self.left, words::older_one(), DiffSide::Left)}
                    {side(self.right, words::newer_one(), DiffSide::Right)}
                </div>
                <div class="deeds"><a class="button" href=path.clone()>{words::back()}</a></div>
            </div>
        };
        let title = format!("{} · {}", words::compare(), self.document.title);
        ServerPage { section: PageSection::Documents, title, notice: None, body }
    }
}

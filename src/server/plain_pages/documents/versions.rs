//! Two versions of a document side by side, with what differs marked as it is in the comparison of two paths.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use super::viewer::moment;
use crate::domain::quoted;
use crate::server::plain_pages::compare::{Only, marked_words};
use crate::server::plain_pages::words::compare as said;
use crate::server::plain_pages::words::documents as words;
use crate::server::plain_pages::{Page, Section};
use crate::ui::erased::view;
use turnleaf_service::branches::compare::words::Diff;
use turnleaf_service::documents::Document;

/// The page.
pub struct VersionsPage<'a> {
    pub document: &'a Document,
    pub left: DateTime<Utc>,
    pub right: DateTime<Utc>,
    pub diff: &'a Diff,
}

impl VersionsPage<'_> {
    pub fn draw(&self) -> Page {
        let note = if self.diff.is_same() { words::same().to_owned() } else { said::same(self.diff.same_percent) };
        let path = format!("/documents/{}", self.document.id);
        let side = |version: DateTime<Utc>, name: &'static str, only: Only| {
            let address = format!("{path}?version={}", quoted::stamp(version));
            view! {
                <div class="compare-side" role="group" aria-label=name>
                    <p class="compare-name">{name}" "<a href=address>{moment(version)}</a></p>
                    {marked_words(self.diff, only)}
                </div>
            }
        };
        let body = view! {
            <div class="compare">
                <p class="hint">{note}</p>
                <div class="compare-sides">
                    {side(self.left, words::older_one(), Only::Left)}
                    {side(self.right, words::newer_one(), Only::Right)}
                </div>
                <div class="deeds"><a class="button" href=path.clone()>{words::back()}</a></div>
            </div>
        };
        let title = format!("{} · {}", words::compare(), self.document.title);
        Page { section: Section::Documents, title, said: None, body }
    }
}

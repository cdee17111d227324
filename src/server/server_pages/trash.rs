//! The page "Trash": deleted items with time, size and remaining days. Purging is confirmed on the same page, because
//! it cannot be undone.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use super::confirmation::ConfirmationForm;
use super::messages::documents as of_documents;
use super::messages::providers::time_ago;
use super::messages::trash as words;
use super::{ActionNotice, PageSection, ServerPage, import};
use crate::domain::{DeletionId, limits};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use turnleaf_service::Deletion;
use turnleaf_service::documents::Document;
use turnleaf_service::transfer::imports::ImportSummary;

/// The content of the page.
pub struct TrashPage {
    /// Newest first.
    pub deletions: Vec<Deletion>,
    /// Last deleted first.
    pub documents: Vec<Document>,
    /// Imports whose undo can be reverted, newest first.
    pub imports: Vec<ImportSummary>,
    pub has_older: bool,
    /// The start of this page; `None` for the newest.
    pub before: Option<DeletionId>,
    pub now: DateTime<Utc>,
    /// The purge that needs confirmation.
    pub confirmation: Option<PurgeConfirmation>,
}

/// The items to delete permanently.
pub enum PurgeConfirmation {
    Deletion(Deletion),
    Document(Document),
    Everything,
}

/// Returns the days until a deletion is permanent; a day that has begun counts.
fn days_left(deleted_at: DateTime<Utc>, now: DateTime<Utc>) -> i64 {
    let left = deleted_at + limits::TRASH_KEPT - now;
    left.num_days() + i64::from(left.subsec_nanos() > 0 || left.num_seconds() % 86_400 > 0)
}

impl TrashPage {
    /// Renders the page.
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let rows: Vec<AnyView> = self.deletions.iter().map(|deletion| self.row(deletion)).collect();
        let body = if rows.is_empty() && self.documents.is_empty() && self.imports.is_empty() {
            view! { <p class="hint">{words::nothing()}</p> }
        } else {
            view! {
                <p class="lead">{words::lead()}</p>
                {self.confirmation.is_none().then(empty)}
                <ul class="trash">{rows}</ul>
                {self.pages()}
                {import::undone_section(&self.imports)}
                {self.documents()}
            }
        };
        let sure = self.confirmation.as_ref().map(confirmation_form);
        ServerPage { section: PageSection::Trash, title: words::trash().into(), notice, body: view! { {sure}{body} } }
    }

    fn row(&self, deletion: &Deletion) -> AnyView {
        let title = words::deletion_title(deletion.kind, &deletion.title);
        let where_from = (deletion.root_turn().is_some() || deletion.root_branch().is_some())
            .then(|| view! { <p class="hint" dir="auto">{words::in_chat(&deletion.chat_title)}</p> });
        let exact = deletion.created_at.format("%Y-%m-%d %H:%M UTC").to_string();
        let left = days_left(deletion.created_at, self.now);
        let restore = if deletion.chat_is_deleted {
            view! { <p class="hint">{words::chat_is_deleted()}</p> }
        } else {
            deletion_form("/forms/restore", deletion.id, words::restore(), &title, "button")
        };
        view! {
            <li class="panel" data-deletion=deletion.id.to_string()>
                <h2 dir="auto"><span class="hint">{words::deletion_kind(deletion.kind, deletion.role)}" "</span><bdi>{title.clone()}</bdi></h2>
                {where_from}
                <p class="hint">
                    {words::counts(deletion.turns, deletion.branches)}
                    " · "
                    <time datetime=deletion.created_at.to_rfc3339() title=exact>
                        {time_ago((self.now - deletion.created_at).num_seconds())}
                    </time>
                    " · "
                    {words::days_left(left)}
                </p>
                <div class="deeds">
                    {restore}
                    {deletion_form("/forms/purge", deletion.id, words::purge(), &title, "button danger")}
                </div>
            </li>
        }
    }

    fn documents(&self) -> Option<AnyView> {
        let row = |document: &Document| {
            let left = document.deleted_at.map(|at| days_left(at, self.now));
            let action_button = |action: &'static str, word: &'static str, class: &'static str| {
                let id = document.id.to_string();
                one_button_form(action, ("document_id", id), word, &document.title, class)
            };
            view! {
                <li class="panel" data-document=document.id.to_string()>
                    <h3 dir="auto"><bdi>{document.title.clone()}</bdi></h3>
                    <p class="hint">
                        {of_documents::size(document.version.byte_count)}" · "{of_documents::used_in_chats(document.used_in)}
                        {left.map(|left| format!(" · {}", words::days_left(left)))}
                    </p>
                    <div class="deeds">
                        {action_button("/forms/documents/restore", of_documents::restore(), "button")}
                        {action_button("/forms/documents/purge", of_documents::purge(), "button danger")}
                    </div>
                </li>
            }
        };
        (!self.documents.is_empty()).then(|| {
            view! {
                <h2>{of_documents::in_trash()}</h2>
                <ul class="trash">{self.documents.iter().map(row).collect_view()}</ul>
            }
        })
    }

    fn pages(&self) -> AnyView {
        let path = PageSection::Trash.path();
        let newest = self.before.map(|_| view! { <a class="button" href=path>{words::newest()}</a> });
        let last = self.deletions.last().filter(|_| self.has_older);
        let older = last.map(|last| {
            let address = format!("{path}?before={}", last.id);
            view! { <a class="button" href=address>{words::older()}</a> }
        });
        view! { <div class="deeds">{newest}{older}</div> }
    }
}

/// Renders a form with one button, whose accessible name includes the item.
fn deletion_form(
    action: &'static str,
    id: DeletionId,
    word: &'static str,
    title: &str,
    class: &'static str,
) -> AnyView {
    one_button_form(action, ("deletion_id", id.to_string()), word, title, class)
}

fn one_button_form(
    action: &'static str,
    (name, id): (&'static str, String),
    word: &'static str,
    title: &str,
    class: &'static str,
) -> AnyView {
    view! {
        <form method="post" action=action>
            <input type="hidden" name=name value=id/>
            <button type="submit" class=class>{word}<span class="quiet">" "{title.to_owned()}</span></button>
        </form>
    }
}

fn empty() -> AnyView {
    view! {
        <form class="deeds" method="post" action="/forms/empty-trash">
            <button type="submit" class="button danger"><Icon name="trash"/>{words::empty()}</button>
        </form>
    }
}

fn confirmation_form(sure: &PurgeConfirmation) -> AnyView {
    let (title, description, action, id, yes) = match sure {
        PurgeConfirmation::Deletion(deletion) => (
            words::purge_title(&words::deletion_title(deletion.kind, &deletion.title)),
            words::purge_description(&words::counts(deletion.turns, deletion.branches)),
            "/forms/purge",
            Some(("deletion_id", deletion.id.to_string())),
            words::purge_sure(),
        ),
        PurgeConfirmation::Document(document) => (
            words::purge_title(&document.title),
            of_documents::purge_description().to_owned(),
            "/forms/documents/purge",
            Some(("document_id", document.id.to_string())),
            of_documents::purge_sure(),
        ),
        PurgeConfirmation::Everything => (
            words::empty_title().to_owned(),
            words::empty_description().to_owned(),
            "/forms/empty-trash",
            None,
            words::empty_sure(),
        ),
    };
    let question = ConfirmationForm {
        title,
        description,
        action,
        fields: id.into_iter().chain([("sure", "1".to_owned())]).collect(),
        confirm_label: yes.to_owned(),
        cancel_path: PageSection::Trash.path().to_owned(),
        cancel_label: words::keep(),
    };
    question.draw()
}

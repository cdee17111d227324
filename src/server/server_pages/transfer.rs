//! The page "Data" in the settings, and the export of a chat.

use leptos::prelude::*;

use super::form_fields::SelectField;
use super::messages::{delete_all, transfer as words};
use super::{ActionNotice, PageSection, ServerPage, import};
use crate::domain::{Chat, ImportOrigin};
use crate::ui::erased::view;
use crate::ui::messages::amounts::size;
use crate::ui::standalone::import_note;
use turnleaf_service::transfer::imports::ImportSummary;
use turnleaf_service::usage::storage::StorageUse;

/// The page "Data".
pub struct TransferPage {
    /// Newest first.
    pub imports: Vec<ImportSummary>,
    pub database: &'static str,
    pub storage: StorageUse,
    pub notice: Option<ActionNotice>,
}

impl TransferPage {
    pub fn draw(self) -> ServerPage {
        let is_sqlite = self.database == "SQLite";
        let (description, commands) = if is_sqlite {
            (words::back_up_sqlite(), "turnleaf backup FILE\nturnleaf restore FILE")
        } else {
            (
                words::back_up_postgres(),
                "pg_dump --format=custom --file=FILE DATABASE\npg_restore --dbname=DATABASE FILE",
            )
        };
        let body = view! {
            <section class="panel">
                <h2>{words::export_section()}</h2>
                <p class="hint">{words::export_all_hint()}</p>
                <p><a class="button" href="/settings/data/export">{words::export_all()}</a></p>
            </section>
            {import::upload_section()}
            {import::history(&self.imports)}
            {storage_used(&self.storage)}
            <section class="panel">
                <h2>{words::back_up()}</h2>
                <p class="hint">{description}</p>
                <pre class="commands" tabindex="0"><code>{commands}</code></pre>
            </section>
            <section class="panel">
                <h2>{delete_all::title()}</h2>
                <p class="hint">{delete_all::description()}</p>
                <p><a class="button danger" href="/settings/data/delete">{delete_all::open()}</a></p>
            </section>
        };
        ServerPage { section: PageSection::Data, title: words::title().to_owned(), notice: self.notice, body }
    }
}

/// Renders the used storage and the quota.
fn storage_used(storage: &StorageUse) -> AnyView {
    let of_quota = match storage.quota_bytes {
        Some(quota) => words::storage_of_quota(&size(storage.used_bytes), &size(quota)),
        None => size(storage.used_bytes),
    };
    let parts = words::storage_parts(
        &size(storage.chats_bytes),
        &size(storage.files_bytes),
        &size(storage.documents_bytes),
        &size(storage.waiting_bytes),
    );
    view! {
        <section class="panel" id="storage">
            <h2>{words::storage()}</h2>
            <p>{of_quota}</p>
            <p class="hint">{parts}" "{words::storage_hint()}</p>
        </section>
    }
}

/// Returns a select field whose first option is the default.
fn choice<'a>(form: &'a str, name: &'a str, label: &'a str, options: &'a [(&'a str, &'a str)]) -> SelectField<'a> {
    let chosen = options.first().map_or("", |(value, _)| value);
    SelectField { label, name, form, options, chosen, hint: None, error: None }
}

/// The page with the export formats of a chat.
pub struct ExportPage {
    pub chat: Chat,
    pub imported_from: Option<ImportOrigin>,
    /// True when rows of the chat's tree cannot be read.
    pub is_damaged: bool,
}

impl ExportPage {
    pub fn draw(self) -> ServerPage {
        let id = self.chat.id;
        let title = if self.chat.title.is_empty() { words::untitled().to_owned() } else { self.chat.title };
        let action = format!("/api/chats/{id}/export");
        let options = [("folded", words::folded()), ("full", words::full()), ("left_out", words::omitted())];
        let of_path = |format: &'static str, name: &'static str, description: &'static str| {
            view! {
                <section class="panel">
                    <h2>{name}</h2>
                    <p class="hint">{description}</p>
                    <form class="form" method="get" action=action.clone()>
                        <input type="hidden" name="format" value=format/>
                        {choice(format, "reasoning", words::reasoning(), &options).draw()}
                        {choice(format, "tools", words::tools(), &options).draw()}
                        <div class="deeds"><button type="submit" class="button">{words::download()}</button></div>
                    </form>
                </section>
            }
        };
        let body = view! {
            <p><a href=format!("/c/{id}") dir="auto">{title}</a></p>
            {self.is_damaged.then(|| view! { <p role="status">{words::damaged()}</p> })}
            <section class="panel">
                <h2>{words::archive()}</h2>
                <p class="hint">{words::archive_hint()}</p>
                <p><a class="button" href=action.clone() download="">{words::download()}</a></p>
            </section>
            {of_path("html", words::page(), words::page_hint())}
            {of_path("markdown", words::markdown(), words::markdown_hint())}
            {of_path("markdown_zip", words::markdown_zip(), words::markdown_zip_hint())}
            <section class="panel">
                <h2>{words::git()}</h2>
                <p class="hint">{words::git_hint()}</p>
                <p><a class="button" href=format!("{action}?format=git") download="">{words::download()}</a></p>
            </section>
            {self.imported_from.as_ref().map(import_note)}
        };
        ServerPage { section: PageSection::Chat, title: words::export_chat().to_owned(), notice: None, body }
    }
}

//! The page that deletes everything: what is deleted, what stays, an export to do first, and a form that requires
//! typing a word.

use leptos::prelude::*;

use super::form_fields::{FieldKind, TextField};
use super::messages::{delete_all as words, transfer};
use super::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::messages as app_words;
use turnleaf_service::transfer::delete_all::InventoryCounts;

/// The content of the page.
pub struct DeleteAllPage {
    pub counts: InventoryCounts,
    /// The wrong word that was typed; `typed_error` is its message.
    pub typed: String,
    pub typed_error: Option<String>,
    /// The reason why the deletion is incomplete although the word was right.
    pub delete_error: Option<String>,
}

impl DeleteAllPage {
    pub fn draw(self) -> ServerPage {
        let InventoryCounts { chats, documents, files } = self.counts;
        let hint = words::typing_instruction();
        let field = TextField {
            label: words::label(),
            name: "word",
            form: "everything",
            value: &self.typed,
            hint: Some(&hint),
            error: self.typed_error.as_deref(),
            kind: FieldKind::Code,
            is_required: true,
            ..TextField::default()
        };
        let nothing = self.typed_error.as_ref().map(|_| words::nothing_deleted().to_owned());
        let notice = nothing.or(self.delete_error).map(ActionNotice::Refused);
        let body = view! {
            <p><a href="/settings/data">{transfer::title()}</a></p>
            <section class="panel" aria-labelledby="goes-title">
                <h2 id="goes-title">{words::deleted_items()}</h2>
                <ul>
                    <li>{words::chats(chats)}</li>
                    <li>{words::documents(documents)}</li>
                    <li>{words::files(files)}</li>
                    <li>{words::projects()}</li>
                    <li>{words::usage()}</li>
                </ul>
                <p>{words::permanence()}</p>
                <p class="hint">{words::kept_items()}</p>
            </section>
            <section class="panel" aria-labelledby="before-title">
                <h2 id="before-title">{words::export_first()}</h2>
                <p class="hint">{transfer::export_all_hint()}</p>
                <p><a class="button" href="/settings/data/export">{transfer::export_all()}</a></p>
            </section>
            <section class="panel" aria-labelledby="delete-title">
                <h2 id="delete-title">{words::title()}</h2>
                <form class="form" method="post" action="/forms/delete-everything">
                    {field.draw()}
                    <div class="deeds">
                        <a class="button" href="/settings/data">{app_words::cancel()}</a>
                        <button type="submit" class="button danger" data-busy=words::deleting()>{words::button()}</button>
                    </div>
                </form>
            </section>
        };
        ServerPage { section: PageSection::Data, title: words::title().to_owned(), notice, body }
    }
}

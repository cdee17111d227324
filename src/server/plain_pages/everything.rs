//! The page that deletes everything: what goes and how much of it, what stays, the archive to take out first, and a form
//! that wants a word.

use leptos::prelude::*;

use super::field::{Kind, TextField};
use super::words::{everything as words, transfer};
use super::{Page, Said, Section};
use crate::ui::erased::view;
use crate::ui::words as app_words;
use turnleaf_service::transfer::everything::Counts;

/// What the page shows.
pub struct EverythingPage {
    pub counts: Counts,
    /// What was typed and is not the word, and what is said of it.
    pub typed: String,
    pub wrong: Option<String>,
    /// Why not everything is gone, though the word is right.
    pub failed: Option<String>,
}

impl EverythingPage {
    pub fn draw(self) -> Page {
        let Counts { chats, documents, files } = self.counts;
        let hint = words::how();
        let field = TextField {
            label: words::label(),
            name: "word",
            form: "everything",
            value: &self.typed,
            hint: Some(&hint),
            error: self.wrong.as_deref(),
            kind: Kind::Code,
            is_required: true,
            ..TextField::default()
        };
        let nothing = self.wrong.as_ref().map(|_| words::nothing_deleted().to_owned());
        let said = nothing.or(self.failed).map(Said::Refused);
        let body = view! {
            <p><a href="/settings/data">{transfer::title()}</a></p>
            <section class="panel" aria-labelledby="goes-title">
                <h2 id="goes-title">{words::goes()}</h2>
                <ul>
                    <li>{words::chats(chats)}</li>
                    <li>{words::documents(documents)}</li>
                    <li>{words::files(files)}</li>
                    <li>{words::usage()}</li>
                </ul>
                <p>{words::for_ever()}</p>
                <p class="hint">{words::stays()}</p>
            </section>
            <section class="panel" aria-labelledby="before-title">
                <h2 id="before-title">{words::before()}</h2>
                <p class="hint">{transfer::everything_what()}</p>
                <p><a class="button" href="/api/export" download="">{transfer::everything()}</a></p>
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
        Page { section: Section::Data, title: words::title().to_owned(), said, body }
    }
}

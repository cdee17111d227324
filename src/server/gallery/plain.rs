//! Parts of pages that the server draws alone: what asks before it deletes, forms for a turn, what can be done with a thing
//! of the settings, the search, and what is shown where something failed.

use leptos::prelude::*;

use super::board::board;
use super::words;
use crate::domain::sample::{self, reply, user_turn};
use crate::domain::{Content, Turn};
use crate::server::plain_pages::attaching::not_attached;
use crate::server::plain_pages::deeds::Deeds;
use crate::server::plain_pages::failed::FailedPage;
use crate::server::plain_pages::search::SearchPage;
use crate::server::plain_pages::turns::{AgainView, EditView, delete_page};
use crate::ui::erased::view;
use crate::ui::words::attaching::send_failed;

/// The page.
pub fn draw() -> AnyView {
    let said: Turn = user_turn(1, "Where do leaves come from?");
    let answered: Turn = reply(2, [Content::text("From buds, which were there all winter.")]);
    let editing = EditView { turn: &said, text: "Where do leaves", error: Some(words::wrong()), request_id: "" };
    let again = AgainView { turn: &answered, models: &[super::composers::demo()], request_id: "" };
    view! {
        {board(words::question(), delete_page(&answered, 4).body)}
        {board(words::editing(), editing.draw())}
        {board(words::again(), again.draw())}
        {board(words::deeds(), deeds())}
        {board(words::search(), searches())}
        {board(words::refused_files(), refused())}
        {board(words::failed(), failed())}
    }
}

fn deeds() -> AnyView {
    let of = |id: &'static str, is_enabled, is_locked| {
        let deeds = Deeds {
            id,
            name: "Maker",
            page: "/settings/providers",
            forms: "/forms/providers",
            card: format!("card-{id}"),
            is_enabled,
            is_locked,
            remove_what: words::sample_text().to_owned(),
        };
        let check = deeds.button("/forms/providers/check", "check", "1", words::plain());
        view! { <section class="panel">{deeds.draw(vec![check])}</section> }
    };
    view! { {of("on", true, false)} {of("off", false, false)} {of("locked", true, true)} }
}

fn searches() -> AnyView {
    let page = SearchPage { words: "xyzzy".into(), wrong: Some(words::wrong().to_owned()), ..SearchPage::default() };
    page.draw().body
}

fn refused() -> AnyView {
    let refused = vec![("oak.pdf".to_owned(), send_failed().to_owned())];
    not_attached(refused, format!("/c/{}", sample::turn_id(1))).body
}

fn failed() -> AnyView {
    let typed = ["What somebody typed is not lost.".to_owned()];
    let page = FailedPage {
        status: 503,
        detail: None,
        is_own_quota: false,
        path: "/settings/providers",
        again: Some("/settings/providers".into()),
        request_id: "0190-7f3a",
        typed: &typed,
    };
    page.draw().body
}

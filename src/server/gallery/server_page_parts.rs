//! Parts of server pages: confirmations, forms for a turn, card actions of the settings, search, and errors.

use leptos::prelude::*;

use super::messages;
use super::sample_group::sample_group;
use crate::domain::fixtures::{self, reply, user_turn};
use crate::domain::{Content, Turn};
use crate::server::server_pages::attachment_errors::attachment_errors_page;
use crate::server::server_pages::card_actions::CardActions;
use crate::server::server_pages::error_page::ErrorPage;
use crate::server::server_pages::search::SearchPage;
use crate::server::server_pages::turns::{EditTurnView, RetryView, delete_page};
use crate::ui::erased::view;
use crate::ui::messages::attachments::send_failed;

/// Renders the page.
pub fn draw() -> AnyView {
    let question: Turn = user_turn(1, "Where do leaves come from?");
    let answered: Turn = reply(2, [Content::text("From buds, which were there all winter.")]);
    let editing =
        EditTurnView { turn: &question, text: "Where do leaves", error: Some(messages::wrong()), request_id: "" };
    let again = RetryView { turn: &answered, models: &[super::composers::demo_model()], request_id: "" };
    view! {
        {sample_group(messages::question(), delete_page(&answered, 4).body)}
        {sample_group(messages::editing(), editing.draw())}
        {sample_group(messages::try_other_model(), again.draw())}
        {sample_group(messages::card_actions(), card_actions())}
        {sample_group(messages::search(), searches())}
        {sample_group(messages::rejected_files(), refused())}
        {sample_group(messages::failed(), failed())}
    }
}

fn card_actions() -> AnyView {
    let of = |id: &'static str, is_enabled, is_locked| {
        let deeds = CardActions {
            id,
            name: "Maker",
            page: "/settings/providers",
            form_path: "/forms/providers",
            card: format!("card-{id}"),
            is_enabled,
            is_locked,
            remove_description: messages::sample_text().to_owned(),
        };
        let check = deeds.button("/forms/providers/check", "check", "1", messages::plain());
        view! { <section class="panel">{deeds.draw(vec![check])}</section> }
    };
    view! { {of("on", true, false)} {of("off", false, false)} {of("locked", true, true)} }
}

fn searches() -> AnyView {
    let page = SearchPage { query: "xyzzy".into(), error: Some(messages::wrong().to_owned()), ..SearchPage::default() };
    page.draw().body
}

fn refused() -> AnyView {
    let refused = vec![("oak.pdf".to_owned(), send_failed().to_owned())];
    attachment_errors_page(refused, format!("/c/{}", fixtures::turn_id(1))).body
}

fn failed() -> AnyView {
    let typed = ["Your input is not lost.".to_owned()];
    let page = ErrorPage {
        status: 503,
        detail: None,
        account_limit: None,
        path: "/settings/providers",
        retry_address: Some("/settings/providers".into()),
        request_id: "0190-7f3a",
        typed: &typed,
    };
    page.draw().body
}

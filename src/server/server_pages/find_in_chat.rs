//! Text search in a chat without script: a form, and the matching turns as links.

use leptos::prelude::*;

use super::form_fields::{FieldKind, TextField};
use super::frame::{ActionNotice, PageSection, ServerPage};
use super::messages;
use crate::domain::{ChatId, Role, TurnId};
use crate::ui::erased::view;
use crate::ui::locale::{colon, join_sentences};
use crate::ui::messages as app_words;
use turnleaf_service::search::chat_search::{TurnMatch, TurnMatches};

/// The content of the page.
pub struct FindPage {
    pub chat: ChatId,
    /// The search text as it was typed.
    pub query: String,
    /// The end of the path, if the address names it.
    pub leaf: Option<TurnId>,
    /// `None` before a search.
    pub found: Option<TurnMatches>,
    /// The error of the search.
    pub error: Option<String>,
}

impl FindPage {
    pub fn draw(&self, title: &str) -> ServerPage {
        let title = if title.is_empty() { app_words::untitled() } else { title };
        let field = TextField {
            label: app_words::find_words(),
            name: "q",
            form: "find",
            value: &self.query,
            hint: Some(messages::find_hint()),
            error: self.error.as_deref(),
            kind: FieldKind::Search,
            is_required: true,
            ..TextField::default()
        };
        let action = format!("/c/{}/find", self.chat);
        let leaf = self.leaf.map(|leaf| view! { <input type="hidden" name="leaf" value=leaf.to_string()/> });
        let hits = self.found.as_ref().map(|found| found.hits.iter().rev().map(|hit| self.hit(hit)).collect_view());
        let body = view! {
            <p><a href=format!("/c/{}", self.chat)>{messages::back_to_chat()}</a>{colon()}<bdi>{title.to_owned()}</bdi></p>
            <form class="form" method="get" action=action role="search">
                {leaf}
                {field.draw()}
                <div class="deeds"><button type="submit" class="button strong">{app_words::find()}</button></div>
            </form>
            {hits.map(|hits| view! { <ol class="rows hits" aria-label=messages::find_results()>{hits}</ol> })}
        };
        let notice = self.found.as_ref().map(|found| ActionNotice::Done(result_sentence(found)));
        ServerPage {
            section: PageSection::Chat,
            title: app_words::find_in_chat().to_owned(),
            notice,
            body: body.into_any(),
        }
    }

    fn hit(&self, hit: &TurnMatch) -> AnyView {
        let [before, words, after] = hit.excerpt.clone();
        let author = match hit.role {
            Role::User => app_words::transcript::you(),
            Role::Assistant => app_words::transcript::assistant(),
            Role::System => app_words::transcript::system(),
        };
        let address = format!("/c/{}?at={}#turn-{}", self.chat, hit.turn_id, hit.turn_id);
        view! {
            <li class="plain-row">
                <a class="row-name" href=address>
                    {author}" · "
                    <span dir="auto">{before}<mark>{words}</mark>{after}</span>
                </a>
            </li>
        }
    }
}

/// Returns the result in a sentence.
fn result_sentence(found: &TurnMatches) -> String {
    let shown = found.hits.len();
    let count = match found.total {
        0 => messages::found_nothing().to_owned(),
        1 => messages::found_one().to_owned(),
        total if total as usize > shown => messages::newest_turns_found(total, shown),
        total => messages::turns_found(total),
    };
    if found.is_whole { count } else { join_sentences(&count, messages::found_in_part()) }
}

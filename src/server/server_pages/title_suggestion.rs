//! The page of a suggested title: the suggestion in the form that renames the chat, and what was sent and received for it.

use leptos::prelude::*;

use super::chat_settings::{rename_form, stop_title_button, suggest_title_button};
use super::messages::sent_request as sent_texts;
use super::messages::{self, title_suggestion as texts};
use super::raw_response::bytes_panel;
use super::sent_request::{SentRequestPage, facts};
use super::turns::turn_address;
use super::{PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::messages::stored_codes::failure_sentence;
use turnleaf_service::chats::titles::{ByteExcerpt, TitleRequestDetails};
use turnleaf_service::turns::generations::GenerationStatus;

/// The page of one suggestion.
pub struct TitleSuggestionPage<'a> {
    pub details: &'a TitleRequestDetails,
}

impl TitleSuggestionPage<'_> {
    pub fn draw(&self) -> ServerPage {
        let TitleRequestDetails { suggestion, sent, body, response, .. } = self.details;
        let address = format!("/api/title-suggestions/{}", suggestion.id);
        let response_link = response.as_ref().map(|_| {
            let href = format!("{address}/raw");
            view! { <a class="button bare" href=href download="">{texts::download_response()}</a> }
        });
        let response = match response {
            Some(bytes) => stored_bytes(sent_texts::raw_response_text(), bytes),
            None => view! { <p class="hint">{sent_texts::raw_response_missing()}</p> }.into_any(),
        };
        let body = view! {
            <p class="lead">{texts::lead()}</p>
            {self.outcome()}
            {self.request()}
            {stored_bytes(texts::body(), body)}
            {response}
            <div class="deeds no-print">
                <a class="button" href=turn_address(&sent.turn)>{messages::back_to_chat()}</a>
                <a class="button bare" href=format!("{address}/request") download="">{texts::download_body()}</a>
                {response_link}
                <a class="button bare" href=address>{sent_texts::as_json()}</a>
            </div>
        };
        ServerPage { section: PageSection::Chat, title: texts::title().to_owned(), notice: None, body: body.into_any() }
    }

    /// Renders the suggestion, or why there is none.
    fn outcome(&self) -> AnyView {
        let TitleRequestDetails { chat, suggestion, .. } = self.details;
        if let Some(title) = &suggestion.title {
            return rename_form(chat, title, None);
        }
        let (sentence, detail) = match (&suggestion.error, suggestion.status) {
            (Some(failure), _) => (failure_sentence(failure), failure.detail.clone()),
            (None, GenerationStatus::Running) => (texts::running().to_owned(), None),
            (None, _) => (texts::stopped().to_owned(), None),
        };
        let again = match suggestion.status {
            GenerationStatus::Running => {
                view! { <a class="button" href="">{texts::reload()}</a>{stop_title_button(chat)} }.into_any()
            }
            _ => suggest_title_button(chat),
        };
        view! {
            <p role="status" dir="auto">{sentence}</p>
            {detail.map(|detail| view! { <p class="hint" dir="auto">{detail}</p> })}
            <div class="deeds">{again}</div>
        }
        .into_any()
    }

    /// Renders the facts of the request, and the messages that it consisted of.
    fn request(&self) -> Option<AnyView> {
        let sent = &self.details.sent;
        let (generation, manifest) = sent.shown_generation()?;
        let messages = match manifest {
            Some(manifest) => SentRequestPage { sent }.messages(&manifest.turns),
            None => view! { <p class="hint">{sent_texts::unreadable()}</p> }.into_any(),
        };
        Some(
            view! {
                <section class="panel" aria-labelledby="request">
                    <h2 id="request">{sent_texts::facts()}</h2>
                    {facts(generation, manifest)}
                </section>
                <section aria-labelledby="messages">
                    <h2 id="messages">{sent_texts::messages()}</h2>
                    {messages}
                </section>
            }
            .into_any(),
        )
    }
}

fn stored_bytes(name: &'static str, bytes: &ByteExcerpt) -> AnyView {
    view! {
        <details class="kept">
            <summary>{name}</summary>
            {bytes_panel(name, &bytes.excerpt, bytes.length)}
        </details>
    }
    .into_any()
}

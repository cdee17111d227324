//! The parts of a reply's requests, for the owner of the chat: the manifest of a generation in words. Each message is
//! listed with the form in which it was sent, and each attachment with its version and range.

mod message;
pub(super) mod request_parts;
mod token_breakdown;

use leptos::prelude::*;

use super::messages::{self, sent_request as texts};
use super::turns::turn_address;
use super::{PageSection, ServerPage};
use crate::domain::text::hidden_text::visible_text;
use crate::domain::turns::context::{ManifestEntry, RequestManifest, SentInstructions};
use crate::domain::{Cost, CostBasis};
use crate::ui::erased::view;
use crate::ui::locale::join_list;
use crate::ui::messages::amounts;
use crate::ui::messages::stored_codes::{not_sent_sentences, notice_sentence};
use crate::ui::messages::usage;
use turnleaf_service::turns::generations::{Generation, SentRequests};

/// The page of one reply.
pub struct SentRequestPage<'a> {
    pub sent: &'a SentRequests,
}

impl SentRequestPage<'_> {
    pub fn draw(&self) -> ServerPage {
        let turn = &self.sent.turn;
        let body = match self.sent.shown_generation() {
            Some((generation, manifest)) => self.request(generation, manifest),
            None => view! { <p>{texts::no_request_reason(turn.status, turn.error.is_some())}</p> }.into_any(),
        };
        let body = view! {
            <p class="lead">{texts::lead()}</p>
            <div class="deeds no-print">
                <a class="button" href=turn_address(turn)>{messages::back_to_chat()}</a>
            </div>
            {texts::reply_outcome(turn.status).map(|words| view! { <p class="hint">{words}</p> })}
            {body}
        };
        ServerPage { section: PageSection::Chat, title: texts::title().to_owned(), notice: None, body: body.into_any() }
    }

    fn request(&self, generation: &Generation, manifest: Option<&RequestManifest>) -> AnyView {
        let all = self.sent.ids.len();
        let messages = match manifest {
            Some(manifest) => self.messages(&manifest.turns),
            None => view! { <p class="hint">{texts::unreadable()}</p> }.into_any(),
        };
        let raw = generation.raw_bytes.map(|bytes| {
            let address = format!("/api/generations/{}/raw", generation.id);
            let look = format!("/turns/{}/raw?of={}", self.sent.turn.id, generation.id);
            view! {
                <a class="button bare" href=look>{texts::view_raw_response()}</a>
                <a class="button bare" href=address download="">{texts::bytes(bytes)}</a>
            }
        });
        view! {
            {(all > 1).then(|| self.other_requests())}
            <section class="panel" aria-labelledby="request">
                <h2 id="request">{texts::request_of(self.sent.index + 1, all)}</h2>
                {facts(generation, manifest)}
            </section>
            {manifest.and_then(|manifest| self.instructions(manifest))}
            {manifest.map(|manifest| token_breakdown::draw(self.sent, manifest))}
            <section aria-labelledby="messages">
                <h2 id="messages">{texts::messages()}</h2>
                {messages}
            </section>
            <div class="deeds no-print">
                {raw}
                <a class="button bare" href=format!("/api/generations/{}", generation.id)>{texts::as_json()}</a>
            </div>
        }
        .into_any()
    }

    /// Renders the instructions of tool servers. The branch may have others by now, which are not shown.
    fn instructions(&self, manifest: &RequestManifest) -> Option<AnyView> {
        let row = |sent: &SentInstructions| {
            let text = match self.sent.instructions_text(sent) {
                Some(text) => view! { <pre class="listed-schema" dir="auto" tabindex="0">{visible_text(text)}</pre> },
                None => view! { <p class="hint">{texts::instructions_unknown()}</p> },
            };
            view! {
                <li>
                    <strong><bdi>{sent.name.clone()}</bdi></strong>" "
                    <span class="hint">{texts::estimated_tokens(sent.approx_tokens)}</span>
                    {text}
                </li>
            }
        };
        let rows: Vec<AnyView> = manifest.server_instructions.iter().map(row).collect();
        (!rows.is_empty()).then(|| {
            view! {
                <section class="panel" aria-labelledby="instructions">
                    <h2 id="instructions">{texts::instructions()}</h2>
                    <p class="hint">{texts::instructions_hint()}</p>
                    <ul class="sent-list">{rows}</ul>
                </section>
            }
            .into_any()
        })
    }

    /// Renders links to the reply's other requests.
    fn other_requests(&self) -> AnyView {
        let link = |at: usize| {
            let is_here = (at == self.sent.index).then_some("page");
            let address = format!("/turns/{}/sent?request={}", self.sent.turn.id, at + 1);
            view! { <li><a href=address aria-current=is_here>{texts::request(at + 1)}</a></li> }
        };
        let links = (0..self.sent.ids.len()).map(link).collect_view();
        view! { <nav class="requests no-print" aria-label=texts::requests()><ol>{links}</ol></nav> }.into_any()
    }

    pub(super) fn messages(&self, entries: &[ManifestEntry]) -> AnyView {
        // The reply is a message of its own later requests.
        let turns = request_parts::turns_by_id(self.sent);
        let from = entries.len().saturating_sub(SentRequests::MESSAGES);
        let (older, shown) = entries.split_at(from);
        let older = (!older.is_empty()).then(|| {
            let tokens = older.iter().map(|entry| entry.approx_tokens).sum();
            view! { <p class="hint">{texts::earlier_messages(older.len(), tokens)}</p> }
        });
        let rows = shown.iter().map(|entry| message::row(entry, turns.get(&entry.turn_id).copied())).collect_view();
        view! {
            {older}
            <ol class="sent-list" start=(from + 1).to_string()>{rows}</ol>
        }
        .into_any()
    }
}

/// Renders the request as a list of names and values.
pub(super) fn facts(generation: &Generation, manifest: Option<&RequestManifest>) -> AnyView {
    let fact = |name: &'static str, value: String| view! { <div><dt>{name}</dt><dd dir="auto">{value}</dd></div> };
    let since = |at: chrono::DateTime<chrono::Utc>| {
        amounts::measured_time((at - generation.started_at).num_milliseconds().max(0).unsigned_abs())
    };
    let requested = format!("{} · {}", generation.provider, generation.model_requested);
    let other = generation.model_returned.clone().filter(|model| *model != generation.model_requested);
    let usage = &generation.usage;
    let tokens = usage::in_and_out(usage).map(|counted| {
        let parts =
            [usage.cache_read_tokens.map(texts::cached_tokens), usage.reasoning_tokens.map(texts::reasoning_tokens)];
        join_list(&std::iter::once(counted).chain(parts.into_iter().flatten()).collect::<Vec<_>>())
    });
    let is_estimated = generation.cost_basis != Some(CostBasis::Reported);
    let cost = generation.cost_micros.map(|micros| usage::cost(Cost { micros, is_estimated }));
    let not_sent = manifest.and_then(|manifest| not_sent_sentences(&manifest.not_sent));
    let repair =
        manifest.and_then(|manifest| manifest.repair).map(|repair| notice_sentence(repair.notice()).to_owned());
    let goes_on = manifest.and_then(|manifest| manifest.previous_response_id.clone());
    let found = manifest.map(|manifest| join_list(&manifest.found_tools)).filter(|names| !names.is_empty());
    let sent_at = generation.started_at.format("%Y-%m-%d %H:%M:%S UTC").to_string();
    let sent_at = view! { <time datetime=generation.started_at.to_rfc3339()>{sent_at}</time> };
    view! {
        <dl class="facts">
            {fact(texts::model(), requested)}
            {other.map(|model| fact(texts::answered_by(), model))}
            <div><dt>{texts::sent_at()}</dt><dd>{sent_at}</dd></div>
            {generation.first_token_at.map(|at| fact(texts::first_words(), since(at)))}
            {fact(texts::ended_label(), texts::ending(generation.status, generation.stop_reason.as_deref()))}
            {tokens.map(|tokens| fact(texts::tokens_label(), tokens))}
            {cost.map(|cost| fact(texts::cost(), cost))}
            {not_sent.map(|words| fact(texts::parameters(), words))}
            {repair.map(|words| fact(texts::repaired(), words))}
            {goes_on.map(|id| fact(texts::goes_on(), id))}
            {found.map(|names| fact(texts::found_tools(), names))}
        </dl>
    }
    .into_any()
}

#[cfg(test)]
mod tests;

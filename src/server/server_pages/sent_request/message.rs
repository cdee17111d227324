//! One message of a request: the form in which it was sent, and its attachments with version and range.

use std::collections::HashMap;

use leptos::prelude::*;

use crate::domain::documents::attachment::{AttachmentCard, AttachmentRendering, ShownAttachment};
use crate::domain::documents::document_prompt;
use crate::domain::text::excerpt::first_words;
use crate::domain::turns::context::ManifestEntry;
use crate::domain::{Block, BlockId, DocumentId, Turn};
use crate::server::server_pages::messages::sent_request as texts;
use crate::server::server_pages::turns::turn_address;
use crate::ui::erased::view;
use crate::ui::locale::comma;
use crate::ui::messages::stored_codes::notice_sentence;

const FIRST_WORDS: usize = 80;

/// Renders one message of the request; `turn` is its source, if it still exists.
pub(super) fn row(entry: &ManifestEntry, turn: Option<&Turn>) -> AnyView {
    let author = turn.map(|turn| texts::role_name(turn.role));
    let words = match turn {
        Some(turn) => view! { <a href=turn_address(turn) dir="auto">{turn_excerpt(turn)}</a> }.into_any(),
        None => view! { <span class="hint">{texts::not_on_path()}</span> }.into_any(),
    };
    let blocks: HashMap<BlockId, &Block> =
        turn.iter().flat_map(|turn| &turn.blocks).map(|block| (block.id, block)).collect();
    let attached = (!entry.attachments.is_empty()).then(|| {
        let lines = entry.attachments.iter().map(|shown| attachment(shown, blocks.get(&shown.block_id).copied()));
        view! { <ul class="sent-attached">{lines.collect_view()}</ul> }
    });
    let repair = entry.repair.map(|repair| notice_sentence(repair.notice()).to_owned());
    let notes = [
        Some(texts::form_and_reason(entry.mode, entry.reason).to_owned()),
        texts::left_out(entry.blocks_omitted),
        repair,
    ];
    let notes = notes
        .into_iter()
        .flatten()
        .chain([texts::estimated_tokens(entry.approx_tokens)])
        .collect::<Vec<_>>()
        .join(" · ");
    view! {
        <li data-mode=mode(entry)>
            <p><strong>{author}</strong>" "<span class="hint">{notes}</span></p>
            <p>{words}</p>
            {attached}
        </li>
    }
    .into_any()
}

/// Renders an attachment: its version, range and form.
fn attachment(shown: &ShownAttachment, block: Option<&Block>) -> AnyView {
    let card = block.and_then(AttachmentCard::from_block).unwrap_or_default();
    let title = shown.title.clone().filter(|title| !title.is_empty()).unwrap_or(card.title);
    let is_document = shown.ref_id.parse::<DocumentId>().is_ok();
    let address = match is_document {
        true => document_prompt::document_url(&shown.ref_id, shown.version_timestamp, card.lines),
        false => format!("/api/blobs/{}", shown.ref_id),
    };
    let version = shown.version_timestamp.map(|at| {
        let moment = at.format("%Y-%m-%d %H:%M:%S%.3f UTC").to_string();
        view! { <span>{texts::version_of(&moment)}{comma()}{texts::range(card.lines, shown.selection)}</span> }
    });
    let sha256 = shown.sha256.clone().map(|sha256| {
        view! { <span class="hint">"SHA-256 "<code>{sha256}</code></span> }
    });
    // A document that was deleted then may still be deleted, so it is not a link.
    let title = match shown.shown_as {
        AttachmentRendering::Deleted => view! { <span dir="auto">{title}</span> }.into_any(),
        _ => view! { <a href=address dir="auto">{title}</a> }.into_any(),
    };
    view! {
        <li>
            {title}
            {version}
            <span>{texts::shown_as(shown.shown_as)}" · "{texts::estimated_tokens(shown.approx_tokens)}</span>
            {sha256}
        </li>
    }
    .into_any()
}

/// Returns the name of the mode, as in the JSON.
fn mode(entry: &ManifestEntry) -> String {
    serde_json::to_value(entry.mode).ok().and_then(|mode| mode.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Returns the first words of a turn, or a placeholder.
pub(super) fn turn_excerpt(turn: &Turn) -> String {
    let words = first_words(&turn.content_text(), FIRST_WORDS);
    if words.is_empty() { texts::no_words().to_owned() } else { words }
}

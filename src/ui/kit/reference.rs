//! The chip of a document or of lines of one: title, extent and link. It also represents an image that no longer
//! exists.

use leptos::prelude::*;

use crate::domain::documents::attachment::{AttachmentCard, ReferenceStatus};
use crate::domain::documents::document_prompt;
use crate::domain::{Content, DocumentId};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::messages::attachments as words;
use crate::ui::standalone::standalone_context;

/// The chip. A deleted document is named without a link.
pub fn reference_chip(content: &Content, card: &AttachmentCard, status: Option<ReferenceStatus>) -> AnyView {
    if let Content::Image { alt, .. } = content {
        let label = format!("{alt} · {}", words::not_there());
        return view! { <span class="chip gone"><Icon name="file"/><span>{label}</span></span> };
    }
    let (Content::Reference { ref_id, version_timestamp, .. }
    | Content::PartialReference { ref_id, version_timestamp, .. }) = content
    else {
        return ().into_any();
    };
    let inside = view! {
        <Icon name="file"/>
        <bdi class="chip-text">{card.title.clone()}</bdi>
        <span>{words::chip_label(card, status)}</span>
    };
    // An id that is invalid would lead elsewhere.
    let is_gone = status == Some(ReferenceStatus::Deleted) || ref_id.parse::<DocumentId>().is_err();
    if is_gone || standalone_context().is_some() {
        return view! { <span class="chip reference" class:gone=is_gone title=card.quote.clone()>{inside}</span> };
    }
    let address = document_prompt::document_url(ref_id, *version_timestamp, card.lines);
    let is_older = status.is_some();
    view! {
        <a class="chip reference" class:older=is_older href=address rel="external" title=card.quote.clone()>{inside}</a>
    }
}

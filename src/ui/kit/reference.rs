//! The chip of a document or of lines of one: what it is called, how much of it, and the way to it. And of a picture that
//! is not there any more.

use leptos::prelude::*;

use crate::domain::attachment::{Card, Standing};
use crate::domain::{Content, DocumentId, quoted};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::standalone::standalone;
use crate::ui::words::attaching as words;

/// The chip. What is not there any more is named and leads nowhere.
pub fn reference_chip(content: &Content, card: &Card, standing: Option<Standing>) -> AnyView {
    if let Content::Image { alt, .. } = content {
        let said = format!("{alt} · {}", words::not_there());
        return view! { <span class="chip gone"><Icon name="file"/><span>{said}</span></span> };
    }
    let (Content::Reference { ref_id, version_timestamp, .. }
    | Content::PartialReference { ref_id, version_timestamp, .. }) = content
    else {
        return ().into_any();
    };
    let inside = view! {
        <Icon name="file"/>
        <bdi class="chip-text">{card.title.clone()}</bdi>
        <span>{words::chip(card, standing)}</span>
    };
    // An id that is none would lead elsewhere.
    let is_gone = standing == Some(Standing::Deleted) || ref_id.parse::<DocumentId>().is_err();
    if is_gone || standalone().is_some() {
        return view! { <span class="chip reference" class:gone=is_gone title=card.quote.clone()>{inside}</span> };
    }
    let address = quoted::address(ref_id, *version_timestamp, card.lines);
    let is_older = standing.is_some();
    view! {
        <a class="chip reference" class:older=is_older href=address rel="external" title=card.quote.clone()>{inside}</a>
    }
}

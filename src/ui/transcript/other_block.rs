//! Blocks that are neither text, reasoning nor tools: images and references. They are named, nothing is loaded.

use leptos::prelude::*;

use crate::domain::{Block, Content};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::words::transcript as words;

/// One chip for one block. Types this version does not know are kept in the turn and not drawn.
#[component]
pub fn OtherBlock(block: Block) -> impl IntoView {
    let (what, name) = match &block.content {
        Content::Image { alt, .. } => (words::IMAGE, alt.clone()),
        Content::Reference { ref_type, .. } => (words::REFERENCE, ref_type.clone()),
        Content::PartialReference { ref_type, selection_start, selection_end, .. } => {
            (words::REFERENCE, format!("{ref_type} · {selection_start}-{selection_end}"))
        }
        _ => return ().into_any(),
    };
    let kind = block.content.block_type().to_owned();
    view! {
        <p class="chip" data-block-id=block.id.to_string() data-block-type=kind>
            <Icon name="leaf"/>
            {what}
            " "
            <bdi>{name}</bdi>
        </p>
    }
    .into_any()
}

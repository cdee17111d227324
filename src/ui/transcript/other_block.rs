//! Blocks that are neither text, reasoning nor tools: images, and chips of documents and of lines of them.

use leptos::prelude::*;

use crate::domain::documents::attachment::{AttachmentCard, ReferenceStatus};
use crate::domain::{Block, Content};
use crate::ui::erased::{live_view, view};
use crate::ui::kit::reference_chip;
use crate::ui::markdown::view::draw_static;
use crate::ui::state::TurnState;
use crate::ui::tool_rendering::picture;

/// One block, with the current status of its reference. Types that this version does not know are kept in the turn
/// and not rendered.
#[component]
pub fn OtherBlock(turn: TurnState, block: Block) -> impl IntoView {
    let id = block.id;
    live_view(move || attached_block(&block, turn.with(|view| view.reference_status(id))))
}

fn attached_block(block: &Block, status: Option<ReferenceStatus>) -> AnyView {
    let (id, kind) = (block.id.to_string(), block.content.block_type().to_owned());
    let chip = || reference_chip(&block.content, &AttachmentCard::from_block(block).unwrap_or_default(), status);
    let inside = match &block.content {
        Content::Image { .. } => {
            match picture::picture_of_block(block).filter(|_| status != Some(ReferenceStatus::Deleted)) {
                Some(picture) => draw_static(&[picture]),
                None => chip(),
            }
        }
        Content::Reference { .. } | Content::PartialReference { .. } => chip(),
        _ => return ().into_any(),
    };
    view! { <div class="attached-block" data-block-id=id data-block-type=kind>{inside}</div> }
}

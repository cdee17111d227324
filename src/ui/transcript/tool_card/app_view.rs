//! The page that a tool server gave for a result, below the header of the call's card.

use leptos::prelude::*;

use crate::domain::id::is_imported;
use crate::domain::{BlockId, TurnId};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::messages::transcript as words;
use crate::ui::sandboxed_frame::{AppViewFrame, app_view_address};
use crate::ui::standalone::standalone_context;

/// The page in its frame, which can be hidden. That of an imported chat is hidden at first, because nobody approved
/// its call here; a frame that was never shown is not loaded.
#[component]
pub fn AppViewPanel(
    turn: TurnId,
    /// The block of the call.
    block: BlockId,
    /// The display name of the server.
    server: String,
    /// True if the server gave the page.
    is_given: bool,
) -> impl IntoView {
    if standalone_context().is_some() {
        return None;
    }
    if !is_given {
        return Some(view! { <p class="app-view tool-part">{words::view_not_given()}</p> });
    }
    let (address, is_open) = (app_view_address(turn, block), !is_imported(turn.uuid()));
    Some(view! {
        <details class="app-view no-print" open=is_open>
            <summary role="button">
                <bdi class="quiet">{words::view_of(&server)}</bdi>
                <Icon name="chevron-right"/>
            </summary>
            <AppViewFrame turn block server/>
            <p class="tool-part"><a href=address rel="external">{words::open_view()}</a></p>
        </details>
    })
}

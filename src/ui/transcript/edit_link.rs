//! The edit link of a turn.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::turn_commands::TurnCommands;
use crate::browser::dialog;
use crate::domain::TurnId;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::kit::link::click_by_space;
use crate::ui::messages::transcript as texts;

/// "Edit your message", or a reply: opens a page with a form without script, the editor in the turn's place with it.
#[component]
pub fn EditLink(id: TurnId, class: &'static str, is_wordy: bool) -> impl IntoView {
    let verbs = use_context::<TurnCommands>();
    let on_click = move |event: MouseEvent| {
        if let Some(verbs) = verbs {
            event.prevent_default();
            dialog::close_popovers();
            verbs.editing.set(Some(id));
        }
    };
    let name = if is_wordy { texts::edit_reply() } else { texts::edit_message() };
    let label = (!is_wordy).then_some(name);
    view! {
        <a
            class=class
            role="button"
            data-verb="edit"
            href=format!("/turns/{id}/edit")
            rel="external"
            aria-label=label
            title=label
            on:click=on_click
            on:keydown=click_by_space
        >
            <Icon name="edit"/>
            {is_wordy.then_some(name)}
        </a>
    }
}

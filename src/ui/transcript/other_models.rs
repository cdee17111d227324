//! Retry with another model (docs/reference/ux.md 5.1): a page with the models without script, a dialog with it.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::turn_commands::TurnCommands;
use crate::browser::dialog;
use crate::domain::TurnId;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::kit::link::click_by_space;
use crate::ui::messages::transcript as words;
use crate::ui::messages::turn_actions as texts;
use crate::ui::state::TurnState;

/// The arrow beside "Retry", which opens the list of models.
#[component]
pub fn RetryModelMenu(turn: TurnState) -> impl IntoView {
    let id = turn.id();
    let on_click = open_choice(id);
    view! {
        <a
            class="button bare"
            role="button"
            href=format!("/turns/{id}/again")
            rel="external"
            title=texts::other_models()
            on:click=on_click
            on:keydown=click_by_space
        >
            <Icon name="chevron-down"/>
            <span class="quiet">{texts::other_models()}</span>
        </a>
    }
}

/// The link to the list of models.
#[component]
pub fn RetryWithLink(id: TurnId, class: &'static str) -> impl IntoView {
    let on_click = open_choice(id);
    view! {
        <a class=class href=format!("/turns/{id}/again") rel="external" on:click=on_click>
            <Icon name="retry"/>
            {words::retry_with()}
        </a>
    }
}

/// Returns the handler that opens the dialog instead of the page.
fn open_choice(id: TurnId) -> impl Fn(MouseEvent) + Clone + 'static {
    let verbs = use_context::<TurnCommands>();
    move |event: MouseEvent| {
        if let Some(verbs) = verbs {
            event.prevent_default();
            dialog::close_popovers();
            verbs.choosing.set(Some(id));
        }
    }
}

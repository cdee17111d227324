//! Retry with another model (docs/reference/ux.md 5.1): a menu beside "Retry" with the models, and a link to a
//! page or a dialog with the whole list, for readers without script and for many models.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::turn_commands::TurnCommands;
use crate::browser::{dialog, focus};
use crate::domain::TurnId;
use crate::domain::provider::Model;
use crate::ui::erased::{live_view, view};
use crate::ui::kit::{Icon, Menu};
use crate::ui::messages as all_words;
use crate::ui::messages::transcript as words;
use crate::ui::messages::turn_actions as texts;
use crate::ui::model_picker::needs_picker;
use crate::ui::state::TurnState;

/// The menu. The models are rendered while it is open, because a long chat should not hold the list with every reply.
#[component]
pub fn RetryModelMenu(turn: TurnState) -> impl IntoView {
    let id = turn.id();
    let verbs = use_context::<TurnCommands>();
    let is_open = RwSignal::new(false);
    let on_toggle = move |()| is_open.set(focus::has_match(&format!("#turn-{id}-models:popover-open")));
    let named = move || {
        let models = verbs.filter(|_| is_open.get())?.models.get();
        (!models.is_empty() && !needs_picker(&models)).then_some(models)
    };
    let of_rows = turn.clone();
    let own = move |model: &Model| {
        of_rows.with_untracked(|view| {
            view.turn.provider_used.as_ref() == Some(&model.lock.provider)
                && view.turn.model_used.as_ref() == Some(&model.lock.model)
        })
    };
    let rows = move || match (named(), verbs) {
        (Some(models), Some(verbs)) => {
            let others = models.into_iter().filter(|model| !own(model));
            let others = others.map(|model| row(verbs, id, model)).collect_view();
            view! { <p class="palette-group">{texts::other_models()}</p>{others} }
        }
        _ => view! { <RetryWithLink id class="menu-row"/> }.into_any(),
    };
    view! {
        <Menu id=format!("turn-{id}-models") label=texts::other_models() icon="chevron-down" class="bare" on_toggle>
            {live_view(rows)}
        </Menu>
    }
}

fn row(verbs: TurnCommands, id: TurnId, model: Model) -> AnyView {
    let name = all_words::model_name(&model);
    let label = texts::retry_with_model(&format!("{name} {}", model.provider_name));
    let lock = model.lock;
    let choose = move |_| {
        dialog::close_popovers();
        verbs.retry(id, Some(lock.clone()));
    };
    view! {
        <button type="button" class="menu-row" aria-label=label on:click=choose>
            <span class="palette-words">
                {name}" "
                <span class="palette-excerpt">{model.provider_name}</span>
            </span>
        </button>
    }
}

/// The link to the list of models: a page with a form without script, a dialog with it.
#[component]
pub fn RetryWithLink(id: TurnId, class: &'static str) -> impl IntoView {
    let verbs = use_context::<TurnCommands>();
    let on_click = move |event: MouseEvent| {
        if let Some(verbs) = verbs {
            event.prevent_default();
            dialog::close_popovers();
            verbs.choosing.set(Some(id));
        }
    };
    view! {
        <a class=class href=format!("/turns/{id}/again") rel="external" on:click=on_click>
            <Icon name="retry"/>
            {words::retry_with()}
        </a>
    }
}

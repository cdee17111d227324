//! "Retry with…": the dialog that chooses the model. There is one for the page, so that a long chat does not render
//! the list of models with every reply.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::turn_commands::TurnCommands;
use crate::browser::form;
use crate::domain::provider::Model;
use crate::ui::erased::{effect, live_view, on_change, view};
use crate::ui::kit::{Dialog, Icon};
use crate::ui::lazy_parts::{NotFetched, lazy_part_when};
use crate::ui::messages;
use crate::ui::messages::transcript as texts;
use crate::ui::model_options::{model_option_views, parse_model_value};
use crate::ui::model_picker::{ModelPicker, needs_picker};

type Draw = fn(TurnCommands, RwSignal<Vec<Model>>) -> AnyView;

/// Loads the code part of the dialog.
#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<Draw, NotFetched> {
    Ok(draw)
}

/// The dialog; shown while `TurnCommands::choosing` names a reply.
#[component]
pub fn ModelChoiceDialog(verbs: TurnCommands, models: RwSignal<Vec<Model>>) -> impl IntoView {
    let leave = Callback::new(move |()| verbs.choosing.set(None));
    lazy_part_when(move || verbs.choosing.with(Option::is_some), fetch, leave, move |draw: &Draw| draw(verbs, models))
}

/// Renders the dialog.
pub fn draw(verbs: TurnCommands, models: RwSignal<Vec<Model>>) -> AnyView {
    let open = RwSignal::new(false);
    effect(move || open.set(verbs.choosing.get().is_some()));
    on_change(
        move || open.get(),
        move |_, is_open| {
            if !is_open {
                verbs.choosing.set(None);
            }
        },
    );
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        let lock = form::selected_value("again").and_then(|value| parse_model_value(&value));
        if let (Some(turn), Some(lock)) = (verbs.choosing.get_untracked(), lock) {
            verbs.retry(turn, Some(lock));
        }
        open.set(false);
    };
    let on_pick = Callback::new(move |lock| {
        if let Some(turn) = verbs.choosing.get_untracked() {
            verbs.retry(turn, Some(lock));
        }
        open.set(false);
    });
    let choice = live_view(move || {
        verbs.choosing.get().map(|_| match models.get_untracked() {
            models if needs_picker(&models) => view! { <ModelPicker models chosen=None on_pick/> },
            models => view! {
                <form on:submit=on_submit>
                    <span class="select wide">
                        <select name="again" aria-label=messages::model()>{model_option_views(models, None)}</select>
                        <Icon name="chevron-down"/>
                    </span>
                    <div class="dialog-actions">
                        <button type="submit" class="button primary">{messages::retry()}</button>
                    </div>
                </form>
            },
        })
    });
    view! {
        <Dialog id="again-title" title=texts::retry_with() open>
            <p class="hint">{texts::retry_with_hint()}</p>
            {choice}
        </Dialog>
    }
}

//! "Retry with…": the dialog that chooses the model. There is one for the page, so that a long chat does not render
//! the list of models with every reply.

use leptos::prelude::*;

use super::turn_commands::TurnCommands;
use crate::domain::providers::provider::Model;
use crate::ui::erased::{effect, live_view, on_change, view};
use crate::ui::kit::Dialog;
use crate::ui::lazy_parts::{NotFetched, lazy_part_when};
use crate::ui::messages::transcript as texts;
use crate::ui::model_picker::ModelPicker;

type DrawModelChoice = fn(TurnCommands, RwSignal<Vec<Model>>) -> AnyView;

/// Loads the code part of the dialog.
#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<DrawModelChoice, NotFetched> {
    Ok(draw)
}

/// The dialog; shown while `TurnCommands::choosing` names a reply.
#[component]
pub fn ModelChoiceDialog(verbs: TurnCommands, models: RwSignal<Vec<Model>>) -> impl IntoView {
    let leave = Callback::new(move |()| verbs.choosing.set(None));
    lazy_part_when(
        move || verbs.choosing.with(Option::is_some),
        fetch,
        leave,
        move |draw: &DrawModelChoice| draw(verbs, models),
    )
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
    let on_pick = Callback::new(move |lock| {
        if let Some(turn) = verbs.choosing.get_untracked() {
            verbs.retry(turn, Some(lock));
        }
        open.set(false);
    });
    let choice = live_view(move || {
        verbs.choosing.get().map(|_| view! { <ModelPicker models=models.get_untracked() chosen=None on_pick/> })
    });
    view! {
        <Dialog id="again-title" title=texts::retry_with() open>
            <p class="hint">{texts::retry_with_hint()}</p>
            {choice}
        </Dialog>
    }
}

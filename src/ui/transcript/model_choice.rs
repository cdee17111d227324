//! "Try again with…": which model is to answer. One dialog for the page, so that a long chat does not draw the list of
//! models with every reply.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::verbs::Verbs;
use crate::browser::form;
use crate::domain::provider::Model;
use crate::ui::erased::{effect, live, on_change, view};
use crate::ui::fetched::{NotFetched, when};
use crate::ui::kit::{Dialog, Icon};
use crate::ui::model_options::{options, parse_model_value};
use crate::ui::model_picker::{ModelPicker, are_many};
use crate::ui::words;
use crate::ui::words::transcript as said;

type Draw = fn(Verbs, RwSignal<Vec<Model>>) -> AnyView;

/// The code of the dialog.
#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<Draw, NotFetched> {
    Ok(draw)
}

/// Shown while `Verbs::choosing` names a reply.
#[component]
pub fn ModelChoice(verbs: Verbs, models: RwSignal<Vec<Model>>) -> impl IntoView {
    let leave = Callback::new(move |()| verbs.choosing.set(None));
    when(move || verbs.choosing.with(Option::is_some), fetch, leave, move |draw: &Draw| draw(verbs, models))
}

/// The dialog as it is drawn.
pub fn draw(verbs: Verbs, models: RwSignal<Vec<Model>>) -> AnyView {
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
        let lock = form::chosen("again").and_then(|value| parse_model_value(&value));
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
    let choice = live(move || {
        verbs.choosing.get().map(|_| match models.get_untracked() {
            models if are_many(&models) => view! { <ModelPicker models chosen=None on_pick/> },
            models => view! {
                <form on:submit=on_submit>
                    <span class="select wide">
                        <select name="again" aria-label=words::model()>{options(models, None)}</select>
                        <Icon name="chevron-down"/>
                    </span>
                    <div class="dialog-actions">
                        <button type="submit" class="button primary">{words::retry()}</button>
                    </div>
                </form>
            },
        })
    });
    view! {
        <Dialog id="again-title" title=said::retry_with() open>
            <p class="hint">{said::retry_with_hint()}</p>
            {choice}
        </Dialog>
    }
}

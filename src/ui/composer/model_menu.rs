//! The model and thinking menus. They are ordinary selects, so that they work in a form; with script, the models are in
//! a dialog with a search. A branch keeps its model: another one that is chosen from its chip starts a branch.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::browser::focus;
use crate::domain::{ModelLock, Thinking};
use crate::ui::composer::state::{COMPOSER_FORM_ID, ComposerState};
use crate::ui::erased::{live_view, view};
use crate::ui::kit::{Dialog, Icon};
use crate::ui::lazy_parts::{NotFetched, lazy_part_when};
use crate::ui::locale::colon;
use crate::ui::messages;
use crate::ui::model_options::{model_option_views, model_value, parse_model_value};
use crate::ui::model_picker::ModelPicker;

/// The id of the menu of a branch's model for pages without script; the chip in the header opens it, too.
pub const BRANCH_MODEL_MENU: &str = "branch-model";
/// Selects the button that opens the dialog of models.
pub const PICK_MODEL: &str = "form.composer :is(.pick-model, [popovertarget=branch-model])";

/// The select "Model" before the first message, the chip of the branch's model after it.
#[component]
pub fn ModelMenu() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    move || match state.lock.get() {
        Some(lock) => view! { <LockedMenu lock/> }.into_any(),
        None => view! { <ModelSelect/> }.into_any(),
    }
}

/// The button that opens the dialog of models; without script the select behind it is shown instead.
#[component]
fn ModelSelect() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let choose = move |event| state.choose_model(parse_model_value(&event_target_value(&event)));
    let groups = move || model_option_views(state.models.get(), state.choice.get());
    let name =
        move || state.model().map_or_else(|| messages::choose_model().to_owned(), |model| messages::model_name(&model));
    view! {
        <span class="select">
            <button
                type="button"
                class="pick-model"
                aria-haspopup="dialog"
                aria-label=move || format!("{}{}{}", messages::model(), colon(), name())
                on:click=move |_| state.is_picking_model.set(true)
            >
                <bdi>{move || name()}</bdi>
            </button>
            <select name="model" class="without-script" aria-label=messages::model() on:change=choose>{move || groups()}</select>
            <Icon name="chevron-down"/>
        </span>
    }
}

/// The chip that names the branch's model. It opens the dialog of models, and without script a menu with a select. The
/// choice takes effect with the next message, which begins a new branch, so that no unused branch is created.
#[component]
fn LockedMenu(lock: ModelLock) -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let own = lock.clone();
    let name = move || {
        state.model().map_or_else(
            || messages::model_name_or_unknown(&lock.model).to_owned(),
            |model| messages::model_name(&model),
        )
    };
    let pick = move |event: MouseEvent| {
        // Keeps the menu closed.
        event.prevent_default();
        state.is_picking_model.set(true);
    };
    let groups = move || {
        let chosen = state.choice.get_untracked().unwrap_or_else(|| own.clone());
        model_option_views(state.models.get(), Some(chosen))
    };
    view! {
        <button type="button" class="chip" popovertarget=BRANCH_MODEL_MENU aria-haspopup="dialog" on:click=pick>
            <bdi class="chip-text">{move || name()}</bdi>
            <span class="chip-text">{move || state.choice.get().map(|_| format!(" · {}", messages::new_branch()))}</span>
            <Icon name="chevron-down"/>
        </button>
        {move || state.choice.get().map(|lock| view! {
            <input type="hidden" name="model" value=model_value(&lock)/>
        })}
        <div id=BRANCH_MODEL_MENU class="menu note without-script" popover="auto">
            <p>{messages::switching_starts_branch()}</p>
            <span class="select">
                <select name="other" aria-label=messages::other_model()>{move || groups()}</select>
                <Icon name="chevron-down"/>
            </span>
            <button class="button" formaction="/forms/model" formnovalidate>{messages::choose_model()}</button>
        </div>
    }
}

type DrawModelMenu = fn(ComposerState) -> AnyView;

/// Loads the code part of the dialog.
#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<DrawModelMenu, NotFetched> {
    Ok(draw_pick_dialog)
}

/// The dialog for choosing a model.
#[component]
pub fn ModelPickDialog() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let leave = Callback::new(move |()| state.is_picking_model.set(false));
    lazy_part_when(move || state.is_picking_model.get(), fetch, leave, move |draw: &DrawModelMenu| draw(state))
}

fn draw_pick_dialog(state: ComposerState) -> AnyView {
    let is_locked = move || state.lock.with(Option::is_some);
    let title =
        Signal::derive(move || if is_locked() { messages::other_model() } else { messages::choose_model() }.to_owned());
    let on_pick = Callback::new(move |lock| {
        state.choose_model(Some(lock));
        state.is_picking_model.set(false);
        if untrack(is_locked) {
            // The dialog returns the focus to its button in the frame after it closes.
            let to_box = || _ = focus::focus_first("#message");
            request_animation_frame(move || request_animation_frame(to_box));
        }
    });
    let picker = live_view(move || {
        state.is_picking_model.get().then(|| {
            let chosen = untrack(|| state.choice.get().or_else(|| state.lock.get()));
            view! { <ModelPicker models=state.models.get_untracked() chosen on_pick/> }
        })
    });
    view! { <Dialog id="picks-title" title open=state.is_picking_model>{picker}</Dialog> }
}

/// The banner above the composer of a branch whose model is no longer available, with other models to continue with.
#[component]
pub fn ModelGoneBanner(gone: ModelLock) -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let text = messages::model_unavailable(&gone.model);
    let is_over = move || state.lock.get().as_ref() != Some(&gone) || state.choice.get().is_some();
    view! {
        <div class="banner warn one-line" hidden=is_over>
            <p>{text}</p>
            {best_choice(state)}
        </div>
    }
}

/// The button for one other model, the default one if that is there. The dialog of models has all others. Without script
/// the button submits the composer as it is; the text comes back together with the choice.
fn best_choice(state: ComposerState) -> impl IntoView {
    let own = state.lock.get_untracked();
    let others = state.models.get().into_iter().filter(|model| Some(&model.lock) != own.as_ref());
    others.min_by_key(|model| (model.is_demo, !model.is_default)).map(|model| {
        let value = model_value(&model.lock);
        let label = messages::continue_with(&messages::model_name(&model));
        let choose = move |event: MouseEvent| {
            event.prevent_default();
            state.choose_model(Some(model.lock.clone()));
            focus::focus_first("#message");
        };
        view! {
            <button class="menu-row" form=COMPOSER_FORM_ID formaction="/forms/model" formnovalidate name="choose" value=value on:click=choose>
                <Icon name="branch"/>
                {label}
            </button>
        }
    })
}

/// The select "Thinking"; absent where there is nothing to choose.
#[component]
pub fn ThinkingMenu() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let choose = move |event| {
        if let Some(level) = Thinking::parse_level(&event_target_value(&event)) {
            state.thinking.set(level);
            state.draft.update(|draft| draft.thinking = Some(level));
        }
    };
    live_view(move || {
        let levels = state.thinking_levels();
        let chosen = state.thinking.get_untracked().nearest(&levels);
        (levels.len() > 1).then(|| {
            let options = levels
                .into_iter()
                .map(|level| {
                    let selected = Some(level) == chosen;
                    view! { <option value=level.as_str() selected=selected>{messages::thinking_level(level)}</option> }
                })
                .collect_view();
            view! {
                <span class="select thinking">
                    <select name="thinking" aria-label=messages::thinking() on:change=choose>{options}</select>
                    <Icon name="chevron-down"/>
                </span>
            }
        })
    })
}

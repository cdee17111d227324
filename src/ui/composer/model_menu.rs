//! The model and thinking menus. They are ordinary selects, so that they work in a form; with script, the models are in
//! a dialog with a search. A branch keeps its model: its chip opens a menu in which another model starts a branch.

use leptos::prelude::*;

use crate::browser::{dialog, focus, form};
use crate::domain::provider::Model;
use crate::domain::{ModelLock, Thinking};
use crate::ui::composer::state::{COMPOSER_FORM_ID, ComposerState};
use crate::ui::erased::{effect, live_view, view};
use crate::ui::kit::{Dialog, Icon};
use crate::ui::lazy_parts::{NotFetched, lazy_part_when};
use crate::ui::locale::colon;
use crate::ui::messages;
use crate::ui::model_options::{group_by_provider, model_option_views, model_value, parse_model_value};
use crate::ui::model_picker::ModelPicker;

/// The id of the menu of a branch's model; the chip in the header opens it, too.
pub const BRANCH_MODEL_MENU: &str = "why-locked";

/// The select "Model" before the first message, the chip of the branch's model after it.
#[component]
pub fn ModelMenu() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    move || match state.lock.get() {
        Some(lock) => view! { <LockedMenu lock/> }.into_any(),
        None => view! { <ModelSelect/> }.into_any(),
    }
}

#[component]
fn ModelSelect() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let choose = move |event| state.choose_model(parse_model_value(&event_target_value(&event)));
    let groups = move || model_option_views(state.models.get(), state.choice.get());
    let name =
        move || state.model().map_or_else(|| messages::choose_model().to_owned(), |model| messages::model_name(&model));
    view! {
        <span class="select">
            {pick_button(state, messages::model(), name)}
            <select name="model" class="without-script" aria-label=messages::model() on:change=choose>{move || groups()}</select>
            <Icon name="chevron-down"/>
        </span>
    }
}

/// The chip that names the branch's model, with a menu of other models. The choice takes effect with the next
/// message, which begins a new branch, so that no unused branch is created.
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
    // The select triggers an action and holds no state: the same model may be chosen again after the choice was
    // undone or its branch was left.
    effect(move || {
        state.choice.track();
        form::select_value("other", "");
    });
    let choose = move |event| {
        state.choose_model(parse_model_value(&event_target_value(&event)));
        dialog::close_popovers();
    };
    view! {
        <button type="button" class="chip" popovertarget=BRANCH_MODEL_MENU>
            <bdi class="chip-text">{move || name()}</bdi>
            <span class="chip-text">{move || state.choice.get().map(|_| format!(" · {}", messages::new_branch()))}</span>
            <Icon name="chevron-down"/>
        </button>
        {move || state.choice.get().map(|lock| view! {
            <input type="hidden" name="model" value=model_value(&lock)/>
        })}
        <div id=BRANCH_MODEL_MENU class="menu note" popover="auto">
            <p>{messages::switching_starts_branch()}</p>
            {move || match state.choice.get() {
                Some(_) => choice_button(state, None, messages::stay_with(&lock_name(state, &own))).into_any(),
                None => first_choices(state).into_any(),
            }}
            <span class="select">
                {pick_button(state, messages::other_model(), || messages::other_model().to_owned())}
                <select name="other" class="without-script" aria-label=messages::other_model() on:change=choose>
                    <option value="">{messages::other_model()}</option>
                    {move || model_option_views(state.models.get(), state.choice.get_untracked())}
                </select>
                <Icon name="chevron-down"/>
            </span>
            <button class="button without-script" formaction="/forms/model" formnovalidate>{messages::choose_model()}</button>
        </div>
    }
}

/// The button that opens the dialog of models; without script the select behind it is shown instead.
fn pick_button(
    state: ComposerState,
    label: &'static str,
    text: impl Fn() -> String + Copy + Send + 'static,
) -> AnyView {
    let pick = move |_| {
        dialog::close_popovers();
        state.is_picking_model.set(true);
    };
    let named = move || {
        let text = text();
        if text == label { text } else { format!("{label}{}{text}", colon()) }
    };
    view! {
        <button type="button" class="pick-model" aria-haspopup="dialog" aria-label=named on:click=pick>
            <bdi>{text}</bdi>
        </button>
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

/// The button for one other model, the default one if that is there. The menu of the branch's model has all others.
fn best_choice(state: ComposerState) -> impl IntoView {
    let own = state.lock.get_untracked();
    let others = state.models.get().into_iter().filter(|model| Some(&model.lock) != own.as_ref());
    others.min_by_key(|model| (model.is_demo, !model.is_default)).map(|model| {
        choice_button(state, Some(model.lock.clone()), messages::continue_with(&messages::model_name(&model)))
    })
}

/// One button for each provider with its first model.
fn first_choices(state: ComposerState) -> impl IntoView {
    let own = state.lock.get_untracked();
    group_by_provider(state.models.get())
        .into_iter()
        .filter_map(|(_, models)| models.into_iter().find(|model| Some(&model.lock) != own.as_ref()))
        .map(|model| {
            choice_button(state, Some(model.lock.clone()), messages::continue_with(&messages::model_name(&model)))
        })
        .collect_view()
}

/// Without script the button submits the composer as it is; the text comes back together with the choice.
fn choice_button(state: ComposerState, lock: Option<ModelLock>, label: String) -> impl IntoView {
    let value = lock.as_ref().map(model_value).unwrap_or_default();
    let choose = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        state.choose_model(lock.clone());
        dialog::close_popovers();
        focus::focus_first("#message");
    };
    view! {
        <button class="menu-row" form=COMPOSER_FORM_ID formaction="/forms/model" formnovalidate name="choose" value=value on:click=choose>
            <Icon name="branch"/>
            {label}
        </button>
    }
}

fn lock_name(state: ComposerState, lock: &ModelLock) -> String {
    let name = |models: &Vec<Model>| models.iter().find(|model| model.lock == *lock).map(messages::model_name);
    state.models.with(name).unwrap_or_else(|| messages::model_name_or_unknown(&lock.model).to_owned())
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

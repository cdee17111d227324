//! Which model answers, and how much it thinks. Ordinary selects, so they work in a form, on a phone and for a screen
//! reader. Once a branch has a lock there is nothing to choose, and the chip says why.

use leptos::prelude::*;

use crate::domain::provider::Model;
use crate::domain::{Lock, Thinking};
use crate::ui::composer::state::ComposerState;
use crate::ui::erased::{live, view};
use crate::ui::kit::Icon;
use crate::ui::words;

/// The value of a model in the form: the provider's id holds no slash, so the first one ends it.
pub fn model_value(lock: &Lock) -> String {
    format!("{}/{}", lock.provider, lock.model)
}

/// Reads `model_value` back.
pub fn parse_model_value(value: &str) -> Option<Lock> {
    value.split_once('/').map(|(provider, model)| Lock::new(provider, model))
}

/// The select "Model" before the first message, the locked chip after it.
#[component]
pub fn ModelMenu() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    move || match state.lock.get() {
        Some(lock) => view! { <LockedChip lock/> }.into_any(),
        None => view! { <ModelSelect/> }.into_any(),
    }
}

#[component]
fn ModelSelect() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let choose = move |event| {
        let lock = parse_model_value(&event_target_value(&event));
        state.choice.set(lock.clone());
        state.draft.change(|draft| draft.lock = lock);
    };
    let chosen = state.choice.get_untracked();
    let groups = by_provider(state.models.get_value())
        .into_iter()
        .map(|(provider_name, models)| {
            let options = models
                .into_iter()
                .map(|model| {
                    let selected = Some(&model.lock) == chosen.as_ref();
                    view! { <option value=model_value(&model.lock) selected=selected>{words::model_name(&model)}</option> }
                })
                .collect_view();
            view! { <optgroup label=provider_name>{options}</optgroup> }
        })
        .collect_view();
    view! {
        <span class="select">
            <select name="model" aria-label=words::MODEL on:change=choose>{groups}</select>
            <Icon name="chevron-down"/>
        </span>
    }
}

/// Models in their order, gathered under their providers' names.
fn by_provider(models: Vec<Model>) -> Vec<(String, Vec<Model>)> {
    let mut groups: Vec<(String, Vec<Model>)> = Vec::new();
    for model in models {
        match groups.iter_mut().find(|(name, _)| *name == model.provider_name) {
            Some((_, group)) => group.push(model),
            None => groups.push((model.provider_name.clone(), vec![model])),
        }
    }
    groups
}

#[component]
fn LockedChip(lock: Lock) -> impl IntoView {
    const WHY: &str = "why-locked";
    let state = expect_context::<ComposerState>();
    let name = move || state.model().map_or_else(|| lock.model.clone(), |model| words::model_name(&model));
    view! {
        <button type="button" class="chip" popovertarget=WHY>
            <Icon name="lock"/>
            <bdi>{move || name()}</bdi>
            " · "{words::LOCKED}
        </button>
        <div id=WHY class="menu note" popover="auto">{words::WHY_LOCKED}</div>
    }
}

/// The select "Thinking"; absent for a model that does not reason.
#[component]
pub fn ThinkingMenu() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let choose = move |event| {
        if let Some(level) = Thinking::parse_level(&event_target_value(&event)) {
            state.thinking.set(level);
            state.draft.change(|draft| draft.thinking = Some(level));
        }
    };
    live(move || {
        let levels = state.thinking_levels();
        let chosen = state.thinking.get_untracked();
        (!levels.is_empty()).then(|| {
            let options = levels
                .into_iter()
                .map(|level| {
                    let selected = level == chosen;
                    view! { <option value=level.as_str() selected=selected>{words::thinking_level(level)}</option> }
                })
                .collect_view();
            view! {
                <span class="select">
                    <select name="thinking" aria-label=words::THINKING on:change=choose>{options}</select>
                    <Icon name="chevron-down"/>
                </span>
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_with_slashes_in_its_name_survives_the_form() {
        let lock = Lock::new("openrouter", "moonshot/kimi-k3:free");
        assert_eq!(parse_model_value(&model_value(&lock)), Some(lock));
    }
}

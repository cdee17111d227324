//! The model picker: a search field, and below it the models grouped by provider, recently used ones first, each with
//! what it can do, the size of its context and its price. Without script there is a select.

use std::collections::HashSet;

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::browser::case_mapping::to_lowercase;
use crate::domain::ModelLock;
use crate::domain::providers::provider::{Model, ReasoningSupport};
use crate::ui::erased::{live_view, view};
use crate::ui::kit::combobox::{ComboboxAction, option_id};
use crate::ui::kit::{Combobox, Icon};
use crate::ui::messages;
use crate::ui::messages::model_picker as texts;
use crate::ui::model_options::group_by_provider;

/// The maximum number of models shown at once; more typing narrows them.
const SHOWN: usize = 100;
/// The number of recently used models that come first.
const LATELY: usize = 4;
/// The list's id.
const LIST: &str = "model-rows";

/// A model with the heading of its group.
#[derive(Debug, Clone, PartialEq)]
struct ModelPickerRow {
    heading: String,
    model: Model,
}

/// Returns the models that contain every typed word, each once, and the number of further ones.
fn rows(models: &[Model], typed: &str) -> (Vec<ModelPickerRow>, usize) {
    let typed = to_lowercase(typed);
    let fits = |model: &&Model| {
        let names = to_lowercase(
            &[&model.provider_name, &messages::model_name(model), &model.lock.model].map(String::as_str).join("\n"),
        );
        typed.split_whitespace().all(|word| names.contains(word))
    };
    let fitting: Vec<&Model> = models.iter().filter(fits).collect();
    let mut lately: Vec<&Model> = fitting.iter().copied().filter(|model| model.used.is_some()).collect();
    lately.sort_by_key(|model| model.used);
    lately.truncate(LATELY);
    let first: HashSet<&ModelLock> = lately.iter().map(|model| &model.lock).collect();
    let row = |heading: &str, model: &Model| ModelPickerRow { heading: heading.to_owned(), model: model.clone() };
    let mut rows: Vec<ModelPickerRow> = lately.iter().map(|model| row(texts::recently_used(), model)).collect();
    let rest = fitting.iter().filter(|model| !first.contains(&model.lock)).map(|model| (*model).clone()).collect();
    for (provider, models) in group_by_provider(rest) {
        rows.extend(models.iter().map(|model| row(&provider, model)));
    }
    let more = rows.len().saturating_sub(SHOWN);
    rows.truncate(SHOWN);
    (rows, more)
}

/// The search field and its list. `chosen` is marked, and is the active option until something is typed.
#[component]
pub fn ModelPicker(models: Vec<Model>, chosen: Option<ModelLock>, on_pick: Callback<ModelLock>) -> impl IntoView {
    let typed = RwSignal::new(String::new());
    let pointed = RwSignal::new(chosen.clone());
    let models = StoredValue::new(models);
    let found = Memo::new(move |_| models.with_value(|models| typed.with(|typed| rows(models, typed))));
    let count = Memo::new(move |_| found.with(|(rows, _)| rows.len()));
    let at = Memo::new(move |_| {
        let pointed = pointed.get();
        found.with(|(rows, _)| rows.iter().position(|row| Some(&row.model.lock) == pointed.as_ref()).unwrap_or(0))
    });
    let lock_at = move |at: usize| found.with_untracked(|(rows, _)| rows.get(at).map(|row| row.model.lock.clone()));
    let on_input = Callback::new(move |text: String| {
        pointed.set(None);
        typed.set(text);
    });
    let on_ask = Callback::new(move |action| match action {
        ComboboxAction::MoveTo(at) => pointed.set(lock_at(at)),
        ComboboxAction::Activate | ComboboxAction::ActivateInNewTab => {
            if let Some(lock) = lock_at(at.get_untracked()) {
                on_pick.run(lock);
            }
        }
    });
    let list =
        live_view(move || found.with(|(rows, _)| (!rows.is_empty()).then(|| list(rows, at, chosen.as_ref(), on_pick))));
    let status = move || {
        let typed = typed.with(|typed| typed.trim().to_owned());
        found.with(|(rows, more)| match (rows.len(), *more) {
            (0, _) => texts::no_models_found(&typed),
            (_, 1..) => texts::more_models(*more),
            (_, 0) if typed.is_empty() => String::new(),
            (count, 0) => texts::found(count),
        })
    };
    view! {
        <div class="model-picker">
            <div class="palette-head">
                <Icon name="search"/>
                <Combobox label=texts::find_model() list=LIST count at on_input on_ask/>
            </div>
            {list}
            <p class="palette-said" role="status">{status}</p>
        </div>
    }
}

fn list(rows: &[ModelPickerRow], at: Memo<usize>, chosen: Option<&ModelLock>, on_pick: Callback<ModelLock>) -> AnyView {
    let mut groups: Vec<AnyView> = Vec::new();
    let mut first = 0;
    for some in rows.chunk_by(|a, b| a.heading == b.heading) {
        let id = format!("model-group-{first}");
        let labelled = id.clone();
        let option =
            |(place, row): (usize, &ModelPickerRow)| option(row, place, at, chosen == Some(&row.model.lock), on_pick);
        let options: Vec<AnyView> = (first..).zip(some).map(option).collect();
        first += some.len();
        groups.push(view! {
            <div role="group" aria-labelledby=labelled>
                <div class="palette-group" id=id role="presentation" dir="auto">{some[0].heading.clone()}</div>
                {options}
            </div>
        });
    }
    view! { <div class="palette-rows" id=LIST role="listbox" aria-label=texts::models()>{groups}</div> }
}

fn option(
    row: &ModelPickerRow,
    place: usize,
    at: Memo<usize>,
    is_chosen: bool,
    on_pick: Callback<ModelLock>,
) -> AnyView {
    let ModelPickerRow { heading, model } = row;
    let lock = model.lock.clone();
    let name = messages::model_name(model);
    // The provider's own name of the model, where its display name differs.
    let own_name = (name != model.lock.model && !model.is_demo).then(|| model.lock.model.clone());
    let about: Vec<String> = [model.description.clone().or(own_name), facts(model)].into_iter().flatten().collect();
    let about = (!about.is_empty()).then(|| about.join(" · "));
    let provider = (*heading != model.provider_name).then(|| model.provider_name.clone());
    // The focus stays in the field, whatever is clicked here.
    let hold = |event: MouseEvent| event.prevent_default();
    view! {
        <div
            class="palette-row"
            role="option"
            id=option_id(LIST, place)
            aria-selected=move || (at.get() == place).to_string()
            on:mousedown=hold
            on:click=move |_| on_pick.run(lock.clone())
        >
            <Icon name=if is_chosen { "check" } else { "thought" }/>
            <span class="palette-words">
                <span class="palette-title" dir="auto">{name}</span>
                {about.map(|about| view! { <span class="palette-excerpt" dir="auto">{about}</span> })}
            </span>
            <span class="palette-place" dir="auto">
                {provider}
                {is_chosen.then(|| view! { <span class="quiet">{texts::chosen()}</span> })}
                {capabilities(model)}
            </span>
        </div>
    }
}

/// Renders what the model is known to do, each as an icon with its word.
fn capabilities(model: &Model) -> Option<AnyView> {
    let thinks = model.reasoning == ReasoningSupport::Always || model.thinking_levels.len() > 1;
    let known = [
        (thinks, "thought", texts::thinks()),
        (model.images == Some(true), "image", texts::takes_images()),
        (model.tools == Some(true), "tool", texts::calls_tools()),
    ];
    let one = |(_, icon, word): (bool, &'static str, &'static str)| {
        view! { <span><Icon name=icon/>" "{word}</span> }
    };
    let shown: Vec<AnyView> = known.into_iter().filter(|(is_so, ..)| *is_so).map(one).collect();
    (!shown.is_empty()).then(|| view! { <span class="model-can">{shown}</span> })
}

/// Returns the size of the context and the price, as far as they are known.
fn facts(model: &Model) -> Option<String> {
    let context = model.context_tokens.map(texts::context);
    let prices = model.input_price.zip(model.output_price).map(|(input, output)| texts::prices(input, output));
    let facts: Vec<String> = [context, prices].into_iter().flatten().collect();
    (!facts.is_empty()).then(|| facts.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(provider: &str, name: &str, used: Option<u32>) -> Model {
        Model {
            lock: ModelLock::new(provider, name),
            provider_name: provider.to_uppercase(),
            name: name.to_uppercase(),
            description: None,
            reasoning: ReasoningSupport::Never,
            thinking_levels: Vec::new(),
            context_tokens: None,
            output_tokens: None,
            images: None,
            tools: None,
            input_price: None,
            output_price: None,
            is_demo: false,
            is_default: false,
            used,
        }
    }

    fn shown(models: &[Model], typed: &str) -> Vec<String> {
        rows(models, typed).0.into_iter().map(|row| format!("{}/{}", row.heading, row.model.lock.model)).collect()
    }

    #[test]
    fn recently_used_models_are_first_and_each_model_is_listed_once() {
        let models = [
            model("a", "one", None),
            model("b", "two", Some(1)),
            model("a", "three", Some(0)),
            model("b", "four", None),
            model("a", "five", None),
        ];
        assert_eq!(shown(&models, ""), ["Recently used/three", "Recently used/two", "A/one", "A/five", "B/four"]);
        assert_eq!(shown(&models, "b "), ["Recently used/two", "B/four"], "the provider's name is looked through");
        assert_eq!(shown(&models, "ONE a"), ["A/one"], "every word, in any order");
        assert_eq!(shown(&models, "six"), [""; 0]);
    }

    #[test]
    fn hundred_of_many_models_are_shown_and_rest_is_counted() {
        let models: Vec<Model> = (0..250).map(|at| model("a", &format!("m{at}"), None)).collect();
        let (some, more) = rows(&models, "");
        assert_eq!((some.len(), more), (100, 150));
        assert_eq!(rows(&models, "m249").0.len(), 1, "what is not shown is found");
    }

    #[test]
    fn facts_are_those_that_are_known() {
        let known = Model {
            context_tokens: Some(200_000),
            input_price: Some(3_000_000),
            output_price: Some(15_000_000),
            ..model("a", "one", None)
        };
        assert_eq!(facts(&known).as_deref(), Some("200k context · $3 in, $15 out per 1M"));
        assert_eq!(facts(&model("a", "one", None)), None);
    }
}

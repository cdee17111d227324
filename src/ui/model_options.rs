//! Models as the options of a form: under the names of their providers, each with the value that stands for it.

use leptos::prelude::*;

use crate::domain::ModelLock;
use crate::domain::provider::Model;
use crate::ui::erased::view;
use crate::ui::messages;

/// The value of a model in the form: the provider's id holds no slash, so the first one ends it.
pub fn model_value(lock: &ModelLock) -> String {
    format!("{}/{}", lock.provider, lock.model)
}

/// Reads `model_value` back.
pub fn parse_model_value(value: &str) -> Option<ModelLock> {
    value.split_once('/').map(|(provider, model)| ModelLock::new(provider, model))
}

/// Every model, under the names of their providers.
pub fn model_option_views(models: Vec<Model>, chosen: Option<ModelLock>) -> AnyView {
    group_by_provider(models)
        .into_iter()
        .map(|(provider_name, models)| {
            let options = models
                .into_iter()
                .map(|model| {
                    let selected = Some(&model.lock) == chosen.as_ref();
                    view! { <option value=model_value(&model.lock) selected=selected>{messages::model_name(&model)}</option> }
                })
                .collect_view();
            view! { <optgroup label=provider_name>{options}</optgroup> }
        })
        .collect_view()
        .into_any()
}

/// Models in their order, gathered under their providers' names.
pub fn group_by_provider(models: Vec<Model>) -> Vec<(String, Vec<Model>)> {
    let mut groups: Vec<(String, Vec<Model>)> = Vec::new();
    for model in models {
        match groups.iter_mut().find(|(name, _)| *name == model.provider_name) {
            Some((_, group)) => group.push(model),
            None => groups.push((model.provider_name.clone(), vec![model])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_with_slashes_in_its_name_survives_form() {
        let lock = ModelLock::new("openrouter", "moonshot/kimi-k3:free");
        assert_eq!(parse_model_value(&model_value(&lock)), Some(lock));
    }
}

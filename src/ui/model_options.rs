//! Models as the options of a form, grouped by provider, each with its form value.

use leptos::prelude::*;

use crate::domain::ModelLock;
use crate::domain::providers::provider::Model;
use crate::ui::erased::view;
use crate::ui::messages;

/// Returns the form value of a model. The provider's id contains no slash, so the first one ends it.
pub fn model_value(lock: &ModelLock) -> String {
    format!("{}/{}", lock.provider, lock.model)
}

/// Parses the result of `model_value`.
pub fn parse_model_value(value: &str) -> Option<ModelLock> {
    value.split_once('/').map(|(provider, model)| ModelLock::new(provider, model))
}

/// Renders all models as options, grouped by provider.
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

/// Groups models by provider in their order.
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

//! The form that reruns a path with another model.

use leptos::prelude::*;

use super::ComparePage;
use crate::domain::providers::provider::Model;
use crate::server::server_pages::form_fields::SelectField;
use crate::server::server_pages::messages::compare as texts;
use crate::ui::erased::view;
use crate::ui::locale::label_with_value;
use crate::ui::messages as app_words;
use crate::ui::messages::branches::branch_name;

impl ComparePage<'_> {
    /// Renders the rerun form.
    pub(super) fn rerun_form(&self) -> AnyView {
        let ends = match self.comparison {
            Some(comparison) => [(texts::left(), &comparison.left), (texts::right(), &comparison.right)]
                .into_iter()
                .filter(|(_, side)| !side.is_ancestor)
                .map(|(name, side)| {
                    (side.leaf_turn_id.to_string(), label_with_value(name, &branch_name(&side.branch.name)))
                })
                .collect(),
            None => self.offered_ends(),
        };
        if ends.is_empty() || self.options.models.is_empty() {
            return ().into_any();
        }
        let ends: Vec<(&str, &str)> = ends.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
        let chosen = self.left.map(|id| id.to_string()).unwrap_or_default();
        let path = SelectField {
            label: texts::rerun_branch(),
            name: "leaf_turn_id",
            form: "graft",
            options: &ends,
            chosen: &chosen,
            hint: None,
            error: None,
        };
        let common = self.comparison.and_then(|comparison| comparison.common_turn_id).map(|id| id.to_string());
        let from = common.as_deref().map(|common| {
            let options = [(common, texts::from_common()), ("", texts::from_root())];
            let (label, hint) = (texts::rerun_start(), None);
            SelectField {
                label,
                name: "from_turn_id",
                form: "graft",
                options: &options,
                chosen: common,
                hint,
                error: None,
            }
            .draw()
        });
        view! {
            <section class="panel no-print" aria-labelledby="graft">
                <h2 id="graft">{texts::rerun()}</h2>
                <p class="hint">{texts::rerun_hint()}</p>
                <form class="form" method="post" action="/forms/graft">
                    <input type="hidden" name="chat_id" value=self.chat.id.to_string()/>
                    <input type="hidden" name="client_request_id" value=self.options.request_id.clone()/>
                    <input type="hidden" name="next" value=self.page_address()/>
                    {path.draw()}
                    {self.model_choice()}
                    {from}
                    <div class="deeds"><button type="submit" class="button strong">{texts::start_rerun()}</button></div>
                </form>
            </section>
        }
        .into_any()
    }

    fn page_address(&self) -> String {
        match (self.comparison, self.left, self.right) {
            (Some(_), Some(left), Some(right)) => self.address(left, right, 0),
            _ => format!("/c/{}/compare", self.chat.id),
        }
    }

    fn model_choice(&self) -> AnyView {
        let mut groups: Vec<(&str, Vec<&Model>)> = Vec::new();
        for model in &self.options.models {
            match groups.iter_mut().find(|(name, _)| *name == model.provider_name) {
                Some((_, group)) => group.push(model),
                None => groups.push((&model.provider_name, vec![model])),
            }
        }
        let groups = groups.into_iter().map(|(provider, models)| {
            let options = models.into_iter().map(|model| {
                let value = format!("{}/{}", model.lock.provider, model.lock.model);
                view! { <option value=value>{app_words::model_name(model)}</option> }
            });
            let options = options.collect_view();
            view! { <optgroup label=provider.to_owned()>{options}</optgroup> }
        });
        let groups = groups.collect_view();
        view! {
            <div class="form-field">
                <label for="graft-model">{texts::rerun_model()}</label>
                <select class="field" id="graft-model" name="model" required=true>{groups}</select>
            </div>
        }
        .into_any()
    }
}

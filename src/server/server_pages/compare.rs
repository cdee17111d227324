//! The comparison of two paths: a form that chooses them, a summary, then exchange by exchange. The page can be
//! linked to and printed; on narrow screens the sides are stacked.

mod pair;
mod rerun_form;
mod summary;

// The text comparison, for other pages that compare texts.
pub(super) use pair::{DiffSide, diff_words as marked_words};

use leptos::prelude::*;

use super::form_fields::SelectField;
use super::messages;
use super::messages::compare as texts;
use crate::domain::branches::rerun::RerunStatus;
use crate::domain::providers::provider::Model;
use crate::domain::{Branch, Chat, Rerun, TurnId, limits};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::comma;
use crate::ui::messages as app_words;
use crate::ui::messages::branches::branch_name;
use turnleaf_service::branches::compare::Comparison;

/// The choices of the form.
pub struct CompareOptions {
    /// Oldest first.
    pub branches: Vec<Branch>,
    /// Newest first.
    pub reruns: Vec<Rerun>,
    pub models: Vec<Model>,
    /// The idempotency key of the form, so that it starts one rerun however often it is sent.
    pub request_id: String,
}

/// The content of the page.
pub struct ComparePage<'a> {
    pub chat: &'a Chat,
    pub left: Option<TurnId>,
    pub right: Option<TurnId>,
    pub comparison: Option<&'a Comparison>,
    pub options: CompareOptions,
}

impl ComparePage<'_> {
    pub fn draw(&self) -> AnyView {
        let chat = self.chat.id;
        let title = if self.chat.title.is_empty() { app_words::untitled() } else { &self.chat.title };
        let compared = self.comparison.map(|comparison| self.compared(comparison));
        view! {
            <div class="compare">
                <p class="no-print">
                    <a href=format!("/c/{chat}")>{messages::back_to_chat()}</a>
                </p>
                <p class="lead" dir="auto">{title.to_owned()}</p>
                {compared}
                {self.ends()}
                {self.rerun_list()}
                {self.rerun_form()}
            </div>
        }
    }

    /// Renders the choice of the two ends: below the texts that are compared, and folded there.
    fn ends(&self) -> AnyView {
        match self.comparison {
            None => self.ends_form(),
            Some(_) => view! {
                <details class="fold no-print">
                    <summary><Icon name="chevron-down"/>{texts::choose()}</summary>
                    {self.ends_form()}
                </details>
            },
        }
    }

    fn address(&self, left: TurnId, right: TurnId, skip: usize) -> String {
        let skip = if skip == 0 { String::new() } else { format!("&skip={skip}") };
        format!("/c/{}/compare?left={left}&right={right}{skip}", self.chat.id)
    }

    /// Renders the form that chooses two ends.
    fn ends_form(&self) -> AnyView {
        let only_one = (self.offered_ends().len() < 2).then(|| view! { <p class="hint">{texts::one_branch()}</p> });
        view! {
            <form class="form compare-choose no-print" method="get" action=format!("/c/{}/compare", self.chat.id) aria-label=texts::choose()>
                {self.end("left", texts::left(), self.left)}
                {self.end("right", texts::right(), self.right)}
                <div class="deeds">
                    <button type="submit" class="button primary">{texts::compare()}</button>
                </div>
            </form>
            {only_one}
        }
        .into_any()
    }

    /// Returns the newest branches with turns, by head and name.
    fn offered_ends(&self) -> Vec<(String, String)> {
        let heads = self.options.branches.iter().rev().filter_map(|branch| {
            let head = branch.head_turn_id?;
            let label = branch.label.as_ref().map(|label| format!(" ({label})")).unwrap_or_default();
            Some((head.to_string(), format!("{}{label} · {}", branch_name(&branch.name), self.model_name(branch))))
        });
        heads.take(limits::BRANCHES_OFFERED).collect()
    }

    fn model_name(&self, branch: &Branch) -> String {
        let known = self.options.models.iter().find(|model| model.lock == branch.lock);
        known.map_or_else(|| branch.lock.model.clone(), |model| model.name.clone())
    }

    fn end(&self, name: &str, label: &str, chosen: Option<TurnId>) -> AnyView {
        let mut options = self.offered_ends();
        let chosen = chosen.map(|id| id.to_string()).unwrap_or_default();
        // A turn in the middle of a branch can be compared, too.
        if options.iter().all(|(id, _)| *id != chosen) {
            let text = if chosen.is_empty() { texts::not_chosen() } else { texts::this_turn() };
            options.insert(0, (chosen.clone(), text.to_owned()));
        }
        let options: Vec<(&str, &str)> = options.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
        SelectField { label, name, form: "compare", options: &options, chosen: &chosen, hint: None, error: None }.draw()
    }

    /// Renders the reruns of this chat: running ones, and finished ones folded.
    fn rerun_list(&self) -> AnyView {
        let row = |graft: &Rerun| {
            let branch = self.options.branches.iter().find(|branch| branch.id == graft.branch_id);
            let name = branch.map(|branch| format!("{} · {}", branch_name(&branch.name), self.model_name(branch)));
            let state = texts::rerun_progress(graft.status, graft.asked, graft.messages.len());
            view! {
                <li>
                    <a href=format!("/c/{}/grafts/{}", graft.chat_id, graft.id) dir="auto">{name.unwrap_or_default()}</a>
                    " "
                    <span class="hint">{state}</span>
                </li>
            }
        };
        let open = self.options.reruns.iter().filter(|graft| !graft.is_over());
        let open: Vec<_> = open.map(row).collect();
        let over = self.options.reruns.iter().filter(|graft| graft.status == RerunStatus::Done);
        let over: Vec<_> = over.map(row).collect();
        if open.is_empty() && over.is_empty() {
            return ().into_any();
        }
        let is_open = !open.is_empty();
        view! {
            <details class="fold no-print" open=is_open>
                <summary><Icon name="chevron-down"/>{texts::reruns()}</summary>
                <ul class="graft-list">{open.into_iter().chain(over).collect_view()}</ul>
            </details>
        }
        .into_any()
    }

    fn compared(&self, comparison: &Comparison) -> AnyView {
        let common = match comparison.common_turn_id {
            None => view! { <p>{texts::no_common()}</p> }.into_any(),
            Some(turn) => view! {
                <p>
                    {texts::common_turns(comparison.common_turns)}
                    " "
                    <a class="no-print" href=format!("/c/{}?at={turn}", self.chat.id)>{texts::common_link()}</a>
                </p>
            }
            .into_any(),
        };
        let pairs = comparison.pairs.iter().map(|pair| pair::draw(self.chat.id, pair)).collect_view();
        let range = (!comparison.pairs.is_empty()).then(|| {
            let last = comparison.skip + comparison.pairs.len();
            view! { <p class="hint">{texts::exchange_range(comparison.skip + 1, last, comparison.total)}</p> }
        });
        let swapped = self.address(comparison.right.leaf_turn_id, comparison.left.leaf_turn_id, 0);
        view! {
            <section class="compare-pairs" aria-labelledby="exchanges">
                <h2 id="exchanges">{texts::exchanges()}</h2>
                {common}
                <div class="deeds no-print"><a class="button" href=swapped>{texts::swap()}</a></div>
                <details class="fold">
                    <summary><Icon name="chevron-down"/>{texts::summary()}</summary>
                    {summary::draw(self.chat.id, comparison)}
                </details>
                {range}
                <p class="hint">
                    {texts::legend()}
                    " "
                    <del>{texts::legend_removed()}</del>
                    {comma()}
                    <ins>{texts::legend_added()}</ins>
                </p>
                {pairs}
                {self.pages(comparison)}
            </section>
        }
        .into_any()
    }

    fn pages(&self, comparison: &Comparison) -> AnyView {
        let link = |skip: usize, words: &'static str| {
            let (left, right) = (comparison.left.leaf_turn_id, comparison.right.leaf_turn_id);
            view! { <a class="button" href=self.address(left, right, skip)>{words}</a> }
        };
        let older =
            (comparison.skip > 0).then(|| link(comparison.skip.saturating_sub(comparison.limit), texts::older()));
        let newer = comparison.next_skip.map(|skip| link(skip, texts::newer()));
        if older.is_none() && newer.is_none() {
            return ().into_any();
        }
        view! { <nav class="deeds no-print" aria-label=texts::pages()>{older}{newer}</nav> }.into_any()
    }
}

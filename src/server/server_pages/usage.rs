//! The usage page: the budgets of the account, a form for period and grouping, one table, and small bars with their
//! numbers as text.

use chrono::{Datelike, Days, NaiveDate};
use leptos::prelude::*;
use serde::Deserialize;

use super::form_fields::{SelectField, date_field};
use super::frame::{ActionNotice, PageSection, ServerPage};
use super::messages::budgets as budget_texts;
use super::messages::usage as texts;
use crate::domain::{BudgetState, Cost};
use crate::ui::erased::view;
use crate::ui::messages as app_words;
use crate::ui::messages::usage;
use turnleaf_service::usage::{SpendingSum, UsagePeriod};

/// The number of rendered rows; the CSV has all of them.
const ROWS: usize = 500;

/// The grouping of the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageGrouping {
    #[default]
    Day,
    Model,
    Provider,
    /// API tokens, which only accounts have.
    Token,
    Chat,
}

impl UsageGrouping {
    const ALL: [Self; 5] = [Self::Day, Self::Model, Self::Provider, Self::Chat, Self::Token];

    /// Returns the word in addresses, and the display name.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Day => ("day", texts::by_day()),
            Self::Model => ("model", texts::by_model()),
            Self::Provider => ("provider", texts::by_provider()),
            Self::Token => ("token", texts::by_token()),
            Self::Chat => ("chat", texts::by_chat()),
        }
    }
}

/// The content of the page.
pub struct UsagePage {
    pub period: UsagePeriod,
    pub today: NaiveDate,
    pub grouping: UsageGrouping,
    pub rows: Vec<SpendingSum>,
    /// True on a server with accounts.
    pub has_accounts: bool,
    /// The budgets of the account.
    pub budgets: Vec<BudgetState>,
}

impl UsagePage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let body = view! {
            {budget_panel(&self.budgets)}
            {self.form()}
            {self.table()}
            {self.notes()}
        };
        ServerPage {
            section: PageSection::Usage,
            title: super::messages::usage_title().to_owned(),
            notice,
            body: body.into_any(),
        }
    }

    fn form(&self) -> AnyView {
        let (chosen, _) = self.grouping.words();
        let offered = UsageGrouping::ALL.into_iter().filter(|by| self.has_accounts || *by != UsageGrouping::Token);
        let options: Vec<_> = offered.map(UsageGrouping::words).collect();
        let group = SelectField {
            label: texts::group(),
            name: "group",
            form: "usage",
            options: &options,
            chosen,
            hint: None,
            error: None,
        };
        let presets = [
            (texts::last_7(), self.today.checked_sub_days(Days::new(6))),
            (texts::last_30(), self.today.checked_sub_days(Days::new(29))),
            (texts::this_month(), self.today.with_day(1)),
            (texts::this_year(), self.today.with_ordinal(1)),
        ];
        let presets = presets.into_iter().filter_map(|(name, from)| {
            let address = format!("/usage?from={}&to={}&group={chosen}", from?, self.today);
            Some(view! { <a class="button bare" href=address>{name}</a> })
        });
        let presets = presets.collect_view();
        view! {
            <form class="form usage-form" method="get" action="/usage">
                {date_field("usage", "from", texts::from(), Some(self.period.from()))}
                {date_field("usage", "to", texts::to(), Some(self.period.to()))}
                {group.draw()}
                <div class="deeds"><button type="submit" class="button strong">{texts::show()}</button>{presets}</div>
            </form>
        }
        .into_any()
    }

    fn table(&self) -> AnyView {
        if self.rows.is_empty() {
            return view! { <p class="hint">{texts::nothing()}</p> }.into_any();
        }
        let mut rows: Vec<&SpendingSum> = self.rows.iter().collect();
        match self.grouping {
            UsageGrouping::Day => rows.reverse(),
            // Sorts by cost; without known prices by tokens.
            _ => rows.sort_by_key(|sum| std::cmp::Reverse((sum.cost_micros, tokens(sum)))),
        }
        let measure: fn(&SpendingSum) -> u64 =
            if rows.iter().any(|sum| sum.cost_micros > Some(0)) { |sum| sum.cost_micros.unwrap_or(0) } else { tokens };
        let most = rows.iter().map(|sum| measure(sum)).max().unwrap_or(0).max(1);
        let hidden = rows.len().saturating_sub(ROWS);
        let body = rows.into_iter().take(ROWS).map(|sum| {
            let bar = measure(sum);
            view! {
                <tr>
                    <th scope="row">{self.name(sum)}</th>
                    {numbers(sum)}
                    <td class="bar"><meter aria-hidden="true" max=most.to_string() value=bar.to_string()></meter></td>
                </tr>
            }
        });
        let body = body.collect_view();
        let (_, by) = self.grouping.words();
        let total = SpendingSum::total(&self.rows);
        let hidden = (hidden > 0).then(|| view! { <p class="hint">{texts::more_rows(hidden)}</p> });
        view! {
            <div class="usage-scroll" role="region" tabindex="0" aria-label=texts::table()>
                <table class="usage-table">
                    <caption>{texts::caption(self.period.from(), self.period.to())}</caption>
                    <thead>
                        <tr>
                            <th scope="col">{by}</th>
                            <th scope="col">{texts::cost()}</th>
                            <th scope="col">{texts::calls()}</th>
                            <th scope="col">{texts::input()}</th>
                            <th scope="col">{texts::cached()}</th>
                            <th scope="col">{texts::output()}</th>
                            <th scope="col">{texts::reasoning()}</th>
                            <td></td>
                        </tr>
                    </thead>
                    <tbody>{body}</tbody>
                    <tfoot><tr><th scope="row">{texts::total()}</th>{numbers(&total)}<td></td></tr></tfoot>
                </table>
            </div>
            {hidden}
        }
        .into_any()
    }

    fn name(&self, sum: &SpendingSum) -> AnyView {
        match self.grouping {
            UsageGrouping::Day => sum.day.clone().unwrap_or_default().into_any(),
            UsageGrouping::Provider => view! { <bdi>{sum.provider.clone()}</bdi> }.into_any(),
            UsageGrouping::Model => view! {
                <bdi>{sum.model.clone()}</bdi>
                " "
                <bdi class="hint">{sum.provider.clone()}</bdi>
            }
            .into_any(),
            UsageGrouping::Token => match (&sum.token_id, &sum.token_name) {
                (_, Some(name)) => view! { <bdi>{name.clone()}</bdi> }.into_any(),
                (Some(_), None) => texts::deleted_token().into_any(),
                (None, None) => texts::without_token().into_any(),
            },
            UsageGrouping::Chat => match sum.chat_id {
                Some(id) => {
                    let title = sum.title.clone().filter(|title| !title.trim().is_empty());
                    let title = title.unwrap_or_else(|| app_words::untitled().to_owned());
                    view! { <a href=format!("/c/{id}") dir="auto">{title}</a> }.into_any()
                }
                None => texts::deleted().into_any(),
            },
        }
    }

    fn notes(&self) -> AnyView {
        let (by, _) = self.grouping.words();
        let csv = format!("/api/usage?from={}&to={}&group={by}&format=csv", self.period.from(), self.period.to());
        view! {
            <div class="deeds no-print">
                <a class="button" href=csv download="">{texts::csv()}</a>
            </div>
            <p class="hint">{texts::estimated()}</p>
            <p class="hint">{texts::usage_hint()}</p>
        }
        .into_any()
    }
}

/// Renders the budgets with what is used of them.
fn budget_panel(budgets: &[BudgetState]) -> Option<AnyView> {
    let row = |budget: &BudgetState| {
        let (name, percent) = (budget_texts::kind_name(budget.kind), budget.percent());
        let used = budget_texts::used(budget);
        let warning = budget.is_nearly_used().then(|| budget_texts::left_note(budget));
        view! {
            <li class="plain-row">
                <span class="row-name">
                    <span>{name}</span>
                    <span class="hint">{used}" · "{budget_texts::resets(budget)}</span>
                    {warning.map(|note| view! { <span class="problem">{note}</span> })}
                </span>
                <span class="row-end">
                    <meter aria-label=name aria-valuetext=format!("{percent}%") max="100" value=percent.to_string()></meter>
                </span>
            </li>
        }
    };
    (!budgets.is_empty()).then(|| {
        let rows = budgets.iter().map(row).collect_view();
        view! {
            <section class="panel" id="budgets" aria-labelledby="budgets-title">
                <h2 id="budgets-title">{budget_texts::budgets()}</h2>
                <ul class="rows" aria-labelledby="budgets-title">{rows}</ul>
            </section>
        }
        .into_any()
    })
}

/// Renders the cells of a row. The cost comes first, because a phone shows only the first few.
fn numbers(sum: &SpendingSum) -> AnyView {
    let count = |count: Option<u64>| count.map_or_else(|| usage::UNKNOWN.to_owned(), app_words::amounts::number);
    let cell = |text: String| view! { <td>{text}</td> };
    let lacks = |unknown: u64| (unknown > 0 && unknown < sum.generations).then(|| texts::unknown_costs(unknown));
    let with_lack = |text: String, unknown: u64| {
        let lacks = lacks(unknown).map(|lacks| view! { <span class="hint">{lacks}</span> });
        view! { <td>{text}{lacks}</td> }
    };
    let cost = sum.cost_micros.map_or_else(
        || usage::UNKNOWN.to_owned(),
        |micros| usage::cost(Cost { micros, is_estimated: sum.estimated_generations > 0 }),
    );
    view! {
        {with_lack(cost, sum.unknown_cost_generations)}
        {cell(app_words::amounts::number(sum.generations))}
        {with_lack(count(sum.usage.input_tokens), sum.unknown_token_generations)}
        {cell(count(sum.usage.cache_read_tokens))}
        {cell(count(sum.usage.output_tokens))}
        {cell(count(sum.usage.reasoning_tokens))}
    }
    .into_any()
}

fn tokens(sum: &SpendingSum) -> u64 {
    sum.usage.input_tokens.unwrap_or(0).saturating_add(sum.usage.output_tokens.unwrap_or(0))
}

#[cfg(test)]
mod tests;

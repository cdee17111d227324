//! The page of budgets, for administrators: the defaults, those of each account, and what accounts have spent by model.

use leptos::prelude::*;

use crate::domain::{BudgetKind, Cost, InvalidField, UserId};
use crate::server::server_pages::form_fields::{FieldKind, FormFields};
use crate::server::server_pages::messages::accounts as account_words;
use crate::server::server_pages::messages::budgets as words;
use crate::server::server_pages::messages::usage as usage_words;
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::locale::join_list;
use crate::ui::messages::amounts::number;
use crate::ui::messages::usage;
use turnleaf_service::accounts::management::ListedAccount;
use turnleaf_service::usage::UsagePeriod;
use turnleaf_service::usage::budgets::{AccountSpending, StoredBudget};

/// The form that was refused.
pub struct RefusedBudgets {
    pub account: Option<UserId>,
    pub error: InvalidField,
    /// The typed texts, in the order of [`BudgetKind::ALL`].
    pub typed: [String; 4],
}

/// The page of budgets.
pub struct BudgetsPage {
    pub accounts: Vec<ListedAccount>,
    pub budgets: Vec<StoredBudget>,
    /// The accounts with a budget that cannot be read; `None` for the defaults.
    pub unreadable: Vec<Option<UserId>>,
    pub spending: Vec<AccountSpending>,
    /// True if there are more sums, which the CSV has.
    pub is_spending_cut: bool,
    pub period: UsagePeriod,
    /// The account whose form is open.
    pub chosen: Option<UserId>,
    pub refused: Option<RefusedBudgets>,
}

impl BudgetsPage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let chosen = self.accounts.iter().find(|account| Some(account.id) == self.chosen);
        let form = chosen.map(|account| self.form(Some(account)));
        let rows = self.accounts.iter().map(|account| self.account_row(account)).collect_view();
        let body = view! {
            <p class="lead">{words::lead()}</p>
            {form}
            {self.form(None)}
            <section class="panel" aria-labelledby="accounts-title">
                <h2 id="accounts-title">{words::accounts()}</h2>
                <ul class="rows" aria-labelledby="accounts-title">{rows}</ul>
            </section>
            {self.spending_table()}
        };
        let notice = notice.or_else(|| self.unreadable_notice());
        ServerPage { section: PageSection::Budgets, title: words::budgets().to_owned(), notice, body }
    }

    /// Returns the notice that somebody can send nothing before their budgets are saved again.
    fn unreadable_notice(&self) -> Option<ActionNotice> {
        let name = |account: &Option<UserId>| match account {
            None => words::defaults().to_owned(),
            Some(id) => self.accounts.iter().find(|known| known.id == *id).map_or_else(|| id.to_string(), account_name),
        };
        let names: Vec<String> = self.unreadable.iter().map(name).collect();
        (!names.is_empty()).then(|| ActionNotice::Warning(words::unreadable(&join_list(&names))))
    }

    fn most(&self, account: Option<UserId>, kind: BudgetKind) -> Option<u64> {
        let budget = self.budgets.iter().find(|budget| budget.account == account && budget.kind == kind);
        budget.map(|budget| budget.most)
    }

    /// Renders the form of an account, or of the defaults.
    fn form(&self, account: Option<&ListedAccount>) -> AnyView {
        let id = account.map(|account| account.id);
        let refused = self.refused.as_ref().filter(|refused| refused.account == id);
        let (form, heading, hint) = match account {
            Some(account) => ("own", words::budgets_of(&account_name(account)), words::own_hint()),
            None => ("default", words::defaults().to_owned(), words::defaults_hint()),
        };
        let fields = FormFields { form, error: refused.map(|refused| &refused.error) };
        let field = |(at, kind): (usize, BudgetKind)| {
            let stored = self.most(id, kind).map(|most| kind.format_amount(most)).unwrap_or_default();
            let value = refused.map_or(stored, |refused| refused.typed[at].clone());
            fields.text(words::kind_name(kind), kind.as_str(), &value, None, FieldKind::Code, false)
        };
        let inputs = BudgetKind::ALL.into_iter().enumerate().map(field).collect_view();
        let title = format!("budgets-{form}");
        let labelled_by = title.clone();
        view! {
            <section class="panel" aria-labelledby=labelled_by>
                <h2 id=title dir="auto">{heading}</h2>
                <p class="hint">{hint}" "{words::cost_hint()}</p>
                <form class="form" method="post" action="/forms/budgets">
                    {id.map(|id| view! { <input type="hidden" name="user_id" value=id.to_string()/> })}
                    {inputs}
                    <div class="deeds"><button type="submit" class="button primary">{words::save()}</button></div>
                </form>
            </section>
        }
        .into_any()
    }

    fn account_row(&self, account: &ListedAccount) -> AnyView {
        let name = account_name(account);
        let part = |kind: BudgetKind| {
            let (own, default) = (self.most(Some(account.id), kind), self.most(None, kind));
            let most = words::amount(kind, own.or(default)?);
            let mark = if own.is_none() { format!(" ({})", words::default_mark()) } else { String::new() };
            Some(format!("{}: {most}{mark}", words::kind_name(kind)))
        };
        let parts: Vec<String> = BudgetKind::ALL.into_iter().filter_map(part).collect();
        let parts = if parts.is_empty() { words::no_budget().to_owned() } else { parts.join(" · ") };
        let address = format!("{}?account={}", PageSection::Budgets.path(), account.id);
        view! {
            <li class="plain-row">
                <span class="row-name"><bdi>{name.clone()}</bdi><span class="hint">{parts}</span></span>
                <span class="row-end">
                    <a class="button" href=address>{words::change()}<span class="quiet">" "{name}</span></a>
                </span>
            </li>
        }
        .into_any()
    }

    fn spending_table(&self) -> AnyView {
        let rows = self.spending.iter().map(spending_row).collect_view();
        let (from, to) = (self.period.from(), self.period.to());
        let csv = format!("{}/usage?from={from}&to={to}", PageSection::Budgets.path());
        let cut = self.is_spending_cut.then(|| view! { <p class="hint">{words::sums_cut(self.spending.len())}</p> });
        let table = if self.spending.is_empty() {
            view! { <p class="hint">{usage_words::nothing()}</p> }.into_any()
        } else {
            view! {
                <div class="usage-scroll" role="region" tabindex="0" aria-label=words::spent()>
                    <table class="usage-table">
                        <caption>{usage_words::caption(from, to)}</caption>
                        <thead><tr>
                            <th scope="col">{words::account()}</th>
                            <th scope="col">{usage_words::by_model()}</th>
                            <th scope="col">{usage_words::cost()}</th>
                            <th scope="col">{usage_words::calls()}</th>
                            <th scope="col">{usage_words::input()}</th>
                            <th scope="col">{usage_words::output()}</th>
                        </tr></thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            }
            .into_any()
        };
        view! {
            <section class="panel" aria-labelledby="spent-title">
                <h2 id="spent-title">{words::spent()}</h2>
                {table}
                {cut}
                <div class="deeds no-print"><a class="button" href=csv download="">{usage_words::csv()}</a></div>
            </section>
        }
        .into_any()
    }
}

/// Returns the name of an account for people: the owner of a server without accounts has none.
fn account_name(account: &ListedAccount) -> String {
    match account.name.as_str() {
        "" => account_words::role_name(account.role).to_owned(),
        name => name.to_owned(),
    }
}

fn spending_row(sum: &AccountSpending) -> AnyView {
    let name = match (sum.account, sum.name.as_str()) {
        (None, _) => words::deleted_accounts().to_owned(),
        (Some(id), "") => id.to_string(),
        (Some(_), name) => name.to_owned(),
    };
    let count = |count: Option<u64>| count.map_or_else(|| usage::UNKNOWN.to_owned(), number);
    let cost = sum.cost_micros.map_or_else(
        || usage::UNKNOWN.to_owned(),
        |micros| usage::cost(Cost { micros, is_estimated: sum.estimated_costs > 0 }),
    );
    let lacks = (sum.cost_micros.is_some() && sum.unknown_costs > 0)
        .then(|| view! { <span class="hint">{usage_words::unknown_costs(sum.unknown_costs)}</span> });
    view! {
        <tr>
            <th scope="row"><bdi>{name}</bdi></th>
            <td><bdi>{sum.model.clone()}</bdi>" "<bdi class="hint">{sum.provider.clone()}</bdi></td>
            <td>{cost}{lacks}</td>
            <td>{number(sum.calls)}</td>
            <td>{count(sum.usage.input_tokens)}</td>
            <td>{count(sum.usage.output_tokens)}</td>
        </tr>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, NaiveDate};

    use super::*;
    use crate::domain::{AccountRole, MessageCode, Usage};

    fn account(n: u128, name: &str) -> ListedAccount {
        ListedAccount {
            id: uuid::Uuid::from_u128(n).into(),
            name: name.into(),
            role: AccountRole::User,
            has_password: true,
            has_identity: false,
            disabled_at: None,
            created_at: DateTime::UNIX_EPOCH,
            seen_at: None,
        }
    }

    #[test]
    fn page_has_budgets_of_accounts_and_sums_without_chats() {
        let today: NaiveDate = "2026-11-21".parse().unwrap();
        let (ann, bob) = (account(1, "Ann"), account(2, "<Bob>"));
        let budget = |account, kind, most| StoredBudget { account, kind, most };
        let spending = AccountSpending {
            account: None,
            name: String::new(),
            provider: "openai".into(),
            model: "gpt".into(),
            calls: 3,
            usage: Usage { input_tokens: Some(1_200), ..Usage::default() },
            cost_micros: Some(4_012),
            unknown_costs: 1,
            estimated_costs: 1,
        };
        let refused = RefusedBudgets {
            account: Some(bob.id),
            error: InvalidField::new("day_tokens", MessageCode::NotAWholeNumber),
            typed: ["", "many", "", ""].map(str::to_owned),
        };
        let page = BudgetsPage {
            budgets: vec![
                budget(None, BudgetKind::MonthCost, 5_000_000),
                budget(Some(ann.id), BudgetKind::MonthCost, 20_000_000),
            ],
            unreadable: vec![None, Some(ann.id)],
            chosen: Some(bob.id),
            accounts: vec![ann, bob],
            spending: vec![spending],
            is_spending_cut: true,
            period: UsagePeriod::new(None, None, today).unwrap(),
            refused: Some(refused),
        };
        let (html, notice) = Owner::new().with(|| {
            let page = page.draw(None);
            (page.body.to_html().replace("<!>", ""), page.notice)
        });
        let Some(ActionNotice::Warning(notice)) = notice else { panic!("{notice:?}") };
        assert!(notice.contains("Default for all accounts") && notice.contains("Ann"), "{notice}");
        for part in [
            "Budgets of &lt;Bob&gt;",
            "Cost per month: $20.00",
            "Cost per month: $5.00 (Default)",
            "value=\"many\"",
            "Must be a whole number.",
            "Deleted accounts",
            "Only the first sum is listed. The CSV has all of them.",
            "≈ $0.004<span class=\"hint\"> + 1 unknown</span>",
            "/settings/budgets/usage?from=2026-10-23&amp;to=2026-11-21",
            "/settings/budgets?account=00000000-0000-0000-0000-000000000001",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        // The form of the default has the stored values.
        assert!(html.contains("id=\"default-month_cost\"") && html.contains("value=\"5\""), "{html}");
    }
}

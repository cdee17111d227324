//! The page of budgets, for administrators: the defaults, those of each group and account, and what accounts or groups
//! have spent by model.

use std::collections::{HashMap, HashSet};

use leptos::prelude::*;

use crate::domain::{AccountRole, Budget, BudgetKind, BudgetTarget, Cost, GroupId, InvalidField, UserId, limits};
use crate::server::server_pages::accounts::name_list::{NameList, position_fields, position_query};
use crate::server::server_pages::form_fields::{FieldKind, FormFields};
use crate::server::server_pages::messages::accounts as account_words;
use crate::server::server_pages::messages::budgets as words;
use crate::server::server_pages::messages::usage as usage_words;
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::locale::join_list;
use crate::ui::messages::amounts::number;
use crate::ui::messages::usage;
use turnleaf_service::accounts::list_pages::{GroupName, ListPosition, ListedPage};
use turnleaf_service::accounts::management::ListedAccount;
use turnleaf_service::usage::UsagePeriod;
use turnleaf_service::usage::budgets::{AccountSpending, SpenderGrouping};

/// The form that was refused.
pub struct RefusedBudgets {
    pub target: BudgetTarget,
    pub error: InvalidField,
    /// The typed texts, in the order of [`BudgetKind::ALL`].
    pub typed: [String; 6],
}

/// The page of budgets.
pub struct BudgetsPage {
    pub accounts: ListedPage<ListedAccount>,
    pub position: ListPosition,
    /// The names of accounts that are not on this page of the list: the chosen one, and those of unreadable budgets.
    pub names: HashMap<UserId, String>,
    pub groups: Vec<GroupName>,
    /// The groups of the accounts on this page.
    pub members: HashSet<(GroupId, UserId)>,
    pub budgets: Vec<Budget>,
    /// The targets of budgets that cannot be read.
    pub unreadable: Vec<BudgetTarget>,
    pub spending: Vec<AccountSpending>,
    pub grouping: SpenderGrouping,
    /// True if there are more sums, which the CSV has.
    pub is_spending_cut: bool,
    pub period: UsagePeriod,
    /// The account or the group whose form is open, beside that of the defaults.
    pub chosen: BudgetTarget,
    pub refused: Option<RefusedBudgets>,
}

impl BudgetsPage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let form = self.name(self.chosen).map(|name| self.form(self.chosen, Some(&name)));
        let ListedPage { entries, next } = &self.accounts;
        let rows = entries.iter().map(|account| self.account_row(account)).collect_view();
        let rows =
            (!entries.is_empty()).then(|| view! { <ul class="rows" aria-labelledby="accounts-title">{rows}</ul> });
        let by = matches!(self.grouping, SpenderGrouping::Group).then(|| ("by", "group".to_owned()));
        let list = NameList {
            path: PageSection::Budgets.path(),
            position: &self.position,
            next: next.as_deref(),
            kept: by.into_iter().collect(),
        };
        let body = view! {
            <p class="lead">{words::lead()}</p>
            {form}
            {self.form(BudgetTarget::Default, None)}
            {self.groups_panel()}
            <section class="panel" aria-labelledby="accounts-title">
                <h2 id="accounts-title">{words::accounts()}</h2>
                {list.draw(rows)}
            </section>
            {self.spending_table()}
        };
        let notice = notice.or_else(|| self.unreadable_notice());
        ServerPage { section: PageSection::Budgets, title: words::budgets().to_owned(), notice, body }
    }

    /// Returns the notice that somebody can send nothing before their budgets are saved again.
    fn unreadable_notice(&self) -> Option<ActionNotice> {
        let name = |target: &BudgetTarget| match target {
            BudgetTarget::Default => words::defaults().to_owned(),
            BudgetTarget::Group(id) => self.name(*target).unwrap_or_else(|| id.to_string()),
            BudgetTarget::Account(id) => self.name(*target).unwrap_or_else(|| id.to_string()),
        };
        let names: Vec<String> = self.unreadable.iter().map(name).collect();
        (!names.is_empty()).then(|| ActionNotice::Warning(words::unreadable(&join_list(&names))))
    }

    /// Renders the groups that fit, on the first page of the accounts.
    fn groups_panel(&self) -> Option<AnyView> {
        let found = if self.position.after.is_empty() { self.position.find_groups(&self.groups) } else { Vec::new() };
        let most = limits::ACCOUNTS_PAGE as usize;
        let cut = (found.len() > most).then(|| view! { <p class="hint">{words::groups_cut(most)}</p> });
        (!found.is_empty()).then(|| {
            let rows = found.iter().take(most).map(|group| self.group_row(group)).collect_view();
            view! {
                <section class="panel" aria-labelledby="groups-title">
                    <h2 id="groups-title">{words::groups()}</h2>
                    <ul class="rows" aria-labelledby="groups-title">{rows}</ul>
                    {cut}
                </section>
            }
        })
    }

    fn most(&self, target: BudgetTarget, kind: BudgetKind) -> Option<u64> {
        let budget = self.budgets.iter().find(|budget| budget.target == target && budget.kind == kind);
        budget.map(|budget| budget.most)
    }

    /// Returns the name of an account or of a group that exists.
    fn name(&self, target: BudgetTarget) -> Option<String> {
        match target {
            BudgetTarget::Default => None,
            BudgetTarget::Group(id) => self.groups.iter().find(|group| group.id == id).map(|group| group.name.clone()),
            BudgetTarget::Account(id) => {
                let listed = self.accounts.entries.iter().find(|account| account.id == id).map(account_name);
                listed.or_else(|| self.names.get(&id).map(|name| name_for_people(name, AccountRole::Owner)))
            }
        }
    }

    /// Renders the form of an account or of a group with this name, or of the defaults.
    fn form(&self, target: BudgetTarget, name: Option<&str>) -> AnyView {
        let refused = self.refused.as_ref().filter(|refused| refused.target == target);
        let heading = name.map_or_else(|| words::defaults().to_owned(), words::budgets_of);
        let (form, hint, id) = match target {
            BudgetTarget::Default => ("default", words::defaults_hint(), None),
            BudgetTarget::Group(group) => ("group", words::group_hint(), Some(("group_id", group.to_string()))),
            BudgetTarget::Account(account) => ("own", words::own_hint(), Some(("user_id", account.to_string()))),
        };
        let fields = FormFields { form, error: refused.map(|refused| &refused.error) };
        let field = |(at, kind): (usize, BudgetKind)| {
            let stored = self.most(target, kind).map(|most| kind.format_amount(most)).unwrap_or_default();
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
                    {id.map(|(field, id)| view! { <input type="hidden" name=field value=id/> })}
                    {position_fields(&self.position)}
                    {inputs}
                    <div class="deeds"><button type="submit" class="button primary">{words::save()}</button></div>
                </form>
            </section>
        }
        .into_any()
    }

    fn account_row(&self, account: &ListedAccount) -> AnyView {
        let applies = |target: BudgetTarget| match target {
            BudgetTarget::Default => true,
            BudgetTarget::Group(group) => self.members.contains(&(group, account.id)),
            BudgetTarget::Account(id) => id == account.id,
        };
        let applying: Vec<Budget> = self.budgets.iter().copied().filter(|budget| applies(budget.target)).collect();
        let position = position_query(&self.position);
        let address = format!("{}?account={}{position}", PageSection::Budgets.path(), account.id);
        self.row(account_name(account), BudgetTarget::Account(account.id), &Budget::in_force(&applying), address)
    }

    fn group_row(&self, group: &GroupName) -> AnyView {
        let target = BudgetTarget::Group(group.id);
        let own: Vec<Budget> = self.budgets.iter().copied().filter(|budget| budget.target == target).collect();
        let position = position_query(&self.position);
        let address = format!("{}?group={}{position}", PageSection::Budgets.path(), group.id);
        self.row(group.name.clone(), target, &Budget::in_force(&own), address)
    }

    /// Renders an account or a group with its budgets in force. Those of somebody else are marked.
    fn row(&self, name: String, target: BudgetTarget, budgets: &[Budget], address: String) -> AnyView {
        let part = |budget: &Budget| {
            let mark = match budget.target {
                own if own == target => None,
                BudgetTarget::Default => Some(words::default_mark().to_owned()),
                other => self.name(other),
            };
            let mark = mark.map(|mark| format!(" ({mark})")).unwrap_or_default();
            format!("{}: {}{mark}", words::kind_name(budget.kind), words::amount(budget.kind, budget.most))
        };
        let parts: Vec<String> = budgets.iter().map(part).collect();
        let parts = if parts.is_empty() { words::no_budget().to_owned() } else { parts.join(" · ") };
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
        let page = PageSection::Budgets.path();
        let (heading, spender, hint, by) = match self.grouping {
            SpenderGrouping::Account => (words::spent(), words::account(), None, "account"),
            SpenderGrouping::Group => {
                (words::spent_by_group(), words::group(), Some(words::spent_by_group_hint()), "group")
            }
        };
        let (other_address, other) = match self.grouping {
            SpenderGrouping::Account => (format!("{page}?by=group"), words::by_group()),
            SpenderGrouping::Group => (page.to_owned(), words::by_account()),
        };
        let csv = format!("{page}/usage?from={from}&to={to}&by={by}");
        let cut = self.is_spending_cut.then(|| view! { <p class="hint">{words::sums_cut(self.spending.len())}</p> });
        let table = if self.spending.is_empty() {
            view! { <p class="hint">{usage_words::nothing()}</p> }.into_any()
        } else {
            view! {
                <div class="usage-scroll" role="region" tabindex="0" aria-label=heading>
                    <table class="usage-table">
                        <caption>{usage_words::caption(from, to)}</caption>
                        <thead><tr>
                            <th scope="col">{spender}</th>
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
                <h2 id="spent-title">{heading}</h2>
                {hint.map(|hint| view! { <p class="hint">{hint}</p> })}
                {table}
                {cut}
                <div class="deeds no-print">
                    <a class="button" href=csv download="">{usage_words::csv()}</a>
                    <a class="button" href=other_address>{other}</a>
                </div>
            </section>
        }
        .into_any()
    }
}

/// Returns the name of an account for people: the owner of a server without accounts has none.
fn account_name(account: &ListedAccount) -> String {
    name_for_people(&account.name, account.role)
}

fn name_for_people(name: &str, role: AccountRole) -> String {
    if name.is_empty() { account_words::role_name(role).to_owned() } else { name.to_owned() }
}

fn spending_row(sum: &AccountSpending) -> AnyView {
    let name = match (sum.spender, sum.name.as_str()) {
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
    use crate::domain::{MessageCode, Usage};

    fn account(n: u128, name: &str) -> ListedAccount {
        ListedAccount {
            id: uuid::Uuid::from_u128(n).into(),
            name: name.into(),
            role: AccountRole::User,
            has_password: true,
            has_identity: false,
            has_second_factor: false,
            disabled_at: None,
            created_at: DateTime::UNIX_EPOCH,
            seen_at: None,
        }
    }

    #[test]
    fn page_has_budgets_of_accounts_and_sums_without_chats() {
        let today: NaiveDate = "2026-11-21".parse().unwrap();
        let (ann, bob) = (account(1, "Ann"), account(2, "<Bob>"));
        let lab = GroupName { id: uuid::Uuid::from_u128(3).into(), name: "Lab".into() };
        let cy: UserId = uuid::Uuid::from_u128(4).into();
        let budget = |target, kind, most| Budget { target, kind, most };
        let spending = AccountSpending {
            spender: None,
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
            target: BudgetTarget::Account(bob.id),
            error: InvalidField::new("day_tokens", MessageCode::NotAWholeNumber),
            typed: ["", "many", "", "", "", ""].map(str::to_owned),
        };
        let page = BudgetsPage {
            budgets: vec![
                budget(BudgetTarget::Default, BudgetKind::MonthCost, 5_000_000),
                budget(BudgetTarget::Group(lab.id), BudgetKind::DayRequests, 30),
                budget(BudgetTarget::Account(ann.id), BudgetKind::MonthCost, 20_000_000),
            ],
            unreadable: vec![BudgetTarget::Default, BudgetTarget::Group(lab.id), BudgetTarget::Account(cy)],
            chosen: BudgetTarget::Account(bob.id),
            members: [(lab.id, ann.id)].into(),
            groups: vec![lab],
            accounts: ListedPage { entries: vec![ann, bob], next: Some("<Bob>".into()) },
            position: ListPosition::default(),
            names: [(cy, "Cy".to_owned())].into(),
            spending: vec![spending],
            grouping: SpenderGrouping::Account,
            is_spending_cut: true,
            period: UsagePeriod::new(None, None, today).unwrap(),
            refused: Some(refused),
        };
        let (html, notice) = Owner::new().with(|| {
            let page = page.draw(None);
            (page.body.to_html().replace("<!>", ""), page.notice)
        });
        let Some(ActionNotice::Warning(notice)) = notice else { panic!("{notice:?}") };
        for name in ["Default for all accounts", "Lab", "Cy"] {
            assert!(notice.contains(name), "{name}: {notice}");
        }
        for part in [
            "Budgets of &lt;Bob&gt;",
            "Requests per day: 30 (Lab) · Cost per month: $20.00",
            "<span class=\"hint\">Requests per day: 30</span>",
            "/settings/budgets?group=00000000-0000-0000-0000-000000000003",
            "/settings/budgets?by=group",
            "/settings/budgets?after=%3CBob%3E",
            "Cost per month: $5.00 (Default)",
            "value=\"many\"",
            "Must be a whole number.",
            "Deleted accounts",
            "Only the first sum is listed. The CSV has all of them.",
            "≈ $0.004<span class=\"hint\"> + 1 unknown</span>",
            "/settings/budgets/usage?from=2026-10-23&amp;to=2026-11-21&amp;by=account",
            "/settings/budgets?account=00000000-0000-0000-0000-000000000001",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        // The form of the default has the stored values.
        assert!(html.contains("id=\"default-month_cost\"") && html.contains("value=\"5\""), "{html}");
    }
}

//! Messages about budgets, in both languages.

use crate::domain::{BudgetKind, BudgetState};
use crate::ui::locale::{define_messages, localized_word, message, plural_message};
use crate::ui::messages::amounts::number;
use crate::ui::messages::usage::dollars;

define_messages! {
    budgets: "Budgets", "预算";
    lead: "How much accounts may spend on models. People who have used up a budget cannot send anything until it resets. \
        Administrators see sums, never chats.", "账号在模型上可以花费的上限。预算用尽后，在重置之前无法再发送消息。管理员只能看到合计，看不到对话。";
    defaults: "Default for all accounts", "所有账号的默认预算";
    defaults_hint: "A budget of an account or of one of its groups replaces the default. An empty field sets no budget.",
        "账号自己的预算和所在组的预算优先于默认预算。留空表示不设预算。";
    own_hint: "Leave a field empty to use the budget of the account's groups, or the default.",
        "留空则使用所在组的预算或默认预算。";
    groups: "Groups", "组";
    group_hint: "Applies to each member without a budget of their own, instead of the default. For members of several groups \
        the strictest budget applies. An empty field sets no budget.",
        "限制没有自己预算的每个成员，并优先于默认预算。属于多个组时以最严格的为准。留空表示不设预算。";
    cost_hint: "In US dollars. Requests without a known price cost nothing.", "单位为美元。没有已知价格的请求不计费用。";
    save: "Save", "保存";
    saved: "The budgets were saved.", "预算已保存。";
    accounts: "Accounts", "账号";
    change: "Change", "更改";
    default_mark: "Default", "默认";
    no_budget: "No budget", "没有预算";
    spent: "Spent by account and model", "按账号和模型的花费";
    spent_by_group: "Spent by group and model", "按组和模型的花费";
    spent_by_group_hint: "Sums of the present members. Members of several groups count in each of them.",
        "当前成员的合计。属于多个组的成员计入每个组。";
    by_account: "By account", "按账号";
    by_group: "By group", "按组";
    account: "Account", "账号";
    group: "Group", "组";
    deleted_accounts: "Deleted accounts", "已删除的账号";
}

/// Returns the name of a kind of budget.
pub fn kind_name(kind: BudgetKind) -> &'static str {
    match kind {
        BudgetKind::DayCost => localized_word("Cost per day", "每天费用"),
        BudgetKind::DayTokens => localized_word("Tokens per day", "每天 token"),
        BudgetKind::DayRequests => localized_word("Requests per day", "每天请求数"),
        BudgetKind::MonthCost => localized_word("Cost per month", "每月费用"),
        BudgetKind::MonthTokens => localized_word("Tokens per month", "每月 token"),
        BudgetKind::MonthRequests => localized_word("Requests per month", "每月请求数"),
    }
}

/// Formats an amount of this kind for reading.
pub fn amount(kind: BudgetKind, amount: u64) -> String {
    if kind.is_cost() { dollars(amount) } else { number(amount) }
}

/// Returns what is used of a budget.
pub fn used(budget: &BudgetState) -> String {
    let (used, most) = (amount(budget.kind, budget.used), amount(budget.kind, budget.most));
    message!("{used} of {most}", "{used} / {most}")
}

/// Returns when a budget resets.
pub fn resets(budget: &BudgetState) -> String {
    let day = budget.resets_at.format("%Y-%m-%d").to_string();
    message!("resets on {day} (UTC)", "{day} 重置（UTC）")
}

/// Returns the warning of a budget of which little or nothing is left.
pub fn left_note(budget: &BudgetState) -> String {
    let percent = budget.percent();
    if budget.is_exhausted() {
        return localized_word("Used up: nothing more can be sent.", "已用尽，无法再发送消息。").to_owned();
    }
    message!("{percent}% is used.", "已用 {percent}%。")
}

/// Returns the warning about budgets that cannot be read.
pub fn unreadable(names: &str) -> String {
    message!(
        "A budget cannot be read: {names}. Nothing can be sent until the budgets are saved again here.",
        "有预算无法读取：{names}。在此重新保存预算之前，无法发送任何内容。"
    )
}

/// Returns the note below sums that are not all.
pub fn sums_cut(count: usize) -> String {
    let many = number(count as u64);
    plural_message!(count; "Only the first sum is listed. The CSV has all of them.",
        "Only the first {many} sums are listed. The CSV has all of them."; "仅列出前 {many} 项合计，全部合计见 CSV。")
}

/// Returns the note below groups that are not all.
pub fn groups_cut(count: usize) -> String {
    message!(
        "Only the first {count} groups are listed. Others are found by their name.",
        "仅列出前 {count} 个组，其他组可按名称查找。"
    )
}

/// Returns the heading of the form of an account or of a group.
pub fn budgets_of(name: &str) -> String {
    message!("Budgets of {name}", "{name} 的预算")
}

//! The notes of the composer on budgets of which little is left, so that people know before a message is refused.

use crate::api::error::ApiError;
use crate::domain::{BudgetKind, BudgetState, UserId};
use crate::server::page_data::PageService;
use crate::ui::locale::{message, with_locale};

impl PageService {
    /// Returns a sentence for each budget of which little is left.
    pub(super) async fn budget_notes(&self, viewer: UserId) -> Result<Vec<String>, ApiError> {
        let budgets = self.0.budgets(viewer).await.map_err(self.api_error())?;
        let noted = budgets.iter().filter(|budget| budget.is_nearly_used());
        Ok(with_locale(self.1, || noted.map(budget_note).collect()))
    }
}

fn budget_note(budget: &BudgetState) -> String {
    let (percent, most) = (budget.percent(), budget.kind.format_amount(budget.most));
    let resets = budget.resets_at.format("%Y-%m-%d %H:%M").to_string();
    match budget.kind {
        BudgetKind::DayCost => message!(
            "{percent}% of your budget of US${most} for today is used. It resets at {resets} UTC.",
            "你今天 {most} 美元的预算已用 {percent}%，将于 {resets} UTC 重置。"
        ),
        BudgetKind::DayTokens => message!(
            "{percent}% of your budget of {most} tokens for today is used. It resets at {resets} UTC.",
            "你今天 {most} 个 token 的预算已用 {percent}%，将于 {resets} UTC 重置。"
        ),
        BudgetKind::DayRequests => message!(
            "{percent}% of your budget of {most} requests for today is used. It resets at {resets} UTC.",
            "你今天 {most} 次请求的预算已用 {percent}%，将于 {resets} UTC 重置。"
        ),
        BudgetKind::MonthCost => message!(
            "{percent}% of your budget of US${most} for this month is used. It resets at {resets} UTC.",
            "你本月 {most} 美元的预算已用 {percent}%，将于 {resets} UTC 重置。"
        ),
        BudgetKind::MonthTokens => message!(
            "{percent}% of your budget of {most} tokens for this month is used. It resets at {resets} UTC.",
            "你本月 {most} 个 token 的预算已用 {percent}%，将于 {resets} UTC 重置。"
        ),
        BudgetKind::MonthRequests => message!(
            "{percent}% of your budget of {most} requests for this month is used. It resets at {resets} UTC.",
            "你本月 {most} 次请求的预算已用 {percent}%，将于 {resets} UTC 重置。"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::locale::Locale;

    #[test]
    fn note_names_budget_and_reset() {
        for kind in BudgetKind::ALL {
            let resets_at = "2026-12-01T00:00:00Z".parse().unwrap();
            let (most, used) = (10_000_000, 8_500_000);
            let budget = BudgetState { kind, most, used, is_default: false, is_of_group: false, resets_at };
            let amount = match kind {
                BudgetKind::DayCost | BudgetKind::MonthCost => "US$10 ",
                BudgetKind::DayTokens | BudgetKind::MonthTokens => "10000000 tokens",
                BudgetKind::DayRequests | BudgetKind::MonthRequests => "10000000 requests",
            };
            let english = budget_note(&budget);
            assert!(english.starts_with("85% of ") && english.contains(amount), "{english}");
            let chinese = with_locale(Locale::Chinese, || budget_note(&budget));
            for part in ["85%", "2026-12-01 00:00 UTC"] {
                assert!(english.contains(part) && chinese.contains(part), "{english} {chinese}");
            }
        }
    }
}

//! Tests of the page's structure, as people and scripts find it.

use super::*;
use crate::domain::{ApiTokenId, BudgetKind, ChatId, Usage};
use crate::server::server_pages::{AccountPages, PageFrame};
use crate::ui::preferences::Preferences;

fn rendered(by: UsageGrouping, rows: Vec<SpendingSum>) -> String {
    let today: NaiveDate = "2026-11-21".parse().expect("a day");
    let period = UsagePeriod::new(None, None, today).expect("a period");
    let (package, preferences, accounts) = ("/pkg/0".into(), Preferences::default(), AccountPages::None);
    let frame = PageFrame { package, preferences, nonce: None, accounts, has_session: false };
    // The owner must exist while the page is built, as in a document.
    let page = UsagePage { period, today, grouping: by, rows, has_accounts: false, budgets: Vec::new() };
    frame.draw(Owner::new().with(|| page.draw(None)))
}

fn sum() -> SpendingSum {
    SpendingSum {
        generations: 3,
        usage: Usage { input_tokens: Some(12_345), output_tokens: Some(678), ..Usage::default() },
        cost_micros: Some(4_012),
        unknown_cost_generations: 1,
        estimated_generations: 2,
        ..SpendingSum::default()
    }
}

#[test]
fn table_comes_first_and_marks_unknown_and_estimated_costs() {
    let unknown = SpendingSum {
        day: Some("2026-11-20".into()),
        generations: 1,
        unknown_cost_generations: 1,
        ..SpendingSum::default()
    };
    let html = rendered(UsageGrouping::Day, vec![unknown, SpendingSum { day: Some("2026-11-21".into()), ..sum() }]);
    for part in [
        "<caption>2026-10-23 to 2026-11-21</caption>",
        "<th scope=\"row\">2026-11-21</th><td>≈ $0.004<span class=\"hint\"> + 1 unknown</span></td>\
         <td>3</td><td>12,345</td><td>—</td><td>678</td><td>—</td>\
         <td class=\"bar\"><meter aria-hidden=\"true\" max=\"4012\" value=\"4012\"></meter></td>",
        "<th scope=\"row\">2026-11-20</th><td>—</td><td>1</td><td>—</td><td>—</td><td>—</td><td>—</td>",
        "<th scope=\"row\">Total</th><td>≈ $0.004<span class=\"hint\"> + 2 unknown</span></td><td>4</td>",
        "name=\"from\" value=\"2026-10-23\"",
        "name=\"to\" value=\"2026-11-21\"",
        "<option value=\"day\" selected>Day</option>",
        "/usage?from=2026-11-01&amp;to=2026-11-21&amp;group=day",
        "/api/usage?from=2026-10-23&amp;to=2026-11-21&amp;group=day&amp;format=csv",
        "≈ marks estimates from",
    ] {
        assert!(html.contains(part), "{part}\n{html}");
    }
    assert!(html.find("2026-11-21</th>") < html.find("2026-11-20</th>"), "the newest day is first");
    assert!(!html.contains("<script") && !html.contains("style=\""), "{html}");
}

#[test]
fn names_are_escaped_and_deleted_chats_have_none() {
    let chat = ChatId::from_uuid(uuid::Uuid::from_u128(7));
    let title = "<script>alert(1)</script>";
    let html = rendered(
        UsageGrouping::Chat,
        vec![sum(), SpendingSum { chat_id: Some(chat), title: Some(title.into()), ..sum() }],
    );
    assert!(html.contains("<th scope=\"row\">Deleted chats</th>"), "{html}");
    assert!(html.contains(&format!("href=\"/c/{chat}\"")) && !html.contains("<script"), "{html}");
    let html = rendered(
        UsageGrouping::Model,
        vec![SpendingSum { model: Some(title.into()), provider: Some("p".into()), ..sum() }],
    );
    assert!(html.contains("&lt;script&gt;") && !html.contains("<script"), "{html}");
}

#[test]
fn bars_show_tokens_where_nothing_has_price() {
    let local =
        SpendingSum { provider: Some("ollama".into()), cost_micros: None, unknown_cost_generations: 3, ..sum() };
    let html = rendered(UsageGrouping::Provider, vec![local]);
    assert!(html.contains("max=\"13023\" value=\"13023\""), "{html}");
}

#[test]
fn budgets_are_shown_with_warning_and_tokens_by_name() {
    let today: NaiveDate = "2026-11-21".parse().expect("a day");
    let period = UsagePeriod::new(None, None, today).expect("a period");
    let resets_at = "2026-12-01T00:00:00Z".parse().expect("a time");
    let most = 10_000_000;
    let budget = |kind, used| BudgetState { kind, most, used, is_default: true, is_of_group: false, resets_at };
    let budgets = vec![budget(BudgetKind::MonthCost, 8_000_000), budget(BudgetKind::DayTokens, 1_000)];
    let token = ApiTokenId::from_uuid(uuid::Uuid::from_u128(9));
    let rows = vec![
        SpendingSum { token_id: Some(token), token_name: Some("<ci>".into()), ..sum() },
        SpendingSum { token_id: Some(token), ..sum() },
        sum(),
    ];
    let page = UsagePage { period, today, grouping: UsageGrouping::Token, rows, has_accounts: true, budgets };
    let html = Owner::new().with(|| page.draw(None).body.to_html()).replace("<!>", "");
    for part in [
        "<span>Cost per month</span>",
        "$8.00 of $10",
        "resets on 2026-12-01",
        "aria-valuetext=\"80%\"",
        "&lt;ci&gt;",
        "Deleted tokens",
        "Without a token",
        "<option value=\"token\" selected>",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert_eq!(html.matches("class=\"problem\"").count(), 1, "{html}");
}

#[test]
fn empty_period_is_explained() {
    let html = rendered(UsageGrouping::Day, Vec::new());
    assert!(html.contains("No usage in this period.") && !html.contains("<table"), "{html}");
}

#[test]
fn long_table_is_cut_and_links_to_csv() {
    let day = |n: usize| SpendingSum { day: Some(format!("day {n}")), ..sum() };
    let html = rendered(UsageGrouping::Day, (0..ROWS + 2).map(day).collect());
    assert_eq!(html.matches("<meter").count(), ROWS);
    assert!(html.contains("2 more rows are in the CSV."), "{html}");
}

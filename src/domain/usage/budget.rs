//! Budgets of accounts: how much may be spent on models in a day or a month in UTC, in money, in tokens and in requests.
//! Costs are in millionths of a US dollar.

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, NaiveTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{GroupId, UserId};
use crate::limits;
use crate::messages::coded_message::{CodedMessage, MessageCode};
use crate::messages::failure::{FailureKind, InvalidField};

/// The kind of a budget: its period and its unit. An account and a group have at most one of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BudgetKind {
    DayCost,
    DayTokens,
    DayRequests,
    MonthCost,
    MonthTokens,
    MonthRequests,
}

impl BudgetKind {
    pub const ALL: [Self; 6] =
        [Self::DayCost, Self::DayTokens, Self::DayRequests, Self::MonthCost, Self::MonthTokens, Self::MonthRequests];

    /// Returns its word in JSON, in the database and in forms.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DayCost => "day_cost",
            Self::DayTokens => "day_tokens",
            Self::DayRequests => "day_requests",
            Self::MonthCost => "month_cost",
            Self::MonthTokens => "month_tokens",
            Self::MonthRequests => "month_requests",
        }
    }

    pub fn is_cost(self) -> bool {
        matches!(self, Self::DayCost | Self::MonthCost)
    }

    /// Returns whether its period is a day. The others have a month.
    pub fn is_daily(self) -> bool {
        matches!(self, Self::DayCost | Self::DayTokens | Self::DayRequests)
    }

    /// Returns the part of an amount that the budget limits.
    pub fn part_of(self, amount: SpendingAmount) -> u64 {
        match self {
            Self::DayCost | Self::MonthCost => amount.micros,
            Self::DayTokens | Self::MonthTokens => amount.tokens,
            Self::DayRequests | Self::MonthRequests => amount.requests,
        }
    }

    /// Returns the beginning of the period that contains `now`.
    pub fn begins_at(self, now: DateTime<Utc>) -> DateTime<Utc> {
        midnight(self.first_day(now))
    }

    /// Returns the beginning of the next period.
    pub fn resets_at(self, now: DateTime<Utc>) -> DateTime<Utc> {
        let first = self.first_day(now);
        let next = match self.is_daily() {
            true => first.checked_add_days(Days::new(1)),
            false => first.checked_add_months(Months::new(1)),
        };
        midnight(next.unwrap_or(first))
    }

    fn first_day(self, now: DateTime<Utc>) -> NaiveDate {
        let today = now.date_naive();
        if self.is_daily() { today } else { today.with_day(1).unwrap_or(today) }
    }

    /// Returns the code of a reply that this budget has stopped.
    pub fn failure_kind(self) -> FailureKind {
        match self {
            Self::DayCost => FailureKind::BudgetDayCost,
            Self::DayTokens => FailureKind::BudgetDayTokens,
            Self::DayRequests => FailureKind::BudgetDayRequests,
            Self::MonthCost => FailureKind::BudgetMonthCost,
            Self::MonthTokens => FailureKind::BudgetMonthTokens,
            Self::MonthRequests => FailureKind::BudgetMonthRequests,
        }
    }

    fn message_code(self) -> MessageCode {
        match self {
            Self::DayCost => MessageCode::BudgetDayCost,
            Self::DayTokens => MessageCode::BudgetDayTokens,
            Self::DayRequests => MessageCode::BudgetDayRequests,
            Self::MonthCost => MessageCode::BudgetMonthCost,
            Self::MonthTokens => MessageCode::BudgetMonthTokens,
            Self::MonthRequests => MessageCode::BudgetMonthRequests,
        }
    }

    /// Formats an amount as people type it: whole tokens or requests, or dollars such as `12.50`.
    pub fn format_amount(self, amount: u64) -> String {
        if !self.is_cost() {
            return amount.to_string();
        }
        let (dollars, micros) = (amount / MICROS, amount % MICROS);
        let digits = format!("{micros:06}");
        let digits = digits.trim_end_matches('0');
        match digits.len() {
            0 => dollars.to_string(),
            _ => format!("{dollars}.{digits:0<2}"),
        }
    }

    /// Parses an amount as it is typed; `None` for an empty text.
    ///
    /// # Errors
    /// The text is not an amount of the budget's unit, or it is implausibly large.
    pub fn parse_amount(self, text: &str) -> Result<Option<u64>, InvalidField> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let invalid = || match self.is_cost() {
            true => InvalidField::new(self.as_str(), MessageCode::NotDollars),
            false => InvalidField::new(self.as_str(), MessageCode::NotAWholeNumber),
        };
        let amount = match self.is_cost() {
            true => parse_dollars(text),
            false => parse_digits(text),
        };
        let amount = amount.ok_or_else(invalid)?;
        InvalidField::check_range(self.as_str(), amount, 0..=limits::PLAUSIBLE_COUNT).map(Some)
    }
}

const MICROS: u64 = 1_000_000;

fn midnight(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(NaiveTime::MIN).and_utc()
}

fn parse_digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Parses dollars with up to six decimal places.
fn parse_dollars(text: &str) -> Option<u64> {
    let (dollars, rest) = text.split_once('.').unwrap_or((text, "0"));
    if rest.is_empty() || rest.len() > 6 {
        return None;
    }
    let micros = parse_digits(rest)?.checked_mul(10_u64.pow(6 - rest.len() as u32))?;
    parse_digits(dollars).filter(|_| !dollars.is_empty())?.checked_mul(MICROS)?.checked_add(micros)
}

/// Tokens, cost and requests together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpendingAmount {
    pub tokens: u64,
    pub micros: u64,
    /// The calls of a provider.
    pub requests: u64,
}

impl SpendingAmount {
    /// The least that a call can spend: what is reserved for one of which nothing is known yet.
    pub const LEAST: Self = Self { tokens: 1, micros: 1, requests: 1 };

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            micros: self.micros.saturating_add(other.micros),
            requests: self.requests.saturating_add(other.requests),
        }
    }
}

/// The accounts that a budget bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetTarget {
    /// Every account.
    Default,
    /// Every member of a group.
    Group(GroupId),
    Account(UserId),
}

impl BudgetTarget {
    /// Returns the rank, lowest for the one that takes the place of the others.
    fn rank(self) -> u8 {
        match self {
            Self::Account(_) => 0,
            Self::Group(_) => 1,
            Self::Default => 2,
        }
    }
}

/// A budget as an administrator has set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub target: BudgetTarget,
    pub kind: BudgetKind,
    /// The budget, in its unit: tokens, requests, or millionths of a US dollar.
    pub most: u64,
}

impl Budget {
    /// Returns the budgets in force for an account, by kind, out of its own, those of its groups and the defaults. Its own
    /// takes the place of all others, so that an administrator can also give more to one member; the strictest of its
    /// groups takes the place of the default.
    pub fn in_force(all: &[Self]) -> Vec<Self> {
        let first = |kind: BudgetKind| {
            let of_kind = all.iter().filter(|budget| budget.kind == kind);
            of_kind.min_by_key(|budget| (budget.target.rank(), budget.most)).copied()
        };
        BudgetKind::ALL.into_iter().filter_map(first).collect()
    }
}

/// A budget of an account with what is used of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct BudgetState {
    pub kind: BudgetKind,
    /// The budget, in its unit: tokens, requests, or millionths of a US dollar.
    pub most: u64,
    /// The spending in the period, together with estimates for the requests that run now.
    pub used: u64,
    /// True for the default of all accounts.
    pub is_default: bool,
    /// True for the budget of a group of the account.
    pub is_of_group: bool,
    /// The end of the period.
    pub resets_at: DateTime<Utc>,
}

impl BudgetState {
    /// The code of a request that is refused because a budget is exhausted.
    pub const EXHAUSTED: &str = "budget_exhausted";
    /// Percent of a budget from which people are warned.
    const WARNING: u64 = 80;

    /// Returns whether nothing is left.
    pub fn is_exhausted(&self) -> bool {
        self.used >= self.most
    }

    /// Returns the used part, rounded down; 100 if nothing is left.
    pub fn percent(&self) -> u64 {
        let percent = u128::from(self.used) * 100 / u128::from(self.most.max(1));
        if self.is_exhausted() { 100 } else { percent.min(99) as u64 }
    }

    /// Returns whether people are to be warned.
    pub fn is_nearly_used(&self) -> bool {
        self.percent() >= Self::WARNING
    }

    /// Returns the reason why nothing is sent. It names the budget and when it resets.
    pub fn refusal(&self) -> CodedMessage {
        let most = self.kind.format_amount(self.most);
        let resets = self.resets_at.format("%Y-%m-%d %H:%M");
        self.kind.message_code().with("most", most).with("resets", resets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn periods_are_days_and_months_in_utc() {
        let table = [
            ("2026-11-30T23:59:59.999Z", "2026-11-30", "2026-12-01", "2026-11-01", "2026-12-01"),
            ("2026-12-01T00:00:00Z", "2026-12-01", "2026-12-02", "2026-12-01", "2027-01-01"),
            ("2028-02-29T12:00:00Z", "2028-02-29", "2028-03-01", "2028-02-01", "2028-03-01"),
        ];
        for (now, day, next_day, month, next_month) in table {
            let days = |kind: BudgetKind| {
                let (begin, end) = (kind.begins_at(time(now)), kind.resets_at(time(now)));
                assert_eq!((begin.time(), end.time()), (NaiveTime::MIN, NaiveTime::MIN));
                (begin.date_naive().to_string(), end.date_naive().to_string())
            };
            for kind in BudgetKind::ALL {
                let expected = if kind.is_daily() { (day, next_day) } else { (month, next_month) };
                assert_eq!(days(kind), (expected.0.to_owned(), expected.1.to_owned()), "{kind:?} at {now}");
            }
        }
    }

    #[test]
    fn amounts_are_read_as_they_are_written() {
        for (kind, text, amount) in [
            (BudgetKind::MonthCost, "5", 5_000_000),
            (BudgetKind::MonthCost, "12.50", 12_500_000),
            (BudgetKind::DayCost, "0", 0),
            (BudgetKind::DayCost, "0.000001", 1),
            (BudgetKind::DayTokens, "100000", 100_000),
            (BudgetKind::MonthRequests, "200", 200),
        ] {
            assert_eq!(kind.parse_amount(text), Ok(Some(amount)), "{text}");
            assert_eq!(kind.format_amount(amount), text);
        }
        assert_eq!(BudgetKind::DayCost.parse_amount(" 1.5 "), Ok(Some(1_500_000)));
        assert_eq!(BudgetKind::DayCost.parse_amount("  "), Ok(None));
        for wrong in ["-1", "1,5", "$5", ".5", "5.", "1.0000001", "5 USD", "1e3", "99999999999999999999", "1000001"] {
            let invalid = BudgetKind::DayCost.parse_amount(wrong).unwrap_err();
            assert_eq!(invalid.field, "day_cost", "{wrong}");
        }
        for wrong in ["1.5", "-1", "ten", "1000000000001"] {
            assert!(BudgetKind::DayTokens.parse_amount(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn budget_warns_from_four_fifths_and_is_full_when_nothing_is_left() {
        for (used, most, percent, warns) in [
            (0, 10, 0, false),
            (79, 100, 79, false),
            (80, 100, 80, true),
            (999, 1_000, 99, true),
            (100, 100, 100, true),
            (500, 100, 100, true),
            (0, 0, 100, true),
            (u64::MAX, u64::MAX, 100, true),
        ] {
            let kind = BudgetKind::DayTokens;
            let resets_at = time("2026-12-01T00:00:00Z");
            let state = BudgetState { kind, most, used, is_default: false, is_of_group: false, resets_at };
            assert_eq!((state.percent(), state.is_nearly_used()), (percent, warns), "{used} of {most}");
            assert_eq!(state.is_exhausted(), percent == 100);
        }
    }

    #[test]
    fn own_budget_is_before_strictest_of_groups_and_that_before_default() {
        let [lab, staff] = [1, 2].map(|number| BudgetTarget::Group(GroupId::from_uuid(uuid::Uuid::from_u128(number))));
        let own = BudgetTarget::Account(UserId::from_uuid(uuid::Uuid::from_u128(3)));
        let default = BudgetTarget::Default;
        for (set, in_force) in [
            (&[(default, 5)][..], Some((default, 5))),
            (&[], None),
            // A group may give more than the default does.
            (&[(default, 5), (lab, 9)], Some((lab, 9))),
            (&[(lab, 9), (default, 5), (staff, 7)], Some((staff, 7))),
            (&[(lab, 0), (staff, 7)], Some((lab, 0))),
            (&[(lab, 9), (own, 20), (default, 5)], Some((own, 20))),
            (&[(own, 1), (default, 5)], Some((own, 1))),
        ] {
            let budget = |kind, (target, most): (BudgetTarget, u64)| Budget { target, kind, most };
            let mut all: Vec<Budget> = set.iter().map(|&set| budget(BudgetKind::MonthRequests, set)).collect();
            let expected: Vec<Budget> =
                in_force.into_iter().map(|set| budget(BudgetKind::MonthRequests, set)).collect();
            assert_eq!(Budget::in_force(&all), expected, "{set:?}");
            // Each kind for itself.
            let other = budget(BudgetKind::DayRequests, (default, 3));
            all.push(other);
            assert_eq!(Budget::in_force(&all), [&[other][..], &expected].concat(), "{set:?}");
        }
    }

    #[test]
    fn refusal_names_budget_and_reset() {
        let resets_at = time("2026-12-01T00:00:00Z");
        for (kind, sentence) in [
            (BudgetKind::DayCost, "Your daily budget of US$5 is used up. It resets at 2026-12-01 00:00 UTC."),
            (
                BudgetKind::DayTokens,
                "Your daily budget of 5000000 tokens is used up. It resets at 2026-12-01 00:00 UTC.",
            ),
            (
                BudgetKind::DayRequests,
                "Your daily budget of 5000000 requests is used up. It resets at 2026-12-01 00:00 UTC.",
            ),
            (
                BudgetKind::MonthRequests,
                "Your monthly budget of 5000000 requests is used up. It resets at 2026-12-01 00:00 UTC.",
            ),
            (BudgetKind::MonthCost, "Your monthly budget of US$5 is used up. It resets at 2026-12-01 00:00 UTC."),
            (
                BudgetKind::MonthTokens,
                "Your monthly budget of 5000000 tokens is used up. It resets at 2026-12-01 00:00 UTC.",
            ),
        ] {
            let most = 5_000_000;
            let state = BudgetState { kind, most, used: most, is_default: true, is_of_group: false, resets_at };
            assert_eq!(state.refusal().to_string(), sentence);
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            let failed = crate::Failure::new(kind.failure_kind(), "Demo");
            assert!(failed.kind.as_str().ends_with(kind.as_str()) && failed.message.contains("resets"), "{failed:?}");
        }
    }
}

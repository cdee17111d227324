//! Usage: tokens and costs of a period, grouped by day, model, provider, API token, chat or branch.

pub mod budgets;
pub mod calling_token;
pub mod storage;

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};

use crate::{Service, ServiceError};
use turnleaf_domain::{ChatId, InvalidField, MessageCode, UserId};
use turnleaf_store::usage::spending;

pub use turnleaf_store::usage::spending::{SpendingGrouping, SpendingSum};

/// The length of the default period, in days.
const USUAL_DAYS: u64 = 30;
/// The length of the longest period, in days, which bounds the rows of its sums.
const MOST_DAYS: i64 = 3_660;

/// A period of whole days in UTC, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsagePeriod {
    from: NaiveDate,
    to: NaiveDate,
}

impl UsagePeriod {
    /// Creates a period. The default end is today; the default start is thirty days, counted with the end.
    ///
    /// # Errors
    /// Names `from` when the period would end before it begins, or is longer than ten years.
    pub fn new(from: Option<NaiveDate>, to: Option<NaiveDate>, today: NaiveDate) -> Result<Self, InvalidField> {
        let to = to.unwrap_or(today);
        let from = from.or(to.checked_sub_days(Days::new(USUAL_DAYS - 1))).unwrap_or(to);
        if from > to {
            return Err(InvalidField::new("from", MessageCode::PeriodReversed));
        }
        if (to - from).num_days() > MOST_DAYS || to.checked_add_days(Days::new(1)).is_none() {
            return Err(InvalidField::new("from", MessageCode::PeriodTooLong.with("most", MOST_DAYS)));
        }
        Ok(Self { from, to })
    }

    pub fn from(self) -> NaiveDate {
        self.from
    }

    pub fn to(self) -> NaiveDate {
        self.to
    }

    /// Returns the half-open interval of the period.
    pub(crate) fn moments(self) -> (DateTime<Utc>, DateTime<Utc>) {
        let midnight = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
        (midnight(self.from), midnight(self.to.succ_opt().unwrap_or(self.to)))
    }
}

impl Service {
    /// Returns the sums of a period. Deleted turns and chats count, because they were paid.
    pub async fn usage(
        &self,
        owner: UserId,
        period: UsagePeriod,
        by: SpendingGrouping,
    ) -> Result<Vec<SpendingSum>, ServiceError> {
        if let SpendingGrouping::Branch(chat) = by {
            self.chat(owner, chat).await?;
        }
        Ok(spending::sums(self.db(), owner, period.moments(), by).await?)
    }

    /// Returns the total usage of a chat.
    pub async fn chat_usage(&self, owner: UserId, chat: ChatId) -> Result<SpendingSum, ServiceError> {
        let since_ever = (DateTime::UNIX_EPOCH, self.clock().now() + chrono::TimeDelta::days(1));
        let branches = spending::sums(self.db(), owner, since_ever, SpendingGrouping::Branch(chat)).await?;
        Ok(SpendingSum::total(&branches))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Option<NaiveDate> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn period_is_whole_days_and_never_backwards() {
        let today = day("2026-11-21").unwrap();
        let table = [
            (None, None, Ok(("2026-10-23", "2026-11-21"))),
            (day("2026-11-01"), None, Ok(("2026-11-01", "2026-11-21"))),
            (None, day("2026-01-30"), Ok(("2026-01-01", "2026-01-30"))),
            (day("2026-11-21"), day("2026-11-21"), Ok(("2026-11-21", "2026-11-21"))),
            (day("2026-11-22"), None, Err(())),
            (day("1999-01-01"), None, Err(())),
            (Some(NaiveDate::MAX), Some(NaiveDate::MAX), Err(())),
            (Some(NaiveDate::MIN), Some(NaiveDate::MAX), Err(())),
        ];
        for (from, to, expected) in table {
            let period = UsagePeriod::new(from, to, today);
            let range =
                period.as_ref().map(|period| (period.from().to_string(), period.to().to_string())).map_err(drop);
            assert_eq!(range, expected.map(|(from, to)| (from.to_owned(), to.to_owned())), "{from:?} {to:?}");
        }
        let (from, to) = UsagePeriod::new(day("2026-11-20"), day("2026-11-21"), today).unwrap().moments();
        assert_eq!(
            (from.to_rfc3339(), to.to_rfc3339()),
            ("2026-11-20T00:00:00+00:00".into(), "2026-11-22T00:00:00+00:00".into())
        );
    }
}

//! Failures of replies as stable codes for programs and sentences for people, and validation errors of inputs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::messages::coded_message::{CodedMessage, MessageCode};
use crate::messages::message_template::{MessageArgs, fill_template, message_args, recognize_sentence};
use crate::messages::old_sentences;

/// The reason codes of a failed reply (`docs/reference/ux.md 8`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    ProviderUnreachable,
    ProviderAuth,
    ProviderQuota,
    ProviderRateLimited,
    ProviderOverloaded,
    /// The provider had an internal error (5xx).
    ProviderError,
    /// The provider rejected the request as invalid.
    ProviderRefusedRequest,
    ModelNotFound,
    ContextTooLong,
    ContentFiltered,
    /// The connection was lost before the reply was complete.
    ProviderTruncated,
    /// The provider sent nothing for too long.
    ProviderStalled,
    /// The response did not follow the protocol.
    ProviderProtocol,
    /// The response to a request for a title had none.
    NoTitle,
    /// One event of the provider exceeded the size limit.
    LimitEvent,
    LimitOutput,
    LimitRounds,
    LimitToolArgs,
    /// The reply exceeded the total time limit.
    LimitTime,
    /// A budget of the account is used up, so the request was not sent.
    BudgetDayCost,
    BudgetDayTokens,
    BudgetDayRequests,
    BudgetMonthCost,
    BudgetMonthTokens,
    BudgetMonthRequests,
    /// A budget of the account cannot be read, so the request was not sent.
    BudgetUnreadable,
    ServerRestarted,
    StorageFull,
    Internal,
    /// A code of a newer version.
    #[serde(other)]
    Unknown,
}

/// The reason why a reply failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Failure {
    pub kind: FailureKind,
    /// One English sentence for people, without secrets. Programs should use `kind` and `args`.
    pub message: String,
    /// The arguments of the sentence: `provider` is its display name, `seconds` the silence of a `provider_stalled`.
    /// Replies of older versions have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, String>,
    /// True if the same request may succeed later.
    pub retryable: bool,
    /// The wait that the provider requested, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The provider's error text, with known secrets removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl FailureKind {
    /// Returns the code, as in JSON and in `data-error`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProviderUnreachable => "provider_unreachable",
            Self::ProviderAuth => "provider_auth",
            Self::ProviderQuota => "provider_quota",
            Self::ProviderRateLimited => "provider_rate_limited",
            Self::ProviderOverloaded => "provider_overloaded",
            Self::ProviderError => "provider_error",
            Self::ProviderRefusedRequest => "provider_refused_request",
            Self::ModelNotFound => "model_not_found",
            Self::ContextTooLong => "context_too_long",
            Self::ContentFiltered => "content_filtered",
            Self::ProviderTruncated => "provider_truncated",
            Self::ProviderStalled => "provider_stalled",
            Self::ProviderProtocol => "provider_protocol",
            Self::NoTitle => "no_title",
            Self::LimitEvent => "limit_event",
            Self::LimitOutput => "limit_output",
            Self::LimitRounds => "limit_rounds",
            Self::LimitToolArgs => "limit_tool_args",
            Self::LimitTime => "limit_time",
            Self::BudgetDayCost => "budget_day_cost",
            Self::BudgetDayTokens => "budget_day_tokens",
            Self::BudgetDayRequests => "budget_day_requests",
            Self::BudgetMonthCost => "budget_month_cost",
            Self::BudgetMonthTokens => "budget_month_tokens",
            Self::BudgetMonthRequests => "budget_month_requests",
            Self::BudgetUnreadable => "budget_unreadable",
            Self::ServerRestarted => "server_restarted",
            Self::StorageFull => "storage_full",
            Self::Internal => "internal",
            Self::Unknown => "unknown",
        }
    }

    /// Returns true if the request may be retried automatically while no content was received.
    pub fn is_auto_retryable(self) -> bool {
        matches!(
            self,
            Self::ProviderUnreachable | Self::ProviderRateLimited | Self::ProviderOverloaded | Self::ProviderError
        )
    }

    /// All kinds.
    pub const ALL: [Self; 30] = [
        Self::ProviderUnreachable,
        Self::ProviderAuth,
        Self::ProviderQuota,
        Self::ProviderRateLimited,
        Self::ProviderOverloaded,
        Self::ProviderError,
        Self::ProviderRefusedRequest,
        Self::ModelNotFound,
        Self::ContextTooLong,
        Self::ContentFiltered,
        Self::ProviderTruncated,
        Self::ProviderStalled,
        Self::ProviderProtocol,
        Self::NoTitle,
        Self::LimitEvent,
        Self::LimitOutput,
        Self::LimitRounds,
        Self::LimitToolArgs,
        Self::LimitTime,
        Self::BudgetDayCost,
        Self::BudgetDayTokens,
        Self::BudgetDayRequests,
        Self::BudgetMonthCost,
        Self::BudgetMonthTokens,
        Self::BudgetMonthRequests,
        Self::BudgetUnreadable,
        Self::ServerRestarted,
        Self::StorageFull,
        Self::Internal,
        Self::Unknown,
    ];

    /// Returns true if a manual retry makes sense.
    pub fn is_retryable(self) -> bool {
        !matches!(
            self,
            Self::ProviderAuth
                | Self::ProviderQuota
                | Self::ProviderRefusedRequest
                | Self::ModelNotFound
                | Self::ContextTooLong
                | Self::ContentFiltered
        )
    }

    /// The texts for a full disk of this server and for an internal error.
    pub const DISK_FULL: &str = "The server's disk is full.";
    pub const FAULT: &str = "Something went wrong on this server.";

    /// Returns the template of the English sentence. `has_seconds` is true if the failure has the argument `seconds`.
    pub fn sentence_template(self, has_seconds: bool) -> &'static str {
        match self {
            Self::ProviderUnreachable => "Could not reach {provider}.",
            Self::ProviderAuth => "{provider} rejected the API key.",
            Self::ProviderQuota => "Your account at {provider} has no quota left.",
            Self::ProviderRateLimited => "{provider} is limiting requests.",
            Self::ProviderOverloaded => "{provider} is overloaded. The partial reply was saved.",
            Self::ProviderError => "{provider} failed while generating the reply.",
            Self::ProviderRefusedRequest => "{provider} rejected the request.",
            Self::ModelNotFound => "{provider} does not have this model.",
            Self::ContextTooLong => "This conversation is too long for the model.",
            Self::ContentFiltered => "The provider stopped this reply.",
            Self::ProviderTruncated => "The connection to {provider} was lost.",
            Self::ProviderStalled if has_seconds => "{provider} sent nothing for {seconds} s.",
            Self::ProviderStalled => "{provider} sent nothing for too long.",
            Self::ProviderProtocol => "{provider} sent an invalid response.",
            Self::NoTitle => "{provider} did not suggest a title.",
            Self::LimitEvent | Self::LimitOutput | Self::LimitRounds | Self::LimitToolArgs | Self::LimitTime => {
                "The reply reached a limit set on this server."
            }
            Self::BudgetDayCost => "Your cost budget for the day is used up. It resets at midnight UTC.",
            Self::BudgetDayTokens => "Your token budget for the day is used up. It resets at midnight UTC.",
            Self::BudgetDayRequests => "Your request budget for the day is used up. It resets at midnight UTC.",
            Self::BudgetMonthCost => {
                "Your cost budget for the month is used up. It resets on the first day of the next month, UTC."
            }
            Self::BudgetMonthTokens => {
                "Your token budget for the month is used up. It resets on the first day of the next month, UTC."
            }
            Self::BudgetMonthRequests => {
                "Your request budget for the month is used up. It resets on the first day of the next month, UTC."
            }
            Self::BudgetUnreadable => "A budget of your account cannot be read, so nothing was sent.",
            Self::ServerRestarted => "The server restarted while this reply was being generated.",
            Self::StorageFull => Self::DISK_FULL,
            Self::Internal | Self::Unknown => Self::FAULT,
        }
    }
}

impl Failure {
    /// The name of the argument with the seconds of silence.
    pub const SECONDS: &str = "seconds";
    const PROVIDER: &str = "provider";

    /// Creates a failure of this kind at a provider, with the standard sentence.
    pub fn new(kind: FailureKind, provider: &str) -> Self {
        Self::with_args(kind, message_args([(Self::PROVIDER, provider.to_owned())]))
    }

    /// Creates the failure of a provider that sent nothing for this many seconds.
    pub fn stalled(seconds: u64, provider: &str) -> Self {
        let args = [(Self::PROVIDER, provider.to_owned()), (Self::SECONDS, seconds.to_string())];
        Self::with_args(FailureKind::ProviderStalled, message_args(args))
    }

    fn with_args(kind: FailureKind, mut args: MessageArgs) -> Self {
        let message = fill_template(kind.sentence_template(args.contains_key(Self::SECONDS)), &args);
        args.retain(|_, value| !value.is_empty());
        Self {
            kind,
            message: message.unwrap_or_default(),
            args,
            retryable: kind.is_retryable(),
            retry_after_ms: None,
            detail: None,
        }
    }

    /// Returns the arguments for the sentence of the failure's kind. Those of an older version's failure are recognized
    /// in its message. `None` if the message is another sentence, which is shown as it is.
    pub fn sentence_args(&self) -> Option<Cow<'_, MessageArgs>> {
        if !self.args.is_empty() && self.kind != FailureKind::Unknown {
            return Some(Cow::Borrowed(&self.args));
        }
        let current = [true, false].map(|has_seconds| self.kind.sentence_template(has_seconds));
        let old = old_sentences::FAILURES.iter().filter(|(kind, _)| *kind == self.kind.as_str()).map(|(_, old)| *old);
        let templates = current.into_iter().chain(old).map(|template| ((), template));
        recognize_sentence(templates, &self.message).map(|((), args)| Cow::Owned(args))
    }

    /// Returns the English sentence of the kind if it is known, and the message otherwise.
    pub fn sentence(&self) -> Cow<'_, str> {
        let sentence = self
            .sentence_args()
            .and_then(|args| fill_template(self.kind.sentence_template(args.contains_key(Self::SECONDS)), &args));
        sentence.map_or(Cow::Borrowed(&self.message), Cow::Owned)
    }

    /// Adds the provider's error text, from which the caller has removed secrets.
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        // Text columns of the databases cannot store NUL.
        self.detail = Some(detail.into().replace('\0', "\u{2400}")).filter(|detail| !detail.is_empty());
        self
    }
}

/// A validation error of one input field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct InvalidField {
    /// The field as the caller named it (`params.temperature`).
    pub field: String,
    /// The requirement that the value violates.
    pub reason: CodedMessage,
}

impl InvalidField {
    pub fn new(field: impl Into<String>, reason: impl Into<CodedMessage>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }

    /// The error of a number outside of its inclusive bounds.
    pub fn out_of_range(field: impl Into<String>, bounds: &RangeInclusive<impl Display>) -> Self {
        Self::new(field, MessageCode::NotBetween.with("least", bounds.start()).with("most", bounds.end()))
    }

    /// The error of a text with too many characters.
    pub fn too_long(field: impl Into<String>, most: usize) -> Self {
        Self::new(field, MessageCode::TooManyCharacters.with("most", most))
    }

    /// The error of a name that is empty, too long, or has several lines.
    pub fn invalid_name(field: impl Into<String>, most: usize) -> Self {
        Self::new(field, MessageCode::NotOneLine.with("most", most))
    }

    /// Returns the number if it is within its bounds.
    pub fn check_range<T: PartialOrd + Display>(field: &str, number: T, bounds: RangeInclusive<T>) -> Result<T, Self> {
        if bounds.contains(&number) { Ok(number) } else { Err(Self::out_of_range(field, &bounds)) }
    }
}

#[cfg(test)]
mod tests;

//! Failures: why a reply ended early, in codes that scripts may rely on and sentences that people understand; and what
//! is wrong with an input.

use std::fmt::Display;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// The reason codes of a failed reply (ux.md 8, reliability.md 1.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    ProviderUnreachable,
    ProviderAuth,
    ProviderQuota,
    ProviderRateLimited,
    ProviderOverloaded,
    /// The provider failed inside (5xx).
    ProviderError,
    /// The provider refused the request as wrong.
    ProviderRefusedRequest,
    ModelNotFound,
    ContextTooLong,
    ContentFiltered,
    /// The connection broke before the reply was complete.
    ProviderTruncated,
    /// Nothing came for too long.
    ProviderStalled,
    /// What came was not the protocol.
    ProviderProtocol,
    /// One event of the provider was larger than allowed.
    LimitEvent,
    LimitOutput,
    LimitRounds,
    LimitToolArgs,
    /// The reply took longer than allowed in all.
    LimitTime,
    ServerRestarted,
    StorageFull,
    Internal,
    /// A code of a newer version.
    #[serde(other)]
    Unknown,
}

/// Why a reply failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Failure {
    pub kind: FailureKind,
    /// One sentence for the person, without secrets.
    pub message: String,
    /// Whether the same request may work later.
    pub retryable: bool,
    /// How long the provider asked to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The provider's own words, with known secrets removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl FailureKind {
    /// The code, as in JSON and in `data-error`.
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
            Self::LimitEvent => "limit_event",
            Self::LimitOutput => "limit_output",
            Self::LimitRounds => "limit_rounds",
            Self::LimitToolArgs => "limit_tool_args",
            Self::LimitTime => "limit_time",
            Self::ServerRestarted => "server_restarted",
            Self::StorageFull => "storage_full",
            Self::Internal => "internal",
            Self::Unknown => "unknown",
        }
    }

    /// Whether the request may be sent again by itself while no content has come (reliability.md 1.3 rule 9).
    pub fn is_auto_retryable(self) -> bool {
        matches!(
            self,
            Self::ProviderUnreachable | Self::ProviderRateLimited | Self::ProviderOverloaded | Self::ProviderError
        )
    }

    /// All of them.
    pub const ALL: [Self; 22] = [
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
        Self::LimitEvent,
        Self::LimitOutput,
        Self::LimitRounds,
        Self::LimitToolArgs,
        Self::LimitTime,
        Self::ServerRestarted,
        Self::StorageFull,
        Self::Internal,
        Self::Unknown,
    ];

    /// Whether "Try again" makes sense to a person.
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

    /// What is said wherever the disk of this server is full, and wherever it is the server that is wrong.
    pub const DISK_FULL: &str = "The server's disk is full.";
    pub const FAULT: &str = "Something went wrong on this server.";

    /// The English sentence for a provider with this display name.
    pub fn sentence(self, provider: &str) -> String {
        match self {
            Self::ProviderUnreachable => format!("Could not reach {provider}."),
            Self::ProviderAuth => format!("The key for {provider} was refused."),
            Self::ProviderQuota => format!("Your account at {provider} has no quota left."),
            Self::ProviderRateLimited => format!("{provider} is limiting requests."),
            Self::ProviderOverloaded => {
                format!("{provider} is overloaded. The reply up to here is kept.")
            }
            Self::ProviderError => format!("{provider} failed while answering."),
            Self::ProviderRefusedRequest => format!("{provider} refused the request."),
            Self::ModelNotFound => format!("{provider} does not have this model."),
            Self::ContextTooLong => "This conversation is too long for the model.".into(),
            Self::ContentFiltered => "The provider stopped this reply.".into(),
            Self::ProviderTruncated => format!("The connection to {provider} broke off."),
            Self::ProviderStalled => format!("{provider} sent nothing for too long."),
            Self::ProviderProtocol => format!("{provider} sent something that is not a reply."),
            Self::LimitEvent | Self::LimitOutput | Self::LimitRounds | Self::LimitToolArgs | Self::LimitTime => {
                "Reached a limit set on this server.".into()
            }
            Self::ServerRestarted => "The server restarted while answering.".into(),
            Self::StorageFull => Self::DISK_FULL.into(),
            Self::Internal | Self::Unknown => Self::FAULT.into(),
        }
    }
}

impl Failure {
    /// A failure of this kind at a provider, in the standard words.
    pub fn new(kind: FailureKind, provider: &str) -> Self {
        Self {
            kind,
            message: kind.sentence(provider),
            retryable: kind.is_retryable(),
            retry_after_ms: None,
            detail: None,
        }
    }

    /// Nothing came of a provider for so many seconds.
    pub fn stalled(seconds: u64, provider: &str) -> Self {
        let message = format!("{provider} sent nothing for {seconds} s.");
        Self { message, ..Self::new(FailureKind::ProviderStalled, provider) }
    }

    /// The same with the provider's own words, which must carry no secret.
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        // No database's text can hold a NUL.
        self.detail = Some(detail.into().replace('\0', "\u{2400}")).filter(|detail| !detail.is_empty());
        self
    }
}

/// What is wrong with one field of an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct InvalidField {
    /// The field as the caller named it (`params.temperature`).
    pub field: String,
    /// What it should be, as a sentence.
    pub reason: String,
}

impl InvalidField {
    pub const IS_EMPTY: &str = "must not be empty";
    pub const HAS_NUL: &str = "must not contain NUL";

    pub fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }

    /// A number outside of its bounds, both of which it may be.
    pub fn out_of_range(field: impl Into<String>, bounds: &RangeInclusive<impl Display>) -> Self {
        Self::new(field, format!("must be between {} and {}", bounds.start(), bounds.end()))
    }

    /// A text of more characters than it may have.
    pub fn too_long(field: impl Into<String>, most: usize) -> Self {
        Self::new(field, format!("must be at most {most} characters"))
    }

    /// A name that is empty, too long, or more than a line.
    pub fn invalid_name(field: impl Into<String>, most: usize) -> Self {
        Self::new(field, format!("must be 1 to {most} characters on one line"))
    }

    /// The number where it is within its bounds.
    pub fn check_range<T: PartialOrd + Display>(field: &str, number: T, bounds: RangeInclusive<T>) -> Result<T, Self> {
        if bounds.contains(&number) { Ok(number) } else { Err(Self::out_of_range(field, &bounds)) }
    }
}

#[cfg(test)]
mod tests;

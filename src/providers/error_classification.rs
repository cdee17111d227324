//! What a provider's error means: one place for every provider and for both ways it comes, as an HTTP status with a
//! document or inside a stream that began well (providers.md 2.7).

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::redaction::SecretSet;
use turnleaf_domain::{Failure, FailureKind};

/// How much of a provider's words is kept.
const DETAIL_CHARS: usize = 2_000;

/// An error document, whichever of its many shapes it has.
#[derive(Debug, Default)]
struct ErrorDetails {
    message: String,
    /// Every code, type and status word it has, in lower case.
    words: Vec<String>,
    /// A status inside the document.
    status: Option<u16>,
    retry_after_ms: Option<u64>,
    /// The document names the parts of an input that a moderation flagged.
    is_moderated: bool,
    /// A quota that comes back on another day only (Gemini names it so).
    is_used_up: bool,
}

/// Classifies a response that is not a success.
///
/// `headers` have lower-case names; `now` is for a `RetryTurnRequest-RequestDelta` that is a date. The second value is whether the
/// provider itself said that the request may be sent again.
pub fn classify_status(
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
    provider: &str,
    secrets: &SecretSet,
    now: DateTime<Utc>,
) -> (Failure, Option<bool>) {
    let text = String::from_utf8_lossy(body);
    let document = serde_json::from_str::<Value>(text.trim()).ok();
    let mut said = document.as_ref().map(read).unwrap_or_default();
    if document.is_none() {
        said.message = plain_text(&text, status, headers);
    }
    let header = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let kind = kind(Some(status), &said, document.is_some());
    let mut failure = failure(kind, &said, provider, secrets);
    failure.retry_after_ms = retry_after(header("retry-after-ms"), header("retry-after"), now).or(said.retry_after_ms);
    (failure, header("x-should-retry").and_then(|word| word.parse().ok()))
}

/// The failure that an error document inside a successful response reports.
pub fn classify_document(document: &Value, provider: &str, secrets: &SecretSet) -> Failure {
    let said = read(document);
    let kind = kind(said.status, &said, true);
    let mut failure = failure(kind, &said, provider, secrets);
    failure.retry_after_ms = said.retry_after_ms;
    failure
}

/// The error that a stream ended with, as JSON, without what the stream says beside it: some repeat the prompt there.
/// Empty where there is none.
pub fn extract_stream_error(body: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(body);
    let error = |line: &str| {
        let event: Value = serde_json::from_str(line.trim().trim_start_matches("data:")).ok()?;
        let nested = event.pointer("/response/error").or(event.get("error")).filter(|error| !error.is_null()).cloned();
        nested.or_else(|| (event.get("type")?.as_str()? == "error").then_some(event))
    };
    text.lines().rev().find_map(error).map(|error| error.to_string().into_bytes()).unwrap_or_default()
}

/// Whether this word for why a reply stopped means that it is not over: sent back as it is, it goes on (Anthropic's
/// `pause_turn`, providers.md 2.6).
pub fn is_paused(stop_reason: &str) -> bool {
    stop_reason == "pause_turn"
}

fn failure(kind: FailureKind, said: &ErrorDetails, provider: &str, secrets: &SecretSet) -> Failure {
    // Half a key is found by nobody.
    let words: String = secrets.redact(said.message.trim()).chars().take(DETAIL_CHARS).collect();
    Failure::new(kind, provider).with_detail(words)
}

/// What an answer without a document says: its first words, never a whole page.
fn plain_text(text: &str, status: u16, headers: &[(String, String)]) -> String {
    if let Some((_, target)) = headers.iter().find(|(name, _)| name == "location") {
        return format!("It answered {status} and pointed to {target}. Redirects are not followed.");
    }
    let text = text.trim();
    if text.is_empty() || text.starts_with('<') {
        return format!("It answered with status {status}.");
    }
    text.to_owned()
}

fn read(document: &Value) -> ErrorDetails {
    let document = document.get(0).unwrap_or(document);
    let error = document.get("error").filter(|error| error.is_object()).unwrap_or(document);
    let mut said = ErrorDetails::default();
    let text = |value: Option<&Value>| match value {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Null) | None => None,
        Some(other) => Some(other.to_string()),
    };
    let first = [error.get("message"), document.get("error"), document.get("detail"), document.get("message")];
    said.message = first.into_iter().find_map(text).unwrap_or_default();
    if let Some(upstream) = text(error.pointer("/metadata/raw")) {
        said.message = format!("{}: {upstream}", said.message);
    }
    for place in [error, document] {
        for key in ["code", "type", "status", "reason"] {
            match place.get(key) {
                Some(Value::String(word)) => said.words.push(word.to_ascii_lowercase()),
                Some(Value::Number(code)) => {
                    said.status = said.status.or(code.as_u64().and_then(|code| code.try_into().ok()))
                }
                _ => {}
            }
        }
        if let Some(code) = place.get("status_code").and_then(Value::as_u64) {
            said.status = said.status.or(code.try_into().ok());
        }
    }
    said.words.extend(error.pointer("/details/error_code").and_then(Value::as_str).map(str::to_ascii_lowercase));
    for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
        said.words.extend(detail.get("reason").and_then(Value::as_str).map(str::to_ascii_lowercase));
        for violation in detail.get("violations").and_then(Value::as_array).into_iter().flatten() {
            let quota = violation.get("quotaId").and_then(Value::as_str).unwrap_or_default();
            said.is_used_up |= quota.contains("PerDay");
        }
        let delay = detail.get("retryDelay").and_then(Value::as_str).and_then(|delay| delay.strip_suffix('s'));
        said.retry_after_ms = said.retry_after_ms.or(delay.and_then(|seconds| milliseconds(seconds, 1_000.0)));
    }
    said.is_moderated = error.pointer("/innererror/content_filter_result").is_some()
        || error.pointer("/metadata/flagged_input").is_some();
    // A word that is a number is a status (Azure writes "401").
    said.status = said
        .status
        .or_else(|| said.words.iter().find_map(|word| word.parse().ok().filter(|code| (400..600).contains(code))));
    said
}

fn kind(status: Option<u16>, said: &ErrorDetails, is_document: bool) -> FailureKind {
    let message = said.message.to_ascii_lowercase();
    let is = |words: &[&str]| said.words.iter().any(|word| words.contains(&word.as_str()));
    let says = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
    let is_client_error = status.is_none_or(|status| (400..429).contains(&status));

    if said.is_moderated || is(&["content_filter", "content_policy_violation", "image_content_policy_violation"]) {
        return FailureKind::ContentFiltered;
    }
    if is(&[
        "context_length_exceeded",
        "exceed_context_size_error",
        "request_too_large",
        "model_context_window_exceeded",
    ]) || status == Some(413)
        || (is_client_error
            && says(&[
                "maximum context length",
                "context window",
                "prompt is too long",
                "available context size",
                "context length",
                "input token count",
                "too many tokens",
            ]))
    {
        return FailureKind::ContextTooLong;
    }
    if is(&["insufficient_quota", "billing_error", "enforced_spend_limit_reached", "insufficient_balance"])
        || status == Some(402)
        || said.is_used_up
        || says(&["credit balance is too low", "insufficient balance", "insufficient credits"])
    {
        return FailureKind::ProviderQuota;
    }
    if is(&["tool_use_failed"]) {
        return FailureKind::ProviderError;
    }
    if is(&["invalid_api_key", "authentication_error", "permission_error", "api_key_invalid", "unauthorized"])
        || matches!(status, Some(401 | 403))
        || (is_client_error && says(&["incorrect api key", "invalid api key", "api key not valid", "no api key"]))
    {
        return FailureKind::ProviderAuth;
    }
    if is(&["model_not_found", "not_found_error"])
        || (is_document && status == Some(404) && says(&["model"]))
        || (is_client_error
            && says(&["model"])
            && says(&["does not exist", "not found, try pulling", "is not a valid model"]))
    {
        return FailureKind::ModelNotFound;
    }
    if is(&["rate_limit_exceeded", "rate_limit_error", "ratelimitreached", "resource_exhausted"]) || status == Some(429)
    {
        return FailureKind::ProviderRateLimited;
    }
    if is(&["overloaded_error", "server_is_overloaded", "unavailable"]) || matches!(status, Some(502..=504 | 529)) {
        return FailureKind::ProviderOverloaded;
    }
    match status {
        Some(408 | 500..) => FailureKind::ProviderError,
        None if !is(&["invalid_request_error", "invalid_prompt"]) => FailureKind::ProviderError,
        _ => FailureKind::ProviderRefusedRequest,
    }
}

/// The wait that headers ask for: milliseconds first, then seconds or a date.
fn retry_after(milliseconds_header: Option<&str>, header: Option<&str>, now: DateTime<Utc>) -> Option<u64> {
    let exact = milliseconds_header.and_then(|value| milliseconds(value, 1.0)).filter(|wait| *wait > 0);
    exact.or_else(|| {
        let value = header?.trim();
        milliseconds(value, 1_000.0).or_else(|| {
            let until = DateTime::parse_from_rfc2822(value).ok()?.with_timezone(&Utc);
            Some(u64::try_from((until - now).num_milliseconds()).unwrap_or(0))
        })
    })
}

/// A decimal number of units as whole milliseconds; `None` where it is not a sensible wait.
fn milliseconds(text: &str, per_unit: f64) -> Option<u64> {
    const LONGEST: f64 = 1e12;
    let units: f64 = text.trim().parse().ok()?;
    let wait = units * per_unit;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "inside 0..=1e12 by the check")]
    (0.0..=LONGEST).contains(&wait).then(|| wait.ceil() as u64)
}

#[cfg(test)]
mod tests;

//! Error classification: maps error documents and statuses of every provider to a [`FailureKind`], whether they
//! arrive as an HTTP status or inside of a stream (docs/reference/providers.md 2.7).

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::redaction::SecretSet;
use turnleaf_domain::{Failure, FailureKind};

/// The number of characters that are kept of an error message.
const DETAIL_CHARS: usize = 2_000;

/// The details of an error document in any of its known shapes.
#[derive(Debug, Default)]
struct ErrorDetails {
    message: String,
    /// All codes, types and status words, in lower case.
    words: Vec<String>,
    /// A status code inside of the document.
    status: Option<u16>,
    retry_after_ms: Option<u64>,
    /// The document names the parts of the input that a moderation flagged.
    is_moderated: bool,
    /// A daily quota is used up (`PerDay` in Gemini's quota id).
    is_used_up: bool,
}

/// Classifies a response that is not a success.
///
/// `headers` have lower-case names; `now` is needed for a `Retry-After` header that is a date. The second value is
/// the provider's own statement of whether the request may be sent again.
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
    let mut details = document.as_ref().map(read).unwrap_or_default();
    if document.is_none() {
        details.message = plain_text(&text, status, headers);
    }
    let header = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let kind = kind(Some(status), &details, document.is_some());
    let mut failure = failure(kind, &details, provider, secrets);
    failure.retry_after_ms =
        retry_after(header("retry-after-ms"), header("retry-after"), now).or(details.retry_after_ms);
    (failure, header("x-should-retry").and_then(|word| word.parse().ok()))
}

/// Classifies an error document inside of a successful response.
pub fn classify_document(document: &Value, provider: &str, secrets: &SecretSet) -> Failure {
    let details = read(document);
    let kind = kind(details.status, &details, true);
    let mut failure = failure(kind, &details, provider, secrets);
    failure.retry_after_ms = details.retry_after_ms;
    failure
}

/// Returns the error at the end of a stream as JSON, without the fields beside it, because some servers repeat the
/// prompt there. Empty if there is none.
pub fn extract_stream_error(body: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(body);
    let error = |line: &str| {
        let event: Value = serde_json::from_str(line.trim().trim_start_matches("data:")).ok()?;
        let nested = event.pointer("/response/error").or(event.get("error")).filter(|error| !error.is_null()).cloned();
        nested.or_else(|| (event.get("type")?.as_str()? == "error").then_some(event))
    };
    text.lines().rev().find_map(error).map(|error| error.to_string().into_bytes()).unwrap_or_default()
}

fn failure(kind: FailureKind, details: &ErrorDetails, provider: &str, secrets: &SecretSet) -> Failure {
    // The message is redacted before it is truncated, because a part of a key would not be recognized.
    let words: String = secrets.redact(details.message.trim()).chars().take(DETAIL_CHARS).collect();
    Failure::new(kind, provider).with_detail(words)
}

/// Returns a message for a response without a document: its text, but never an HTML page.
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

/// Returns the error objects of a document from the outermost to the innermost one. Gateways put the error of another
/// server into their own, also as text.
fn nested_errors(document: &Value) -> Vec<Cow<'_, Value>> {
    const DEEPEST: usize = 6;
    let mut errors = vec![Cow::Borrowed(document)];
    while let Some(outer) = errors.last().filter(|_| errors.len() < DEEPEST) {
        let fields = ["/error", "/detail", "/message", "/response/error", "/metadata/raw"];
        let inner = fields.into_iter().find_map(|field| {
            let inner = match outer {
                Cow::Borrowed(outer) => outer.pointer(field).map(Cow::Borrowed),
                Cow::Owned(outer) => outer.pointer(field).cloned().map(Cow::Owned),
            }?;
            match &*inner {
                Value::Object(_) => Some(inner),
                Value::String(text) if text.trim_start().starts_with('{') => {
                    serde_json::from_str(text.trim()).ok().filter(Value::is_object).map(Cow::Owned)
                }
                _ => None,
            }
        });
        match inner {
            Some(inner) => errors.push(inner),
            None => break,
        }
    }
    errors
}

fn read(document: &Value) -> ErrorDetails {
    let document = document.get(0).unwrap_or(document);
    let errors = nested_errors(document);
    let error = document.get("error").filter(|error| error.is_object()).unwrap_or(document);
    let mut details = ErrorDetails::default();
    let text = |value: Option<&Value>| match value {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Null) | None => None,
        Some(other) => Some(other.to_string()),
    };
    let words = |error: &Value| {
        let plain = ["message", "error", "detail"].into_iter().find_map(|field| error.get(field)?.as_str());
        plain.map(str::to_owned).filter(|words| !words.trim().is_empty())
    };
    let first = [error.get("message"), document.get("error"), document.get("detail"), document.get("message")];
    let innermost = errors.iter().rev().find_map(|error| words(error));
    details.message = match text(error.pointer("/metadata/raw")) {
        Some(upstream) => format!("{}: {upstream}", text(error.get("message")).unwrap_or_default()),
        None => innermost.or_else(|| first.into_iter().find_map(text)).unwrap_or_default(),
    };
    for place in errors.iter().rev() {
        for key in ["code", "type", "status", "reason"] {
            match place.get(key) {
                Some(Value::String(word)) => details.words.push(word.to_ascii_lowercase()),
                Some(Value::Number(code)) => details.status = details.status.or_else(|| http_status(code.as_u64())),
                _ => {}
            }
        }
        details.status = details.status.or_else(|| http_status(place.get("status_code").and_then(Value::as_u64)));
    }
    details.words.extend(error.pointer("/details/error_code").and_then(Value::as_str).map(str::to_ascii_lowercase));
    for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
        details.words.extend(detail.get("reason").and_then(Value::as_str).map(str::to_ascii_lowercase));
        for violation in detail.get("violations").and_then(Value::as_array).into_iter().flatten() {
            let quota = violation.get("quotaId").and_then(Value::as_str).unwrap_or_default();
            details.is_used_up |= quota.contains("PerDay");
        }
        let delay = detail.get("retryDelay").and_then(Value::as_str).and_then(|delay| delay.strip_suffix('s'));
        details.retry_after_ms = details.retry_after_ms.or(delay.and_then(|seconds| milliseconds(seconds, 1_000.0)));
    }
    details.is_moderated = error.pointer("/innererror/content_filter_result").is_some()
        || error.pointer("/metadata/flagged_input").is_some();
    // A code that is a number is a status (Azure sends "401").
    details.status = details
        .status
        .or_else(|| details.words.iter().find_map(|word| word.parse().ok().filter(|code| (400..600).contains(code))));
    details
}

/// Returns a number that can be the HTTP status of an error; other codes are the provider's own.
fn http_status(code: Option<u64>) -> Option<u16> {
    code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code))
}

/// Returns a code without the characters that separate its words: servers write `too_many_requests` and
/// `TooManyRequests`.
fn bare_word(word: &str) -> String {
    word.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

fn kind(status: Option<u16>, details: &ErrorDetails, is_document: bool) -> FailureKind {
    let message = details.message.to_ascii_lowercase();
    let codes: Vec<String> = details.words.iter().map(|word| bare_word(word)).collect();
    let is = |words: &[&str]| words.iter().any(|word| codes.contains(&bare_word(word)));
    let mentions = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
    let is_client_error = status.is_none_or(|status| (400..429).contains(&status));

    if details.is_moderated || is(&["content_filter", "content_policy_violation", "image_content_policy_violation"]) {
        return FailureKind::ContentFiltered;
    }
    if is(&[
        "context_length_exceeded",
        "exceed_context_size_error",
        "request_too_large",
        "model_context_window_exceeded",
        "too_many_prompt_tokens",
    ]) || status == Some(413)
        || (is_client_error
            && mentions(&[
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
        || details.is_used_up
        || mentions(&["credit balance is too low", "insufficient balance", "insufficient credits"])
    {
        return FailureKind::ProviderQuota;
    }
    if is(&["tool_use_failed"]) {
        return FailureKind::ProviderError;
    }
    // Refused access to a model is reported with the status of a refused key, but the key works for other models.
    let may_be_model = status.is_none_or(|status| (400..429).contains(&status) && status != 401);
    if is(&MODEL_CODES) || (may_be_model && says_no_such_model(&message)) {
        return FailureKind::ModelNotFound;
    }
    if is(&["invalid_api_key", "authentication_error", "permission_error", "api_key_invalid", "unauthorized"])
        || matches!(status, Some(401 | 403))
        || (is_client_error && mentions(&["incorrect api key", "invalid api key", "api key not valid", "no api key"]))
    {
        return FailureKind::ProviderAuth;
    }
    if is(&["not_found_error"]) || (is_document && status == Some(404) && mentions(&["model"])) {
        return FailureKind::ModelNotFound;
    }
    if is(&[
        "rate_limit_exceeded",
        "rate_limit_error",
        "rate_limit_reached",
        "rate_limited",
        "resource_exhausted",
        "too_many_requests",
    ]) || status == Some(429)
        || (status.is_none() && mentions(&["too many requests", "rate limit exceeded", "rate limit reached"]))
    {
        return FailureKind::ProviderRateLimited;
    }
    if is(&["overloaded_error", "server_is_overloaded", "overloaded", "unavailable", "service_unavailable"])
        || matches!(status, Some(502..=504 | 529))
    {
        return FailureKind::ProviderOverloaded;
    }
    match status {
        Some(408 | 500..) => FailureKind::ProviderError,
        None if !is(&["invalid_request_error", "invalid_prompt"]) => FailureKind::ProviderError,
        _ => FailureKind::ProviderRefusedRequest,
    }
}

/// Codes of requests that name a model which does not exist, or which the account may not use.
const MODEL_CODES: [&str; 9] = [
    "model_not_found",
    "invalid_model",
    "deployment_not_found",
    "unknown_model",
    "model_not_available",
    "model_not_supported",
    "model_not_exist",
    "no_such_model",
    "InvalidEndpointOrModel.NotFound",
];
/// Words of messages about such a model.
const MODEL_PHRASES: [&str; 15] = [
    "does not exist",
    "model not exist",
    "is not a valid model",
    "invalid model:",
    "invalid model name",
    "no such model",
    "unknown model",
    "unrecognized model",
    "model not found",
    "not found the model",
    "unable to access model",
    "model identifier is invalid",
    "model is not available",
    "model does not exist",
    "not found, try pulling",
];

/// Returns true if a message, in lower case, says that a model does not exist.
fn says_no_such_model(message: &str) -> bool {
    let is_named = message.contains("model") || message.contains("deployment");
    let is_missing = || MODEL_PHRASES.iter().any(|phrase| message.contains(phrase)) || says_model_not_found(message);
    // OpenRouter names the model without the word.
    (is_named && is_missing()) || message.contains("no endpoints found for ")
}

/// Returns true for "model … not found" within one sentence.
fn says_model_not_found(message: &str) -> bool {
    const LONGEST_NAME: usize = 120;
    message.match_indices("model").any(|(at, _)| {
        let rest = &message[at..];
        let sentence = rest.split(". ").next().unwrap_or_default();
        let near = &sentence[..sentence.floor_char_boundary(LONGEST_NAME.min(sentence.len()))];
        near.contains("not found")
    })
}

/// Returns the wait that the headers request: milliseconds first, then seconds or a date.
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

/// Converts a decimal number of units to whole milliseconds; `None` if it is not a plausible wait.
fn milliseconds(text: &str, per_unit: f64) -> Option<u64> {
    const LONGEST: f64 = 1e12;
    let units: f64 = text.trim().parse().ok()?;
    let wait = units * per_unit;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "inside 0..=1e12 by the check")]
    (0.0..=LONGEST).contains(&wait).then(|| wait.ceil() as u64)
}

#[cfg(test)]
mod tests;

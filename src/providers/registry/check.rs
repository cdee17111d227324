//! Health check of a provider, with messages that tell its owner what to change.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::http_client::HttpClient;
use crate::provider::{ChatRequest, HistoryTurn, ListedModel, Provider, ProviderError};
use crate::provider_factory::create_provider;
use crate::registry::models;
use turnleaf_domain::blocks::block::{Author, Block, Content};
use turnleaf_domain::{Capabilities, CodedMessage, FailureKind, MessageCode, ModelParams, Role, limits};
use turnleaf_platform::base_url::host_and_port;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};
use turnleaf_platform::ids;

/// The result of a health check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderCheck {
    pub at: DateTime<Utc>,
    pub state: ProviderHealth,
    /// One sentence for the user, without secrets.
    pub message: CodedMessage,
    /// A base URL that works instead.
    pub suggestion: Option<String>,
}

/// The health of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderHealth {
    Working,
    KeyRefused,
    /// A server answers, but not with this API at this path.
    WrongAddress,
    Unreachable,
    /// The server answers with a failure of its own.
    Failing,
}

impl ProviderHealth {
    /// Returns the name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::KeyRefused => "key_refused",
            Self::WrongAddress => "wrong_address",
            Self::Unreachable => "unreachable",
            Self::Failing => "failing",
        }
    }
}

/// A check with the chat models that it listed.
#[derive(Debug, Clone)]
pub struct ProviderCheckResult {
    pub check: ProviderCheck,
    pub listed: Option<Vec<ListedModel>>,
}

impl ProviderCheck {
    fn new(state: ProviderHealth, message: impl Into<CodedMessage>) -> Self {
        Self { at: SystemClock.now(), state, message: message.into(), suggestion: None }
    }

    /// Creates the result of a check that listed this many models.
    pub fn working(models: usize) -> Self {
        let message = match models {
            0 => MessageCode::WorkingWithoutModels.into(),
            1 => MessageCode::WorkingWithOneModel.into(),
            models => MessageCode::WorkingWithModels.with("models", models),
        };
        Self::new(ProviderHealth::Working, message)
    }
}

/// Requests the model list. A provider without one counts as working.
pub async fn check_provider(provider: &dyn Provider) -> ProviderCheckResult {
    let Some(asking) = provider.list_models() else {
        return ProviderCheckResult {
            check: ProviderCheck::new(ProviderHealth::Working, MessageCode::Working),
            listed: None,
        };
    };
    match tokio::time::timeout(limits::MODEL_LIST, asking).await {
        Ok(Ok(listed)) => {
            let listed = models::filter_chat_models(listed);
            ProviderCheckResult { check: ProviderCheck::working(listed.len()), listed: Some(listed) }
        }
        Ok(Err(refused)) => ProviderCheckResult { check: check_from_error(&refused), listed: None },
        Err(_) => {
            let host = host_and_port(provider.base_url().unwrap_or_default());
            let message = MessageCode::NoResponse.with("host", host).with("seconds", limits::MODEL_LIST.as_secs());
            ProviderCheckResult { check: ProviderCheck::new(ProviderHealth::Unreachable, message), listed: None }
        }
    }
}

/// Checks an endpoint during setup: if there is no model list, tests whether a model answers, and whether the API is
/// at another path of the same server.
pub async fn diagnose_endpoint(
    provider: &Arc<dyn Provider>,
    endpoint: &ProviderEndpoint,
    client: &HttpClient,
) -> ProviderCheckResult {
    let mut answer = check_provider(&**provider).await;
    if endpoint.api_key.is_none() && answer.check.state == ProviderHealth::KeyRefused {
        answer.check.message = MessageCode::KeyMissing.into();
    }
    if answer.check.state != ProviderHealth::WrongAddress {
        return answer;
    }
    if let Some(model) = endpoint.models.first().or(endpoint.default_model.as_ref()) {
        let request = greeting(model, provider.capabilities(model));
        let sending = provider.send(model, provider.build(&request));
        if let Ok(Ok(_)) = tokio::time::timeout(limits::MODEL_LIST, sending).await {
            let message = MessageCode::WorkingWithoutList.with("model", model);
            return ProviderCheckResult { check: ProviderCheck::new(ProviderHealth::Working, message), listed: None };
        }
    }
    for base_url in other_addresses(endpoint) {
        let other =
            create_provider(&ProviderEndpoint { base_url: base_url.clone(), ..endpoint.clone() }, client.clone());
        if check_provider(&*other).await.check.state == ProviderHealth::Working {
            answer.check.message = answer.check.message.with(CodedMessage::SUGGESTION, &base_url);
            answer.check.suggestion = Some(base_url);
            break;
        }
    }
    answer
}

fn check_from_error(refused: &ProviderError) -> ProviderCheck {
    let failure = &refused.failure;
    let detail = failure.detail.as_deref().unwrap_or_default().trim().trim_end_matches('.');
    let detailed = |message: CodedMessage| match detail {
        "" => message,
        detail => message.with(CodedMessage::DETAIL, detail),
    };
    let (health, message) = match (refused.status, failure.kind) {
        (Some(status @ (404 | 405)), _) => {
            (ProviderHealth::WrongAddress, MessageCode::NoModelList.with("status", status))
        }
        (Some(status @ 300..=399), _) => (ProviderHealth::WrongAddress, MessageCode::Redirected.with("status", status)),
        (Some(status @ (401 | 403)), _) | (Some(status), FailureKind::ProviderAuth) => {
            (ProviderHealth::KeyRefused, MessageCode::KeyRefused.with("status", status))
        }
        (_, FailureKind::ProviderProtocol) => (ProviderHealth::WrongAddress, MessageCode::NotAModelList.into()),
        (Some(status), _) => (ProviderHealth::Failing, MessageCode::FailedWithStatus.with("status", status)),
        (None, FailureKind::ProviderAuth) => (ProviderHealth::KeyRefused, MessageCode::KeyNotSendable.into()),
        (None, _) => (ProviderHealth::Unreachable, MessageCode::NotConnected.into()),
    };
    ProviderCheck::new(health, detailed(message))
}

/// Returns other common base URLs on the same server: with and without the version, and without the path of a single
/// call.
fn other_addresses(endpoint: &ProviderEndpoint) -> Vec<String> {
    let url = endpoint.base_url.trim_end_matches('/');
    let calls = ["/chat/completions", "/completions", "/responses", "/messages", "/models", "/api/chat", "/api/tags"];
    // The requests carry the key, so only the server that it was given for is tried.
    let place = |address: &str| {
        let address = reqwest::Url::parse(address).ok()?;
        Some((address.scheme().to_owned(), address.host_str()?.to_owned(), address.port_or_known_default()))
    };
    let is_same = |address: &&str| place(address) == place(url);
    let bare = calls.into_iter().find_map(|call| url.strip_suffix(call)).filter(is_same).unwrap_or(url);
    let (version, other) = if endpoint.api == ProviderApi::Gemini { ("/v1beta", "/v1") } else { ("/v1", "/api/v1") };
    let root = bare.strip_suffix(version).filter(is_same).unwrap_or(bare);
    let mut addresses: Vec<String> =
        vec![bare.to_owned(), format!("{root}{version}"), root.to_owned(), format!("{root}{other}")];
    addresses.retain(|address| address != url && place(address) == place(url));
    let mut seen = Vec::new();
    addresses.retain(|address| {
        !seen.contains(address) && {
            seen.push(address.clone());
            true
        }
    });
    addresses
}

/// Returns a minimal request.
fn greeting(model: &str, capabilities: Capabilities) -> ChatRequest {
    let block = Block::new(ids::mint(), (0, 0), Author::User, Content::text("Hi"), SystemClock.now());
    let turn = HistoryTurn::new(ids::mint(), Role::User, vec![block]);
    let params = ModelParams { max_tokens: Some(1), ..ModelParams::default() };
    ChatRequest { params, ..ChatRequest::new(model, vec![turn], capabilities) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_addresses_are_commonly_confused_ones() {
        let others = |base_url: &str| {
            other_addresses(&ProviderEndpoint { base_url: base_url.into(), ..ProviderEndpoint::default() })
        };
        assert_eq!(others("http://a"), ["http://a/v1", "http://a/api/v1"]);
        assert_eq!(others("http://a/v1"), ["http://a", "http://a/api/v1"]);
        assert_eq!(
            others("http://a/v1/chat/completions"),
            ["http://a/v1", "http://a", "http://a/api/v1"],
            "the path of one call"
        );
        assert_eq!(others("http://models"), ["http://models/v1", "http://models/api/v1"], "a host of that name");
    }
}

//! The configuration as `turnleaf config print` shows it: every value with its source, with secrets masked.

use std::fmt::Display;

use serde_json::{Value, json};

use crate::config::Config;
use crate::config::identity_providers::IdentityProviderConfig;
use crate::config::logging::LogFormat;
use crate::config::providers::ConfiguredProviders;
use crate::config::setting::{SettingSource, SourcedSetting};
use crate::config::tool_servers::{ToolServerConfig, ToolServerTransport};
use crate::credentials::mask_query;
use crate::endpoint::ProviderEndpoint;
use crate::price::ModelPrice;
use crate::search_engine::SearchEngine;

/// The replacement of a secret that is set.
pub const MASK: &str = "********";

/// Returns the configuration as a JSON object. Each setting is `{"value", "source"}`.
pub fn to_json(config: &Config) -> Value {
    let providers = &config.providers;
    let security = &config.security;
    let proxies: Vec<String> =
        security.trusted_proxies.value.iter().map(|range| format!("{}/{}", range.address, range.bits)).collect();
    json!({
        "file": config.file.as_ref().map(|path| path.display().to_string()),
        "host": setting(&config.listen.host),
        "port": sourced(json!(config.listen.port.value), config.listen.port.source),
        "data_dir": sourced(json!(config.data_dir.value.display().to_string()), config.data_dir.source),
        "database_url": setting(&config.database),
        "store_raw": sourced(json!(config.store_raw.value), config.store_raw.source),
        "min_free_disk": setting(&config.min_free_disk),
        "quota": setting(&config.quota),
        "auth": sourced(json!(security.auth.value.as_str()), security.auth.source),
        "public_url": security.public_url.as_ref().map(|url| url.origin()),
        "allowed_hosts": sourced(json!(security.allowed_hosts.value), security.allowed_hosts.source),
        "trusted_proxies": sourced(json!(proxies), security.trusted_proxies.source),
        "proxy_secret": security.proxy_secret.as_ref().map(|_| MASK),
        "proxy_user_header": security.proxy_users.as_ref().map(|users| users.user_header.as_str()),
        "proxy_groups_header":
            security.proxy_users.as_ref().and_then(|users| users.groups_header.as_ref()).map(|name| name.as_str()),
        "proxy_create_accounts": security.proxy_users.as_ref().is_some_and(|users| users.creates_accounts),
        "second_factor": sourced(json!(security.second_factor.value.as_str()), security.second_factor.source),
        "secret_key": security.secret_key.as_ref().map(|_| MASK),
        "drain_seconds": sourced(json!(config.drain.finish.value.as_secs()), config.drain.finish.source),
        "drain_announce_seconds": sourced(json!(config.drain.announce.value.as_secs()), config.drain.announce.source),
        "log": setting(&config.logging.filter),
        "log_format": sourced(
            json!(match config.logging.format.value { LogFormat::Text => "text", LogFormat::Json => "json" }),
            config.logging.format.source,
        ),
        "find_local_servers": sourced(json!(providers.find_local_servers.value), providers.find_local_servers.source),
        "providers": providers.endpoints.iter().map(|endpoint| provider(endpoint, providers)).collect::<Vec<_>>(),
        "prices": config.prices.iter().map(price).collect::<Vec<_>>(),
        "tool_servers": config.tool_servers.iter().map(tool_server).collect::<Vec<_>>(),
        "web_search": config.web_search.as_ref().map(search_engine),
        "identity_providers": config.identity_providers.iter().map(identity_provider).collect::<Vec<_>>(),
    })
}

fn provider(endpoint: &ProviderEndpoint, all: &ConfiguredProviders) -> Value {
    json!({
        "id": endpoint.id,
        "name": endpoint.name,
        "api": endpoint.api.as_str(),
        "dialect": endpoint.dialect,
        "base_url": endpoint.base_url,
        "api_key": endpoint.api_key.as_ref().map(|_| MASK),
        "models": endpoint.models,
        "default_model": endpoint.default_model,
        "source": if all.from_environment.contains(&endpoint.id) { "environment" } else { "file" },
    })
}

fn price(price: &ModelPrice) -> Value {
    json!({
        "provider": price.provider,
        "model": price.model,
        "input": price.input,
        "output": price.output,
        "cache_read": price.cache_read,
        "cache_write": price.cache_write,
    })
}

/// Returns a tool server with everything masked that may be a secret, including program arguments.
fn tool_server(server: &ToolServerConfig) -> Value {
    let mut shown = json!({ "id": server.id, "name": server.name });
    match &server.reach {
        ToolServerTransport::Program { argv, env, folder } => {
            let arguments = argv.iter().skip(1).map(|_| MASK);
            let program = argv.first().map(String::as_str);
            shown["command"] = program.into_iter().chain(arguments).collect();
            shown["env"] = env.keys().map(|name| (name.clone(), json!(MASK))).collect();
            shown["folder"] = json!(folder.as_ref().map(|folder| folder.display().to_string()));
        }
        ToolServerTransport::Http { url, headers } => {
            shown["url"] = json!(mask_query(url.as_str()));
            shown["headers"] = headers.iter().map(|(name, _)| (name.clone(), json!(MASK))).collect();
        }
    }
    shown["start_seconds"] = json!(server.start.map(|start| start.as_secs()));
    shown["idle_seconds"] = json!(server.idle.map(|idle| idle.as_secs()));
    shown["total_seconds"] = json!(server.total.map(|total| total.as_secs()));
    let trusted = server.trusted_tools.iter().map(|trusted| match &trusted.sha256 {
        None => json!(trusted.name),
        Some(sha256) => json!({ "name": trusted.name, "sha256": sha256 }),
    });
    shown["trusted_tools"] = trusted.collect();
    shown
}

fn identity_provider(provider: &IdentityProviderConfig) -> Value {
    json!({
        "id": provider.id,
        "name": provider.name,
        "issuer": provider.issuer.as_str(),
        "client_id": provider.client_id,
        "client_secret": provider.client_secret.as_ref().map(|_| MASK),
        "scopes": provider.scopes,
        "allowed_domains": provider.allowed_domains,
        "groups_claim": provider.groups_claim,
    })
}

fn search_engine(engine: &SearchEngine) -> Value {
    json!({
        "engine": engine.kind.as_str(),
        "url": engine.base_url,
        "api_key": engine.api_key.as_ref().map(|_| MASK),
        "set_by": engine.set_by,
    })
}

fn setting<T: Display>(setting: &SourcedSetting<T>) -> Value {
    sourced(json!(setting.value.to_string()), setting.source)
}

fn sourced(value: Value, source: SettingSource) -> Value {
    json!({ "value": value, "source": source.to_string() })
}

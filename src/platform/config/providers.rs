//! The configured providers: from the usual environment variables and from `[[providers]]` tables of the file.

use std::collections::BTreeSet;

use secrecy::SecretString;

use crate::base_url;
use crate::config::ConfigError;
use crate::config::environment::{Environment, read_secret_file};
use crate::config::file::{ConfigFile, ProviderEntry};
use crate::config::presets::{PRESETS, ProviderPreset};
use crate::config::setting::{SettingSource, SourcedSetting};
use crate::endpoint::{ProviderApi, ProviderEndpoint, RetryPolicy, is_provider_id};

/// The configured provider endpoints.
#[derive(Debug, Clone)]
pub struct ConfiguredProviders {
    /// The endpoints in order of preference: those of the environment, then those of the file.
    pub endpoints: Vec<ProviderEndpoint>,
    /// The ids of the endpoints whose URL and key the environment sets; Settings shows them read-only.
    pub from_environment: BTreeSet<String>,
    /// True if local servers are searched for.
    pub find_local_servers: SourcedSetting<bool>,
}

impl ConfiguredProviders {
    pub fn read(environment: &Environment, file: ConfigFile) -> Result<Self, ConfigError> {
        let mut endpoints: Vec<ProviderEndpoint> = Vec::new();
        for preset in PRESETS {
            endpoints.extend(from_environment(preset, environment)?);
        }
        endpoints.extend(ollama(environment)?);
        let set_by_environment: BTreeSet<String> = endpoints.iter().map(|endpoint| endpoint.id.clone()).collect();
        let mut ids = BTreeSet::new();
        for entry in file.providers {
            let names_api = entry.api.is_some();
            let configured = from_file(entry, environment)?;
            if !ids.insert(configured.id.clone()) {
                return Err(ConfigError::new(format!("two providers have the id `{}`", configured.id)));
            }
            match endpoints.iter_mut().find(|endpoint| endpoint.id == configured.id) {
                // The environment takes precedence over the file. URL and key always come from the same source,
                // because a key is bound to its URL.
                Some(endpoint) => {
                    endpoint.name = configured.name;
                    if names_api {
                        endpoint.api = configured.api;
                    }
                    endpoint.models = configured.models;
                    endpoint.default_model = configured.default_model;
                    endpoint.keeps_responses = configured.keeps_responses;
                    endpoint.retry_policy = configured.retry_policy;
                }
                None => endpoints.push(configured),
            }
        }
        let find_local_servers =
            SourcedSetting::first_set([(SettingSource::File("find_local_servers"), file.find_local_servers)], || true);
        Ok(Self { endpoints, from_environment: set_by_environment, find_local_servers })
    }
}

fn from_environment(
    preset: &ProviderPreset,
    environment: &Environment,
) -> Result<Option<ProviderEndpoint>, ConfigError> {
    let (mut api_key, mut key_name) = (None, "");
    for name in preset.keys {
        if api_key.is_none() {
            (api_key, key_name) = (environment.secret(name)?, *name);
        }
    }
    let address = preset.address.iter().find_map(|name| environment.text(name).map(|url| (*name, url)));
    if api_key.is_none() && address.is_none() {
        return Ok(None);
    }
    let base_url = match address {
        Some((name, url)) => preset.api.with_version_path(base_url(name, url)?),
        None => preset.base_url.to_owned(),
    };
    let is_home = base_url == preset.base_url;
    // Most servers at custom URLs support chat completions only; OpenAI itself supports both APIs.
    if preset.api == ProviderApi::OpenaiResponses && (!is_home || api_key.is_none()) {
        return Ok(None);
    }
    // A server that implements OpenAI's protocol is not named OpenAI; its dialect is derived from its URL.
    let (name, dialect) = if is_home {
        (preset.name.to_owned(), preset.dialect)
    } else {
        (base_url::host_and_port(&base_url).to_owned(), "")
    };
    Ok(Some(ProviderEndpoint {
        id: preset.id.to_owned(),
        name,
        api: preset.api,
        dialect: dialect.to_owned(),
        base_url,
        api_key,
        local_network: true,
        set_by: Some(address.map_or(key_name, |(name, _)| name).to_owned()),
        ..ProviderEndpoint::default()
    }))
}

/// Parses `OLLAMA_HOST`, which has many forms: `host`, `host:port`, a URL, or the server's listen address.
fn ollama(environment: &Environment) -> Result<Option<ProviderEndpoint>, ConfigError> {
    let Some(text) = environment.text("OLLAMA_HOST") else { return Ok(None) };
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let rest = rest.trim_end_matches('/');
    let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
    let is_bare_v6 = host.parse::<std::net::Ipv6Addr>().is_ok();
    let host = if is_bare_v6 { format!("[{host}]") } else { host.to_owned() };
    let has_port =
        host.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
    let port = match (has_port, scheme) {
        (true, _) => "",
        (false, "https") if text.contains("://") => ":443",
        (false, "http") if text.contains("://") => ":80",
        (false, _) => ":11434",
    };
    // The wildcard listen address is no address to connect to.
    let host = match host.strip_prefix("0.0.0.0") {
        Some(rest) => format!("127.0.0.1{rest}"),
        None => host.replacen("[::]", "[::1]", 1),
    };
    let path = if path.is_empty() { "v1".to_owned() } else { path.to_owned() };
    Ok(Some(ProviderEndpoint {
        id: "ollama".into(),
        name: "Ollama".into(),
        api: ProviderApi::OpenaiChat,
        dialect: "ollama".into(),
        base_url: base_url("OLLAMA_HOST", &format!("{scheme}://{host}{port}/{path}"))?,
        local_network: true,
        set_by: Some("OLLAMA_HOST".into()),
        ..ProviderEndpoint::default()
    }))
}

fn from_file(entry: ProviderEntry, environment: &Environment) -> Result<ProviderEndpoint, ConfigError> {
    let id = entry.id;
    if !is_provider_id(&id) {
        return Err(ConfigError::new(format!(
            "a provider id must be 1 to 64 of a-z, 0-9, - and _, and not `demo`, but is: `{id}`"
        )));
    }
    let api = match &entry.api {
        Some(name) => Some(ProviderApi::from_name(name).ok_or_else(|| unknown_api(&id, name))?),
        None => None,
    };
    // A preset of another API does not apply to this endpoint.
    let is_of =
        |preset: &ProviderPreset| api.is_none_or(|api| api == preset.api || (is_openai(api) && is_openai(preset.api)));
    let preset = PRESETS.iter().find(|preset| preset.id == id && is_of(preset));
    let url = entry.base_url.as_deref().or(preset.map(|preset| preset.base_url));
    let url = url.ok_or_else(|| ConfigError::new(format!("provider `{id}` has no base_url")))?;
    let api_key = match (entry.api_key, entry.api_key_file, entry.api_key_env) {
        (None, None, None) => None,
        (Some(key), None, None) => Some(SecretString::from(key)),
        (None, Some(path), None) => Some(read_secret_file("api_key_file", &path)?),
        (None, None, Some(name)) => environment.secret(&name)?,
        _ => {
            return Err(ConfigError::new(format!(
                "provider `{id}` has more than one of api_key, api_key_file, api_key_env; set one"
            )));
        }
    };
    let api = api.or(preset.map(|preset| preset.api)).unwrap_or_default();
    if entry.keeps_responses && api != ProviderApi::OpenaiResponses {
        return Err(ConfigError::new(format!(
            "keeps_responses of provider `{id}` is only available for api = \"openai_responses\", but its api is \
            \"{}\"",
            api.as_str()
        )));
    }
    let patience = RetryPolicy::new(entry.retries, entry.silence_seconds)
        .map_err(|wrong| ConfigError::new(format!("{} of provider `{id}` {}", wrong.field, wrong.reason)))?;
    let url = api.with_version_path(base_url(&format!("base_url of provider `{id}`"), url)?);
    let fallback = preset.filter(|preset| preset.base_url == url);
    Ok(ProviderEndpoint {
        base_url: url,
        api,
        dialect: entry.dialect.unwrap_or_else(|| fallback.map_or("", |preset| preset.dialect).to_owned()),
        name: entry.name.unwrap_or_else(|| fallback.map_or(id.as_str(), |preset| preset.name).to_owned()),
        api_key,
        models: entry.models,
        default_model: entry.default_model,
        local_network: true,
        keeps_responses: entry.keeps_responses,
        retry_policy: patience,
        set_by: Some("the configuration file".into()),
        id,
        ..ProviderEndpoint::default()
    })
}

/// Both APIs of OpenAI share one base URL.
fn is_openai(api: ProviderApi) -> bool {
    matches!(api, ProviderApi::OpenaiChat | ProviderApi::OpenaiResponses)
}

fn unknown_api(id: &str, name: &str) -> ConfigError {
    let known: Vec<&str> = ProviderApi::ALL.iter().map(|api| api.as_str()).collect();
    ConfigError::new(format!("api of provider `{id}` is `{name}`; it must be one of {}", known.join(", ")))
}

/// Validates a provider's URL, which the setting `named_by` names.
fn base_url(named_by: &str, text: &str) -> Result<String, ConfigError> {
    base_url::check(text).map_err(|what| ConfigError::new(format!("{named_by} {}", what.template())))
}

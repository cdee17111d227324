//! Which providers are configured: by the usual variables of the environment and by `[[providers]]` tables of the file.

use std::collections::BTreeSet;

use secrecy::SecretString;

use crate::server::platform::config::ConfigError;
use crate::server::platform::config::environment::{Environment, secret_file};
use crate::server::platform::config::file::{ConfigFile, ProviderEntry};
use crate::server::platform::config::setting::{Setting, Source};
use crate::server::platform::endpoint::{Api, Endpoint};

/// The configured connections.
#[derive(Debug, Clone)]
pub struct Providers {
    /// In the order of preference: the environment's first, then the file's.
    pub endpoints: Vec<Endpoint>,
    /// Ids of the endpoints whose address and key the environment sets; Settings shows them so and cannot edit them.
    pub from_environment: BTreeSet<String>,
    /// What was read but cannot be used yet, as sentences.
    pub notices: Vec<String>,
    /// Whether servers on this machine are looked for.
    pub find_local_servers: Setting<bool>,
}

/// A provider that is known by name: what its key and its address are called, and where it is.
struct Preset {
    id: &'static str,
    name: &'static str,
    api: Api,
    dialect: &'static str,
    key: &'static str,
    /// Variables that may hold another address; the first that is set counts.
    address: &'static [&'static str],
    base_url: &'static str,
}

const PRESETS: &[Preset] = &[
    Preset {
        id: "openai",
        name: "OpenAI",
        api: Api::OpenaiChat,
        dialect: "openai",
        key: "OPENAI_API_KEY",
        address: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        base_url: "https://api.openai.com/v1",
    },
    Preset {
        id: "anthropic",
        name: "Anthropic",
        api: Api::Anthropic,
        dialect: "",
        key: "ANTHROPIC_API_KEY",
        address: &["ANTHROPIC_BASE_URL"],
        base_url: "https://api.anthropic.com/v1",
    },
    Preset {
        id: "openrouter",
        name: "OpenRouter",
        api: Api::OpenaiChat,
        dialect: "openrouter",
        key: "OPENROUTER_API_KEY",
        address: &[],
        base_url: "https://openrouter.ai/api/v1",
    },
    Preset {
        id: "deepseek",
        name: "DeepSeek",
        api: Api::OpenaiChat,
        dialect: "deepseek",
        key: "DEEPSEEK_API_KEY",
        address: &[],
        base_url: "https://api.deepseek.com/v1",
    },
    Preset {
        id: "groq",
        name: "Groq",
        api: Api::OpenaiChat,
        dialect: "groq",
        key: "GROQ_API_KEY",
        address: &[],
        base_url: "https://api.groq.com/openai/v1",
    },
    Preset {
        id: "mistral",
        name: "Mistral",
        api: Api::OpenaiChat,
        dialect: "mistral",
        key: "MISTRAL_API_KEY",
        address: &[],
        base_url: "https://api.mistral.ai/v1",
    },
    Preset {
        id: "xai",
        name: "xAI",
        api: Api::OpenaiChat,
        dialect: "xai",
        key: "XAI_API_KEY",
        address: &[],
        base_url: "https://api.x.ai/v1",
    },
];

/// Providers whose variables are known but whose protocol is not spoken yet.
const NOT_YET: &[(&str, &[&str])] = &[("Gemini", &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GEMINI_BASE_URL"])];

impl Providers {
    pub fn read(environment: &Environment, file: ConfigFile) -> Result<Self, ConfigError> {
        let mut endpoints: Vec<Endpoint> = Vec::new();
        for preset in PRESETS {
            endpoints.extend(from_environment(preset, environment)?);
        }
        endpoints.extend(ollama(environment)?);
        let set_by_environment: BTreeSet<String> = endpoints.iter().map(|endpoint| endpoint.id.clone()).collect();
        let mut ids = BTreeSet::new();
        for entry in file.providers {
            let configured = from_file(entry, environment)?;
            if !ids.insert(configured.id.clone()) {
                return Err(ConfigError::new(format!("two providers have the id `{}`", configured.id)));
            }
            match endpoints.iter_mut().find(|endpoint| endpoint.id == configured.id) {
                // The environment beats the file: address and key come together from one of them, never mixed, because
                // a key belongs to its address.
                Some(endpoint) => {
                    endpoint.name = configured.name;
                    endpoint.models = configured.models;
                    endpoint.default_model = configured.default_model;
                }
                None => endpoints.push(configured),
            }
        }
        let mut notices = Vec::new();
        for (name, variables) in NOT_YET {
            let is_set = |variable: &&&str| {
                environment.text(variable).is_some() || environment.text(&format!("{variable}_FILE")).is_some()
            };
            if let Some(variable) = variables.iter().find(is_set) {
                notices.push(format!("{variable} is set, but {name} is not supported yet; it is left unused."));
            }
        }
        let find_local_servers =
            Setting::first([(Source::File("find_local_servers"), file.find_local_servers)], || true);
        Ok(Self { endpoints, from_environment: set_by_environment, notices, find_local_servers })
    }
}

fn from_environment(preset: &Preset, environment: &Environment) -> Result<Option<Endpoint>, ConfigError> {
    let api_key = environment.secret(preset.key)?;
    let address = preset.address.iter().find_map(|name| environment.text(name).map(|url| (*name, url)));
    if api_key.is_none() && address.is_none() {
        return Ok(None);
    }
    let base_url = match address {
        Some((name, url)) => with_version(preset.api, base_url(name, url)?),
        None => preset.base_url.to_owned(),
    };
    // A server that merely speaks OpenAI's protocol is not OpenAI, and is not called so; which dialect it speaks is
    // told from its address.
    let (name, dialect) = if base_url == preset.base_url {
        (preset.name.to_owned(), preset.dialect)
    } else {
        (host_of(&base_url).to_owned(), "")
    };
    Ok(Some(Endpoint {
        id: preset.id.to_owned(),
        name,
        api: preset.api,
        dialect: dialect.to_owned(),
        base_url,
        api_key,
        models: Vec::new(),
        default_model: None,
    }))
}

/// `OLLAMA_HOST` is written in many ways: `host`, `host:port`, a URL, or the address that the server listens on.
fn ollama(environment: &Environment) -> Result<Option<Endpoint>, ConfigError> {
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
    // The address to listen on everywhere is no address to connect to.
    let host = match host.strip_prefix("0.0.0.0") {
        Some(rest) => format!("127.0.0.1{rest}"),
        None => host.replacen("[::]", "[::1]", 1),
    };
    let path = if path.is_empty() { "v1".to_owned() } else { path.to_owned() };
    Ok(Some(Endpoint {
        id: "ollama".into(),
        name: "Ollama".into(),
        api: Api::OpenaiChat,
        dialect: "ollama".into(),
        base_url: base_url("OLLAMA_HOST", &format!("{scheme}://{host}{port}/{path}"))?,
        api_key: None,
        models: Vec::new(),
        default_model: None,
    }))
}

fn from_file(entry: ProviderEntry, environment: &Environment) -> Result<Endpoint, ConfigError> {
    let id = entry.id;
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    if id.is_empty() || id.len() > 64 || !id.bytes().all(is_plain) || id == "demo" {
        return Err(ConfigError::new(format!(
            "a provider's id is 1 to 64 of a-z, 0-9, - and _, and not `demo`: `{id}`"
        )));
    }
    let preset = PRESETS.iter().find(|preset| preset.id == id);
    let url = entry.base_url.as_deref().or(preset.map(|preset| preset.base_url));
    let url = url.ok_or_else(|| ConfigError::new(format!("the provider `{id}` has no base_url")))?;
    let api_key = match (entry.api_key, entry.api_key_file, entry.api_key_env) {
        (None, None, None) => None,
        (Some(key), None, None) => Some(SecretString::from(key)),
        (None, Some(path), None) => Some(secret_file("api_key_file", &path)?),
        (None, None, Some(name)) => environment.secret(&name)?,
        _ => {
            return Err(ConfigError::new(format!(
                "the provider `{id}` has more than one of api_key, api_key_file, api_key_env"
            )));
        }
    };
    let api = match entry.api {
        Some(name) => Api::named(&name).ok_or_else(|| {
            let known: Vec<&str> = Api::ALL.iter().map(|api| api.as_str()).collect();
            let known = known.join(", ");
            ConfigError::new(format!("the api of the provider `{id}` is not known: `{name}`; known are {known}"))
        })?,
        None => preset.map_or(Api::default(), |preset| preset.api),
    };
    let url = with_version(api, base_url(&format!("base_url of the provider `{id}`"), url)?);
    let fallback = preset.filter(|preset| preset.base_url == url);
    Ok(Endpoint {
        base_url: url,
        api,
        dialect: entry.dialect.unwrap_or_else(|| fallback.map_or("", |preset| preset.dialect).to_owned()),
        name: entry.name.unwrap_or_else(|| fallback.map_or(id.as_str(), |preset| preset.name).to_owned()),
        api_key,
        models: entry.models,
        default_model: entry.default_model,
        id,
    })
}

/// Checks a provider's address and takes off its final slash. Addresses that carry a name and password are refused:
/// they would be shown and logged.
fn base_url(named_by: &str, text: &str) -> Result<String, ConfigError> {
    let wrong = |what: &str| ConfigError::new(format!("{named_by} {what}"));
    let uri: http::Uri = text.parse().map_err(|_| wrong("is not a URL"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(wrong("must start with http:// or https://"));
    }
    let authority = uri.authority().ok_or_else(|| wrong("has no host"))?;
    if authority.as_str().contains('@') {
        return Err(wrong("must not hold a user name or a password"));
    }
    if uri.query().is_some() || text.contains('#') {
        return Err(wrong("must end with its path, without a query"));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// Anthropic's address is usually written without the `/v1` that everybody else's has: its own clients add that part.
fn with_version(api: Api, base_url: String) -> String {
    if api == Api::Anthropic && !base_url.ends_with("/v1") { format!("{base_url}/v1") } else { base_url }
}

fn host_of(base_url: &str) -> &str {
    base_url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or(base_url)
}

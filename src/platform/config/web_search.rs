//! The configured web search engine: the environment (`TURNLEAF_WEB_SEARCH_…`), else the table `[web_search]` of the
//! file. Engine, address and key come from one of the two, because a key is bound to its address.

use secrecy::SecretString;

use crate::base_url;
use crate::config::ConfigError;
use crate::config::environment::Environment;
use crate::config::file::WebSearchEntry;
use crate::config::tool_servers::secret;
use crate::search_engine::{SearchEngine, SearchEngineKind};
use turnleaf_domain::limits;

const ENGINE: &str = "TURNLEAF_WEB_SEARCH_ENGINE";
const URL: &str = "TURNLEAF_WEB_SEARCH_URL";
const KEY: &str = "TURNLEAF_WEB_SEARCH_KEY";

/// The names of the settings, for error messages.
struct SettingNames {
    engine: &'static str,
    url: &'static str,
    key: &'static str,
    set_by: &'static str,
}

const OF_ENVIRONMENT: SettingNames = SettingNames { engine: ENGINE, url: URL, key: KEY, set_by: ENGINE };
const OF_FILE: SettingNames = SettingNames {
    engine: "engine of web_search",
    url: "url of web_search",
    key: "api_key of web_search",
    set_by: "the configuration file",
};

/// Reads the engine.
///
/// # Errors
/// An unknown engine, an invalid address, and a key that is missing, superfluous or cannot be sent.
pub fn read(entry: Option<WebSearchEntry>, environment: &Environment) -> Result<Option<SearchEngine>, ConfigError> {
    let (url, key) = (environment.text(URL), environment.secret(KEY)?);
    if let Some(engine) = environment.text(ENGINE) {
        return search_engine(engine, url, key, &OF_ENVIRONMENT).map(Some);
    }
    if url.is_some() || key.is_some() {
        return Err(ConfigError::new(format!("{URL} and {KEY} need {ENGINE}, which is not set")));
    }
    let Some(entry) = entry else { return Ok(None) };
    let key = entry.api_key.map(|key| secret(key, environment, || OF_FILE.key.to_owned())).transpose()?;
    search_engine(&entry.engine, entry.url.as_deref(), key, &OF_FILE).map(Some)
}

fn search_engine(
    engine: &str,
    url: Option<&str>,
    api_key: Option<SecretString>,
    names: &SettingNames,
) -> Result<SearchEngine, ConfigError> {
    let wrong = |setting: &str, problem: &str| Err(ConfigError::new(format!("{setting} {problem}")));
    let Some(kind) = SearchEngineKind::from_name(engine) else {
        return wrong(names.engine, &format!("is `{engine}`; it must be one of {}", SearchEngineKind::names()));
    };
    let Some(url) = url.map(|url| kind.without_path(url)).or(kind.usual_address()) else {
        return wrong(names.url, &format!("is missing; {} needs one", kind.title()));
    };
    let base_url = match base_url::check(url) {
        Ok(url) if url.len() <= limits::ADDRESS_CHARS => url,
        Ok(_) => return wrong(names.url, "is too long"),
        Err(what) => return wrong(names.url, what.template()),
    };
    match &api_key {
        None if kind.needs_key() => return wrong(names.key, &format!("is missing; {} needs one", kind.title())),
        Some(_) if !kind.needs_key() => return wrong(names.key, &format!("is set, but {} has none", kind.title())),
        _ => {}
    }
    Ok(SearchEngine { kind, base_url, api_key, local_network: true, set_by: Some(names.set_by.to_owned()) })
}

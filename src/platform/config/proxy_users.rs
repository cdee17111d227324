//! The headers in which a proxy that authenticates people names them. They count only from a trusted proxy that proves
//! itself (`docs/adr/0042-authentication-and-proxies.md`).

use http::HeaderName;

use crate::base_url;
use crate::config::ConfigError;
use crate::config::environment::{Environment, parse_switch};
use crate::config::file::ConfigFile;

const USER_HEADER: &str = "TURNLEAF_PROXY_USER_HEADER";
const GROUPS_HEADER: &str = "TURNLEAF_PROXY_GROUPS_HEADER";
const CREATE_ACCOUNTS: &str = "TURNLEAF_PROXY_CREATE_ACCOUNTS";
/// Headers that have another meaning, also where a person could set them.
const OTHER_HEADERS: [&str; 3] = ["authorization", "x-forwarded-for", "x-turnleaf-proxy-secret"];

/// The settings for a proxy that names people. Without them everybody behind the proxy is one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyUserSettings {
    /// The header with the name of the person.
    pub user_header: HeaderName,
    /// The header with the groups of the person, separated by commas.
    pub groups_header: Option<HeaderName>,
    /// True if a name without an account gets one.
    pub creates_accounts: bool,
}

/// Reads the settings. `has_proxy` is true if a proxy authenticates people.
///
/// # Errors
/// A header that cannot be one, a setting without that of the name, and any of them without `auth = proxy`.
pub fn read(
    has_proxy: bool,
    environment: &Environment,
    file: &ConfigFile,
) -> Result<Option<ProxyUserSettings>, ConfigError> {
    let user_header = environment.text(USER_HEADER).or(file.proxy_user_header.as_deref());
    let groups_header = environment.text(GROUPS_HEADER).or(file.proxy_groups_header.as_deref());
    let creates_accounts = environment.text(CREATE_ACCOUNTS).map(|text| parse_switch(CREATE_ACCOUNTS, text));
    let creates_accounts = creates_accounts.transpose()?.or(file.proxy_create_accounts);
    let Some(user_header) = user_header else {
        let alone = match (groups_header, creates_accounts) {
            (Some(_), _) => GROUPS_HEADER,
            (None, Some(true)) => CREATE_ACCOUNTS,
            (None, Some(false) | None) => return Ok(None),
        };
        return Err(ConfigError::new(format!("{alone} needs {USER_HEADER}, which is not set")));
    };
    if !has_proxy {
        // Otherwise anybody who reaches the server could pose as any user.
        return Err(ConfigError::new(format!("{USER_HEADER} needs TURNLEAF_AUTH=proxy")));
    }
    let settings = ProxyUserSettings {
        user_header: header(USER_HEADER, user_header)?,
        groups_header: groups_header.map(|name| header(GROUPS_HEADER, name)).transpose()?,
        creates_accounts: creates_accounts.unwrap_or_default(),
    };
    if settings.groups_header.as_ref() == Some(&settings.user_header) {
        return Err(ConfigError::new(format!("{GROUPS_HEADER} and {USER_HEADER} name the same header")));
    }
    Ok(Some(settings))
}

fn header(setting: &str, name: &str) -> Result<HeaderName, ConfigError> {
    let lower = name.to_ascii_lowercase();
    let is_usable = base_url::is_settable_header(&lower) && !OTHER_HEADERS.contains(&lower.as_str());
    let parsed = HeaderName::from_bytes(lower.as_bytes()).ok().filter(|_| is_usable);
    parsed.ok_or_else(|| ConfigError::new(format!("{setting} is not a header that a proxy may name people in: {name}")))
}

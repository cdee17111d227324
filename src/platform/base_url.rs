//! Validation of provider URLs with the parser that the client later connects with, so that both interpret a URL
//! equally.

use url::{Host, Url};

use turnleaf_domain::{MessageCode, limits};

/// Validates a URL and returns it without its final slash. URLs with a user name or password are rejected, because
/// they would be displayed and logged. The text of the error continues a sentence that begins with the setting's
/// name ("is not a URL").
pub fn check(text: &str) -> Result<String, MessageCode> {
    if text.contains(['?', '#']) {
        return Err(MessageCode::UrlHasQuery);
    }
    Ok(check_endpoint(text)?.trim_end_matches('/').to_owned())
}

/// Validates the URL of an endpoint, which is used exactly as it is written: with its final slash and its query.
pub fn check_endpoint(text: &str) -> Result<String, MessageCode> {
    // The parser silently drops or rewrites these characters.
    if text.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
        return Err(MessageCode::UrlHasSpaces);
    }
    let authority = text.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    let after_host = authority.rsplit_once(']').map_or(authority, |(_, after)| after);
    if after_host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_err()) && !authority.contains('@') {
        return Err(MessageCode::UrlHasInvalidPort);
    }
    let url = parse(text)?;
    let rest = text.split_once("://").map(|(_, rest)| rest).filter(|_| matches!(url.scheme(), "http" | "https"));
    let rest = rest.ok_or(MessageCode::UrlHasOtherScheme)?;
    if rest.starts_with('/') || !url.has_host() {
        return Err(MessageCode::UrlHasNoHost);
    }
    if !url.username().is_empty() || url.password().is_some() || rest.split('/').next().is_some_and(|a| a.contains('@'))
    {
        return Err(MessageCode::UrlHasCredentials);
    }
    if text.contains('#') {
        return Err(MessageCode::UrlHasFragment);
    }
    let without_query = rest.split('?').next().unwrap_or_default();
    let path = without_query.split_once('/').map_or("", |(_, path)| path).trim_end_matches('/');
    let is_odd = |segment: &str| {
        segment.is_empty() || matches!(segment.replace("%2e", ".").replace("%2E", ".").as_str(), "." | "..")
    };
    if !path.is_empty() && path.split('/').any(is_odd) {
        return Err(MessageCode::UrlHasDots);
    }
    Ok(text.to_owned())
}

/// Parses a URL; the error has the form of that of [`check`].
pub fn parse(text: &str) -> Result<Url, MessageCode> {
    Url::parse(text).map_err(|_| MessageCode::NotAUrl)
}

/// Returns the host with its port, as the URL writes it.
pub fn host_and_port(base_url: &str) -> &str {
    base_url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or(base_url)
}

/// Normalizes a URL with the parser, so that equal URLs have equal texts.
pub fn canonicalize(base_url: &str) -> String {
    Url::parse(base_url).map_or_else(|_| base_url.to_owned(), |url| url.as_str().trim_end_matches('/').to_owned())
}

/// Returns true if a person may set a header of this name, in any case. Headers that the client sets itself or that
/// change how the request is read are excluded. `authorization` is allowed, because tool servers are authenticated
/// with nothing else.
pub fn is_settable_header(name: &str) -> bool {
    const OWN: [&str; 17] = [
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "cookie",
        "expect",
        "host",
        "keep-alive",
        "last-event-id",
        "mcp-protocol-version",
        "mcp-session-id",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    let low = name.to_ascii_lowercase();
    is_header_token(name) && !OWN.contains(&low.as_str()) && !low.starts_with("proxy-")
}

/// Returns true if a text is a valid header name.
pub fn is_header_token(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (1..=limits::TITLE_CHARS).contains(&name.len()) && name.bytes().all(is_token)
}

/// Returns the host as an IP address, if it is written as one in any form, or if its name can only mean this machine.
pub fn literal_address(base_url: &str) -> Option<std::net::IpAddr> {
    match Url::parse(base_url).ok()?.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            let is_here = name == "localhost" || name.ends_with(".localhost");
            is_here.then_some(std::net::Ipv4Addr::LOCALHOST.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_url_is_plain_web_address() {
        for (text, expected) in [
            ("https://api.example/v1/", Ok("https://api.example/v1")),
            ("http://127.0.0.1:8080", Ok("http://127.0.0.1:8080")),
            ("http://[::1]:11434/v1", Ok("http://[::1]:11434/v1")),
            ("api.example/v1", Err(MessageCode::NotAUrl)),
            ("file:///etc/passwd", Err(MessageCode::UrlHasOtherScheme)),
            ("gopher://127.0.0.1:6379/", Err(MessageCode::UrlHasOtherScheme)),
            ("javascript:alert(1)", Err(MessageCode::UrlHasOtherScheme)),
            ("http:api.example", Err(MessageCode::UrlHasOtherScheme)),
            ("http:///api.example", Err(MessageCode::UrlHasNoHost)),
            ("http://example.com@127.0.0.1/", Err(MessageCode::UrlHasCredentials)),
            ("http://@127.0.0.1/", Err(MessageCode::UrlHasCredentials)),
            ("http://a:b@c/", Err(MessageCode::UrlHasCredentials)),
            ("https://a.example/v1?key=1", Err(MessageCode::UrlHasQuery)),
            ("https://a.example/v1#x", Err(MessageCode::UrlHasQuery)),
            ("https://a.example/a/../b", Err(MessageCode::UrlHasDots)),
            ("https://a.example/a/%2E%2e/b", Err(MessageCode::UrlHasDots)),
            ("https://a.example//v1", Err(MessageCode::UrlHasDots)),
            ("https://a.example\\@b", Err(MessageCode::UrlHasSpaces)),
            ("https://a.example/\tv1", Err(MessageCode::UrlHasSpaces)),
            ("", Err(MessageCode::NotAUrl)),
            ("https://a.example:", Err(MessageCode::UrlHasInvalidPort)),
            ("https://a.example:99999/v1", Err(MessageCode::UrlHasInvalidPort)),
            ("http://[::1]:x", Err(MessageCode::UrlHasInvalidPort)),
        ] {
            assert_eq!(check(text), expected.map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn addresses_are_recognized_in_every_spelling() {
        for text in
            ["http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/", "http://127.1/", "http://localhost./"]
        {
            assert!(literal_address(text).is_some_and(|address| address.is_loopback()), "{text}");
        }
        assert_eq!(literal_address("https://api.example"), None);
        assert_eq!(canonicalize("HTTPS://API.example:443/v1/"), "https://api.example/v1");
    }
}

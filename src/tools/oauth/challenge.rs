//! The parser of `WWW-Authenticate` (RFC 9110, 11.6.1): the parameters of its `Bearer` challenge (RFC 6750, RFC 9728).

/// The `Bearer` challenge of a response. Its texts are untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BearerChallenge {
    /// The URL of the protected resource metadata.
    pub resource_metadata: Option<String>,
    /// The scopes that the request needs, separated by spaces.
    pub scope: Option<String>,
    /// The code of the error, such as `insufficient_scope`.
    pub error: Option<String>,
}

impl BearerChallenge {
    /// Finds the `Bearer` challenge among the challenges of one or more header values.
    pub fn parse<'a>(values: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        values.into_iter().find_map(parse_value)
    }

    /// Returns whether the token is valid and lacks a scope.
    pub fn is_insufficient_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// One element of the list in a header value: a scheme with its first parameter, or a further parameter.
struct ChallengeElement<'a> {
    scheme: Option<&'a str>,
    parameter: Option<(&'a str, String)>,
}

fn parse_value(value: &str) -> Option<BearerChallenge> {
    let mut found: Option<BearerChallenge> = None;
    let mut is_bearer = false;
    for element in split_list(value) {
        let ChallengeElement { scheme, parameter } = read_element(element);
        if let Some(scheme) = scheme {
            if found.is_some() && is_bearer {
                break;
            }
            is_bearer = scheme.eq_ignore_ascii_case("bearer");
            if is_bearer {
                found = Some(BearerChallenge::default());
            }
        }
        if let (true, Some(challenge), Some((name, value))) = (is_bearer, found.as_mut(), parameter) {
            let field = match name.to_ascii_lowercase().as_str() {
                "resource_metadata" => &mut challenge.resource_metadata,
                "scope" => &mut challenge.scope,
                "error" => &mut challenge.error,
                _ => continue,
            };
            // The first of several counts.
            field.get_or_insert(value);
        }
    }
    found
}

/// Splits a list at commas outside quoted strings.
fn split_list(value: &str) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, c) in value.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => {
                parts.push(&value[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&value[start..]);
    parts
}

fn read_element(element: &str) -> ChallengeElement<'_> {
    let element = element.trim();
    let word_end = element.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(element.len());
    let (word, rest) = element.split_at(word_end);
    // `name = value` is a parameter also with spaces; a scheme is followed by a space and something else.
    if rest.trim_start().starts_with('=') {
        return ChallengeElement { scheme: None, parameter: read_parameter(element) };
    }
    ChallengeElement { scheme: Some(word).filter(|word| !word.is_empty()), parameter: read_parameter(rest.trim()) }
}

fn read_parameter(text: &str) -> Option<(&str, String)> {
    let (name, value) = text.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let Some(quoted) = value.strip_prefix('"') else { return Some((name, value.to_owned())) };
    let (mut text, mut is_escaped) = (String::new(), false);
    for c in quoted.chars() {
        match c {
            _ if is_escaped => {
                text.push(c);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            '"' => break,
            _ => text.push(c),
        }
    }
    Some((name, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenge(resource_metadata: Option<&str>, scope: Option<&str>, error: Option<&str>) -> Option<BearerChallenge> {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Some(BearerChallenge { resource_metadata: owned(resource_metadata), scope: owned(scope), error: owned(error) })
    }

    #[test]
    fn bearer_challenge_is_found_in_every_form() {
        let url = "https://x.example/.well-known/oauth-protected-resource";
        for (value, expected) in [
            ("Bearer", challenge(None, None, None)),
            ("bearer realm=\"a\"", challenge(None, None, None)),
            (
                r#"Bearer resource_metadata="https://x.example/.well-known/oauth-protected-resource""#,
                challenge(Some(url), None, None),
            ),
            (
                r#"Bearer realm="a, b", error="insufficient_scope", scope="files:read files:write""#,
                challenge(None, Some("files:read files:write"), Some("insufficient_scope")),
            ),
            (r#"Bearer error = invalid_token , scope = "a b""#, challenge(None, Some("a b"), Some("invalid_token"))),
            (r#"Basic realm="x", Bearer scope="a""#, challenge(None, Some("a"), None)),
            (r#"Bearer scope="a", Basic realm="x", scope="b""#, challenge(None, Some("a"), None)),
            (r#"Bearer error_description="say \"no\", really", error="x""#, challenge(None, None, Some("x"))),
            (r#"Bearer scope="a", scope="b""#, challenge(None, Some("a"), None)),
            (r#"DPoP algs="ES256""#, None),
            ("Negotiate abc==", None),
            ("", None),
            ("Bearer scope=\"open", challenge(None, Some("open"), None)),
        ] {
            assert_eq!(BearerChallenge::parse([value]), expected, "{value}");
        }
    }

    #[test]
    fn bearer_challenge_is_found_in_a_later_header() {
        let found = BearerChallenge::parse(["Basic realm=\"x\"", "Bearer error=\"insufficient_scope\""]);
        assert!(found.is_some_and(|found| found.is_insufficient_scope()));
    }
}

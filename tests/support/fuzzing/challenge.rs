//! The challenge of a server that asks for a sign-in.

use turnleaf_tools::oauth::challenge::BearerChallenge;
use turnleaf_tools::oauth::discovery::split_scopes;

/// Asserts that no value of `WWW-Authenticate` breaks the parser, that it invents no text, and that scopes can be sent.
pub fn challenge_holds(bytes: &[u8]) {
    let Ok(value) = std::str::from_utf8(bytes) else { return };
    let Some(challenge) = BearerChallenge::parse([value]) else { return };
    let parts = [&challenge.resource_metadata, &challenge.scope, &challenge.error];
    for part in parts.into_iter().flatten() {
        assert!(part.len() <= value.len());
        let mut rest = value.chars();
        assert!(part.chars().all(|wanted| rest.any(|c| c == wanted)), "{part:?}");
    }
    for scope in challenge.scope.iter().flat_map(|scope| split_scopes(scope)) {
        let is_sendable = scope.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'));
        assert!(!scope.is_empty() && is_sendable, "{scope:?}");
    }
}

//! Limits of the sign-in to tool servers: requests to authorization servers, their documents, and tokens.

use std::time::Duration;

/// The time of one request, and of all requests that find the authorization server.
pub const SIGN_IN_REQUEST_TIME: Duration = Duration::from_secs(20);
pub const SIGN_IN_DISCOVERY_TIME: Duration = Duration::from_secs(60);
/// The authorization servers of a resource that are tried, and the redirects that are followed for one document.
pub const SIGN_IN_ISSUERS: usize = 4;
pub const SIGN_IN_REDIRECTS: usize = 3;
/// The size of a document, and the length of a token or another value.
pub const SIGN_IN_DOCUMENT_BYTES: usize = 256 << 10;
pub const SIGN_IN_VALUE_BYTES: usize = 16 << 10;
/// The lifetime of a sign-in that has begun.
pub const SIGN_IN_KEPT: Duration = Duration::from_secs(10 * 60);
/// The time before the expiry of a token at which it is renewed, and the pause after an authorization server did not
/// answer, so that requests do not wait for it one after another.
pub const TOKEN_RENEWED_BEFORE: Duration = Duration::from_secs(60);
pub const TOKEN_RENEWAL_PAUSE: Duration = Duration::from_secs(30);
/// The tokens of a tool server that are redacted, the newest ones: they change with every renewal.
pub const SIGN_IN_TOKENS_KNOWN: usize = 64;

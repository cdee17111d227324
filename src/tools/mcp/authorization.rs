//! The authorization of requests to a server: the port through which the HTTP transports get access tokens and report
//! refusals. The tokens themselves are the caller's, so that a connection knows nothing of their storage.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::header::WWW_AUTHENTICATE;
use reqwest::{Response, StatusCode};
use secrecy::SecretString;

use crate::oauth::challenge::BearerChallenge;
use turnleaf_domain::{CodedMessage, MessageCode};

/// The reason why a person has to sign in to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInNeed {
    /// There is no token that the server accepts.
    Token,
    /// The token lacks a scope.
    Scope,
}

impl SignInNeed {
    /// Returns the problem as a part of a sentence.
    pub fn problem(self) -> CodedMessage {
        match self {
            Self::Token => MessageCode::SignInNeeded.into(),
            Self::Scope => MessageCode::SignInAgain.into(),
        }
    }
}

/// A refusal of a request that another token might avoid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRefusal {
    /// The sign-in that would avoid it.
    pub need: SignInNeed,
    /// `None` if the response has no `Bearer` challenge.
    pub challenge: Option<BearerChallenge>,
}

impl RequestRefusal {
    /// Reads the refusal from a response: every 401, and a 403 that says that a scope is missing.
    pub fn from_response(response: &Response) -> Option<Self> {
        let values = response.headers().get_all(WWW_AUTHENTICATE).iter();
        let challenge = BearerChallenge::parse(values.filter_map(|value| value.to_str().ok()));
        match response.status() {
            StatusCode::UNAUTHORIZED => Some(Self { need: SignInNeed::Token, challenge }),
            StatusCode::FORBIDDEN => challenge
                .filter(BearerChallenge::is_insufficient_scope)
                .map(|challenge| Self { need: SignInNeed::Scope, challenge: Some(challenge) }),
            _ => None,
        }
    }
}

/// The access tokens of one server.
pub trait AccessTokens: Send + Sync {
    /// Returns the token to send, renewed if it is about to expire. `None` if the person is not signed in.
    fn token(&self) -> BoxFuture<'_, Option<SecretString>>;

    /// Reports that a request with the token `sent` was refused. Returns another token to repeat the request with, if
    /// one can be had without the person; a request that was `repeated` gets none.
    fn refused(
        &self,
        refusal: RequestRefusal,
        sent: Option<SecretString>,
        repeated: bool,
    ) -> BoxFuture<'_, Option<SecretString>>;

    /// Reports that a request with the token `sent` was accepted, so no sign-in is needed for want of a token.
    fn accepted(&self, sent: Option<&SecretString>);

    /// Clears the reason why the person had to sign in, because they want the server to be asked again.
    fn clear_need(&self);

    /// Returns why the person has to sign in, since the last refusal.
    fn need(&self) -> Option<SignInNeed>;

    /// Returns the tokens that were sent, which are redacted from the output of the server.
    fn sent_secrets(&self) -> Vec<SecretString>;
}

/// The authorization of a server's requests. `Debug` shows nothing of it.
#[derive(Clone)]
pub struct ServerAuthorization(Arc<dyn AccessTokens>);

impl ServerAuthorization {
    pub fn new(tokens: Arc<dyn AccessTokens>) -> Self {
        Self(tokens)
    }

    /// Returns whether both are the same.
    pub fn is_same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::ops::Deref for ServerAuthorization {
    type Target = dyn AccessTokens;

    fn deref(&self) -> &Self::Target {
        self.0.as_ref()
    }
}

impl fmt::Debug for ServerAuthorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerAuthorization")
    }
}

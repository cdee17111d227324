//! Discovery: from the address of a tool server to the authorization server that protects it.

use tokio::time::timeout;
use url::Url;

use super::challenge::BearerChallenge;
use super::http::SignInClient;
use super::metadata::{
    ResourceMetadata, ServerMetadata, host_name, is_same_resource, is_secure, origin_issuer, resource_identifier,
    resource_metadata_urls, server_metadata_urls,
};
use turnleaf_domain::{CodedMessage, MessageCode, limits};

/// The place where to sign in to a tool server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInService {
    /// The resource indicator (RFC 8707).
    pub resource: String,
    pub server: ServerMetadata,
    /// The scopes to request, in the order of the specification: those of the challenge, else those that the resource
    /// supports, else none.
    pub scopes: Vec<String>,
}

impl SignInClient {
    /// Finds the authorization server of the tool server at `url`, whose last challenge is `challenge`.
    ///
    /// # Errors
    /// The sentence why there is none that can be used.
    pub async fn discover(
        &self,
        url: &Url,
        challenge: Option<&BearerChallenge>,
    ) -> Result<SignInService, CodedMessage> {
        let late = || {
            let cause = MessageCode::NoTimelyResponse.into();
            MessageCode::SignInUnreachable.with("host", host_name(url)).with_cause(cause)
        };
        // Each request has a limit of its own, too.
        timeout(limits::SIGN_IN_DISCOVERY_TIME, self.find_service(url, challenge)).await.unwrap_or_else(|_| Err(late()))
    }

    async fn find_service(
        &self,
        url: &Url,
        challenge: Option<&BearerChallenge>,
    ) -> Result<SignInService, CodedMessage> {
        let asked = challenge.and_then(|challenge| challenge.scope.as_deref()).map(split_scopes);
        let Some(resource) = self.resource_metadata(url, challenge).await? else {
            // Servers of the first specification have no resource metadata; their own origin signs people in.
            let server = self.server_metadata(&origin_issuer(url)).await?;
            let server = server.ok_or(MessageCode::SignInNotOffered)?;
            return Ok(SignInService { resource: resource_identifier(url), server, scopes: asked.unwrap_or_default() });
        };
        if !is_same_resource(&resource.resource, url) {
            let named: String = resource.resource.chars().filter(|c| !c.is_control()).take(200).collect();
            return Err(MessageCode::SignInResourceMismatch.with("resource", named));
        }
        let supported = || resource.scopes_supported.as_ref().map(|scopes| split_scopes(&scopes.join(" ")));
        let scopes = asked.or_else(supported).unwrap_or_default();
        let mut first_problem = None;
        for issuer in resource.authorization_servers.iter().take(limits::SIGN_IN_ISSUERS) {
            match self.usable_server(issuer).await {
                Ok(server) => return Ok(SignInService { resource: resource.resource, server, scopes }),
                Err(problem) => drop(first_problem.get_or_insert(problem)),
            }
        }
        Err(first_problem.unwrap_or_else(|| MessageCode::SignInNotOffered.into()))
    }

    async fn usable_server(&self, issuer: &str) -> Result<ServerMetadata, CodedMessage> {
        let issuer = Url::parse(issuer).map_err(|_| CodedMessage::from(MessageCode::SignInNotOffered))?;
        let found = self.server_metadata(&issuer).await?;
        found.ok_or_else(|| MessageCode::SignInMetadataInvalid.with("host", host_name(&issuer)))
    }

    /// Gets the metadata of the resource where the challenge says that it is, else at the known places.
    async fn resource_metadata(
        &self,
        url: &Url,
        challenge: Option<&BearerChallenge>,
    ) -> Result<Option<ResourceMetadata>, CodedMessage> {
        let named = challenge.and_then(|challenge| challenge.resource_metadata.as_deref());
        let named = named.and_then(|named| Url::parse(named).ok()).filter(is_secure);
        for place in named.into_iter().chain(resource_metadata_urls(url)) {
            if let Some(found) = self.get::<ResourceMetadata>(&place).await? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Gets and checks the metadata of an issuer. `None` if it publishes none.
    async fn server_metadata(&self, issuer: &Url) -> Result<Option<ServerMetadata>, CodedMessage> {
        for place in server_metadata_urls(issuer) {
            if let Some(found) = self.get::<ServerMetadata>(&place).await? {
                found.check(issuer)?;
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// Splits a list of scopes, without those that cannot be sent (RFC 6749, 3.3).
pub fn split_scopes(scopes: &str) -> Vec<String> {
    let is_scope = |scope: &&str| scope.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e));
    let short = if scopes.len() > limits::SIGN_IN_VALUE_BYTES { "" } else { scopes };
    let mut found: Vec<String> = Vec::new();
    for scope in short.split_whitespace().filter(is_scope) {
        if !found.iter().any(|known| known == scope) {
            found.push(scope.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_distinct_and_sendable() {
        assert_eq!(split_scopes("a  b a files:read"), ["a", "b", "files:read"]);
        assert_eq!(split_scopes("a\"b c\\d \u{e4} ok"), ["ok"]);
        assert_eq!(split_scopes(""), [""; 0]);
    }
}

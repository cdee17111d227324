//! Messages for requests without a response. They name the cause that a user can fix: host name, port, certificate or
//! timeout.

use std::error::Error;
use std::io::ErrorKind;

use super::guard::{AddressUse, BlockedAddress};
use super::target::ProviderTarget;
use crate::provider::ProviderError;
use turnleaf_domain::{CodedMessage, Failure, FailureKind, MessageCode};
use turnleaf_platform::base_url;

/// Returns the error of a request that got no response; `is_unsent` is set if the request did not leave this machine.
pub fn unreachable_error(error: &reqwest::Error, target: &ProviderTarget) -> ProviderError {
    let is_unsent = error.is_connect() || error.is_builder();
    ProviderError { is_unsent, ..ProviderError::without_response(failure(error, target)) }
}

/// Returns the failure of a request that got no response. It names the host, so that a wrong address is visible, and
/// no other part of the URL.
fn failure(error: &reqwest::Error, target: &ProviderTarget) -> Failure {
    let detail =
        format!("{}: {}", base_url::host_and_port(&target.base_url), unreachable_reason(error, AddressUse::Provider));
    Failure::new(FailureKind::ProviderUnreachable, &target.provider).with_detail(target.secrets.redact(&detail))
}

/// Returns the reason why a request got no response, without its address, as a part of a sentence; `address_use` selects
/// the advice.
pub fn unreachable_reason(error: &reqwest::Error, address_use: AddressUse) -> CodedMessage {
    let innermost = innermost_message(error);
    if let Some(blocked) = find_in_chain::<BlockedAddress>(error) {
        return blocked.advice(address_use);
    }
    if let Some(tls) = find_in_chain::<rustls::Error>(error) {
        return MessageCode::TlsFailed.with("error", tls);
    }
    if error_chain(error).any(|link| link.to_string() == "dns error") {
        return MessageCode::HostNotFound.with("error", innermost);
    }
    match find_in_chain::<std::io::Error>(error).map(std::io::Error::kind) {
        Some(ErrorKind::ConnectionRefused) => MessageCode::NoListener.with("error", innermost),
        Some(ErrorKind::InvalidData) => MessageCode::TlsFailed.with("error", innermost),
        _ if error.is_timeout() => MessageCode::NoTimelyResponse.into(),
        _ => CodedMessage::uncoded(innermost),
    }
}

/// Returns the innermost message of an error: the outer ones only wrap it and repeat the URL.
pub fn innermost_message(error: &(dyn Error + 'static)) -> String {
    error_chain(error).last().map(ToString::to_string).unwrap_or_default()
}

/// Iterates over an error and its sources, from the outermost. The inner error of an I/O error is not among its
/// sources.
fn error_chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |link| (*link).source())
}

/// Returns the outermost error of this type, also inside of I/O errors, which often wrap one another.
fn find_in_chain<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let inner = |link: &&'a (dyn Error + 'static)| -> Option<&'a (dyn Error + 'static)> {
        let held: &'a (dyn Error + Send + Sync + 'static) = link.downcast_ref::<std::io::Error>()?.get_ref()?;
        Some(held)
    };
    error_chain(error)
        .flat_map(|link| std::iter::successors(Some(link), inner))
        .find_map(|link| link.downcast_ref::<E>())
}

//! Why no response came, said so that somebody can do something about it: the name, the port, the certificate, the time.

use std::error::Error;
use std::io::ErrorKind;

use super::guard::{AddressUse, BlockedAddress};
use super::target::ProviderTarget;
use crate::provider::ProviderError;
use turnleaf_domain::{Failure, FailureKind};
use turnleaf_platform::base_url;

/// A request that got no response; whether it left this machine says the kind of the error.
pub fn unreachable_error(error: &reqwest::Error, target: &ProviderTarget) -> ProviderError {
    let is_unsent = error.is_connect() || error.is_builder();
    ProviderError { is_unsent, ..ProviderError::without_response(failure(error, target)) }
}

/// The failure of a request that got no response. Names the host, so that a wrong address can be seen, and nothing else
/// of the URL.
fn failure(error: &reqwest::Error, target: &ProviderTarget) -> Failure {
    let detail =
        format!("{}: {}", base_url::host_and_port(&target.base_url), unreachable_reason(error, AddressUse::Provider));
    Failure::new(FailureKind::ProviderUnreachable, &target.provider).with_detail(target.secrets.redact(&detail))
}

/// Why a request got no response, without its address; `address_use` says what was there.
pub fn unreachable_reason(error: &reqwest::Error, address_use: AddressUse) -> String {
    let innermost = innermost_message(error);
    if let Some(blocked) = find_in_chain::<BlockedAddress>(error) {
        return blocked.advice(address_use);
    }
    if let Some(tls) = find_in_chain::<rustls::Error>(error) {
        return format!("the secure connection failed ({tls})");
    }
    if error_chain(error).any(|link| link.to_string() == "dns error") {
        return format!("there is no server of this name ({innermost})");
    }
    match find_in_chain::<std::io::Error>(error).map(std::io::Error::kind) {
        Some(ErrorKind::ConnectionRefused) => format!("nothing listens there ({innermost})"),
        Some(ErrorKind::InvalidData) => format!("the secure connection failed ({innermost})"),
        _ if error.is_timeout() => "it did not answer in time".into(),
        _ => innermost,
    }
}

/// The innermost reason: the outer ones only say that there is an inner one, and repeat the URL.
pub fn innermost_message(error: &(dyn Error + 'static)) -> String {
    error_chain(error).last().map(ToString::to_string).unwrap_or_default()
}

/// An error and what it came of, from outside in. What an I/O error holds is no source of it.
fn error_chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |link| (*link).source())
}

/// The outermost link of this type, also inside I/O errors, which often hold one another.
fn find_in_chain<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let inner = |link: &&'a (dyn Error + 'static)| -> Option<&'a (dyn Error + 'static)> {
        let held: &'a (dyn Error + Send + Sync + 'static) = link.downcast_ref::<std::io::Error>()?.get_ref()?;
        Some(held)
    };
    error_chain(error)
        .flat_map(|link| std::iter::successors(Some(link), inner))
        .find_map(|link| link.downcast_ref::<E>())
}

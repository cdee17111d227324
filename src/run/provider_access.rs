//! Authorization of provider calls. A run keeps the provider that it started with, but asks before every call whether its
//! owner may still use it.

use crate::supervisor::Supervisor;
use turnleaf_domain::{Failure, FailureKind, ModelLock, UserId};
use turnleaf_providers::registry::{ProviderRegistry, ProviderScope, ScopedProvider};

/// Returns true if a user may call this model of a provider of this scope: the account must be enabled, the scope visible
/// to the user, and a shared model granted. Asked when an exchange is made and before every call, also for providers that
/// were looked up before.
pub fn may_use(registry: &ProviderRegistry, user: UserId, scope: ProviderScope, lock: &ModelLock) -> bool {
    let (may_call, provider, model) = (registry.may_call(user, scope, lock), &lock.provider, &lock.model);
    match (may_call, scope) {
        (true, _) => {}
        (false, ProviderScope::User(owner)) if owner != user => {
            tracing::error!(%user, provider, model, "a provider of another user is not called");
        }
        (false, _) => {
            tracing::info!(%user, provider, model, "a model is not granted, or the account is disabled");
        }
    }
    may_call
}

impl Supervisor {
    /// Returns the provider of a lock, if the user may use it.
    pub fn usable_provider(&self, user: UserId, lock: &ModelLock) -> Option<ScopedProvider> {
        let found = self.registry().find_scoped(user, &lock.provider);
        found.filter(|found| may_use(self.registry(), user, found.scope, lock))
    }

    /// Returns the failure of a call to a provider that is gone, or whose model the user may not use.
    pub(crate) fn unusable_provider_failure(&self, user: UserId, lock: &ModelLock) -> Failure {
        let found = self.registry().find_scoped(user, &lock.provider);
        refused_call_failure(found.map(|found| found.scope), lock)
    }
}

/// Returns the failure of a refused call to a provider of this scope; `None` if the provider is gone.
pub(crate) fn refused_call_failure(scope: Option<ProviderScope>, lock: &ModelLock) -> Failure {
    match scope {
        Some(_) => Failure::new(FailureKind::ModelNotFound, &lock.provider)
            .with_detail("this account may not use the model; an administrator of this server decides who may"),
        None => Failure::new(FailureKind::ProviderUnreachable, &lock.provider)
            .with_detail("this provider is no longer configured on this server"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use turnleaf_domain::accounts::access_rights::{AccessRights, GrantAudience, GrantTarget};

    #[test]
    fn provider_of_another_user_and_closed_model_may_not_be_called() {
        let [owner, user, other] = [1, 2, 3].map(|number| UserId::from_uuid(uuid::Uuid::from_u128(number)));
        let lock = ModelLock::new("openai", "gpt");
        let registry = ProviderRegistry::from_providers(Vec::new());
        let may_call = |user, scope| may_use(&registry, user, scope, &lock);
        assert!(may_call(user, ProviderScope::User(user)) && may_call(user, ProviderScope::Shared));
        assert!(!may_call(user, ProviderScope::User(other)));
        let closed = (GrantTarget::Provider("openai".into()), GrantAudience::default());
        registry.set_rights(Arc::new(AccessRights::new(owner, [closed], [], false)));
        assert!(may_call(owner, ProviderScope::Shared) && may_call(user, ProviderScope::User(user)));
        assert!(!may_call(user, ProviderScope::Shared));
        // A disabled account does not call its own provider either.
        registry.set_rights(Arc::new(AccessRights::new(owner, [], [], false).without_disabled([user])));
        assert!(!may_call(user, ProviderScope::User(user)) && !may_call(user, ProviderScope::Shared));
        assert!(may_call(owner, ProviderScope::Shared) && may_call(other, ProviderScope::User(other)));
    }

    #[test]
    fn failure_tells_closed_model_from_missing_provider() {
        let lock = ModelLock::new("openai", "gpt");
        let kind = |scope| refused_call_failure(scope, &lock).kind;
        assert_eq!(kind(Some(ProviderScope::Shared)), FailureKind::ModelNotFound);
        assert_eq!(kind(None), FailureKind::ProviderUnreachable);
    }
}

//! Authorization of provider calls. A run keeps the provider that it started with, but asks before every call whether its
//! owner may still use it.

use crate::supervisor::Supervisor;
use turnleaf_domain::{Failure, FailureKind, ModelLock, UserId};
use turnleaf_providers::registry::{ProviderScope, ScopedProvider};

/// Returns true if a user may call this model of a provider of this scope: the scope must be visible to the user. Asked
/// when an exchange is made and before every call, also for providers that were looked up before.
pub fn may_use(user: UserId, scope: ProviderScope, lock: &ModelLock) -> bool {
    let is_visible = scope.is_visible_to(user);
    if !is_visible {
        tracing::error!(%user, provider = lock.provider, model = lock.model, "a provider of another user is not called");
    }
    is_visible
}

impl Supervisor {
    /// Returns the provider of a lock, if the user may use it.
    pub fn usable_provider(&self, user: UserId, lock: &ModelLock) -> Option<ScopedProvider> {
        self.registry().find_scoped(user, &lock.provider).filter(|found| may_use(user, found.scope, lock))
    }
}

/// Returns the failure of a call whose provider is gone, or may not be used.
pub(crate) fn missing_provider_failure(provider: &str) -> Failure {
    Failure::new(FailureKind::ProviderUnreachable, provider)
        .with_detail("this provider is no longer configured on this server")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provider_of_another_user_may_not_be_called() {
        let [user, other] = [1, 2].map(|number| UserId::from_uuid(uuid::Uuid::from_u128(number)));
        let lock = ModelLock::new("openai", "gpt");
        assert!(may_use(user, ProviderScope::User(user), &lock) && may_use(user, ProviderScope::Shared, &lock));
        assert!(!may_use(user, ProviderScope::User(other), &lock));
    }
}

//! The endpoints of the settings, and what their users chose. Changes apply at once; running replies keep the provider
//! that they started with.

use super::entry::{ProviderOrigin, RegisteredProvider};
use super::{ProviderRegistry, ProviderScope, is_same_server};
use turnleaf_domain::UserId;
use turnleaf_domain::branches::branch::ModelLock;
use turnleaf_platform::endpoint::ProviderEndpoint;

impl ProviderRegistry {
    /// Adds a stored endpoint, or replaces the one of the scope with its id.
    pub fn put(&self, scope: ProviderScope, endpoint: ProviderEndpoint) {
        self.remember_keys(&endpoint);
        let mut entry = RegisteredProvider::from_endpoint(endpoint, &self.client, ProviderOrigin::Stored);
        self.update(|scopes| {
            let shared = scopes.providers_of(ProviderScope::Shared);
            let of = scopes.providers_of_mut(scope);
            let is_earlier = |old: &RegisteredProvider| old.origin == ProviderOrigin::Stored && old.has_same_id(&entry);
            let is_found = |old: &RegisteredProvider| {
                old.origin == ProviderOrigin::FoundLocally
                    && (old.has_same_id(&entry) || is_same_server(&*old.provider, &*entry.provider))
            };
            let earlier = of.entries.iter().find(|old| is_earlier(old)).cloned();
            let earlier = earlier.or_else(|| shared.entries.iter().find(|old| is_found(old)).cloned());
            of.entries.retain(|old| !is_earlier(old));
            if let Some(old) = earlier {
                entry.inherit_from(&old);
            }
            of.suspended.remove(entry.provider.id());
            of.entries.push(entry);
            scopes.drop_unwanted_servers();
        });
    }

    /// Removes a stored endpoint.
    pub fn remove(&self, scope: ProviderScope, id: &str) {
        self.update(|scopes| scopes.providers_of_mut(scope).remove_stored(id));
    }

    /// Suspends a stored endpoint: it is not used, and while it is suspended, no local server is detected under its
    /// id or URL.
    pub fn suspend(&self, scope: ProviderScope, endpoint: &ProviderEndpoint) {
        self.remember_keys(endpoint);
        self.update(|scopes| {
            let of = scopes.providers_of_mut(scope);
            of.remove_stored(&endpoint.id);
            of.suspended.insert(endpoint.id.clone(), endpoint.base_url.clone());
            scopes.drop_unwanted_servers();
        });
    }

    /// Replaces the URLs at which this user may use detected servers.
    pub fn set_accepted_addresses(&self, user: UserId, addresses: impl IntoIterator<Item = String>) {
        let accepted = addresses.into_iter().collect();
        self.update(|scopes| scopes.providers_of_mut(ProviderScope::User(user)).accepted = accepted);
    }

    /// Sets the default of this user's new chats.
    pub fn set_default(&self, user: UserId, lock: Option<ModelLock>) {
        self.update(|scopes| scopes.providers_of_mut(ProviderScope::User(user)).default = lock);
    }
}

//! Whose a provider is, the providers of each scope, and what a user sees of them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::entry::{ProviderOrigin, RegisteredProvider};
use super::local_servers;
use crate::demo;
use crate::provider::Provider;
use turnleaf_domain::UserId;
use turnleaf_domain::accounts::access_rights::AccessRights;
use turnleaf_domain::branches::branch::ModelLock;
use turnleaf_platform::endpoint::ProviderEndpoint;

/// Whose a provider is. The same id may be in several scopes and then means several providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderScope {
    /// Everybody's: those of the configuration, servers found on this machine, and the demo.
    Shared,
    /// Those that a user stored.
    User(UserId),
}

impl ProviderScope {
    /// Returns true if this user sees the providers of the scope.
    pub fn is_visible_to(self, user: UserId) -> bool {
        match self {
            Self::Shared => true,
            Self::User(owner) => owner == user,
        }
    }
}

/// A provider with its scope.
#[derive(Clone)]
pub struct ScopedProvider {
    pub scope: ProviderScope,
    pub provider: Arc<dyn Provider>,
}

/// The providers of one scope, and the decisions of its user.
#[derive(Clone, Default)]
pub(super) struct ProvidersOfScope {
    pub(super) entries: Vec<RegisteredProvider>,
    /// The default of new chats.
    pub(super) default: Option<ModelLock>,
    /// Ids and URLs of the stored endpoints that are suspended.
    pub(super) suspended: HashMap<String, String>,
    /// URLs of detected servers that the user accepted. Any program on this machine can listen on such a port, so the
    /// others are listed but not used.
    pub(super) accepted: HashSet<String>,
}

impl ProvidersOfScope {
    /// Removes a stored endpoint, also a suspended one.
    pub(super) fn remove_stored(&mut self, id: &str) {
        self.suspended.remove(id);
        self.entries.retain(|entry| entry.origin != ProviderOrigin::Stored || entry.provider.id() != id);
    }

    /// Returns true if a local server is one of the scope's endpoints, by id or URL, or one that is suspended.
    pub(super) fn covers(&self, server: &ProviderEndpoint) -> bool {
        let is_set =
            |entry: &RegisteredProvider| entry.origin != ProviderOrigin::FoundLocally && entry.is_server_of(server);
        let is_suspended =
            |(id, url): (&String, &String)| *id == server.id || local_servers::is_same_server(url, &server.base_url);
        self.entries.iter().any(is_set) || self.suspended.iter().any(is_suspended)
    }
}

/// All scopes. A copy is cheap and does not change any more.
#[derive(Clone, Default)]
pub(super) struct ProviderScopes(HashMap<ProviderScope, Arc<ProvidersOfScope>>);

impl ProviderScopes {
    pub(super) fn new(shared: ProvidersOfScope) -> Self {
        Self(HashMap::from([(ProviderScope::Shared, Arc::new(shared))]))
    }

    pub(super) fn keys(&self) -> Vec<ProviderScope> {
        self.0.keys().copied().collect()
    }

    pub(super) fn providers_of(&self, scope: ProviderScope) -> Arc<ProvidersOfScope> {
        self.0.get(&scope).cloned().unwrap_or_default()
    }

    pub(super) fn providers_of_mut(&mut self, scope: ProviderScope) -> &mut ProvidersOfScope {
        Arc::make_mut(self.0.entry(scope).or_default())
    }

    pub(super) fn visible_to(&self, user: UserId, rights: Arc<AccessRights>) -> VisibleProviders {
        VisibleProviders {
            user,
            rights,
            own: self.providers_of(ProviderScope::User(user)),
            shared: self.providers_of(ProviderScope::Shared),
        }
    }

    /// Returns true if any provider has an address.
    pub(super) fn has_endpoints(&self) -> bool {
        self.0.values().any(|of| of.entries.iter().any(|entry| entry.endpoint.is_some()))
    }

    /// Returns true if a local server is looked for: it is in nobody's settings, or a user for whom that is so uses it
    /// as it was found. Otherwise the settings of one user would take it from another.
    pub(super) fn is_wanted(&self, server: &ProviderEndpoint) -> bool {
        let users = || self.0.iter().filter(|(scope, _)| **scope != ProviderScope::Shared).map(|(_, of)| of);
        let uses = |of: &Arc<ProvidersOfScope>| {
            let is_accepted = |url: &String| local_servers::is_same_server(url, &server.base_url);
            of.accepted.iter().any(is_accepted) && !of.covers(server)
        };
        !self.providers_of(ProviderScope::Shared).covers(server)
            && (!users().any(|of| of.covers(server)) || users().any(uses))
    }

    /// Removes detected servers that are no longer looked for.
    pub(super) fn drop_unwanted_servers(&mut self) {
        let shared = self.providers_of(ProviderScope::Shared);
        let is_kept = |entry: &&RegisteredProvider| {
            let server = entry.endpoint.as_ref().filter(|_| entry.origin == ProviderOrigin::FoundLocally);
            server.is_none_or(|server| self.is_wanted(server))
        };
        let kept: Vec<RegisteredProvider> = shared.entries.iter().filter(is_kept).cloned().collect();
        if kept.len() < shared.entries.len() {
            self.providers_of_mut(ProviderScope::Shared).entries = kept;
        }
    }
}

/// The providers that a user sees, as they were when it was asked.
pub(super) struct VisibleProviders {
    user: UserId,
    rights: Arc<AccessRights>,
    own: Arc<ProvidersOfScope>,
    shared: Arc<ProvidersOfScope>,
}

impl VisibleProviders {
    /// Returns the providers in the order of the menus.
    pub(super) fn entries(&self) -> Vec<&RegisteredProvider> {
        let mut entries: Vec<&RegisteredProvider> = self.own.entries.iter().chain(self.shared_entries()).collect();
        entries.sort_by_key(|entry| entry.origin);
        entries
    }

    fn shared_entries(&self) -> impl Iterator<Item = &RegisteredProvider> {
        self.shared.entries.iter().filter(move |entry| !self.is_replaced(entry))
    }

    /// Returns true if the user has a provider with the id of a shared one, or has a detected server in the settings.
    fn is_replaced(&self, shared: &RegisteredProvider) -> bool {
        let server = shared.endpoint.as_ref().filter(|_| shared.origin == ProviderOrigin::FoundLocally);
        self.own.entries.iter().any(|own| own.has_same_id(shared)) || server.is_some_and(|found| self.own.covers(found))
    }

    /// Returns true if a provider may be used: a detected one only after the user accepted it.
    pub(super) fn is_in_use(&self, entry: &RegisteredProvider) -> bool {
        entry.origin != ProviderOrigin::FoundLocally
            || entry.provider.base_url().is_some_and(|url| self.own.accepted.contains(url))
    }

    /// Returns true if the user is granted a model of a provider. Those of the user's own providers are the user's.
    pub(super) fn is_granted(&self, entry: &RegisteredProvider, model: &str) -> bool {
        let name = (entry.provider.id(), model);
        self.is_own(entry) || self.rights.may_use_model(self.user, name, entry.lists(model))
    }

    /// Works like [`Self::is_granted`], for a model that the provider lists.
    pub(super) fn is_listed_granted(&self, entry: &RegisteredProvider, model: &str) -> bool {
        self.is_own(entry) || self.rights.may_use_model(self.user, (entry.provider.id(), model), true)
    }

    /// Returns true if the user is granted any model of a provider.
    pub(super) fn has_grant(&self, entry: &RegisteredProvider) -> bool {
        self.is_own(entry) || self.rights.may_use_provider(self.user, entry.provider.id())
    }

    fn is_own(&self, entry: &RegisteredProvider) -> bool {
        self.own.entries.iter().any(|own| own.has_same_id(entry))
    }

    /// Returns the model to use if only the provider is chosen, among those that are granted and those that fit.
    pub(super) fn first_choice<'a>(
        &self,
        entry: &'a RegisteredProvider,
        fits: impl Fn(&str) -> bool,
    ) -> Option<&'a String> {
        let is_granted = |model: &&String| fits(model) && self.is_listed_granted(entry, model);
        let listed = || entry.models.iter().map(|listed| &listed.id).find(is_granted);
        let default = entry.default_model.as_ref();
        default.filter(|model| fits(model) && self.is_granted(entry, model)).or_else(listed)
    }

    /// Returns the provider with this id: the user's own, else the shared one.
    pub(super) fn find_any(&self, id: &str) -> Option<(ProviderScope, &RegisteredProvider)> {
        let has_id = |entry: &&RegisteredProvider| entry.provider.id() == id;
        let own = self.own.entries.iter().find(has_id).map(|entry| (ProviderScope::User(self.user), entry));
        own.or_else(|| self.shared_entries().find(has_id).map(|entry| (ProviderScope::Shared, entry)))
    }

    /// Works like [`Self::find_any`], if the provider may be used.
    pub(super) fn find(&self, id: &str) -> Option<(ProviderScope, &RegisteredProvider)> {
        self.find_any(id).filter(|(_, entry)| self.is_in_use(entry))
    }

    /// Returns the chosen default if it may be used: the user's choice, else that of the server.
    pub(super) fn chosen_default(&self) -> Option<&ModelLock> {
        let mut chosen = self.own.default.iter().chain(&self.shared.default);
        chosen.find(|lock| self.find(&lock.provider).is_some_and(|(_, entry)| self.is_granted(entry, &lock.model)))
    }

    /// Returns the default of new chats: the chosen one, otherwise that of the first provider with one, in the order of
    /// the menus, otherwise the demo.
    pub(super) fn default_lock(&self) -> ModelLock {
        let of_entry = |entry: &RegisteredProvider| {
            let model = self.first_choice(entry, |model| !entry.is_hidden(model)).filter(|_| self.is_in_use(entry))?;
            Some(ModelLock::new(entry.provider.id(), model.as_str()))
        };
        let first = || self.entries().into_iter().find_map(of_entry);
        let chosen = self.chosen_default().cloned();
        chosen.or_else(first).unwrap_or_else(|| ModelLock::new(demo::ID, demo::MODELS[0].name))
    }
}

//! Provider connections: list, add, change, remove and test. A stored change takes effect in the registry at once;
//! connections from the environment or the configuration file are listed but cannot be changed here.

pub(crate) mod connection;
pub(crate) mod connection_facts;
mod demo_choice;
pub mod draft;
pub mod headers;
mod local_servers;
pub mod secrets;
pub mod templates;
pub mod view;

use std::sync::Arc;

use serde_json::json;

use crate::accounts::Actor;
use crate::configuration_audit::configuration_changes;
use crate::idempotency::Created;
use crate::{Service, ServiceError};
use turnleaf_domain::{AuditVerb, InvalidField, MessageCode, ModelLock, ProviderId, UserId};
use turnleaf_platform::endpoint::{ProviderEndpoint, RetryPolicy};
use turnleaf_platform::ids;
use turnleaf_providers::registry::{ProviderCheck, ProviderOrigin, ProviderScope};
use turnleaf_store::StoreError;
use turnleaf_store::accounts::{settings, users};
use turnleaf_store::providers::{self, ProviderSettings, StoredProvider};

pub use connection::complete_address;
use connection_facts::ConnectionFacts;
pub use draft::{NewProvider, ProviderChange};
pub use secrets::Sealer;
pub use templates::{OTHER_TEMPLATE, ProviderTemplate, provider_templates};
pub use view::{ModelView, ProviderKeyView, ProviderStatusView, ProviderView};

/// The setting that holds the default model of new chats.
const DEFAULT_MODEL: &str = "default_model";

/// A changed connection, with notices for its owner.
#[derive(Debug)]
pub struct ChangedProvider {
    pub provider: ProviderView,
    /// Sentences, such as that the key was cleared.
    pub notices: Vec<String>,
}

impl Service {
    /// Loads the stored connections and the default models of all users into the registry when the server starts.
    pub async fn load_all_providers(&self) -> Result<(), ServiceError> {
        for user in users::list(self.db()).await? {
            self.load_providers(user).await?;
        }
        Ok(())
    }

    /// Loads the stored connections of an owner and the default model into the registry. Connections whose key cannot
    /// be decrypted stay out and are shown with that status.
    pub async fn load_providers(&self, owner: UserId) -> Result<(), ServiceError> {
        for row in providers::list(self.db(), owner).await? {
            let published = match self.sealer().open(&row) {
                Err(error) => {
                    tracing::warn!(provider = row.slug, %error, "a stored API key cannot be decrypted");
                    self.publish(&row)
                }
                Ok(_) if self.is_configured(&row.slug) => {
                    tracing::warn!(
                        provider = row.slug,
                        "a provider is both stored and set by the environment; the environment wins"
                    );
                    Ok(())
                }
                Ok(_) => self.publish(&row),
            };
            if let Err(error) = published {
                tracing::error!(provider = row.slug, %error, "a stored provider cannot be used and is skipped");
            }
        }
        self.load_accepted_servers(owner).await?;
        let default = settings::find(self.db(), owner, DEFAULT_MODEL).await?;
        self.supervisor().registry().set_default(owner, default.and_then(|lock| serde_json::from_value(lock).ok()));
        Ok(())
    }

    /// Replaces the connections of the configuration. Stored ones that they now hide are dropped from the registry,
    /// and those that they no longer hide are published again.
    pub async fn reload_providers(&self, configured: Vec<ProviderEndpoint>) -> Result<(), ServiceError> {
        let _one_at_a_time = self.changing_providers().await;
        let registry = self.supervisor().registry();
        let before = registry.configured_endpoints();
        let (old, new): (Vec<&ProviderEndpoint>, Vec<&ProviderEndpoint>) =
            (before.iter().map(Arc::as_ref).collect(), configured.iter().collect());
        let verbs = [AuditVerb::AddProvider, AuditVerb::ChangeProvider, AuditVerb::RemoveProvider];
        let changes = configuration_changes(verbs, (&old, &new), |one| &one.id, ProviderEndpoint::is_same_as);
        registry.set_configured(configured);
        self.record_configuration(changes).await;
        self.load_all_providers().await
    }

    /// Returns all connections: configured ones, then stored ones, then local servers found on this machine. Only the
    /// owner of the server sees parts of configured keys.
    pub async fn providers(&self, owner: UserId) -> Result<Vec<ProviderView>, ServiceError> {
        let keeps_keys = owner == self.local_owner();
        let registry = self.supervisor().registry();
        let (known, default) = (registry.known_endpoints(owner), registry.default_lock(owner));
        let of_origin = |origin: ProviderOrigin| {
            known
                .iter()
                .filter(move |known| known.origin == origin)
                .map(|known| view::known_provider_view(known, &default))
                .map(move |shown| if keeps_keys { shown } else { shown.without_key_details() })
        };
        let rows = providers::list(self.db(), owner).await?;
        let stored = rows.iter().filter(|row| !self.is_configured(&row.slug)).map(|row| {
            let known =
                known.iter().find(|known| known.origin == ProviderOrigin::Stored && known.endpoint.id == row.slug);
            view::stored_provider_view(row, known, self.sealer().open(row).err(), &default)
        });
        Ok(of_origin(ProviderOrigin::Configured).chain(stored).chain(of_origin(ProviderOrigin::FoundLocally)).collect())
    }

    /// Returns the connection with this id.
    pub async fn provider(&self, owner: UserId, id: &str) -> Result<ProviderView, ServiceError> {
        self.providers(owner).await?.into_iter().find(|provider| provider.id == id).ok_or(ServiceError::NotFound)
    }

    /// Stores a new connection, which can be chosen at once.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately; `InvalidField`.
    pub async fn add_provider(
        &self,
        owner: UserId,
        actor: Actor,
        new: NewProvider,
    ) -> Result<Created<ChangedProvider>, ServiceError> {
        self.require_recent_password(actor).await?;
        let _one_at_a_time = self.changing_providers().await;
        let id: ProviderId = ids::mint();
        let mut tx = self.db().begin().await?;
        if let Some(made) =
            self.claim_request(&mut tx, owner, new.client_request_id.as_deref(), new.request_fingerprint(), id).await?
        {
            tx.rollback().await?;
            let row = providers::list(self.db(), owner).await?.into_iter().find(|row| row.id.to_string() == made);
            let provider = self.provider(owner, &row.ok_or(ServiceError::NotFound)?.slug).await?;
            return Ok(Created::existing(ChangedProvider { provider, notices: Vec::new() }));
        }
        // A connection may take the id of a local server that it replaces, so that chats with that provider continue.
        let found = self.supervisor().registry().local_servers(owner);
        let ids = self.providers(owner).await?.into_iter().map(|provider| provider.id);
        let taken: Vec<String> = ids.filter(|id| !found.iter().any(|found| found.id == *id)).collect();
        let slug = new.slug(&taken)?;
        if let Some(known) = self.supervisor().registry().configured_endpoint(&slug) {
            let set_by = known.set_by.as_deref().unwrap_or_default();
            return Err(
                InvalidField::new("id", MessageCode::ProviderSetBy.with("id", slug).with("set_by", set_by)).into()
            );
        }
        let now = self.clock().now();
        let mut row = StoredProvider {
            id,
            owner_id: owner,
            slug,
            name: String::new(),
            kind: String::new(),
            base_url: String::new(),
            sealed_key: None,
            settings: ProviderSettings::default(),
            is_enabled: true,
            created_at: now,
            updated_at: now,
        };
        new.fields.check_complete()?;
        let notices = draft::apply_change(&mut row, new.fields, self.sealer())?;
        self.check_local_network(owner, row.settings.local_network).await?;
        match providers::insert(&mut tx, &row).await {
            Err(StoreError::NotUnique) => {
                return Err(InvalidField::new("id", MessageCode::ProviderExists.with("id", row.slug)).into());
            }
            done => done?,
        }
        self.record(&mut tx, actor, AuditVerb::AddProvider, &ConnectionFacts::from(&row).added()).await?;
        tx.commit().await?;
        self.publish(&row)?;
        Ok(Created::new(ChangedProvider { provider: self.provider(owner, &row.slug).await?, notices }))
    }

    /// Changes the named fields and keeps the rest. A new base URL clears the key and the extra headers unless the
    /// change brings new ones.
    ///
    /// # Errors
    /// `password_needed` for an address or a secret in a session whose password was not entered lately; `provider_locked`;
    /// `InvalidField`.
    pub async fn change_provider(
        &self,
        owner: UserId,
        actor: Actor,
        (id, change): (&str, ProviderChange),
    ) -> Result<ChangedProvider, ServiceError> {
        if change.touches_secrets() {
            self.require_recent_password(actor).await?;
        }
        let _one_at_a_time = self.changing_providers().await;
        let mut row = self.own_row(owner, id).await?;
        let (before, given) = (ConnectionFacts::from(&row), change.given_secrets());
        let notices = draft::apply_change(&mut row, change, self.sealer())?;
        self.check_local_network(owner, row.settings.local_network).await?;
        row.updated_at = self.clock().now();
        let mut tx = self.db().begin().await?;
        if !providers::update(&mut tx, &row).await? {
            return Err(ServiceError::NotFound);
        }
        if let Some(target) = ConnectionFacts::from(&row).changed(&before, &given) {
            self.record(&mut tx, actor, AuditVerb::ChangeProvider, &target).await?;
        }
        tx.commit().await?;
        self.publish(&row)?;
        Ok(ChangedProvider { provider: self.provider(owner, id).await?, notices })
    }

    /// Removes a connection and its key. Branches keep their lock; their pages show that the model is not available.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately; `provider_locked`.
    pub async fn remove_provider(&self, owner: UserId, actor: Actor, id: &str) -> Result<(), ServiceError> {
        self.require_recent_password(actor).await?;
        self.drop_provider(owner, Some(actor), id).await
    }

    /// Removes a connection. Without an actor, which is when its account is deleted, the audit log does not name it.
    pub(crate) async fn drop_provider(
        &self,
        owner: UserId,
        actor: Option<Actor>,
        id: &str,
    ) -> Result<(), ServiceError> {
        let _one_at_a_time = self.changing_providers().await;
        let row = self.own_row(owner, id).await?;
        let mut tx = self.db().begin().await?;
        if !providers::delete(&mut tx, owner, row.id).await? {
            return Err(ServiceError::NotFound);
        }
        if let Some(actor) = actor {
            self.record(&mut tx, actor, AuditVerb::RemoveProvider, id).await?;
        }
        tx.commit().await?;
        self.supervisor().registry().remove(ProviderScope::User(owner), id);
        Ok(())
    }

    /// Sends a test request to a provider and returns the outcome.
    pub async fn test_provider(&self, owner: UserId, id: &str) -> Result<ProviderCheck, ServiceError> {
        let provider = self.provider(owner, id).await?;
        if let Some(check) = self.supervisor().registry().check(owner, id).await {
            return Ok(check);
        }
        Err(ServiceError::conflict("provider_off", provider.status.message()))
    }

    /// Tests a provider in the background, so that its models are known soon without a request waiting.
    pub fn test_provider_soon(&self, owner: UserId, id: &str) {
        let (service, id) = (self.clone(), id.to_owned());
        tokio::spawn(async move { service.test_provider(owner, &id).await });
    }

    /// Sets the default model of new chats; `None` returns to the first provider's default.
    pub async fn set_default_model(&self, owner: UserId, lock: Option<ModelLock>) -> Result<(), ServiceError> {
        let registry = self.supervisor().registry();
        if let Some(lock) = &lock {
            if registry.find(owner, &lock.provider).is_none() {
                let reason = MessageCode::ProviderNotConnected.with("provider", &lock.provider);
                return Err(InvalidField::new("provider", reason).into());
            }
            draft::check_model("model", &lock.model)?;
            if !registry.is_granted(owner, &lock.provider, Some(&lock.model)) {
                return Err(InvalidField::new("model", MessageCode::ModelNotGranted.with("model", &lock.model)).into());
            }
        }
        let mut tx = self.db().begin().await?;
        settings::put(&mut tx, owner, DEFAULT_MODEL, &json!(lock), self.clock().now()).await?;
        tx.commit().await?;
        registry.set_default(owner, lock);
        Ok(())
    }

    /// Returns a stored row that its owner may change.
    async fn own_row(&self, owner: UserId, id: &str) -> Result<StoredProvider, ServiceError> {
        let registry = self.supervisor().registry();
        if let Some(known) = registry.configured_endpoint(id) {
            let set_by = known.set_by.as_deref().unwrap_or("the configuration");
            let message = MessageCode::ProviderLocked.with("name", &known.name).with("set_by", set_by);
            return Err(ServiceError::conflict("provider_locked", message));
        }
        if let Some(row) = providers::find(self.db(), owner, id).await? {
            return Ok(row);
        }
        if let Some(found) = registry.local_servers(owner).into_iter().find(|found| found.id == id) {
            let message = MessageCode::ProviderFound.with("name", found.name);
            return Err(ServiceError::conflict("provider_locked", message));
        }
        Err(ServiceError::NotFound)
    }

    /// Returns true if the configuration has a provider with this id, which is then reserved for all users.
    fn is_configured(&self, id: &str) -> bool {
        self.supervisor().registry().configured_endpoint(id).is_some()
    }

    /// Updates the registry from a row.
    fn publish(&self, row: &StoredProvider) -> Result<(), ServiceError> {
        let opened = self.sealer().open(row);
        let is_used = row.is_enabled && opened.is_ok();
        let secrets = opened.unwrap_or_default();
        let endpoint = ProviderEndpoint {
            id: row.slug.clone(),
            name: row.name.clone(),
            api: draft::parse_api(&row.kind)?,
            dialect: row.settings.dialect.clone(),
            base_url: row.base_url.clone(),
            api_key: secrets.key,
            headers: secrets.headers,
            models: row.settings.models.clone(),
            default_model: row.settings.default_model.clone(),
            hidden_models: row.settings.hidden_models.clone(),
            local_network: row.settings.local_network,
            keeps_responses: row.settings.keeps_responses,
            retry_policy: RetryPolicy::new(row.settings.retries, row.settings.silence_seconds)?,
            set_by: None,
        };
        let (registry, scope) = (self.supervisor().registry(), ProviderScope::User(row.owner_id));
        if is_used {
            registry.put(scope, endpoint)
        } else {
            registry.suspend(scope, &endpoint)
        }
        Ok(())
    }
}

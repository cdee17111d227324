//! The search engine of a person: chosen in Settings, tested, and replaced by the one of the configuration. It is a
//! setting with an encrypted key, which is bound to the owner and to the address that may receive it.

use chrono::{DateTime, Utc};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use crate::accounts::Actor;
use crate::coded_sentence::CodedSentence;
use crate::configuration_audit::configuration_changes;
use crate::providers::ProviderKeyView;
use crate::providers::connection::check_address;
use crate::providers::draft::check_key;
use crate::providers::secrets::key_ending;
use crate::tools::toolbox::search_engines::SearchCheck;
use crate::{Service, ServiceError};
use turnleaf_domain::{AuditVerb, CodedMessage, InvalidField, MessageCode, UserId, limits};
use turnleaf_platform::base_url;
use turnleaf_platform::sealing::{SecretBinding, UnsealError};
use turnleaf_platform::search_engine::{SearchEngine, SearchEngineKind};
use turnleaf_store::accounts::settings;
use turnleaf_tools::built_in::{self, web_search};
use turnleaf_tools::oauth::metadata::host_name;

/// The setting that holds the engine of a person.
const SETTING: &str = "web_search";
/// The query of a test.
const TEST_QUERY: &str = "wikipedia";

/// An engine as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredEngine {
    engine: String,
    url: String,
    #[serde(default)]
    local_network: bool,
    /// The ending of the key, by which its owner recognizes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_ends_in: Option<String>,
    /// The key, encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealed_key: Option<String>,
}

/// The engine that a person chooses.
#[derive(Debug, Clone, Default)]
pub struct WebSearchSettings {
    /// The name of the engine.
    pub engine: String,
    /// `None` is the address of the service.
    pub url: Option<String>,
    /// `None` keeps the stored key if engine and address stay the same.
    pub key: Option<SecretString>,
    pub local_network: bool,
}

/// The web search of a person: everything but the key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct WebSearchView {
    /// `searxng`, `brave` or `tavily`; `null` if none is set up.
    pub engine: Option<&'static str>,
    /// The display name of the engine.
    pub name: Option<&'static str>,
    pub url: Option<String>,
    /// True if `url` is the address of the service itself, which a form need not name.
    #[serde(skip)]
    pub has_usual_address: bool,
    pub key: ProviderKeyView,
    /// True allows addresses of the local network.
    pub local_network: bool,
    /// True when the configuration sets the engine; it can only be changed there.
    pub locked: bool,
    /// The place of that configuration.
    pub set_by: Option<String>,
    pub status: WebSearchStatus,
}

/// The status of the web search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct WebSearchStatus {
    /// `off`, `not_tested`, `working`, `failing` or `key_unreadable`.
    pub state: &'static str,
    #[serde(flatten)]
    pub message: CodedSentence,
    pub checked_at: Option<DateTime<Utc>>,
    /// The number of results of the test.
    pub results: Option<usize>,
}

impl WebSearchView {
    /// Creates the view of an engine that its owner chose.
    fn new(kind: SearchEngineKind, url: String, key: ProviderKeyView, status: WebSearchStatus) -> Self {
        Self {
            engine: Some(kind.as_str()),
            name: Some(kind.title()),
            has_usual_address: kind.usual_address() == Some(&url),
            url: Some(url),
            key,
            local_network: false,
            locked: false,
            set_by: None,
            status,
        }
    }

    fn not_set_up() -> Self {
        Self {
            engine: None,
            name: None,
            url: None,
            has_usual_address: false,
            key: ProviderKeyView { set: false, ends_in: None },
            local_network: false,
            locked: false,
            set_by: None,
            status: WebSearchStatus::new("off", MessageCode::SearchNotSetUp),
        }
    }
}

impl WebSearchStatus {
    fn new(state: &'static str, message: impl Into<CodedMessage>) -> Self {
        Self { state, message: CodedSentence::new(message), checked_at: None, results: None }
    }

    /// Returns the sentence with its code.
    pub fn message(&self) -> CodedMessage {
        self.message.message()
    }

    fn from_check(check: SearchCheck) -> Self {
        let (state, message) = match &check.outcome {
            Ok(0) => ("working", MessageCode::SearchFoundNothing.into()),
            Ok(results) => ("working", MessageCode::SearchWorks.with("results", results)),
            Err(reason) => ("failing", reason.clone()),
        };
        Self { checked_at: Some(check.at), results: check.outcome.ok(), ..Self::new(state, message) }
    }
}

impl Service {
    /// Loads the engine that a person chose when the server starts. One whose key cannot be decrypted stays out and is
    /// shown with that status.
    pub(crate) async fn load_web_search(&self, owner: UserId) -> Result<(), ServiceError> {
        let configured = self.tools().search_engines().configured();
        self.remember_search_key(configured.as_ref());
        let Some(stored) = self.stored_engine(owner).await? else { return Ok(()) };
        match self.open_engine(owner, &stored) {
            Ok(engine) => self.publish_engine(owner, Some(engine)),
            Err(error) => tracing::warn!(%error, "the stored key of the web search cannot be decrypted"),
        }
        Ok(())
    }

    /// Replaces the engine of the configuration.
    pub async fn reload_web_search(&self, configured: Option<SearchEngine>) {
        let _one_at_a_time = self.changing_providers().await;
        let before = self.tools().search_engines().configured();
        let (old, new): (Vec<&SearchEngine>, Vec<&SearchEngine>) =
            (before.iter().collect(), configured.iter().collect());
        let verbs = [AuditVerb::SetWebSearch, AuditVerb::SetWebSearch, AuditVerb::RemoveWebSearch];
        let changes =
            configuration_changes(verbs, (&old, &new), |engine| engine.kind.as_str(), SearchEngine::is_same_as);
        self.record_configuration(changes).await;
        self.remember_search_key(configured.as_ref());
        self.tools().search_engines().set_configured(configured);
    }

    /// Returns the web search of a person.
    pub async fn web_search(&self, owner: UserId) -> Result<WebSearchView, ServiceError> {
        let engines = self.tools().search_engines();
        let checked = engines.last_check(owner).map(WebSearchStatus::from_check);
        let tested = || checked.unwrap_or_else(|| WebSearchStatus::new("not_tested", MessageCode::NotTested));
        if let Some(engine) = engines.configured() {
            let shown_key = engine.api_key.as_ref().filter(|_| owner == self.local_owner());
            let ends_in = shown_key.and_then(|key| key_ending(key.expose_secret()));
            let key = ProviderKeyView { set: engine.api_key.is_some(), ends_in };
            let local_network = engine.local_network;
            let shown = WebSearchView::new(engine.kind, engine.base_url, key, tested());
            return Ok(WebSearchView { local_network, locked: true, set_by: engine.set_by, ..shown });
        }
        let stored = self.stored_engine(owner).await?;
        let kind = stored.as_ref().and_then(|stored| SearchEngineKind::from_name(&stored.engine));
        let Some((stored, kind)) = stored.zip(kind) else { return Ok(WebSearchView::not_set_up()) };
        let status = match self.open_engine(owner, &stored) {
            Ok(_) => tested(),
            Err(error) => WebSearchStatus::new("key_unreadable", MessageCode::KeyUnreadable.with("reason", error)),
        };
        let key = ProviderKeyView { set: stored.sealed_key.is_some(), ends_in: stored.key_ends_in };
        let shown = WebSearchView::new(kind, stored.url, key, status);
        Ok(WebSearchView { local_network: stored.local_network, ..shown })
    }

    /// Chooses an engine. The first one also turns the search on in new chats.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately; `search_locked` if the configuration sets the
    /// engine; `InvalidField` for an unknown engine, an invalid address, and a key that is missing, superfluous or cannot
    /// be sent.
    pub async fn set_web_search(
        &self,
        owner: UserId,
        actor: Actor,
        chosen: WebSearchSettings,
    ) -> Result<WebSearchView, ServiceError> {
        self.require_recent_password(actor).await?;
        let _one_at_a_time = self.changing_providers().await;
        self.refuse_locked_search()?;
        let before = self.stored_engine(owner).await?;
        let gives_key = chosen.key.is_some();
        let engine = self.checked_engine(owner, chosen, before.as_ref())?;
        self.check_local_network(owner, engine.local_network).await?;
        let stored = self.seal_engine(owner, &engine);
        let mut tx = self.db().begin().await?;
        settings::put(&mut tx, owner, SETTING, &json!(stored), self.clock().now()).await?;
        if before.is_none() {
            self.add_default_tool(&mut tx, owner, built_in::WEB_SEARCH_TOOL).await?;
        }
        let host = Url::parse(&engine.base_url).as_ref().map(host_name).unwrap_or_default();
        let target = format!("{}: {host}{}", engine.kind.as_str(), if gives_key { ", key" } else { "" });
        self.record(&mut tx, actor, AuditVerb::SetWebSearch, &target).await?;
        tx.commit().await?;
        self.publish_engine(owner, Some(engine));
        self.web_search(owner).await
    }

    /// Removes the engine with its key.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately; `search_locked`.
    pub async fn remove_web_search(&self, owner: UserId, actor: Actor) -> Result<(), ServiceError> {
        self.require_recent_password(actor).await?;
        self.drop_web_search(owner, Some(actor)).await
    }

    /// Removes the engine. Without an actor, which is when its account is deleted, the audit log does not name it.
    pub(crate) async fn drop_web_search(&self, owner: UserId, actor: Option<Actor>) -> Result<(), ServiceError> {
        let _one_at_a_time = self.changing_providers().await;
        self.refuse_locked_search()?;
        let mut tx = self.db().begin().await?;
        settings::put(&mut tx, owner, SETTING, &Value::Null, self.clock().now()).await?;
        if let Some(actor) = actor {
            self.record(&mut tx, actor, AuditVerb::RemoveWebSearch, "").await?;
        }
        tx.commit().await?;
        self.publish_engine(owner, None);
        Ok(())
    }

    /// Asks the engine a fixed query, and returns the web search with the result in its status.
    pub async fn test_web_search(&self, owner: UserId) -> Result<WebSearchView, ServiceError> {
        let engines = self.tools().search_engines();
        let Some((engine, revision)) = engines.find_to_test(owner) else {
            let status = self.web_search(owner).await?.status;
            return Err(ServiceError::conflict("search_not_set_up", status.message()));
        };
        let query = web_search::WebQuery { text: TEST_QUERY.to_owned(), most: limits::WEB_SEARCH_RESULTS, since: None };
        let outcome = web_search::search(self.tools().search_client(), &engine, &query).await;
        let check = SearchCheck { at: self.clock().now(), outcome: outcome.map(|pages| pages.len()) };
        engines.record_check(owner, revision, check);
        self.web_search(owner).await
    }

    fn refuse_locked_search(&self) -> Result<(), ServiceError> {
        match self.tools().search_engines().configured() {
            Some(engine) => {
                let set_by = engine.set_by.unwrap_or_default();
                let message = MessageCode::ProviderLocked.with("name", engine.kind.title()).with("set_by", set_by);
                Err(ServiceError::conflict("search_locked", message))
            }
            None => Ok(()),
        }
    }

    /// Returns the engine that is stored. One that cannot be read counts as none.
    async fn stored_engine(&self, owner: UserId) -> Result<Option<StoredEngine>, ServiceError> {
        let stored = settings::find(self.db(), owner, SETTING).await?;
        Ok(stored.and_then(|stored| serde_json::from_value(stored).ok()))
    }

    /// Makes an engine available to its owner, and its key known to the redaction of everything that is stored.
    fn publish_engine(&self, owner: UserId, engine: Option<SearchEngine>) {
        self.remember_search_key(engine.as_ref());
        self.tools().search_engines().set_own(owner, engine);
    }

    fn remember_search_key(&self, engine: Option<&SearchEngine>) {
        let key = engine.and_then(|engine| engine.api_key.clone());
        self.supervisor().registry().remember_credentials(key);
    }

    /// Validates a choice; `before` is the engine that is stored.
    fn checked_engine(
        &self,
        owner: UserId,
        chosen: WebSearchSettings,
        before: Option<&StoredEngine>,
    ) -> Result<SearchEngine, InvalidField> {
        let unknown = || InvalidField::new("engine", MessageCode::NotOneOf.with("choices", SearchEngineKind::names()));
        let kind = SearchEngineKind::from_name(&chosen.engine).ok_or_else(unknown)?;
        let url = chosen.url.as_deref().map(|url| kind.without_path(url)).filter(|url| !url.is_empty());
        let url = url.or(kind.usual_address()).ok_or_else(|| InvalidField::new("url", MessageCode::IsRequired))?;
        let base_url = base_url::check(url).map_err(|reason| InvalidField::new("url", reason))?;
        if base_url.len() > limits::ADDRESS_CHARS {
            return Err(InvalidField::too_long("url", limits::ADDRESS_CHARS));
        }
        check_address("url", &base_url, chosen.local_network)?;
        let api_key = match chosen.key {
            Some(_) if !kind.needs_key() => {
                return Err(InvalidField::new("key", MessageCode::KeySuperfluous.with("engine", kind.title())));
            }
            Some(key) => Some(check_key(key)?),
            None if kind.needs_key() => {
                // A key is bound to its address; another one must not get it.
                let is_same = |stored: &&StoredEngine| {
                    stored.engine == kind.as_str()
                        && base_url::canonicalize(&stored.url) == base_url::canonicalize(&base_url)
                };
                let kept = before.filter(is_same).and_then(|stored| self.open_engine(owner, stored).ok()?.api_key);
                Some(kept.ok_or_else(|| InvalidField::new("key", MessageCode::IsRequired))?)
            }
            None => None,
        };
        Ok(SearchEngine { kind, base_url, api_key, local_network: chosen.local_network, set_by: None })
    }

    fn seal_engine(&self, owner: UserId, engine: &SearchEngine) -> StoredEngine {
        let address = base_url::canonicalize(&engine.base_url);
        let seal = |key: &SecretString| self.sealer().keyring().seal(key_place(owner, &address), key);
        StoredEngine {
            engine: engine.kind.as_str().to_owned(),
            url: engine.base_url.clone(),
            local_network: engine.local_network,
            key_ends_in: engine.api_key.as_ref().and_then(|key| key_ending(key.expose_secret())),
            sealed_key: engine.api_key.as_ref().map(seal),
        }
    }

    /// Decrypts a stored engine.
    fn open_engine(&self, owner: UserId, stored: &StoredEngine) -> Result<SearchEngine, UnsealError> {
        let address = base_url::canonicalize(&stored.url);
        let open = |sealed: &String| self.sealer().keyring().unseal(key_place(owner, &address), sealed);
        Ok(SearchEngine {
            kind: SearchEngineKind::from_name(&stored.engine).ok_or(UnsealError::Changed)?,
            base_url: stored.url.clone(),
            api_key: stored.sealed_key.as_ref().map(open).transpose()?,
            local_network: stored.local_network,
            set_by: None,
        })
    }
}

fn key_place(owner: UserId, address: &str) -> SecretBinding<'_> {
    SecretBinding { table: "settings", column: SETTING, row: owner.uuid(), bound_to: address }
}

//! The real toolbox: Turnleaf's own tools and those of servers as one. It decides whether a call may run, in an order that
//! never changes, and hands it on to whoever runs it.

mod answers;
mod exposure;
mod gate;
mod keeping;
mod library;
pub mod selection;
pub mod trust;

use std::sync::{Arc, PoisonError, RwLock};

use futures::future::BoxFuture;
use secrecy::ExposeSecret;
use serde_json::Value;

pub use selection::{LeftOut, Selection};

use self::library::Shelves;
use turnleaf_convert::Reader;
use turnleaf_domain::UserId;
use turnleaf_domain::tool::{OfferedTool, ToolChoice, ToolOrigin};
use turnleaf_platform::config::tool_servers::{Reach, ToolServer};
use turnleaf_providers::fetch::Fetcher;
use turnleaf_store::tool_listings::{self, ListedTool, Listing};
use turnleaf_store::{Db, StoreError, tool_servers};
use turnleaf_tools::built_in::{self, BuiltInTools};
use turnleaf_tools::mcp::{ServerConfig, ServerKey, Servers, State, Transport};
use turnleaf_tools::result::{redrawn, said};
use turnleaf_tools::toolbox::{Described, Fate, Gate, NOT_AVAILABLE, Running, ToolCall, Toolbox};

struct Bench {
    db: Db,
    built_in: BuiltInTools,
    servers: Servers,
    configured: RwLock<Arc<Vec<ToolServer>>>,
}

/// All tools of this server. Cheap to clone.
#[derive(Clone)]
pub struct Tools(Arc<Bench>);

/// A server with what it offers, as far as it is known.
#[derive(Debug, Clone)]
pub struct Offering {
    pub server: String,
    pub name: String,
    pub tools: Vec<Described>,
}

impl Tools {
    /// With these servers of the configuration; [`Service::load_tools`](crate::Service::load_tools) begins them. `reader`
    /// reads what tools bring.
    pub fn new(db: Db, configured: Vec<ToolServer>, reader: Arc<dyn Reader>) -> Self {
        Self::with_fetcher(db, configured, reader, Fetcher::of_system())
    }

    /// The same with pages that come through this.
    pub fn with_fetcher(db: Db, configured: Vec<ToolServer>, reader: Arc<dyn Reader>, fetcher: Fetcher) -> Self {
        let library = Arc::new(Shelves(db.clone()));
        let built_in = BuiltInTools { library, reader, fetcher };
        let configured = RwLock::new(Arc::new(configured));
        Self(Arc::new(Bench { db, built_in, servers: Servers::new(), configured }))
    }

    pub(crate) fn servers(&self) -> &Servers {
        &self.0.servers
    }

    pub(crate) fn configured(&self) -> Arc<Vec<ToolServer>> {
        Arc::clone(&self.0.configured.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The server of this id that the configuration sets.
    pub(crate) fn configured_server(&self, id: &str) -> Option<ToolServer> {
        self.configured().iter().find(|server| server.id == id).cloned()
    }

    /// Whether there is a server of this id, though it may be off.
    pub(crate) async fn has_server(&self, owner: UserId, id: &str) -> Result<bool, StoreError> {
        Ok(self.configured_server(id).is_some() || tool_servers::find(&self.0.db, owner, id).await?.is_some())
    }

    /// What a server is run under: one of the configuration is everybody's.
    pub(crate) fn key(&self, owner: UserId, server: &str) -> ServerKey {
        let owner = if self.configured_server(server).is_some() { None } else { Some(owner) };
        ServerKey { owner, server: server.to_owned() }
    }

    /// Begins the servers of the configuration. Nobody waits for them.
    pub(crate) fn begin_configured(&self) {
        for server in self.configured().iter() {
            self.0.servers.put(configured_key(server), server_config(server));
        }
    }

    /// The credentials that the servers of the configuration are reached with.
    pub(crate) fn configured_credentials(&self) -> Vec<secrecy::SecretString> {
        self.configured().iter().flat_map(|server| server_config(server).credentials()).collect()
    }

    /// Takes other servers of the configuration: new ones begin, changed ones begin anew, and those that are gone end.
    /// Calls that run end first.
    pub(crate) fn set_configured(&self, configured: Vec<ToolServer>) {
        let configured = Arc::new(configured);
        let before = {
            let mut present = self.0.configured.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *present, configured.clone())
        };
        for server in before.iter().filter(|old| !configured.iter().any(|new| new.id == old.id)) {
            self.0.servers.retire(&configured_key(server));
        }
        for server in configured.iter() {
            // One that is trusted otherwise, and is reached as before, goes on.
            if !before.iter().any(|old| old.id == server.id && old.is_reached_as(server)) {
                self.0.servers.replace(configured_key(server), server_config(server));
            }
        }
    }

    /// Every server that is on, by id, with what it offers now, or offered last where it does not answer.
    pub(crate) async fn offerings(&self, owner: UserId) -> Result<Vec<Offering>, StoreError> {
        let (stored, listings) =
            tokio::try_join!(tool_servers::list(&self.0.db, owner), tool_listings::all(&self.0.db, owner))?;
        let configured = self.configured();
        let configured = configured.iter().map(|server| (server.id.clone(), server.name.clone()));
        let stored = stored.into_iter().filter(|row| row.is_enabled && self.configured_server(&row.slug).is_none());
        let mut named: Vec<(String, String)> = configured.chain(stored.map(|row| (row.slug, row.name))).collect();
        named.sort();
        let offering = |(server, name): (String, String)| {
            let tools = self.tools_of(owner, &server, &listings);
            Offering { server, name, tools }
        };
        Ok(named.into_iter().map(offering).collect())
    }

    /// What a server offers now, or offered last.
    pub(crate) fn tools_of(&self, owner: UserId, server: &str, listings: &[Listing]) -> Vec<Described> {
        let status = self.0.servers.status(&self.key(owner, server));
        match status {
            Some(status) if status.state == State::Ready => status.tools,
            _ => {
                let listing = listings.iter().find(|listing| listing.server == server);
                listing.map(|listing| listing.tools.iter().map(described).collect()).unwrap_or_default()
            }
        }
    }

    /// One tool as its server, or Turnleaf, describes it now.
    pub(crate) async fn find(&self, owner: UserId, origin: &ToolOrigin) -> Result<Option<Described>, StoreError> {
        let (server, tool) = match origin {
            ToolOrigin::Client | ToolOrigin::Provider { .. } => return Ok(None),
            ToolOrigin::BuiltIn { tool } => {
                return Ok(built_in::described().into_iter().find(|known| known.tool == *tool));
            }
            ToolOrigin::Server { server, tool } => (server, tool),
        };
        if self.configured_server(server).is_none() {
            let row = tool_servers::find(&self.0.db, owner, server).await?;
            if !row.is_some_and(|row| row.is_enabled) {
                return Ok(None);
            }
        }
        let listings = tool_listings::all(&self.0.db, owner).await?;
        Ok(self.tools_of(owner, server, &listings).into_iter().find(|known| known.tool == *tool))
    }

    /// Hands a call on to whoever runs it.
    fn begin(&self, call: ToolCall) -> Running {
        let unavailable = || Running::over(said(Fate::Unavailable, NOT_AVAILABLE));
        match call.origin {
            ToolOrigin::BuiltIn { tool } => {
                self.0.built_in.run(&tool, call.arguments, call.caller).unwrap_or_else(unavailable)
            }
            ToolOrigin::Server { server, tool } => {
                let arguments = match call.arguments {
                    Value::Object(arguments) => arguments,
                    _ => return Running::over(said(Fate::Failed, "the arguments must be an object")),
                };
                let key = self.key(call.caller.owner, &server);
                self.0.servers.call(&key, &tool, arguments, call.caller)
            }
            ToolOrigin::Client | ToolOrigin::Provider { .. } => unavailable(),
        }
    }
}

fn configured_key(server: &ToolServer) -> ServerKey {
    ServerKey { owner: None, server: server.id.clone() }
}

fn server_config(server: &ToolServer) -> ServerConfig {
    let transport = match &server.reach {
        Reach::Program { argv, env, folder } => {
            let plain =
                |(name, value): (&String, &secrecy::SecretString)| (name.clone(), value.expose_secret().to_owned());
            Transport::Program { argv: argv.clone(), env: env.iter().map(plain).collect(), folder: folder.clone() }
        }
        Reach::Http { url, headers } => {
            Transport::Http { url: url.clone(), headers: headers.clone(), local_network: true }
        }
    };
    ServerConfig { name: server.name.clone(), transport, idle: server.idle, total: server.total }
}

/// A tool of a listing as its server described it then.
fn described(listed: &ListedTool) -> Described {
    Described {
        tool: listed.tool.clone(),
        title: listed.title.clone(),
        description: listed.description.clone(),
        schema: listed.schema.clone(),
        is_harmless: false,
        hints: listed.hints.clone(),
    }
}

/// The same the other way.
fn listed(tool: &Described) -> ListedTool {
    ListedTool {
        tool: tool.tool.clone(),
        title: tool.title.clone(),
        description: tool.description.clone(),
        schema: tool.schema.clone(),
        hints: tool.hints.clone(),
    }
}

impl Toolbox for Tools {
    fn gate<'a>(&'a self, call: &'a ToolCall, granted: Option<&'a str>) -> BoxFuture<'a, Gate> {
        Box::pin(async move {
            match self.decide(call, granted).await {
                Ok(gate) => gate,
                Err(error) => {
                    tracing::error!(turn = %call.caller.turn, %error, "whether a tool may run cannot be read");
                    Gate::Refuse(NOT_AVAILABLE.into())
                }
            }
        })
    }

    fn run(&self, call: ToolCall) -> Running {
        let reader = Arc::clone(&self.0.built_in.reader);
        let Running { outcome, progress } = self.begin(call);
        // Nothing of a result is stored or shown before its pictures are drawn again.
        Running { outcome: Box::pin(async move { redrawn(&*reader, outcome.await).await }), progress }
    }

    fn offered<'a>(&'a self, owner: UserId, choice: &'a ToolChoice) -> BoxFuture<'a, Vec<OfferedTool>> {
        Box::pin(async move {
            match self.select(owner, choice).await {
                Ok(selection) => selection.offered,
                Err(error) => {
                    tracing::error!(%error, "which tools there are cannot be read; none are offered");
                    Vec::new()
                }
            }
        })
    }

    fn shut_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.0.servers.shut_down())
    }
}

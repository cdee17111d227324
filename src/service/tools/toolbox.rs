//! The production toolbox: built-in tools and those of tool servers. Its gate decides, in a fixed order, whether a
//! call may run, and dispatches the call.

mod configured_servers;
mod exposure;
mod gate;
mod grants;
mod instructions;
mod library;
mod listing_storage;
pub(crate) mod search_engines;
pub mod selection;
mod sign_in_wait;
mod tool_finder;
pub mod trust;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use futures::future::BoxFuture;
use serde_json::Value;

pub use selection::{LeftOutTool, ToolSelection};

use self::library::ChatLibrary;
use self::search_engines::SearchEngines;
use turnleaf_convert::FileReader;
use turnleaf_domain::accounts::access_rights::AccessRights;
use turnleaf_domain::tools::tool::{OfferedTool, ToolChoice, ToolOrigin};
use turnleaf_domain::tools::tool_output::ResourceLink;
use turnleaf_domain::{BlockId, UserId};
use turnleaf_platform::config::tool_servers::ToolServerConfig;
use turnleaf_platform::search_engine::SearchEngine;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::page_fetcher::Fetcher;
use turnleaf_store::tools::listings::{ListedTool, ToolListing};
use turnleaf_store::tools::tool_servers;
use turnleaf_store::{Db, StoreError};
use turnleaf_tools::built_in::{self, BuiltInTools};
use turnleaf_tools::mcp::{McpServerState, McpServers};
use turnleaf_tools::result::{redraw_pictures, text_result};
use turnleaf_tools::tool_search;
use turnleaf_tools::toolbox::{
    CallOutcome, GateDecision, NOT_AVAILABLE, RunningCall, ToolCall, ToolDescription, Toolbox, UnusableTool,
};

struct ToolboxInner {
    db: Db,
    built_in: BuiltInTools,
    servers: McpServers,
    configured: RwLock<Arc<Vec<ToolServerConfig>>>,
    /// The account that keeps the configured servers, once it is known: others use those that they are granted.
    keeper: OnceLock<UserId>,
    rights: RwLock<Arc<AccessRights>>,
    search_engines: Arc<SearchEngines>,
    scope_refusals: ScopeRefusals,
}

/// The calls that a tool server refused because it wants a wider scope, until they run or end. A restart forgets them;
/// then the server refuses them again.
#[derive(Default)]
struct ScopeRefusals(Mutex<HashSet<BlockId>>);

impl ScopeRefusals {
    fn lock(&self) -> MutexGuard<'_, HashSet<BlockId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All tools of this server. Cheap to clone.
#[derive(Clone)]
pub struct ServiceToolbox(Arc<ToolboxInner>);

/// A server with the tools that it offers, as far as they are known.
#[derive(Debug, Clone)]
pub struct ToolServerOffering {
    pub server: String,
    pub name: String,
    pub tools: Vec<ToolDescription>,
    pub unusable: Vec<UnusableTool>,
}

impl ServiceToolbox {
    /// Creates a toolbox with the configured servers, which [`Service::load_tools`](crate::Service::load_tools)
    /// starts. `reader` extracts text and images from results.
    pub fn new(db: Db, configured: Vec<ToolServerConfig>, reader: Arc<dyn FileReader>) -> Self {
        Self::with_fetcher(db, configured, reader, Fetcher::with_system_resolver())
    }

    /// Creates a toolbox that fetches pages through this fetcher.
    pub fn with_fetcher(
        db: Db,
        configured: Vec<ToolServerConfig>,
        reader: Arc<dyn FileReader>,
        fetcher: Fetcher,
    ) -> Self {
        let search_engines = Arc::<SearchEngines>::default();
        let library = Arc::new(ChatLibrary { db: db.clone(), search_engines: search_engines.clone() });
        let built_in = BuiltInTools { library, reader, fetcher, http: HttpClient::default() };
        let configured = RwLock::new(Arc::new(configured));
        Self(Arc::new(ToolboxInner {
            db,
            built_in,
            servers: McpServers::new(),
            configured,
            keeper: OnceLock::new(),
            rights: RwLock::default(),
            search_engines,
            scope_refusals: ScopeRefusals::default(),
        }))
    }

    /// Sets the configured search engine, which everybody uses.
    pub fn with_search_engine(self, engine: Option<SearchEngine>) -> Self {
        self.0.search_engines.set_configured(engine);
        self
    }

    pub(crate) fn search_engines(&self) -> &SearchEngines {
        &self.0.search_engines
    }

    /// Returns the client that reaches search engines.
    pub(crate) fn search_client(&self) -> &HttpClient {
        &self.0.built_in.http
    }

    pub(crate) fn servers(&self) -> &McpServers {
        &self.0.servers
    }

    /// Returns all enabled servers by id, with the tools that they offer now, or offered last if they do not respond.
    pub(crate) async fn offerings(&self, owner: UserId) -> Result<Vec<ToolServerOffering>, StoreError> {
        let (stored, listings) = tokio::try_join!(tool_servers::list(&self.0.db, owner), self.listings(owner))?;
        let configured = self.configured_for(owner);
        let configured = configured.iter().map(|server| (server.id.clone(), server.name.clone()));
        let stored = stored.into_iter().filter(|row| row.is_enabled && self.configured_server(&row.slug).is_none());
        let mut named: Vec<(String, String)> = configured.chain(stored.map(|row| (row.slug, row.name))).collect();
        named.sort();
        let offering = |(server, name): (String, String)| {
            let tools = self.server_tools(owner, &server, &listings);
            let status = self.0.servers.status(&self.server_key(owner, &server));
            let unusable = status.map(|status| status.unusable).unwrap_or_default();
            ToolServerOffering { server, name, tools, unusable }
        };
        Ok(named.into_iter().map(offering).collect())
    }

    /// Returns the tools that a server offers now, or offered last.
    pub(crate) fn server_tools(&self, owner: UserId, server: &str, listings: &[ToolListing]) -> Vec<ToolDescription> {
        let status = self.0.servers.status(&self.server_key(owner, server));
        match status {
            Some(status) if status.state == McpServerState::Ready => status.tools,
            _ => {
                let listing = listings.iter().find(|listing| listing.server == server);
                listing.map(|listing| listing.tools.iter().map(described).collect()).unwrap_or_default()
            }
        }
    }

    /// Returns the present description of one tool.
    pub(crate) async fn find_tool(
        &self,
        owner: UserId,
        origin: &ToolOrigin,
    ) -> Result<Option<ToolDescription>, StoreError> {
        let (server, tool) = match origin {
            ToolOrigin::Client | ToolOrigin::Provider { .. } => return Ok(None),
            ToolOrigin::BuiltIn { tool } => {
                let mut all = built_in::describe_all().into_iter().chain([tool_search::describe(&[])]);
                return Ok(all.find(|known| known.tool == *tool));
            }
            ToolOrigin::Server { server, tool } => (server, tool),
        };
        match self.configured_server(server) {
            Some(_) if !self.may_use_configured(owner, server) => return Ok(None),
            Some(_) => {}
            None => {
                let row = tool_servers::find(&self.0.db, owner, server).await?;
                if !row.is_some_and(|row| row.is_enabled) {
                    return Ok(None);
                }
            }
        }
        let listings = self.listings(owner).await?;
        Ok(self.server_tools(owner, server, &listings).into_iter().find(|known| known.tool == *tool))
    }

    /// Dispatches a call to the built-in tools or its server.
    fn start_call(&self, call: ToolCall) -> RunningCall {
        let unavailable = || RunningCall::from_result(text_result(CallOutcome::Unavailable, NOT_AVAILABLE));
        if tool_search::is_origin(&call.origin) {
            return self.search_tools(call);
        }
        match call.origin {
            ToolOrigin::BuiltIn { tool } => {
                self.0.built_in.run(&tool, call.arguments, call.caller).unwrap_or_else(unavailable)
            }
            ToolOrigin::Server { server, tool } => {
                // The gate has asked before, but a person may have answered since.
                if !self.may_use_server(call.caller.owner, &server) {
                    return unavailable();
                }
                let arguments = match call.arguments {
                    Value::Object(arguments) => arguments,
                    _ => {
                        return RunningCall::from_result(text_result(
                            CallOutcome::Failed,
                            "the arguments must be an object",
                        ));
                    }
                };
                let key = self.server_key(call.caller.owner, &server);
                self.0.servers.call(&key, &tool, arguments, call.caller)
            }
            ToolOrigin::Client | ToolOrigin::Provider { .. } => unavailable(),
        }
    }
}

/// Converts a stored listing entry into a tool description.
fn described(listed: &ListedTool) -> ToolDescription {
    ToolDescription {
        tool: listed.tool.clone(),
        title: listed.title.clone(),
        description: listed.description.clone(),
        schema: listed.schema.clone(),
        is_harmless: false,
        hints: listed.hints.clone(),
        icon: listed.icon.clone(),
        view: listed.view.clone(),
        is_closed_to_views: listed.is_closed_to_views,
        is_closed_to_models: listed.is_closed_to_models,
    }
}

/// Converts a tool description into a listing entry.
fn listed(tool: &ToolDescription) -> ListedTool {
    ListedTool {
        tool: tool.tool.clone(),
        title: tool.title.clone(),
        description: tool.description.clone(),
        schema: tool.schema.clone(),
        hints: tool.hints.clone(),
        icon: tool.icon.clone(),
        view: tool.view.clone(),
        is_closed_to_views: tool.is_closed_to_views,
        is_closed_to_models: tool.is_closed_to_models,
    }
}

impl Toolbox for ServiceToolbox {
    fn gate<'a>(&'a self, call: &'a ToolCall, granted: Option<&'a str>) -> BoxFuture<'a, GateDecision> {
        Box::pin(async move {
            match self.gate_decision(call, granted).await {
                Ok(gate) => gate,
                Err(error) => {
                    tracing::error!(turn = %call.caller.turn, %error, "whether a tool may run cannot be read");
                    GateDecision::Refuse(NOT_AVAILABLE.into())
                }
            }
        })
    }

    fn run(&self, call: ToolCall) -> RunningCall {
        let (tools, block) = (self.clone(), call.caller.block);
        let server = call.origin.server().to_owned();
        let RunningCall { result: outcome, progress, limit, questions, view } = self.start_call(call);
        let result = Box::pin(async move {
            let outcome = outcome.await;
            tools.note_scope_refusal(block, outcome.outcome);
            // Images are re-encoded before a result is stored or shown.
            let mut outcome = redraw_pictures(&*tools.0.built_in.reader, outcome).await;
            ResourceLink::set_server(&mut outcome.metadata, &server);
            outcome
        });
        RunningCall { result, progress, limit, questions, view }
    }

    fn end_sign_in_wait(&self, call: &ToolCall, is_tried: bool) {
        self.forget_refusal(call, is_tried);
    }

    fn is_open_to_views<'a>(&'a self, owner: UserId, origin: &'a ToolOrigin) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            match self.find_tool(owner, origin).await {
                Ok(tool) => tool.is_some_and(|tool| !tool.is_closed_to_views),
                Err(error) => {
                    tracing::error!(%error, "the tools could not be read; a view may call none");
                    false
                }
            }
        })
    }

    fn offered_tools<'a>(&'a self, owner: UserId, choice: &'a ToolChoice) -> BoxFuture<'a, Vec<OfferedTool>> {
        Box::pin(async move {
            match self.select_tools(owner, choice).await {
                Ok(selection) => selection.offered,
                Err(error) => {
                    tracing::error!(%error, "the tools could not be read; none are offered");
                    Vec::new()
                }
            }
        })
    }

    fn unusable_tools(&self, owner: UserId) -> Vec<String> {
        self.0.servers.unusable_tools(owner)
    }

    fn shut_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.0.servers.shut_down())
    }
}

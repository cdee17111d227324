//! Built-in tools: current time, calculator, web page as text, search in the web, search in the caller's own chats.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::result::{CallOutcome, CallResult, ResultPart, build_result, text_result};
use super::toolbox::{RunningCall, ToolCall, ToolCaller, ToolDescription};
use turnleaf_convert::FileReader;
use turnleaf_domain::limits;
use turnleaf_domain::tools::tool::ToolOrigin;
use turnleaf_platform::search_engine::SearchEngine;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::page_fetcher::{Fetcher, RedirectPolicy, host_of};

mod calculator;
mod page;
mod time;
pub mod web_search;

use web_search::{Recency, WebQuery};

/// The built-in tools with their dependencies. Cheap to clone.
#[derive(Clone)]
pub struct BuiltInTools {
    pub library: Arc<dyn ToolLibrary>,
    /// Extracts the text of fetched pages.
    pub reader: Arc<dyn FileReader>,
    pub fetcher: Fetcher,
    /// Reaches search engines.
    pub http: HttpClient,
}

/// The port through which built-in tools reach the store, which this crate does not depend on.
pub trait ToolLibrary: Send + Sync {
    /// Returns the caller's chats that match the query, newest first, as JSON for a model. The chat of the call is
    /// left out.
    fn search<'a>(
        &'a self,
        caller: &'a ToolCaller,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Value, String>>;

    /// Returns whether the caller has granted fetching pages from this host.
    fn may_fetch<'a>(&'a self, caller: &'a ToolCaller, host: &'a str) -> BoxFuture<'a, bool>;

    /// Returns the engine that the caller searches the web with; `None` if none is set up.
    fn search_engine(&self, caller: &ToolCaller) -> Option<SearchEngine>;
}

/// The redirect policy of a page fetch: redirects may lead only to hosts that the caller has granted.
struct GrantedHosts<'a> {
    library: &'a dyn ToolLibrary,
    caller: &'a ToolCaller,
}

impl RedirectPolicy for GrantedHosts<'_> {
    fn may_reach<'a>(&'a self, host: &'a str) -> BoxFuture<'a, bool> {
        self.library.may_fetch(self.caller, host)
    }
}

const TIME: &str = "current_time";
const CALCULATOR: &str = "calculator";
/// The tool that needs an approval per host.
pub const PAGE_TOOL: &str = "fetch_page";
const SEARCH: &str = "search_chats";
/// The tool that needs a search engine. Providers have one of their own, which is called `web_search`.
pub const WEB_SEARCH_TOOL: &str = "search_web";

/// Returns whether a tool needs an approval for each host that it reaches.
pub fn is_approved_per_host(tool: &str) -> bool {
    tool == PAGE_TOOL
}

/// Returns whether a tool reads messages of the owner's other chats.
pub fn reads_chats(tool: &str) -> bool {
    tool == SEARCH
}

/// Returns whether a call of a tool can carry what a model read to somebody else. A page is judged by its host.
pub fn sends_queries(tool: &str) -> bool {
    tool == WEB_SEARCH_TOOL
}

/// Returns whether the output of a tool is Turnleaf's own and contains no text of third parties. The output of a chat
/// search is not trusted, because chats quote pages and files.
pub fn gives_trusted_text(tool: &str) -> bool {
    matches!(tool, TIME | CALCULATOR)
}

impl ToolCall {
    /// Returns the host that a remembered grant for this call is limited to, or `None` if the grant covers the whole
    /// tool.
    ///
    /// # Errors
    /// The call cannot reach any host; the reason is written for the model.
    pub fn host(&self) -> Result<Option<String>, String> {
        match &self.origin {
            ToolOrigin::BuiltIn { tool } if is_approved_per_host(tool) => {}
            ToolOrigin::BuiltIn { .. }
            | ToolOrigin::Server { .. }
            | ToolOrigin::Client
            | ToolOrigin::Provider { .. } => return Ok(None),
        }
        let host = host_of(string_argument(&self.arguments, "url").unwrap_or_default());
        host.map(Some).map_err(|refusal| refusal.to_string())
    }
}

/// Creates the description of a built-in tool from the schemas of its arguments and the names of the required ones.
fn described_tool(
    name: &str,
    title: &str,
    description: &str,
    properties: Value,
    required: Value,
    is_harmless: bool,
) -> ToolDescription {
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if required != json!([]) {
        schema["required"] = required;
    }
    ToolDescription { title: title.into(), is_harmless, ..ToolDescription::new(name, description, schema) }
}

fn describe_web_search() -> ToolDescription {
    described_tool(
        WEB_SEARCH_TOOL,
        "Web search",
        "Searches the web with a search engine and returns pages with their titles, addresses, excerpts and dates. Fetch \
         a page for its full text. Name the addresses that an answer relies on.",
        json!({
            "query": {
                "type": "string", "minLength": 1, "maxLength": limits::WEB_SEARCH_CHARS,
                "description": "The words to search for.",
            },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": limits::WEB_SEARCH_RESULTS,
                "description": "The maximum number of results.",
            },
            "since": {
                "type": "string", "enum": Recency::ALL.map(Recency::as_str),
                "description": "Only pages from the last day, week, month or year.",
            },
        }),
        json!(["query"]),
        false,
    )
}

/// Describes all built-in tools in a stable order.
pub fn describe_all() -> Vec<ToolDescription> {
    vec![
        described_tool(
            TIME,
            "Current time",
            "Gives the date and the time now, in UTC, in the server's time zone, and at another offset from UTC if asked.",
            json!({"utc_offset": {
                "type": "string", "pattern": "^[+-]([01][0-9]|2[0-3]):[0-5][0-9]$",
                "description": "Also give the time at this offset from UTC, such as +02:00.",
            }}),
            json!([]),
            true,
        ),
        described_tool(
            CALCULATOR,
            "Calculator",
            "Calculates exactly: arithmetic with numbers of any size, fractions, powers, roots, functions (sin, ln, log10), \
             bases, dates, and units with conversions (\"5 km/h to m/s\", \"30 °C to °F\"). Give one expression.",
            json!({"expression": {
                "type": "string", "minLength": 1, "maxLength": limits::CALCULATOR_CHARS,
                "description": "The expression, such as (2 + 3)^20 / 7.",
            }}),
            json!(["expression"]),
            true,
        ),
        described_tool(
            PAGE_TOOL,
            "Web page",
            "Fetches one page of the open internet and gives its title and its main text. Pages that need a sign-in, a \
             script or a local network cannot be fetched.",
            json!({"url": {"type": "string", "description": "The full address, with https:// or http://."}}),
            json!(["url"]),
            false,
        ),
        describe_web_search(),
        described_tool(
            SEARCH,
            "Search in your chats",
            "Searches the user's other chats and returns the messages that contain all of the words, with excerpts. The newest \
             messages are searched first.",
            json!({
                "query": {
                    "type": "string", "minLength": 1, "maxLength": limits::FIND_CHARS,
                    "description": "The words to search for.",
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": limits::SEARCH_HITS,
                    "description": "The maximum number of results.",
                },
            }),
            json!(["query"]),
            true,
        ),
    ]
}

impl BuiltInTools {
    /// Runs a built-in tool; returns `None` if there is no such tool. The arguments must already fit the tool's
    /// schema.
    pub fn run(&self, tool: &str, arguments: Value, caller: ToolCaller) -> Option<RunningCall> {
        let Self { library, reader, fetcher, http } = self.clone();
        let outcome: BoxFuture<'static, CallResult> = match tool {
            TIME => Box::pin(std::future::ready(time::current_time(string_argument(&arguments, "utc_offset")))),
            CALCULATOR => Box::pin(calculator::calculate(
                string_argument(&arguments, "expression").unwrap_or_default().to_owned(),
            )),
            PAGE_TOOL => {
                let url = string_argument(&arguments, "url").unwrap_or_default().to_owned();
                Box::pin(async move {
                    let granted = GrantedHosts { library: &*library, caller: &caller };
                    page::fetch(&fetcher, &*reader, &url, &granted).await
                })
            }
            WEB_SEARCH_TOOL => Box::pin(async move {
                let most = limits::WEB_SEARCH_RESULTS;
                let query = WebQuery {
                    text: string_argument(&arguments, "query").unwrap_or_default().to_owned(),
                    most: number_argument(&arguments, "limit").unwrap_or(most).clamp(1, most),
                    since: string_argument(&arguments, "since").and_then(Recency::from_name),
                };
                web_search::run(&http, library.search_engine(&caller).as_ref(), &query).await
            }),
            SEARCH => Box::pin(async move {
                let most = limits::SEARCH_HITS as usize;
                let limit = number_argument(&arguments, "limit");
                let query = string_argument(&arguments, "query").unwrap_or_default();
                match library.search(&caller, query, limit.unwrap_or(most).clamp(1, most)).await {
                    Ok(found) => build_result(CallOutcome::Done, Vec::<ResultPart>::new(), Some(found)),
                    Err(reason) => text_result(CallOutcome::Failed, &reason),
                }
            }),
            _ => return None,
        };
        Some(RunningCall::new(outcome, watch::Sender::new(None).subscribe()))
    }
}

fn string_argument<'a>(arguments: &'a Value, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

fn number_argument(arguments: &Value, name: &str) -> Option<usize> {
    arguments.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok())
}

#[cfg(test)]
mod tests;

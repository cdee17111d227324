//! The tools that Turnleaf brings: the time, a calculator, a web page as text, search in one's own chats.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::result::{CallOutcome, CallResult, ResultPart, build_result, text_result};
use super::toolbox::{RunningCall, ToolCall, ToolCaller, ToolDescription};
use turnleaf_convert::FileReader;
use turnleaf_domain::limits;
use turnleaf_domain::tool::ToolOrigin;
use turnleaf_providers::page_fetcher::{Fetcher, RedirectPolicy, host_of};

mod calculator;
mod page;
mod time;

/// The tools, with what they work on. Cheap to clone.
#[derive(Clone)]
pub struct BuiltInTools {
    pub library: Arc<dyn ToolLibrary>,
    /// What reads the pages that are fetched.
    pub reader: Arc<dyn FileReader>,
    pub fetcher: Fetcher,
}

/// What a built-in tool needs that this room does not have: the store.
pub trait ToolLibrary: Send + Sync {
    /// Chats of the caller that have the words, newest first: as JSON that a model reads. The chat that asks is left out.
    fn search<'a>(
        &'a self,
        caller: &'a ToolCaller,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Value, String>>;

    /// Whether a page may be fetched from this host for the caller, because somebody allowed the host.
    fn may_fetch<'a>(&'a self, caller: &'a ToolCaller, host: &'a str) -> BoxFuture<'a, bool>;
}

/// The hosts that a page's redirects may lead to.
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
/// The tool that is asked about for each host.
pub const PAGE_TOOL: &str = "fetch_page";
const SEARCH: &str = "search_chats";

/// Whether a tool is asked about for each host that it reaches.
pub fn is_approved_per_host(tool: &str) -> bool {
    tool == PAGE_TOOL
}

/// Whether a tool reads what its owner said in other chats.
pub fn reads_chats(tool: &str) -> bool {
    tool == SEARCH
}

/// Whether what a tool gives is Turnleaf's own, and nothing of a stranger. Chats quote pages and files, so a search in
/// them is none of these.
pub fn gives_trusted_text(tool: &str) -> bool {
    matches!(tool, TIME | CALCULATOR)
}

impl ToolCall {
    /// The host that a lasting answer about this call holds for; nothing where it holds for the tool as a whole.
    ///
    /// # Errors
    /// The call cannot reach any host; the reason is for the model.
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

/// All of them, in an order that stays.
pub fn describe_all() -> Vec<ToolDescription> {
    let tool = |name: &str, title: &str, description: &str, properties: Value, required: Value, is_harmless: bool| {
        let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
        if required != json!([]) {
            schema["required"] = required;
        }
        ToolDescription {
            tool: name.into(),
            title: title.into(),
            description: description.into(),
            schema,
            is_harmless,
            hints: Vec::new(),
        }
    };
    vec![
        tool(
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
        tool(
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
        tool(
            PAGE_TOOL,
            "Web page",
            "Fetches one page of the open internet and gives its title and its main text. Pages that need a sign-in, a \
             script or a local network cannot be fetched.",
            json!({"url": {"type": "string", "description": "The full address, with https:// or http://."}}),
            json!(["url"]),
            false,
        ),
        tool(
            SEARCH,
            "Search in your chats",
            "Looks for words in the user's other chats and gives where they stand: places that have every word, the best of the \
             newest first.",
            json!({
                "query": {
                    "type": "string", "minLength": 1, "maxLength": limits::FIND_CHARS,
                    "description": "The words to look for.",
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": limits::SEARCH_HITS,
                    "description": "How many places to give at most.",
                },
            }),
            json!(["query"]),
            true,
        ),
    ]
}

impl BuiltInTools {
    /// Runs one; `None` when there is no such tool. The arguments fit the tool's schema.
    pub fn run(&self, tool: &str, arguments: Value, caller: ToolCaller) -> Option<RunningCall> {
        let Self { library, reader, fetcher } = self.clone();
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
            SEARCH => Box::pin(async move {
                let most = limits::SEARCH_HITS as usize;
                let limit = arguments.get("limit").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
                let query = string_argument(&arguments, "query").unwrap_or_default();
                match library.search(&caller, query, limit.unwrap_or(most).clamp(1, most)).await {
                    Ok(found) => build_result(CallOutcome::Done, Vec::<ResultPart>::new(), Some(found)),
                    Err(why) => text_result(CallOutcome::Failed, &why),
                }
            }),
            _ => return None,
        };
        Some(RunningCall { result: outcome, progress: watch::Sender::new(None).subscribe() })
    }
}

fn string_argument<'a>(arguments: &'a Value, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

#[cfg(test)]
mod tests;

//! Views of tool servers and their tools for their owner, in the API and on the page: everything but the secrets.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

use crate::coded_sentence::CodedSentence;
use crate::tools::toolbox::trust::TrustStatus;
use turnleaf_domain::text::excerpt::capitalize;
use turnleaf_domain::text::hidden_text::count_hidden_characters;
use turnleaf_domain::tools::approval::ToolApprovalPolicy;
use turnleaf_domain::{CodedMessage, MessageCode};
use turnleaf_platform::config::tool_servers::{ToolServerConfig, ToolServerTransport};
use turnleaf_platform::credentials::mask_query;
use turnleaf_platform::sealing::UnsealError;
use turnleaf_store::tools::server_policies::ServerPolicy;
use turnleaf_store::tools::tool_policies::StoredPolicy;
use turnleaf_store::tools::tool_servers::StoredToolServer;
use turnleaf_tools::built_in;
use turnleaf_tools::mcp::{McpServerState, McpServerStatus, SignInNeed};
use turnleaf_tools::toolbox::ToolDescription;

/// A tool server.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ToolServerView {
    /// The id that prefixes the names of its tools.
    pub id: String,
    pub name: String,
    /// `program` or `http`.
    pub kind: &'static str,
    /// The program of a server that is started here, without its arguments.
    pub program: Option<String>,
    /// The address of a server that is reached over HTTP.
    pub url: Option<String>,
    /// Names of headers. Values are never returned.
    pub headers: Vec<String>,
    pub local_network: bool,
    /// The ID of the OAuth client that its owner registered at its sign-in service. Its secret is never returned.
    pub oauth_client_id: Option<String>,
    pub has_oauth_secret: bool,
    /// The sign-in of its owner. `null` for a server that nobody can sign in to: a program, one of the configuration
    /// file, or one with an `Authorization` header.
    pub sign_in: Option<ServerSignIn>,
    /// The limits of its start, of its silence during a call and of a whole call, in seconds. `null` is the default.
    pub start_seconds: Option<u64>,
    pub idle_seconds: Option<u64>,
    pub total_seconds: Option<u64>,
    pub is_enabled: bool,
    /// The permission of its tools that have none of their own.
    pub policy: ToolApprovalPolicy,
    /// The origin of that permission: `you`, `configuration` or `default`.
    pub policy_set_by: &'static str,
    /// True when the configuration file sets it; it can only be changed there.
    pub locked: bool,
    pub status: ToolServerStatus,
    /// The server's instructions for the use of its tools, now or last; empty if it gives none. The text is untrusted.
    pub instructions: String,
    /// True if models are offered the instructions.
    pub offers_instructions: bool,
    /// The tools that it offers, or offered last. All of its texts are untrusted.
    pub tools: Vec<ToolView>,
}

impl ToolServerView {
    /// Adds its instructions, and the switch that offers them to models.
    pub fn with_instructions(self, (instructions, offers_instructions): (String, bool)) -> Self {
        Self { instructions, offers_instructions, ..self }
    }

    /// Returns true if it belongs to the server and the viewer only uses it.
    pub fn is_shared(&self) -> bool {
        self.locked && self.program.is_none() && self.url.is_none()
    }

    /// Removes its connection settings and its log, which may contain actions of other people.
    pub fn without_connection(self) -> Self {
        let status = ToolServerStatus { log: String::new(), ..self.status };
        Self { program: None, url: None, headers: Vec::new(), status, ..self }
    }
}

/// The status of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ToolServerStatus {
    /// `working`, `starting`, `failed`, `sign_in_needed`, `off`, `headers_unreadable` or `not_started`.
    pub state: &'static str,
    #[serde(flatten)]
    pub message: CodedSentence,
    pub since: Option<DateTime<Utc>>,
    /// The name and version that it reports.
    pub implementation: Option<String>,
    /// The end of its log output, outside the protocol.
    pub log: String,
}

/// The sign-in of a person to a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ServerSignIn {
    /// `signed_out`, `needed` (the server refuses its owner), `signed_in`, or `more_needed` (the server refused a call
    /// for want of a permission).
    pub state: &'static str,
    /// The reason why the last sign-in failed.
    pub problem: Option<CodedSentence>,
}

/// Formats an error message, which may also be part of a longer sentence, as a sentence of its own.
fn as_sentence(reason: &str) -> String {
    format!("{}.", capitalize(reason.trim().trim_end_matches('.')))
}

/// A tool with its approval policy.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ToolView {
    /// `tool` for a built-in tool, `server/tool` for one of a server: the name in a chat's choice.
    pub name: String,
    pub tool: String,
    pub title: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
    /// Hash of its schema and description, as `trusted_tools` of the configuration file pins it.
    pub sha256: String,
    /// The effects that its server claims. They are shown but never trusted.
    pub hints: Vec<String>,
    /// A small image of the server as `data:` URL. It is decoration, not a proof of identity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// The number of invisible characters in its name and description.
    pub hidden_characters: u32,
    /// The policy when a model calls it.
    pub policy: ToolApprovalPolicy,
    /// The origin of the policy: `you`, `server` (what you set for all of its tools), `configuration` or `default`.
    pub policy_set_by: &'static str,
    /// True when its description changed since it was allowed, or trusted by the configuration file. It asks again.
    pub has_changed: bool,
    /// For a tool that is approved per host: the hosts that are allowed in every chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// True when it runs without approval only until the chat contains text that its owner did not write.
    pub asks_when_exposed: bool,
    /// True when no model is offered it, because its server keeps it for its own views.
    pub is_closed_to_models: bool,
}

impl ToolServerStatus {
    fn new(state: &'static str, message: impl Into<CodedMessage>) -> Self {
        let message = CodedSentence::new(message);
        Self { state, message, since: None, implementation: None, log: String::new() }
    }

    /// Returns the sentence with its code.
    pub fn message(&self) -> CodedMessage {
        self.message.message()
    }
}

impl From<McpServerStatus> for ToolServerStatus {
    fn from(status: McpServerStatus) -> Self {
        let (state, sentence) = match status.state {
            McpServerState::Starting => ("starting", MessageCode::ServerStarting),
            McpServerState::Ready => ("working", MessageCode::ServerWorking),
            McpServerState::Failed => ("failed", MessageCode::ServerFailed),
        };
        let needs_sign_in = status.sign_in_need == Some(SignInNeed::Token);
        let (state, problem) = match needs_sign_in {
            true => ("sign_in_needed", Some(SignInNeed::Token.problem())),
            false => (state, status.problem),
        };
        let mut shown = Self::new(state, problem.unwrap_or_else(|| sentence.into()));
        // A problem is a part of a sentence, which is also quoted in others.
        shown.message.sentence = as_sentence(&shown.message.sentence);
        Self { since: Some(status.since), implementation: status.implementation, log: status.log, ..shown }
    }
}

/// Returns the view of a tool with its policy. `server` is the id of its server, `None` for a built-in tool.
pub fn tool_view(
    server: Option<&str>,
    tool: &ToolDescription,
    policies: &[StoredPolicy],
    of_server: Option<&ServerPolicy>,
    trust: TrustStatus,
) -> ToolView {
    let hash = tool.schema_hash();
    let by_host = server.is_none() && built_in::is_approved_per_host(&tool.tool);
    let about = |policy: &&StoredPolicy| {
        policy.chat.is_none() && policy.server == server.unwrap_or_default() && policy.tool == tool.tool
    };
    let stored = policies.iter().filter(about).find(|stored| stored.host.is_none());
    let hosts = policies.iter().filter(about).filter(|stored| {
        stored.policy == ToolApprovalPolicy::Allow && stored.schema_hash.as_ref().is_none_or(|seen| *seen == hash)
    });
    let hosts = by_host.then(|| hosts.filter_map(|stored| stored.host.clone()).collect());
    let has_changed = stored.is_some_and(|stored| {
        stored.policy == ToolApprovalPolicy::Allow && stored.schema_hash.as_ref().is_some_and(|seen| *seen != hash)
    });
    let of_server = of_server.filter(|_| stored.is_none());
    let has_lapsed = match of_server {
        Some(of_server) => of_server.seen.get(&tool.tool).is_some_and(|seen| *seen != hash),
        None => trust == TrustStatus::Changed && stored.is_none(),
    };
    let (policy, policy_set_by) = match stored {
        Some(_) if has_changed => (ToolApprovalPolicy::Ask, "you"),
        // Allowing every host is no longer accepted, so an older stored policy asks.
        Some(stored) if by_host && stored.policy == ToolApprovalPolicy::Allow => (ToolApprovalPolicy::Ask, "you"),
        Some(stored) => (stored.policy, "you"),
        None if of_server.is_some_and(|of_server| of_server.policy != ToolApprovalPolicy::Allow) => {
            (of_server.map_or(ToolApprovalPolicy::Ask, |of_server| of_server.policy), "server")
        }
        None if of_server.is_some_and(|of_server| of_server.allows(&tool.tool, &hash)) => {
            (ToolApprovalPolicy::Allow, "server")
        }
        // A tool that the configuration file trusts runs also where its owner allowed another description.
        None if of_server.is_some() && trust != TrustStatus::Holds => (ToolApprovalPolicy::Ask, "server"),
        None if trust == TrustStatus::Holds => (ToolApprovalPolicy::Allow, "configuration"),
        None if trust == TrustStatus::Changed => (ToolApprovalPolicy::Ask, "configuration"),
        None if tool.is_harmless && server.is_none() => (ToolApprovalPolicy::Allow, "default"),
        None => (ToolApprovalPolicy::Ask, "default"),
    };
    let texts = [&tool.tool, &tool.title, &tool.description];
    ToolView {
        name: server.map_or_else(|| tool.tool.clone(), |server| format!("{server}/{}", tool.tool)),
        tool: tool.tool.clone(),
        title: tool.title.clone(),
        description: tool.description.clone(),
        schema: tool.schema.clone(),
        sha256: hash,
        hints: tool.hints.clone(),
        icon: tool.icon.clone(),
        hidden_characters: texts.into_iter().map(|text| count_hidden_characters(text)).sum(),
        policy,
        policy_set_by,
        has_changed: has_changed || has_lapsed,
        hosts,
        asks_when_exposed: policy_set_by == "default" && server.is_none() && built_in::reads_chats(&tool.tool),
        is_closed_to_models: tool.is_closed_to_models,
    }
}

/// Returns the permission of the tools of a server, and its origin.
fn server_policy(
    of_server: Option<&ServerPolicy>,
    config: Option<&ToolServerConfig>,
) -> (ToolApprovalPolicy, &'static str) {
    let trusts_all = config.is_some_and(|server| server.trusted_tools.iter().any(|trusted| trusted.name == "*"));
    match of_server {
        Some(of_server) => (of_server.policy, "you"),
        None if trusts_all => (ToolApprovalPolicy::Allow, "configuration"),
        None => (ToolApprovalPolicy::Ask, "default"),
    }
}

/// Returns the view of a configured server.
pub fn configured_server_view(
    server: &ToolServerConfig,
    status: Option<McpServerStatus>,
    of_server: Option<&ServerPolicy>,
    tools: Vec<ToolView>,
) -> ToolServerView {
    let (policy, policy_set_by) = server_policy(of_server, Some(server));
    let (kind, program, url, headers) = match &server.reach {
        ToolServerTransport::Program { argv, .. } => ("program", argv.first().cloned(), None, Vec::new()),
        ToolServerTransport::Http { url, headers } => {
            ("http", None, Some(mask_query(url.as_str())), headers.iter().map(|(name, _)| name.clone()).collect())
        }
    };
    ToolServerView {
        id: server.id.clone(),
        name: server.name.clone(),
        kind,
        program,
        url,
        headers,
        local_network: true,
        oauth_client_id: None,
        has_oauth_secret: false,
        sign_in: None,
        start_seconds: server.start.map(|start| start.as_secs()),
        idle_seconds: server.idle.map(|idle| idle.as_secs()),
        total_seconds: server.total.map(|total| total.as_secs()),
        is_enabled: true,
        policy,
        policy_set_by,
        locked: true,
        status: status_view(status),
        instructions: String::new(),
        offers_instructions: true,
        tools,
    }
}

/// Returns the view of a stored server.
pub fn stored_server_view(
    row: &StoredToolServer,
    status: Option<McpServerStatus>,
    (of_server, unopened): (Option<&ServerPolicy>, Option<UnsealError>),
    tools: Vec<ToolView>,
) -> ToolServerView {
    let (policy, policy_set_by) = server_policy(of_server, None);
    let status = match unopened {
        _ if !row.is_enabled => ToolServerStatus::new("off", MessageCode::SwitchedOff),
        Some(error) => {
            ToolServerStatus::new("headers_unreadable", MessageCode::HeadersUnreadable.with("reason", error))
        }
        None => status_view(status),
    };
    ToolServerView {
        id: row.slug.clone(),
        name: row.name.clone(),
        kind: "http",
        program: None,
        url: Some(row.url.clone()),
        headers: row.settings.header_names.clone(),
        local_network: row.settings.local_network,
        oauth_client_id: row.settings.oauth_client_id.clone(),
        has_oauth_secret: row.settings.has_oauth_secret,
        sign_in: None,
        start_seconds: row.settings.start_seconds,
        idle_seconds: row.settings.idle_seconds,
        total_seconds: row.settings.total_seconds,
        is_enabled: row.is_enabled,
        policy,
        policy_set_by,
        locked: false,
        status,
        instructions: String::new(),
        offers_instructions: true,
        tools,
    }
}

fn status_view(status: Option<McpServerStatus>) -> ToolServerStatus {
    status.map_or_else(|| ToolServerStatus::new("not_started", MessageCode::ServerNotStarted), ToolServerStatus::from)
}

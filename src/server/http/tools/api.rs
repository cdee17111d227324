//! The API of tools: the catalog, permissions, tool servers, and the tools that a chat offers. Headers are
//! write-only, and local programs can be named in the configuration file only.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::tools::approval::ToolApprovalPolicy;
use crate::domain::tools::tool::{OfferedTool, ToolChoice, ToolSpec};
use crate::domain::{BranchId, ChatId, InvalidField, MessageCode};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::{ApiJson, deserialize_double_option};
use crate::server::http::request::path_id::PathId;
use crate::server::http::response::problem::Problem;
use turnleaf_service::tools::choice::ChatTools;
use turnleaf_service::tools::servers::{
    ChangedToolServer, NewToolServer, StoredPolicy, ToolServerChange, ToolServerView, ToolView,
};
use turnleaf_service::tools::toolbox::{LeftOutTool, ToolSelection};

/// An MCP server to add, or changes of one. Omitted fields stay unchanged.
// No `Debug`: it holds headers, which may be secrets.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SaveToolServerRequest {
    /// Id of a new server, derived from the name by default. It cannot be changed.
    id: Option<String>,
    /// Idempotency key of a new server; alternative to the header `Idempotency-Key`.
    client_request_id: Option<String>,
    /// Display name. Required for a new server.
    name: Option<String>,
    /// Address of the server. Required for a new server.
    url: Option<String>,
    /// Headers of every request, which replace the earlier ones. Their values are never returned.
    headers: Option<BTreeMap<String, String>>,
    /// ID of the OAuth client that you registered at the sign-in service of the server. `null` removes it with its secret.
    #[serde(default, deserialize_with = "deserialize_double_option")]
    #[schema(value_type = Option<String>)]
    oauth_client_id: Option<Option<String>>,
    /// Secret of that client. It is never returned.
    oauth_client_secret: Option<String>,
    /// False disconnects the server; no chat offers its tools.
    is_enabled: Option<bool>,
    /// True allows addresses of the local network.
    local_network: Option<bool>,
    /// The limit of its start in seconds, 1 to 1,800. `null` is the default.
    #[serde(default, deserialize_with = "deserialize_double_option")]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 1800)]
    start_seconds: Option<Option<u64>>,
    /// Maximum time in seconds that a call may stay silent. `null` is the default.
    #[serde(default, deserialize_with = "deserialize_double_option")]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 1800)]
    idle_seconds: Option<Option<u64>>,
    /// Maximum total time of a call, in seconds. `null` is the default.
    #[serde(default, deserialize_with = "deserialize_double_option")]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 1800)]
    total_seconds: Option<Option<u64>>,
    /// Always refused: local programs can be named in the configuration file only.
    #[schema(ignore)]
    command: Option<Value>,
}

impl SaveToolServerRequest {
    /// Refuses a body that names a program, because it would run with the rights of this server.
    fn refuse_program(&self) -> Result<(), Problem> {
        if self.command.is_none() {
            return Ok(());
        }
        let detail = MessageCode::ProgramsRefused;
        Err(Problem::new(StatusCode::FORBIDDEN, "program_refused", detail).with_member("field", "command"))
    }
}

impl From<SaveToolServerRequest> for ToolServerChange {
    fn from(body: SaveToolServerRequest) -> Self {
        let secret = |(name, value): (String, String)| (name, value.into());
        Self {
            name: body.name,
            url: body.url,
            headers: body.headers.map(|all| all.into_iter().map(secret).collect()),
            oauth_client_id: body.oauth_client_id,
            oauth_client_secret: body.oauth_client_secret.map(Into::into),
            is_enabled: body.is_enabled,
            local_network: body.local_network,
            start_seconds: body.start_seconds,
            idle_seconds: body.idle_seconds,
            total_seconds: body.total_seconds,
        }
    }
}

/// A tool server, with notices about the consequences of the change.
#[derive(Serialize, utoipa::ToSchema)]
pub struct ToolServerWithNotices {
    #[serde(flatten)]
    server: ToolServerView,
    notices: Vec<String>,
}

impl From<ChangedToolServer> for ToolServerWithNotices {
    fn from(changed: ChangedToolServer) -> Self {
        Self { server: changed.server, notices: changed.notices }
    }
}

/// All tools, and the choice of new chats.
#[derive(Serialize, utoipa::ToSchema)]
pub struct ToolCatalog {
    /// The built-in tools, then those of tool servers.
    tools: Vec<ToolView>,
    /// The tools of new chats.
    default: ToolChoice,
}

/// A saved tool permission.
#[derive(Serialize, utoipa::ToSchema)]
pub struct ToolPolicyRule {
    /// Id of the tool server. Empty for a built-in tool.
    server: String,
    tool: String,
    /// The host that the permission is limited to, for a tool with permissions by host. Absent for the whole tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    policy: ToolApprovalPolicy,
    /// The chat that the permission is limited to. Absent for all chats.
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_id: Option<ChatId>,
    /// Hash of the tool's definition when it was allowed. Absent if the permission also covers later definitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_hash: Option<String>,
}

impl From<StoredPolicy> for ToolPolicyRule {
    fn from(stored: StoredPolicy) -> Self {
        let StoredPolicy { chat, server, tool, host, policy, schema_hash } = stored;
        Self { server, tool, host, policy, chat_id: chat, schema_hash }
    }
}

/// A tool permission to save.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetToolPolicyRequest {
    /// Id of the tool server. Absent for a built-in tool.
    #[serde(default)]
    server: String,
    tool: String,
    /// The host that the permission is limited to, such as `example.org`, for a tool with permissions by host (one
    /// with `hosts`). `allow` requires it for such a tool.
    host: Option<String>,
    /// `null` removes the permission, so that the one of its server applies.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schema(required = true)]
    policy: Option<ToolApprovalPolicy>,
}

/// The permission for all tools of a server.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetServerPolicyRequest {
    /// `null` removes the permission.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schema(required = true)]
    policy: Option<ToolApprovalPolicy>,
}

/// The switch that offers the instructions of a server to models.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetServerInstructionsRequest {
    offered: bool,
}

/// The tools that a chat offers, and those that a new branch would be given now.
#[derive(Serialize, utoipa::ToSchema)]
pub struct ChatToolSelection {
    /// The enabled tools, as in the choice. Always present.
    on: Vec<String>,
    /// The tools that the client runs.
    client: Vec<ToolSpec>,
    offered: Vec<OfferedTool>,
    /// Full names of the tools that the model finds with `tool_search`, because they are too many to offer.
    searched: Vec<String>,
    left_out: Vec<LeftOutTool>,
}

impl From<ChatTools> for ChatToolSelection {
    fn from(tools: ChatTools) -> Self {
        let ToolChoice { on, client } = tools.choice;
        let ToolSelection { offered, searched, left_out } = tools.selection;
        let searched = searched.iter().filter_map(|tool| tool.origin.as_ref()?.full_name()).collect();
        Self { on, client, offered, searched, left_out }
    }
}

/// The tools that a branch offers.
#[derive(Serialize, utoipa::ToSchema)]
pub struct BranchToolSelection {
    branch_id: BranchId,
    tools: Vec<OfferedTool>,
}

/// `GET /api/tools`.
pub async fn list(State(app): State<App>, principal: Principal) -> Result<ApiJson<ToolCatalog>, Problem> {
    let mut tools = app.service().built_in_tools(principal.user).await?;
    for server in app.service().tool_servers(principal.user).await? {
        tools.extend(server.tools);
    }
    Ok(ApiJson(ToolCatalog { tools, default: app.service().default_tools(principal.user).await? }))
}

/// `PUT /api/tools/default`: sets the tools of new chats.
pub async fn set_default(
    State(app): State<App>,
    principal: Principal,
    ApiJson(choice): ApiJson<ToolChoice>,
) -> Result<ApiJson<ToolChoice>, Problem> {
    Ok(ApiJson(app.service().set_default_tools(principal.user, choice).await?))
}

/// `GET /api/tool-servers`.
pub async fn list_servers(
    State(app): State<App>,
    principal: Principal,
) -> Result<ApiJson<Vec<ToolServerView>>, Problem> {
    Ok(ApiJson(app.service().tool_servers(principal.user).await?))
}

/// `POST /api/tool-servers`: connects a tool server. 201, or 200 for a repeated idempotency key.
pub async fn create_server(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    headers: HeaderMap,
    ApiJson(mut body): ApiJson<SaveToolServerRequest>,
) -> Result<Response, Problem> {
    body.refuse_program()?;
    let client_request_id = client_request_id(body.client_request_id.take(), &headers)?;
    let new = NewToolServer { id: body.id.take(), client_request_id, fields: body.into() };
    let made = app.service().add_tool_server(principal.user, actor(&principal, &client), new).await?;
    Ok((created_status(made.is_new), ApiJson(ToolServerWithNotices::from(made.value))).into_response())
}

/// `PATCH /api/tool-servers/{id}`: changes a server. Omitted fields stay unchanged.
pub async fn change_server(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    PathId(id): PathId<String>,
    ApiJson(body): ApiJson<SaveToolServerRequest>,
) -> Result<ApiJson<ToolServerWithNotices>, Problem> {
    body.refuse_program()?;
    if body.client_request_id.is_some() {
        let invalid = InvalidField::new("client_request_id", MessageCode::OnlyOnNewServer);
        return Err(Problem::unprocessable("invalid", invalid));
    }
    if body.id.as_ref().is_some_and(|named| *named != id) {
        return Err(Problem::unprocessable("invalid", InvalidField::new("id", MessageCode::ToolServerIdFixed)));
    }
    let (actor, change) = (actor(&principal, &client), (id.as_str(), body.into()));
    Ok(ApiJson(app.service().change_tool_server(principal.user, actor, change).await?.into()))
}

/// `DELETE /api/tool-servers/{id}`.
pub async fn remove_server(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    PathId(id): PathId<String>,
) -> Result<StatusCode, Problem> {
    app.service().remove_tool_server(principal.user, actor(&principal, &client), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/tool-servers/{id}/restart`: restarts the server and waits briefly for its tools.
pub async fn restart_server(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<String>,
) -> Result<ApiJson<ToolServerView>, Problem> {
    Ok(ApiJson(app.service().restart_tool_server(principal.user, &id).await?))
}

/// `GET /api/tool-policies`.
pub async fn list_policies(
    State(app): State<App>,
    principal: Principal,
) -> Result<ApiJson<Vec<ToolPolicyRule>>, Problem> {
    let policies = app.service().tool_policies(principal.user).await?;
    Ok(ApiJson(policies.into_iter().map(ToolPolicyRule::from).collect()))
}

/// `PUT /api/tool-policies`.
pub async fn set_policy(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    ApiJson(body): ApiJson<SetToolPolicyRequest>,
) -> Result<ApiJson<ToolView>, Problem> {
    let SetToolPolicyRequest { server, tool, host, policy } = body;
    let (actor, of) = (actor(&principal, &client), (server.as_str(), tool.as_str(), host.as_deref()));
    Ok(ApiJson(app.service().set_tool_policy(principal.user, actor, of, policy).await?))
}

/// `PUT /api/tool-servers/{id}/policy`: sets the permission of the tools that have none of their own.
pub async fn set_server_policy(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    PathId(id): PathId<String>,
    ApiJson(body): ApiJson<SetServerPolicyRequest>,
) -> Result<ApiJson<ToolServerView>, Problem> {
    let actor = actor(&principal, &client);
    Ok(ApiJson(app.service().set_server_policy(principal.user, actor, (&id, None), body.policy).await?))
}

/// `PUT /api/tool-servers/{id}/instructions`: sets whether models are offered the instructions of a server.
pub async fn set_offers_instructions(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    PathId(id): PathId<String>,
    ApiJson(body): ApiJson<SetServerInstructionsRequest>,
) -> Result<ApiJson<ToolServerView>, Problem> {
    let actor = actor(&principal, &client);
    Ok(ApiJson(app.service().set_offers_instructions(principal.user, actor, (&id, body.offered)).await?))
}

/// `GET /api/chats/{id}/tools`.
pub async fn show_chat_tools(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
) -> Result<ApiJson<ChatToolSelection>, Problem> {
    Ok(ApiJson(app.service().chat_tools(principal.user, id).await?.into()))
}

/// `PUT /api/chats/{id}/tools`.
pub async fn choose_chat_tools(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    ApiJson(choice): ApiJson<ToolChoice>,
) -> Result<ApiJson<ChatToolSelection>, Problem> {
    Ok(ApiJson(app.service().choose_tools(principal.user, id, choice).await?.into()))
}

/// `POST /api/branches/{id}/tools`: gives the branch the tools that its chat offers now, from its next message on.
pub async fn use_chat_tools_on_branch(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<BranchId>,
) -> Result<ApiJson<BranchToolSelection>, Problem> {
    let (branch, tools) = app.service().refresh_branch_tools(principal.user, id).await?;
    Ok(ApiJson(BranchToolSelection { branch_id: branch.id, tools }))
}

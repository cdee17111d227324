//! The API of groups and grants (docs/reference/api.md 3), for administrators who are signed in.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::accounts::access_rights::{GrantAudience, GrantKind, GrantTarget};
use crate::domain::{AccessRuleId, GroupId, GroupMappingId, InvalidField, MessageCode, UserId};
use crate::server::app::App;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::{PathId, PathIds};
use crate::server::http::response::problem::Problem;
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::access_rules::StoredAccessRule;
use turnleaf_service::accounts::groups::{AccountGroup, GroupMember};
use turnleaf_service::accounts::mapped_groups::GroupMapping;

/// A group of accounts.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct GroupSummary {
    id: GroupId,
    name: String,
    /// The number of its members.
    member_count: u64,
    created_at: DateTime<Utc>,
}

/// A group of accounts with its members.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct GroupDetails {
    #[serde(flatten)]
    group: GroupSummary,
    members: Vec<GroupMemberDetails>,
    mappings: Vec<GroupMappingDetails>,
}

/// A member of a group.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct GroupMemberDetails {
    user_id: UserId,
    name: String,
    /// True if an administrator added it.
    is_added: bool,
    /// The names of the services that make it a member by a mapping.
    services: Vec<String>,
}

/// A group of a sign-in service whose people are members of a group here.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct GroupMappingDetails {
    id: GroupMappingId,
    /// The id of the identity provider, or `proxy`. `null` if the service is not configured any more.
    service: Option<String>,
    service_name: String,
    /// The name of the group there.
    name: String,
}

/// A group of a sign-in service whose people become members.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MapGroupRequest {
    /// The id of a configured identity provider, or `proxy` for the reverse proxy that names people.
    #[schema(min_length = 1, max_length = 32)]
    service: String,
    /// The name of the group exactly as the service sends it.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
}

/// A group to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateGroupRequest {
    #[schema(min_length = 1, max_length = 64)]
    name: String,
    /// Idempotency key: repeating the request with it creates nothing.
    client_request_id: Option<String>,
}

/// The new name of a group.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameGroupRequest {
    #[schema(min_length = 1, max_length = 64)]
    name: String,
}

/// The people that a model, the other models of a provider, or a tool server is for.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct AccessRuleDetails {
    id: AccessRuleId,
    kind: GrantKind,
    /// The id of the provider or of the tool server.
    target: String,
    /// The name of the model. `null` for a provider, of which the rule is about all models without a rule of their own,
    /// and for a tool server.
    model: Option<String>,
    everybody: bool,
    groups: Vec<GroupId>,
    accounts: Vec<UserId>,
    changed_at: DateTime<Utc>,
}

/// The people that a model, the other models of a provider, or a tool server is for. It replaces the rule that the target
/// has.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetAccessRuleRequest {
    kind: GrantKind,
    /// The id of the provider or of the tool server.
    #[schema(min_length = 1, max_length = 64)]
    target: String,
    /// The name of the model, for the kind `model` only.
    model: Option<String>,
    #[serde(default)]
    everybody: bool,
    #[serde(default)]
    groups: Vec<GroupId>,
    #[serde(default)]
    accounts: Vec<UserId>,
}

impl From<AccountGroup> for GroupSummary {
    fn from(AccountGroup { id, name, members, created_at }: AccountGroup) -> Self {
        Self { id, name, member_count: members, created_at }
    }
}

impl From<GroupMember> for GroupMemberDetails {
    fn from(GroupMember { user, name, is_added, services }: GroupMember) -> Self {
        let services = services.iter().map(|service| service.name().to_owned()).collect();
        Self { user_id: user, name, is_added, services }
    }
}

impl From<GroupMapping> for GroupMappingDetails {
    fn from(GroupMapping { id, service, name }: GroupMapping) -> Self {
        let (service, service_name) = (service.id().map(str::to_owned), service.name().to_owned());
        Self { id, service, service_name, name }
    }
}

impl From<StoredAccessRule> for AccessRuleDetails {
    fn from(StoredAccessRule { id, target, audience, changed_at }: StoredAccessRule) -> Self {
        Self {
            id,
            kind: target.kind(),
            target: target.id().to_owned(),
            model: Some(target.model().to_owned()).filter(|model| !model.is_empty()),
            everybody: audience.everybody,
            groups: audience.groups.into_iter().collect(),
            accounts: audience.accounts.into_iter().collect(),
            changed_at,
        }
    }
}

/// `GET /api/groups`.
pub async fn list_groups(State(app): State<App>) -> Result<ApiJson<Vec<GroupSummary>>, Problem> {
    Ok(ApiJson(app.service().account_groups().await?.into_iter().map(GroupSummary::from).collect()))
}

/// `POST /api/groups`: creates a group. 201, or 200 for a repeated idempotency key.
pub async fn create_group(
    State(app): State<App>,
    actor: Actor,
    headers: HeaderMap,
    ApiJson(new): ApiJson<CreateGroupRequest>,
) -> Result<Response, Problem> {
    let key = client_request_id(new.client_request_id, &headers)?;
    let made = app.service().create_group(actor, &new.name, key.as_deref()).await?;
    Ok((created_status(made.is_new), ApiJson(GroupSummary::from(made.value))).into_response())
}

/// `GET /api/groups/{id}`.
pub async fn show_group(State(app): State<App>, PathId(id): PathId<GroupId>) -> Result<ApiJson<GroupDetails>, Problem> {
    let (group, members) = app.service().group(id).await?;
    let members = members.into_iter().map(GroupMemberDetails::from).collect();
    let mappings = app.service().group_mappings(id).await?.into_iter().map(GroupMappingDetails::from).collect();
    Ok(ApiJson(GroupDetails { group: group.into(), members, mappings }))
}

/// `PATCH /api/groups/{id}`.
pub async fn rename_group(
    State(app): State<App>,
    actor: Actor,
    PathId(id): PathId<GroupId>,
    ApiJson(change): ApiJson<RenameGroupRequest>,
) -> Result<ApiJson<GroupSummary>, Problem> {
    let renamed = app.service().rename_group(actor, id, &change.name).await?;
    Ok(ApiJson(renamed.into()))
}

/// `DELETE /api/groups/{id}`.
pub async fn delete_group(
    State(app): State<App>,
    actor: Actor,
    PathId(id): PathId<GroupId>,
) -> Result<StatusCode, Problem> {
    app.service().delete_group(actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `PUT /api/groups/{id}/members/{user_id}`.
pub async fn add_member(
    State(app): State<App>,
    actor: Actor,
    PathIds(id, user): PathIds<GroupId, UserId>,
) -> Result<StatusCode, Problem> {
    app.service().add_group_member(actor, id, user).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/groups/{id}/members/{user_id}`.
pub async fn remove_member(
    State(app): State<App>,
    actor: Actor,
    PathIds(id, user): PathIds<GroupId, UserId>,
) -> Result<StatusCode, Problem> {
    app.service().remove_group_member(actor, id, user).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `PUT /api/groups/{id}/mappings`: maps a group of a service.
pub async fn map_group(
    State(app): State<App>,
    actor: Actor,
    PathId(id): PathId<GroupId>,
    ApiJson(new): ApiJson<MapGroupRequest>,
) -> Result<ApiJson<GroupMappingDetails>, Problem> {
    let mapping = app.service().map_group(actor, id, (&new.service, &new.name)).await?;
    Ok(ApiJson(mapping.into()))
}

/// `DELETE /api/groups/{id}/mappings/{mapping_id}`.
pub async fn unmap_group(
    State(app): State<App>,
    actor: Actor,
    PathIds(id, mapping): PathIds<GroupId, GroupMappingId>,
) -> Result<StatusCode, Problem> {
    app.service().unmap_group(actor, id, mapping).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/grants`.
pub async fn list_grants(State(app): State<App>) -> Result<ApiJson<Vec<AccessRuleDetails>>, Problem> {
    Ok(ApiJson(app.service().access_rules().await?.into_iter().map(AccessRuleDetails::from).collect()))
}

/// `PUT /api/grants`: sets the rule of a target.
pub async fn set_grant(
    State(app): State<App>,
    actor: Actor,
    ApiJson(new): ApiJson<SetAccessRuleRequest>,
) -> Result<ApiJson<AccessRuleDetails>, Problem> {
    let SetAccessRuleRequest { kind, target, model, everybody, groups, accounts } = new;
    let target = GrantTarget::from_parts(kind, &target, model.as_deref().unwrap_or_default());
    let target =
        target.ok_or_else(|| Problem::unprocessable("invalid", InvalidField::new("target", MessageCode::IsUnknown)))?;
    let audience =
        GrantAudience { everybody, groups: groups.into_iter().collect(), accounts: accounts.into_iter().collect() };
    let stored = app.service().set_access_rule(actor, target, audience).await?;
    Ok(ApiJson(stored.into()))
}

/// `DELETE /api/grants/{id}`: the target has its default again.
pub async fn delete_grant(
    State(app): State<App>,
    actor: Actor,
    PathId(id): PathId<AccessRuleId>,
) -> Result<StatusCode, Problem> {
    app.service().delete_access_rule(actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

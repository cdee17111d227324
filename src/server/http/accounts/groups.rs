//! The pages of groups and their forms, for administrators.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{GroupId, GroupMappingId, InvalidField, MessageCode, UserId};
use crate::server::app::App;
use crate::server::http::accounts::account_form::AccountForm;
use crate::server::http::accounts::form_refusal::FormRefusal;
use crate::server::http::accounts::form_result::{FormResult, FormResultQuery};
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::early_response::EarlyResponse;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, see_other};
use crate::server::server_pages::PageSection;
use crate::server::server_pages::accounts::group_mappings::GroupMappingPanel;
use crate::server::server_pages::accounts::groups::{AccountGroupPage, GroupsPage, RefusedGroupForm, group_path};
use crate::server::server_pages::messages::rights as words;
use turnleaf_service::accounts::account_error::AccountError;
use turnleaf_service::accounts::list_pages::ListPosition;

/// The action that a form has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupsFormResult {
    Created,
    Renamed,
    Deleted,
    MemberAdded,
    MemberRemoved,
    Mapped,
    Unmapped,
}

impl FormResult for GroupsFormResult {
    fn sentence(self) -> &'static str {
        match self {
            Self::Created => words::group_created(),
            Self::Renamed => words::group_renamed(),
            Self::Deleted => words::group_deleted(),
            Self::MemberAdded => words::member_added(),
            Self::MemberRemoved => words::member_removed(),
            Self::Mapped => words::group_mapped(),
            Self::Unmapped => words::group_unmapped(),
        }
    }
}

/// The query of the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupsPageQuery {
    /// A part of the name of the listed groups.
    #[serde(default)]
    find: String,
    /// The name behind which the page begins.
    #[serde(default)]
    after: String,
    /// The action that a form has done.
    done: Option<GroupsFormResult>,
}

/// `GET /settings/groups`.
pub async fn list(
    State(app): State<App>,
    StrictQuery(query): StrictQuery<GroupsPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let position = ListPosition::new(&query.find, &query.after);
    let groups = app.service().group_page(&position).await?;
    let page = GroupsPage { groups, position, typed_name: String::new(), error: None };
    Ok(context.respond(&app, StatusCode::OK, page.draw(query.done.map(GroupsFormResult::notice))))
}

/// Reads what the page of a group shows.
async fn group_page(app: &App, id: GroupId) -> Result<AccountGroupPage, Problem> {
    let service = app.service();
    let (group, members) = service.group(id).await?;
    let mappings = GroupMappingPanel {
        mappings: service.group_mappings(id).await?,
        services: service.group_services(),
        suggestions: service.external_group_names().await?,
    };
    Ok(AccountGroupPage { group, members, mappings, refused: None })
}

/// `GET /settings/groups/{id}`.
pub async fn show(
    State(app): State<App>,
    PathId(id): PathId<GroupId>,
    StrictQuery(query): StrictQuery<FormResultQuery<GroupsFormResult>>,
    context: PageContext,
) -> Result<Response, Problem> {
    let page = group_page(&app, id).await?;
    Ok(context.respond(&app, StatusCode::OK, page.draw(query.notice())))
}

/// `POST /forms/groups/create`.
pub async fn create(form: AccountForm) -> Result<Response, EarlyResponse> {
    let name = form.text("name");
    let error = match form.service().create_group(form.actor(), &name, None).await {
        Ok(made) => return Ok(see_other(&format!("{}?done=created", group_path(made.value.id)))),
        Err(error) => error,
    };
    let refusal = FormRefusal::from_error(error)?;
    let position = ListPosition::default();
    let groups = form.service().group_page(&position).await?;
    let page = GroupsPage { groups, position, typed_name: name, error: refusal.field };
    Ok(form.respond(refusal.head, page.draw(refusal.notice)))
}

/// Returns to the page of a group after an action, or shows why it was refused.
async fn finish(
    form: &AccountForm,
    id: GroupId,
    (done, result): (&str, Result<(), AccountError>),
    refused: impl FnOnce(InvalidField) -> RefusedGroupForm,
) -> Result<Response, EarlyResponse> {
    let error = match result {
        Ok(()) => return Ok(see_other(&format!("{}?done={done}", group_path(id)))),
        Err(error) => error,
    };
    let refusal = FormRefusal::from_error(error)?;
    let page = AccountGroupPage { refused: refusal.field.map(refused), ..group_page(&form.app, id).await? };
    Ok(form.respond(refusal.head, page.draw(refusal.notice)))
}

/// `POST /forms/groups/rename`.
pub async fn rename(form: AccountForm) -> Result<Response, EarlyResponse> {
    let (id, name) = (form.fields.subject_id("group_id")?, form.text("name"));
    let done = form.service().rename_group(form.actor(), id, &name).await.map(drop);
    finish(&form, id, ("renamed", done), |error| RefusedGroupForm::Name(name, error)).await
}

/// `POST /forms/groups/delete`.
pub async fn delete(form: AccountForm) -> Result<Response, EarlyResponse> {
    let id: GroupId = form.fields.subject_id("group_id")?;
    form.require_password("/forms/groups/delete", PageSection::Groups).await?;
    form.service().delete_group(form.actor(), id).await?;
    Ok(see_other("/settings/groups?done=deleted"))
}

/// `POST /forms/groups/add-member`.
pub async fn add_member(form: AccountForm) -> Result<Response, EarlyResponse> {
    let (id, name): (GroupId, String) = (form.fields.subject_id("group_id")?, form.text("name"));
    form.require_password("/forms/groups/add-member", PageSection::Groups).await?;
    let done = match form.service().find_account(&name).await? {
        Some(user) => form.service().add_group_member(form.actor(), id, user).await,
        None => Err(InvalidField::new("name", MessageCode::NoSuchAccount.with("name", &name)).into()),
    };
    finish(&form, id, ("member_added", done), |error| RefusedGroupForm::Member(name, error)).await
}

/// `POST /forms/groups/remove-member`.
pub async fn remove_member(form: AccountForm) -> Result<Response, EarlyResponse> {
    let (id, user): (GroupId, UserId) = (form.fields.subject_id("group_id")?, form.fields.subject_id("user_id")?);
    form.require_password("/forms/groups/remove-member", PageSection::Groups).await?;
    form.service().remove_group_member(form.actor(), id, user).await?;
    Ok(see_other(&format!("{}?done=member_removed", group_path(id))))
}

/// `POST /forms/groups/map`.
pub async fn map_group(form: AccountForm) -> Result<Response, EarlyResponse> {
    let id: GroupId = form.fields.subject_id("group_id")?;
    let (service, name) = (form.text("service"), form.text("name"));
    form.require_password("/forms/groups/map", PageSection::Groups).await?;
    let done = form.service().map_group(form.actor(), id, (&service, &name)).await.map(drop);
    finish(&form, id, ("mapped", done), |error| RefusedGroupForm::Mapping { service, name, error }).await
}

/// `POST /forms/groups/unmap`.
pub async fn unmap_group(form: AccountForm) -> Result<Response, EarlyResponse> {
    let id: GroupId = form.fields.subject_id("group_id")?;
    let mapping: GroupMappingId = form.fields.subject_id("mapping_id")?;
    form.require_password("/forms/groups/unmap", PageSection::Groups).await?;
    form.service().unmap_group(form.actor(), id, mapping).await?;
    Ok(see_other(&format!("{}?done=unmapped", group_path(id))))
}

//! The pages of groups and their forms, for administrators.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{GroupId, InvalidField, MessageCode, UserId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::form_refusal::FormRefusal;
use crate::server::http::accounts::password_prompt::{ProtectedForm, ask_password};
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::server_pages::accounts::groups::{AccountGroupPage, GroupsPage, RefusedGroupForm, group_path};
use crate::server::server_pages::messages::rights as words;
use crate::server::server_pages::{ActionNotice, PageSection};
use turnleaf_service::accounts::account_error::AccountError;

/// The query of the pages.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupsPageQuery {
    /// The action that a form has done.
    done: Option<GroupsFormResult>,
}

/// The action that a form has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum GroupsFormResult {
    Created,
    Renamed,
    Deleted,
    MemberAdded,
    MemberRemoved,
}

impl GroupsFormResult {
    fn notice(self) -> ActionNotice {
        let sentence = match self {
            Self::Created => words::group_created(),
            Self::Renamed => words::group_renamed(),
            Self::Deleted => words::group_deleted(),
            Self::MemberAdded => words::member_added(),
            Self::MemberRemoved => words::member_removed(),
        };
        ActionNotice::Done(sentence.to_owned())
    }
}

/// `GET /settings/groups`.
pub async fn list(
    State(app): State<App>,
    StrictQuery(query): StrictQuery<GroupsPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let page = GroupsPage { groups: app.service().account_groups().await?, typed_name: String::new(), error: None };
    Ok(context.respond(&app, StatusCode::OK, page.draw(query.done.map(GroupsFormResult::notice))))
}

/// `GET /settings/groups/{id}`.
pub async fn show(
    State(app): State<App>,
    PathId(id): PathId<GroupId>,
    StrictQuery(query): StrictQuery<GroupsPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let (group, members) = app.service().group(id).await?;
    let page = AccountGroupPage { group, members, refused: None };
    Ok(context.respond(&app, StatusCode::OK, page.draw(query.done.map(GroupsFormResult::notice))))
}

/// `POST /forms/groups/create`.
pub async fn create(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let name = fields.text("name").unwrap_or_default();
    let error = match app.service().create_group(actor(&principal, &client), &name, None).await {
        Ok(made) => return Ok(see_other(&format!("{}?done=created", group_path(made.value.id)))),
        Err(error) => error,
    };
    let refusal = FormRefusal::from_error(error)?;
    let page = GroupsPage { groups: app.service().account_groups().await?, typed_name: name, error: refusal.field };
    Ok(context.respond(&app, refusal.status, page.draw(refusal.notice)))
}

/// Returns to the page of a group after an action, or shows why it was refused.
async fn finish(
    app: &App,
    context: PageContext,
    id: GroupId,
    (done, result): (&str, Result<(), AccountError>),
    refused: impl FnOnce(InvalidField) -> RefusedGroupForm,
) -> Result<Response, Problem> {
    let error = match result {
        Ok(()) => return Ok(see_other(&format!("{}?done={done}", group_path(id)))),
        Err(error) => error,
    };
    let refusal = FormRefusal::from_error(error)?;
    let (group, members) = app.service().group(id).await?;
    let page = AccountGroupPage { group, members, refused: refusal.field.map(refused) };
    Ok(context.respond(app, refusal.status, page.draw(refusal.notice)))
}

/// `POST /forms/groups/rename`.
pub async fn rename(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let (id, name) = (fields.subject_id("group_id")?, fields.text("name").unwrap_or_default());
    let done = app.service().rename_group(actor(&principal, &client), id, &name).await.map(drop);
    finish(&app, context, id, ("renamed", done), |error| RefusedGroupForm::Name(name, error)).await
}

/// `POST /forms/groups/delete`.
pub async fn delete(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: GroupId = fields.subject_id("group_id")?;
    let form = ProtectedForm { action: "/forms/groups/delete", section: PageSection::Groups };
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    app.service().delete_group(actor(&principal, &client), id).await?;
    Ok(see_other("/settings/groups?done=deleted"))
}

/// `POST /forms/groups/add-member`.
pub async fn add_member(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let (id, name): (GroupId, String) = (fields.subject_id("group_id")?, fields.text("name").unwrap_or_default());
    let form = ProtectedForm { action: "/forms/groups/add-member", section: PageSection::Groups };
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    let done = match app.service().find_account(&name).await? {
        Some(user) => app.service().add_group_member(actor(&principal, &client), id, user).await,
        None => Err(InvalidField::new("name", MessageCode::NoSuchAccount.with("name", &name)).into()),
    };
    finish(&app, context, id, ("member_added", done), |error| RefusedGroupForm::Member(name, error)).await
}

/// `POST /forms/groups/remove-member`.
pub async fn remove_member(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let (id, user): (GroupId, UserId) = (fields.subject_id("group_id")?, fields.subject_id("user_id")?);
    let form = ProtectedForm { action: "/forms/groups/remove-member", section: PageSection::Groups };
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    app.service().remove_group_member(actor(&principal, &client), id, user).await?;
    Ok(see_other(&format!("{}?done=member_removed", group_path(id))))
}

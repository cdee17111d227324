//! The pages of access to models and tool servers and their forms, for administrators.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::accounts::access_rights::{GrantAudience, GrantKind, GrantTarget};
use crate::domain::{AccessRuleId, GroupId, InvalidField, MessageCode, UserId};
use crate::server::app::App;
use crate::server::http::accounts::account_form::AccountForm;
use crate::server::http::accounts::form_refusal::FormRefusal;
use crate::server::http::accounts::form_result::FormResult;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::early_response::EarlyResponse;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, see_other};
use crate::server::server_pages::PageSection;
use crate::server::server_pages::accounts::access::{AccessPage, AccessRulePage, SharedTargets};
use crate::server::server_pages::messages::rights as words;
use turnleaf_service::ServiceError;

/// The query of the list.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessPageQuery {
    /// The provider of which all models are shown.
    provider: Option<String>,
    /// The action that a form has done.
    done: Option<AccessFormResult>,
}

/// The action that a form has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AccessFormResult {
    Saved,
    Reset,
}

impl FormResult for AccessFormResult {
    fn sentence(self) -> &'static str {
        match self {
            Self::Saved => words::access_saved(),
            Self::Reset => words::access_reset(),
        }
    }
}

/// The query of the form of a rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessRuleQuery {
    kind: GrantKind,
    target: String,
    model: Option<String>,
}

async fn read_table(app: &App) -> Result<SharedTargets, ServiceError> {
    let service = app.service();
    let rules = service.access_rules().await?;
    Ok(SharedTargets { providers: service.shared_models(), tool_servers: service.shared_tool_servers(), rules })
}

/// `GET /settings/access`.
pub async fn show(
    State(app): State<App>,
    StrictQuery(query): StrictQuery<AccessPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let (table, groups) = (read_table(&app).await?, app.service().group_names().await?);
    let accounts = app.service().account_names(table.named_accounts()).await?;
    let groups = groups.into_iter().map(|group| (group.id, group.name)).collect();
    let page = AccessPage { table, groups, accounts, open_provider: query.provider };
    Ok(context.respond(&app, StatusCode::OK, page.draw(query.done.map(AccessFormResult::notice))))
}

/// `GET /settings/access/rule`.
pub async fn show_rule(
    State(app): State<App>,
    StrictQuery(query): StrictQuery<AccessRuleQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let target = GrantTarget::from_parts(query.kind, &query.target, query.model.as_deref().unwrap_or_default());
    let page = read_rule(&app, target.ok_or_else(Problem::not_found)?).await?;
    Ok(context.respond(&app, StatusCode::OK, page.draw(None)))
}

/// Returns the form of a rule as it is stored; of a target without one, as its default is.
async fn read_rule(app: &App, target: GrantTarget) -> Result<AccessRulePage, ServiceError> {
    let (table, groups) = (read_table(app).await?, app.service().group_names().await?);
    let find = |target: &GrantTarget| table.rules.iter().find(|rule| rule.target == *target);
    let stored = find(&target);
    let of_provider = find(&GrantTarget::Provider(target.id().to_owned()));
    let default = match &target {
        GrantTarget::Model(_) => of_provider.map_or_else(GrantAudience::everybody, |rule| rule.audience.clone()),
        GrantTarget::Provider(_) => GrantAudience::everybody(),
        GrantTarget::ToolServer(_) => GrantAudience::default(),
    };
    let audience = stored.map_or(default, |rule| rule.audience.clone());
    let accounts = account_names(app, &audience.accounts).await?;
    let (name, rule) = (table.name(&target), stored.map(|rule| rule.id));
    Ok(AccessRulePage { target, name, rule, audience, groups, find: String::new(), accounts, error: None })
}

/// Returns the names of accounts as they are typed.
async fn account_names(app: &App, accounts: &BTreeSet<UserId>) -> Result<String, ServiceError> {
    if accounts.is_empty() {
        return Ok(String::new());
    }
    let names = app.service().account_names(accounts.iter().copied()).await?;
    let known: Vec<&str> = accounts.iter().filter_map(|user| names.get(user)).map(String::as_str).collect();
    Ok(known.join(" "))
}

/// Returns the accounts with these names.
async fn find_accounts(app: &App, typed: &str) -> Result<Result<BTreeSet<UserId>, InvalidField>, ServiceError> {
    let mut found = BTreeSet::new();
    for name in
        typed.split(|c: char| c.is_whitespace() || matches!(c, ',' | '，' | '、')).filter(|name| !name.is_empty())
    {
        match app.service().find_account(name).await? {
            Some(user) => found.insert(user),
            None => return Ok(Err(InvalidField::new("accounts", MessageCode::NoSuchAccount.with("name", name)))),
        };
    }
    Ok(Ok(found))
}

/// Reads the target of the form of a rule, and its audience without the single accounts.
fn submitted_rule(form: &AccountForm) -> Result<(GrantTarget, GrantAudience), Problem> {
    let kind = GrantKind::parse(&form.text("kind"));
    let target = kind.and_then(|kind| GrantTarget::from_parts(kind, &form.text("target"), &form.text("model")));
    let target = target.ok_or_else(Problem::not_found)?;
    let groups: Result<BTreeSet<GroupId>, _> = form.fields.values("group").iter().map(|id| id.parse()).collect();
    let groups = groups.map_err(|_| Problem::not_found())?;
    let everybody = form.fields.is_checked("everybody");
    Ok((target, GrantAudience { everybody, groups, accounts: BTreeSet::new() }))
}

/// `POST /forms/access/find`: shows the form with the groups of a name. It keeps what is ticked and typed, which is why it
/// is sent like the rule itself.
pub async fn find_groups(form: AccountForm) -> Result<Response, EarlyResponse> {
    let (target, audience) = submitted_rule(&form)?;
    let stored = read_rule(&form.app, target).await?;
    let page = AccessRulePage { audience, accounts: form.text("accounts"), find: form.text("find"), ..stored };
    Ok(form.respond(StatusCode::OK, page.draw(None)))
}

/// `POST /forms/access/save`.
pub async fn save(form: AccountForm) -> Result<Response, EarlyResponse> {
    let (target, mut audience) = submitted_rule(&form)?;
    let typed = form.text("accounts");
    form.require_password("/forms/access/save", PageSection::Groups).await?;
    let refusal = match find_accounts(&form.app, &typed).await? {
        Ok(accounts) => {
            audience.accounts = accounts;
            let set = form.service().set_access_rule(form.actor(), target.clone(), audience.clone());
            match set.await {
                Ok(_) => return Ok(see_other("/settings/access?done=saved")),
                Err(error) => FormRefusal::from_error(error)?,
            }
        }
        Err(invalid) => FormRefusal::from_error(invalid.into())?,
    };
    let stored = read_rule(&form.app, target).await?;
    let page = AccessRulePage { audience, accounts: typed, find: form.text("find"), error: refusal.field, ..stored };
    Ok(form.respond(refusal.head, page.draw(refusal.notice)))
}

/// `POST /forms/access/reset`.
pub async fn reset(form: AccountForm) -> Result<Response, EarlyResponse> {
    let rule: AccessRuleId = form.fields.subject_id("rule_id")?;
    form.require_password("/forms/access/reset", PageSection::Groups).await?;
    form.service().delete_access_rule(form.actor(), rule).await?;
    Ok(see_other("/settings/access?done=reset"))
}

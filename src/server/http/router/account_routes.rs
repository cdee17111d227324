//! The rows of accounts in the table of routes: the pages for people who are not signed in, the own account, and what
//! administrators do.

use super::route::{self, api, page, routes};
use super::table::{PAGE, PUBLIC, require};
use crate::domain::PendingStep;
use crate::server::access::Scope;
use crate::server::http::access_control::Access;
use crate::server::http::accounts;

/// Sessions and tokens of the own account, which only people manage.
const ACCOUNT: Access = require(Scope::Account);
const ADMIN: Access = Access::Admin;
/// The pages of sessions in which a step is pending, and its forms.
const PENDING: Access = Access::Pending(None);
const OWN_PASSWORD: Access = Access::Pending(Some(PendingStep::ChangePassword));
const FACTOR: Access = Access::Pending(Some(PendingStep::SetUpSecondFactor));

routes! {
    api!(get "/api/sessions" ACCOUNT, accounts::api::list_sessions, accounts::operations::list_sessions),
    api!(delete "/api/sessions/{id}" ACCOUNT, accounts::api::end_session, accounts::operations::end_session),
    api!(get "/api/tokens" ACCOUNT, accounts::api::list_tokens, accounts::operations::list_tokens),
    api!(post "/api/tokens" ACCOUNT, accounts::api::create_token, accounts::operations::create_token),
    api!(delete "/api/tokens/{id}" ACCOUNT, accounts::api::revoke_token, accounts::operations::revoke_token),
    page!(get "/sign-in" PUBLIC, accounts::sign_in::show),
    page!(post "/forms/sign-in" PUBLIC, accounts::sign_in::sign_in),
    page!(post "/forms/sign-in/code" PUBLIC, accounts::sign_in::enter_code),
    page!(post "/forms/sign-in/passkey" PUBLIC, accounts::passkeys::sign_in),
    page!(post "/forms/passkey/begin" PUBLIC, accounts::passkeys::begin_use),
    page!(get "/sign-in/{provider}" PUBLIC, |shell| accounts::identities::begin_route(shell.origin)),
    page!(get "/sign-in/{provider}/callback" PUBLIC, accounts::identities::callback),
    page!(get "/setup" PUBLIC, accounts::sign_in::show_setup),
    page!(post "/forms/setup" PUBLIC, accounts::sign_in::set_up),
    page!(get "/invite/{code}" PUBLIC, accounts::sign_in::show_invite),
    page!(post "/forms/invite" PUBLIC, accounts::sign_in::accept_invite),
    page!(post "/forms/sign-out" PENDING, accounts::sign_in::sign_out),
    page!(get "/finish-sign-in" PENDING, accounts::pending_step::show),
    page!(post "/forms/finish-sign-in/password" OWN_PASSWORD, accounts::pending_step::change_password),
    page!(get "/settings/profile" PAGE, accounts::profile::show),
    page!(post "/forms/profile/name" PAGE, accounts::profile::save_name),
    page!(post "/forms/profile/password" PAGE, accounts::profile::change_password),
    page!(post "/forms/profile/second-factor/begin" FACTOR, accounts::second_factor::begin),
    page!(post "/forms/profile/second-factor/confirm" FACTOR, accounts::second_factor::confirm),
    page!(post "/forms/profile/second-factor/codes" PAGE, accounts::second_factor::renew_codes),
    page!(post "/forms/profile/second-factor/remove" PAGE, accounts::second_factor::remove),
    page!(post "/forms/profile/passkeys/begin" FACTOR, accounts::passkeys::begin),
    page!(post "/forms/profile/passkeys/add" FACTOR, accounts::passkeys::add_own),
    page!(post "/forms/profile/passkeys/remove" PAGE, accounts::passkeys::remove),
    page!(post "/forms/profile/identities/link" PAGE, |shell| accounts::identities::link_route(shell.origin)),
    page!(post "/forms/profile/identities/unlink" PAGE, accounts::identities::unlink),
    page!(get "/settings/profile/confirm/{provider}" PAGE, |shell| accounts::identities::confirm_route(shell.origin)),
    page!(post "/forms/profile/sessions/end" PAGE, accounts::profile::end_session),
    page!(post "/forms/profile/sessions/end-others" PAGE, accounts::profile::end_other_sessions),
    page!(post "/forms/profile/tokens/create" PAGE, accounts::profile::create_token),
    page!(post "/forms/profile/tokens/revoke" PAGE, accounts::profile::revoke_token),
    page!(get "/settings/profile/delete" PAGE, accounts::deletion::show),
    page!(post "/forms/profile/delete" PAGE, accounts::deletion::delete),
    page!(get "/settings/budgets" ADMIN, accounts::budgets::show),
    page!(get "/settings/budgets/usage" ADMIN, accounts::budgets::usage),
    page!(post "/forms/budgets" ADMIN, accounts::budgets::save),
    page!(get "/settings/users" ADMIN, accounts::users::show),
    page!(post "/forms/users/disable" ADMIN, accounts::users::disable),
    page!(post "/forms/users/enable" ADMIN, accounts::users::enable),
    page!(post "/forms/users/role" ADMIN, accounts::users::change_role),
    page!(post "/forms/users/sign-out" ADMIN, accounts::users::sign_out),
    page!(post "/forms/users/invite" ADMIN, |shell| accounts::users::invite_route(shell.origin)),
    page!(post "/forms/users/revoke-invite" ADMIN, accounts::users::revoke_invite),
    api!(get "/api/audit" ADMIN, accounts::audit_log::list, accounts::operations::list_audit_log),
    page!(get "/settings/audit" ADMIN, accounts::audit_log::show),
    api!(get "/api/groups" ADMIN, accounts::rights_api::list_groups, accounts::rights_operations::list_groups),
    api!(post "/api/groups" ADMIN, accounts::rights_api::create_group, accounts::rights_operations::create_group),
    api!(get "/api/groups/{id}" ADMIN, accounts::rights_api::show_group, accounts::rights_operations::show_group),
    api!(patch "/api/groups/{id}" ADMIN, accounts::rights_api::rename_group, accounts::rights_operations::rename_group),
    api!(delete "/api/groups/{id}" ADMIN, accounts::rights_api::delete_group, accounts::rights_operations::delete_group),
    api!(put "/api/groups/{id}/members/{user_id}" ADMIN, accounts::rights_api::add_member, accounts::rights_operations::add_member),
    api!(delete "/api/groups/{id}/members/{user_id}" ADMIN, accounts::rights_api::remove_member, accounts::rights_operations::remove_member),
    api!(put "/api/groups/{id}/mappings" ADMIN, accounts::rights_api::map_group, accounts::rights_operations::map_group),
    api!(delete "/api/groups/{id}/mappings/{mapping_id}" ADMIN, accounts::rights_api::unmap_group, accounts::rights_operations::unmap_group),
    api!(get "/api/grants" ADMIN, accounts::rights_api::list_grants, accounts::rights_operations::list_grants),
    api!(put "/api/grants" ADMIN, accounts::rights_api::set_grant, accounts::rights_operations::set_grant),
    api!(delete "/api/grants/{id}" ADMIN, accounts::rights_api::delete_grant, accounts::rights_operations::delete_grant),
    page!(get "/settings/groups" ADMIN, accounts::groups::list),
    page!(get "/settings/groups/{id}" ADMIN, accounts::groups::show),
    page!(post "/forms/groups/create" ADMIN, accounts::groups::create),
    page!(post "/forms/groups/rename" ADMIN, accounts::groups::rename),
    page!(post "/forms/groups/delete" ADMIN, accounts::groups::delete),
    page!(post "/forms/groups/add-member" ADMIN, accounts::groups::add_member),
    page!(post "/forms/groups/remove-member" ADMIN, accounts::groups::remove_member),
    page!(post "/forms/groups/map" ADMIN, accounts::groups::map_group),
    page!(post "/forms/groups/unmap" ADMIN, accounts::groups::unmap_group),
    page!(get "/settings/access" ADMIN, accounts::access::show),
    page!(get "/settings/access/rule" ADMIN, accounts::access::show_rule),
    page!(post "/forms/access/find" ADMIN, accounts::access::find_groups),
    page!(post "/forms/access/save" ADMIN, accounts::access::save),
    page!(post "/forms/access/reset" ADMIN, accounts::access::reset),
}

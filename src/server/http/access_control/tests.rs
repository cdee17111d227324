//! Tests of access rules against principals with and without the rights.

use http::StatusCode;

use super::*;
use crate::server::access::{AccountRole, Scopes};

const READ: Access = Access::User { scope: Some(Scope::ChatsRead), csrf: CsrfCheck::ByMethod };

fn owner() -> Principal {
    Principal::owner(uuid::Uuid::nil().into())
}

fn refusal(access: Access, principal: Option<Principal>) -> Option<StatusCode> {
    access.check(principal).err().map(|problem| problem.status())
}

#[test]
fn stranger_passes_public_routes_only() {
    assert_eq!(refusal(Access::Public, None), None);
    for access in [ANY_PRINCIPAL, READ, Access::Admin] {
        assert_eq!(refusal(access, None), Some(StatusCode::UNAUTHORIZED), "{access:?}");
        assert_eq!(refusal(access, Some(owner())), None, "{access:?}");
    }
}

#[test]
fn principal_without_scope_or_role_is_forbidden() {
    let exporting = Principal { scopes: Scopes::NONE.with(Scope::Export), ..owner() };
    let user = Principal { role: AccountRole::User, ..owner() };
    for (access, principal, refused) in [
        (Access::Public, exporting, false),
        (ANY_PRINCIPAL, exporting, false),
        (READ, exporting, true),
        (Access::Admin, exporting, true),
        (READ, user, false),
        (Access::Admin, user, true),
    ] {
        let status = refused.then_some(StatusCode::FORBIDDEN);
        assert_eq!(refusal(access, Some(principal)), status, "{access:?} {principal:?}");
    }
}

#[test]
fn pending_step_opens_its_own_routes_only() {
    const FACTOR: Access = Access::Pending(Some(PendingStep::SetUpSecondFactor));
    const ANY_STEP: Access = Access::Pending(None);
    for access in [FACTOR, ANY_STEP] {
        assert_eq!(refusal(access, None), Some(StatusCode::UNAUTHORIZED), "{access:?}");
        let exporting = Principal { scopes: Scopes::NONE.with(Scope::Export), ..owner() };
        assert_eq!(refusal(access, Some(exporting)), Some(StatusCode::FORBIDDEN), "{access:?}");
        // The second factor of an account is also set up without being required.
        assert_eq!(refusal(access, Some(owner())), None, "{access:?}");
    }
    for (access, step, is_part) in [
        (FACTOR, PendingStep::SetUpSecondFactor, true),
        (FACTOR, PendingStep::ChangePassword, false),
        (ANY_STEP, PendingStep::ChangePassword, true),
        (READ, PendingStep::ChangePassword, false),
        (ANY_PRINCIPAL, PendingStep::SetUpSecondFactor, false),
        (Access::Admin, PendingStep::SetUpSecondFactor, false),
    ] {
        assert_eq!(access.is_part_of(step), is_part, "{access:?} {step:?}");
    }
}

#[test]
fn route_beside_table_requires_administrator() {
    let mut table = AccessTable::default();
    table.insert("get", "/chats/{id}", READ);
    table.insert("POST", "/chats/{id}", Access::Admin);
    table.insert("get", "/health", Access::Public);
    for (matched, method, required) in [
        (Some("/chats/{id}"), Method::GET, READ),
        (Some("/chats/{id}"), Method::HEAD, READ),
        (Some("/chats/{id}"), Method::POST, Access::Admin),
        // 405 for whoever is let in, and 404.
        (Some("/chats/{id}"), Method::DELETE, ANY_PRINCIPAL),
        (Some("/health"), Method::HEAD, Access::Public),
        (Some("/health"), Method::POST, ANY_PRINCIPAL),
        (None, Method::GET, ANY_PRINCIPAL),
        (Some("/forgotten"), Method::GET, Access::Admin),
    ] {
        assert_eq!(table.required(matched, &method), required, "{method} {matched:?}");
    }
    assert_eq!(table.rows().count(), 3);
}

//! The columns of the route table agree with each other.

use std::collections::BTreeSet;

use super::*;
use crate::domain::PendingStep;
use crate::server::http::access_control::CsrfCheck;

fn is_described(method: &str, path: &str) -> bool {
    descriptions().any(|one| (one.method, one.path) == (method, path))
}

#[test]
fn api_routes_are_described_and_page_routes_are_not() {
    for Route { method, path, .. } in all_routes() {
        let is_for_programs = path.starts_with("/api/") || ["/healthz", "/readyz", "/version"].contains(path);
        assert_eq!(is_for_programs, is_described(method, path), "{method} {path}");
    }
}

#[test]
fn public_routes_are_those_that_show_nothing_of_anybody() {
    let public: BTreeSet<&str> =
        all_routes().filter(|route| route.access == Access::Public).map(|route| route.path).collect();
    let listed = [
        "/forms/invite",
        "/forms/passkey/begin",
        "/forms/setup",
        "/forms/sign-in",
        "/forms/sign-in/code",
        "/forms/sign-in/passkey",
        "/frame-host.js",
        "/frames/diagram/{hash}",
        "/healthz",
        "/invite/{code}",
        // For authorization servers of tool servers.
        "/oauth/client.json",
        "/offline",
        "/passkeys.js",
        "/preview.css",
        "/preview.js",
        "/readyz",
        "/setup",
        // Shared pages, for people who have the link.
        "/share/{token}",
        "/share/{token}/blobs/{sha256}",
        "/sign-in",
        // To an identity provider and back.
        "/sign-in/{provider}",
        "/sign-in/{provider}/callback",
        "/worker.js",
    ];
    assert_eq!(public, BTreeSet::from(listed));
    // A stranger changes nothing but by signing in, setting up, or accepting an invitation.
    let forms = [
        "/forms/invite",
        "/forms/passkey/begin",
        "/forms/setup",
        "/forms/sign-in",
        "/forms/sign-in/code",
        "/forms/sign-in/passkey",
    ];
    for Route { method, path, access, .. } in all_routes() {
        assert!(*access != Access::Public || (*method == "get") != forms.contains(path), "{method} {path}");
    }
}

#[test]
fn session_with_pending_step_has_few_routes() {
    let open = |step: PendingStep| {
        let is_open = |route: &&Route| matches!(route.access, Access::Pending(of) if of.is_none_or(|of| of == step));
        all_routes().filter(is_open).map(|route| route.path).collect::<BTreeSet<&str>>()
    };
    let of_any = ["/finish-sign-in", "/forms/sign-out"];
    let with = |own: &[&'static str]| of_any.into_iter().chain(own.iter().copied()).collect::<BTreeSet<&str>>();
    assert_eq!(open(PendingStep::ChangePassword), with(&["/forms/finish-sign-in/password"]));
    let factor = [
        "/forms/profile/second-factor/begin",
        "/forms/profile/second-factor/confirm",
        "/forms/profile/passkeys/begin",
        "/forms/profile/passkeys/add",
    ];
    assert_eq!(open(PendingStep::SetUpSecondFactor), with(&factor));
}

#[test]
fn programs_get_no_pages_and_connections_are_guarded() {
    for Route { method, path, access, .. } in all_routes() {
        let is_described = is_described(method, path);
        // A credential for programs has not the scope of pages, and is no administrator; scripts in the browser of one
        // may send what is described.
        let is_for_people = *access == PAGE || matches!(access, Access::Admin | Access::Pending(_));
        assert!(is_for_people || is_described || *access == Access::Public, "{method} {path}");
        let is_page = *access == PAGE || matches!(access, Access::Pending(_));
        assert!(!is_page || !is_described, "{method} {path}");
        let is_connection = path.ends_with("/ws");
        let is_guarded = matches!(access, Access::User { csrf: CsrfCheck::Always, .. });
        assert_eq!(is_guarded, is_connection, "{method} {path}");
    }
}

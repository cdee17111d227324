//! The columns of the route table agree with each other.

use std::collections::BTreeSet;

use super::*;
use crate::server::http::access_control::CsrfCheck;

#[test]
fn api_routes_are_described_and_page_routes_are_not() {
    for Route { method, path, describe, .. } in ROUTES {
        let is_for_programs = path.starts_with("/api/") || ["/healthz", "/readyz", "/version"].contains(path);
        assert_eq!(is_for_programs, describe.is_some(), "{method} {path}");
    }
}

#[test]
fn public_routes_are_those_that_show_nothing_of_anybody() {
    let public: BTreeSet<&str> =
        ROUTES.iter().filter(|route| route.access == Access::Public).map(|route| route.path).collect();
    let listed = [
        "/frame-host.js",
        "/frames/diagram/{hash}",
        "/healthz",
        // For authorization servers of tool servers.
        "/oauth/client.json",
        "/offline",
        "/preview.css",
        "/preview.js",
        "/readyz",
        // What their owners gave to whoever has the link.
        "/share/{token}",
        "/share/{token}/blobs/{sha256}",
        "/worker.js",
    ];
    assert_eq!(public, BTreeSet::from(listed));
    assert!(ROUTES.iter().all(|route| route.access != Access::Public || route.method == "get"));
}

#[test]
fn programs_get_no_pages_and_connections_are_guarded() {
    for Route { method, path, access, describe, .. } in ROUTES {
        // A credential for programs has not the scope of pages.
        assert_eq!(*access == PAGE, describe.is_none() && *access != Access::Public, "{method} {path}");
        let is_connection = path.ends_with("/ws");
        let is_guarded = matches!(access, Access::User { csrf: CsrfCheck::Always, .. });
        assert_eq!(is_guarded, is_connection, "{method} {path}");
    }
}

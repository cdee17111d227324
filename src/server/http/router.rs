//! The router: builds the whole server from the table of its routes. The table also has what each route requires and
//! produces the OpenAPI document, so an API route is always next to its access and its description.

mod account_routes;
mod route;
mod table;

use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use serde_json::Value;

use self::route::{ApiDescription, Route, RouteContext};
use self::table::PAGE;
use super::access_control::{self, Access, AccessRules, AccessTable};
use super::health::Readiness;
use super::layers::{HttpConfig, wrap_entrance, wrap_routes};
use super::openapi::build_document;
use super::request::server_function_args;
use super::response::{error_page, fallback};
use super::site::assets::{self, Site};
use super::site::pages;
use crate::server::app::App;

/// Returns all rows of the table.
fn all_routes() -> impl Iterator<Item = &'static Route> {
    table::ROUTES.iter().chain(account_routes::ROUTES)
}

/// Returns the descriptions of the API, in the order of the document.
fn descriptions() -> impl Iterator<Item = &'static ApiDescription> {
    table::DESCRIPTIONS.iter().chain(account_routes::DESCRIPTIONS).flatten()
}

/// Builds the OpenAPI document of the API. The server has it as a file (`openapi`), and a test compares the two: as
/// nothing else builds it, the linker leaves all descriptions and schemas out of the binary.
pub fn openapi_document() -> Value {
    build_document(descriptions().map(ApiDescription::operation).collect())
}

/// Returns what each route requires: those of the table, the pages and server functions of Leptos, and the files of
/// the site.
pub fn access_table(site: &Site) -> AccessTable {
    let mut table = AccessTable::default();
    for route in all_routes() {
        table.insert(route.method, route.path, route.access);
    }
    for (method, path) in pages::page_routes() {
        table.insert(&method, &path, PAGE);
    }
    for path in assets::paths(site) {
        table.insert("get", &path, Access::Public);
    }
    table
}

/// Builds the whole server as one service, with its layers.
pub fn router(app: &App, site: &Arc<Site>, readiness: Readiness, config: &HttpConfig) -> Router {
    let context = RouteContext { site, readiness: &readiness, origin: config.public_origin.as_deref() };
    let routes = all_routes().fold(Router::new(), |router, route| router.route(route.path, route.handler(&context)));
    let rules = Arc::new(AccessRules { table: access_table(site), authentication: config.authentication.clone() });
    let router = pages::add_page_routes(routes, app, config.transport)
        .layer(from_fn(server_function_args::layer))
        .merge(assets::routes(site))
        .method_not_allowed_fallback(fallback::method_not_allowed)
        .fallback(pages::not_found)
        .layer(from_fn_with_state(rules, access_control::layer));
    let pages_of_failures = from_fn_with_state(app.clone(), error_page::layer);
    wrap_entrance(wrap_routes(router, config).layer(pages_of_failures), config).with_state(app.clone())
}

#[cfg(test)]
mod tests;

//! The pages that Leptos renders, with the principal and the preferences of the request and the response's nonce in
//! context.

use std::sync::LazyLock;

use axum::Router;
use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse, Response};
use http::header::HOST;
use leptos::prelude::provide_context;
use leptos::server_fn::axum::server_fn_paths;
use leptos_axum::{AxumRouteListing, LeptosRoutes, generate_route_list};

use crate::server::access::{Principal, RecentDeletion, SiteBuild, UtcOffset};
use crate::server::app::App as Server;
use crate::server::http::request::cookies::{cookie_header, preferences};
use crate::server::http::response::fallback;
use crate::server::http::response::headers::{TransportSecurity, allow_nonce};
use crate::ui::app::App;
use crate::ui::page::{PageStatus, RequestHost};
use crate::ui::preferences::{ZONE_COOKIE, cookie_value};
use crate::ui::shell::shell;
use crate::ui::sidebar::HasSession;

impl axum::extract::FromRef<Server> for leptos::config::LeptosOptions {
    fn from_ref(server: &Server) -> Self {
        server.leptos().clone()
    }
}

/// The pages. They are listed by rendering the application, which is done once.
static PAGES: LazyLock<Vec<AxumRouteListing>> = LazyLock::new(|| generate_route_list(App));

/// Returns the method and the path of every page and every server function.
pub fn page_routes() -> Vec<(String, String)> {
    let pages = PAGES.iter().map(|page| ("GET".to_owned(), page.path().to_owned()));
    let functions = server_fn_paths().map(|(path, method)| (method.as_str().to_owned(), path.to_owned()));
    pages.chain(functions).collect()
}

/// Adds the pages and the server functions.
pub fn add_page_routes(router: Router<Server>, server: &Server, transport: TransportSecurity) -> Router<Server> {
    let routes = PAGES.clone();
    let options = server.leptos().clone();
    let handles = server.clone();
    let context = move || {
        provide_context(handles.page_service());
        provide_context(site_build(&handles));
        if let Some(parts) = leptos::prelude::use_context::<http::request::Parts>() {
            provide_principal(&parts);
            provide_context(preferences(&parts.headers));
            provide_context(recent_deletion(&parts.uri));
            provide_context(utc_offset(&parts.headers));
            if let Some(host) = parts.headers.get(HOST).and_then(|host| host.to_str().ok()) {
                provide_context(RequestHost(host.to_owned()));
            }
        }
        provide_status();
        allow_nonce(transport);
    };
    router.leptos_routes_with_context(server, routes, context, move || shell(options.clone()))
}

/// Renders the 404 page, for paths outside of the API.
pub async fn not_found(State(server): State<Server>, request: Request<Body>) -> Response {
    let uri = request.uri().clone();
    if uri.path() == "/api" || uri.path().starts_with("/api/") || uri.path().starts_with("/pkg/") {
        return fallback::not_found(uri).await;
    }
    let options = server.leptos().clone();
    let handles = server.clone();
    let transport = handles.transport();
    let render = leptos_axum::render_app_to_stream_with_context(
        move || {
            provide_context(handles.page_service());
            if let Some(parts) = leptos::prelude::use_context::<http::request::Parts>() {
                provide_principal(&parts);
                provide_context(preferences(&parts.headers));
            }
            allow_nonce(transport);
        },
        move || shell(options.clone()),
    );
    let mut response = render(request).await.into_response();
    *response.status_mut() = http::StatusCode::NOT_FOUND;
    response
}

/// Hands the principal of the request on to the page and to its server functions.
fn provide_principal(parts: &http::request::Parts) {
    if let Some(principal) = parts.extensions.get::<Principal>() {
        provide_context(*principal);
        provide_context(HasSession(principal.session().is_some()));
    }
}

/// Lets a page set its HTTP status, such as 404 for a chat that does not exist.
fn provide_status() {
    if let Some(response) = leptos::prelude::use_context::<leptos_axum::ResponseOptions>() {
        provide_context(PageStatus::new(move |code| {
            if let Ok(status) = http::StatusCode::from_u16(code) {
                response.set_status(status);
            }
        }));
    }
}

/// Returns the name of the build, which is the name of the directory of its assets.
fn site_build(server: &Server) -> SiteBuild {
    let folder = server.leptos().site_pkg_dir.as_ref();
    SiteBuild(folder.strip_prefix("pkg/").unwrap_or_default().to_owned())
}

/// Returns what a form has deleted before it redirected the browser to this address.
fn recent_deletion(address: &http::Uri) -> RecentDeletion {
    #[derive(serde::Deserialize)]
    struct DeletedQuery {
        deleted: String,
    }
    let query = Query::<DeletedQuery>::try_from_uri(address).ok();
    RecentDeletion(query.and_then(|Query(query)| query.deleted.parse().ok()))
}

/// Returns the browser's UTC offset in minutes, from its cookie, if it is a possible one.
fn utc_offset(headers: &http::HeaderMap) -> UtcOffset {
    const DAY: i32 = 24 * 60;
    let minutes = cookie_value(&cookie_header(headers), ZONE_COOKIE).and_then(|minutes| minutes.parse().ok());
    UtcOffset(minutes.filter(|minutes| (-DAY..=DAY).contains(minutes)).unwrap_or(0))
}

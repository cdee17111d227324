//! One row of the route table and its description, the macros that write them, and what rows need besides the state of the
//! application.

use std::sync::Arc;

use axum::routing::MethodRouter;

use crate::server::app::App;
use crate::server::http::access_control::Access;
use crate::server::http::health::Readiness;
use crate::server::http::openapi::operation::ApiOperation;
use crate::server::http::request::csrf;
use crate::server::http::site::assets::Site;

/// One method of one path, what it requires, and its handler.
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) access: Access,
    pub(super) answer: fn(&RouteContext) -> MethodRouter<App>,
}

/// The OpenAPI description of a route that is for programs.
pub(super) struct ApiDescription {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) access: Access,
    pub(super) describe: fn(ApiOperation) -> ApiOperation,
}

/// The values that some routes need besides the state of the application.
pub(super) struct RouteContext<'a> {
    pub(super) site: &'a Arc<Site>,
    pub(super) readiness: &'a Readiness,
    pub(super) origin: Option<&'a str>,
}

impl Route {
    /// Returns the handler, with the check that its access needs besides the layers of all routes.
    pub(super) fn handler(&self, context: &RouteContext<'_>) -> MethodRouter<App> {
        let handler = (self.answer)(context);
        if self.access.always_checks_csrf() { csrf::require_same_origin(handler, context.origin) } else { handler }
    }
}

impl ApiDescription {
    /// Returns the operation, with the responses that follow from its access.
    pub(super) fn operation(&self) -> ApiOperation {
        let operation = (self.describe)(ApiOperation::new(self.method, self.path));
        match self.access {
            Access::Public => operation,
            Access::User { scope: None, .. } => operation.shared_response(401),
            Access::User { scope: Some(_), .. } | Access::Admin | Access::Pending(_) => {
                operation.shared_response(401).shared_response(403)
            }
        }
    }
}

/// Makes the constants of a table from its rows: `ROUTES`, and `DESCRIPTIONS`, which has `None` for pages. They are two,
/// because a constant brings everything that it names into the binary, and the server needs no descriptions.
macro_rules! routes {
    ($($kind:ident!($($row:tt)*)),* $(,)?) => {
        pub(super) const ROUTES: &[Route] = &[$($kind!(route $($row)*)),*];
        pub(super) const DESCRIPTIONS: &[Option<ApiDescription>] = &[$($kind!(description $($row)*)),*];
    };
}

/// Makes a route of the API from its method, path, access, handler and description, or that description.
macro_rules! api {
    (route $method:ident $path:literal $access:ident, |$shell:ident| $answer:expr, $describe:path) => {
        page!(route $method $path $access, |$shell| $answer)
    };
    (route $method:ident $path:literal $access:ident, $handler:path, $describe:path) => {
        page!(route $method $path $access, $handler)
    };
    (description $method:ident $path:literal $access:ident, |$shell:ident| $answer:expr, $describe:path) => {
        Some(ApiDescription { method: stringify!($method), path: $path, access: $access, describe: $describe })
    };
    (description $method:ident $path:literal $access:ident, $handler:path, $describe:path) => {
        Some(ApiDescription { method: stringify!($method), path: $path, access: $access, describe: $describe })
    };
}

/// Makes the route of a page, of a form or of a file, which has no description: they are not for programs.
macro_rules! page {
    (route $method:ident $path:literal $access:ident, |$shell:ident| $answer:expr) => {
        Route { method: stringify!($method), path: $path, access: $access, answer: |$shell| $answer }
    };
    (route $method:ident $path:literal $access:ident, $handler:path) => {
        Route { method: stringify!($method), path: $path, access: $access, answer: |_| routing::$method($handler) }
    };
    (description $($row:tt)*) => {
        None
    };
}

pub(super) use {api, page, routes};

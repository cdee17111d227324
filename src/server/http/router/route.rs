//! One row of the route table, the macros that write one, and what rows need besides the state of the application.

use std::sync::Arc;

use axum::routing::MethodRouter;

use crate::server::app::App;
use crate::server::http::access_control::Access;
use crate::server::http::health::Readiness;
use crate::server::http::openapi::OpenApiDocument;
use crate::server::http::openapi::operation::ApiOperation;
use crate::server::http::request::csrf;
use crate::server::http::site::assets::Site;

/// One method of one path, what it requires, and its handler.
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) access: Access,
    pub(super) answer: fn(&RouteContext) -> MethodRouter<App>,
    /// The OpenAPI description. `None` for pages and forms, which are not for programs.
    pub(super) describe: Option<fn(ApiOperation) -> ApiOperation>,
}

/// The values that some routes need besides the state of the application.
pub(super) struct RouteContext<'a> {
    pub(super) site: &'a Arc<Site>,
    pub(super) readiness: &'a Readiness,
    pub(super) document: Arc<OpenApiDocument>,
    pub(super) origin: Option<&'a str>,
}

impl Route {
    /// Returns the handler, with the check that its access needs besides the layers of all routes.
    pub(super) fn handler(&self, context: &RouteContext<'_>) -> MethodRouter<App> {
        let handler = (self.answer)(context);
        if self.access.always_checks_csrf() { csrf::require_same_origin(handler, context.origin) } else { handler }
    }

    /// Returns the description for programs.
    pub(super) fn operation(&self) -> Option<ApiOperation> {
        let describe = self.describe?;
        let operation = describe(ApiOperation::new(self.method, self.path));
        Some(match self.access {
            Access::Public => operation,
            Access::User { scope: None, .. } => operation.shared_response(401),
            Access::User { scope: Some(_), .. } | Access::Admin | Access::Pending(_) => {
                operation.shared_response(401).shared_response(403)
            }
        })
    }
}

/// Makes a route of the API from its method, path, access, handler and description.
macro_rules! api {
    ($method:ident $path:literal $access:ident, |$shell:ident| $answer:expr, $describe:path) => {
        Route {
            method: stringify!($method),
            path: $path,
            access: $access,
            answer: |$shell| $answer,
            describe: Some($describe),
        }
    };
    ($method:ident $path:literal $access:ident, $handler:path, $describe:path) => {
        Route {
            method: stringify!($method),
            path: $path,
            access: $access,
            answer: |_| routing::$method($handler),
            describe: Some($describe),
        }
    };
}

/// Makes the route of a page, of a form or of a file.
macro_rules! page {
    ($method:ident $path:literal $access:ident, |$shell:ident| $answer:expr) => {
        Route { method: stringify!($method), path: $path, access: $access, answer: |$shell| $answer, describe: None }
    };
    ($method:ident $path:literal $access:ident, $handler:path) => {
        Route {
            method: stringify!($method),
            path: $path,
            access: $access,
            answer: |_| routing::$method($handler),
            describe: None,
        }
    };
}

pub(super) use {api, page};

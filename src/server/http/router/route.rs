//! One row of the route table and its description, the macros that write them, and what rows need besides the state of the
//! application.

use std::sync::Arc;

use axum::extract::Request;
use axum::handler::Handler;
use axum::response::Response;
use axum::routing::MethodRouter;
use futures::future::BoxFuture;

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
    pub(super) answer: RouteAnswer,
}

/// The handler of a route.
pub(super) enum RouteAnswer {
    /// The function of its method, and a handler that needs nothing but the state of the application.
    Handler(fn(ErasedHandler) -> MethodRouter<App>, HandlerCall),
    /// A handler that needs more, in layers that have it.
    Router(fn(&RouteContext) -> MethodRouter<App>),
}

/// A call of a handler.
pub(super) type HandlerCall = fn(Request, App) -> BoxFuture<'static, Response>;

/// A handler whose type is erased: axum compiles a service and a route for each type of handler, of which there are
/// hundreds.
#[derive(Clone, Copy)]
pub(super) struct ErasedHandler(HandlerCall);

impl Handler<(), App> for ErasedHandler {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, app: App) -> Self::Future {
        (self.0)(request, app)
    }
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
        let handler = match self.answer {
            RouteAnswer::Handler(route_by_method, call) => route_by_method(ErasedHandler(call)),
            RouteAnswer::Router(answer) => answer(context),
        };
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
        pub(super) const ROUTES: &[route::Route] = &[$($kind!(route $($row)*)),*];
        pub(super) const DESCRIPTIONS: &[Option<route::ApiDescription>] = &[$($kind!(description $($row)*)),*];
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
        Some(route::ApiDescription { method: stringify!($method), path: $path, access: $access, describe: $describe })
    };
    (description $method:ident $path:literal $access:ident, $handler:path, $describe:path) => {
        Some(route::ApiDescription { method: stringify!($method), path: $path, access: $access, describe: $describe })
    };
}

/// Makes the route of a page, of a form or of a file, which has no description: they are not for programs.
macro_rules! page {
    (route $method:ident $path:literal $access:ident, |$shell:ident| $answer:expr) => {
        route::Route {
            method: stringify!($method),
            path: $path,
            access: $access,
            answer: route::RouteAnswer::Router(|$shell| $answer),
        }
    };
    (route $method:ident $path:literal $access:ident, $handler:path) => {
        route::Route {
            method: stringify!($method),
            path: $path,
            access: $access,
            answer: route::RouteAnswer::Handler(axum::routing::$method, |request, app| {
                axum::handler::Handler::<_, $crate::server::app::App>::call($handler, request, app)
            }),
        }
    };
    (description $($row:tt)*) => {
        None
    };
}

pub(super) use {api, page, routes};

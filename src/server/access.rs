//! Who is calling, and the handles that a server function body may use. The one place where server functions find the
//! server.

use axum::extract::Query;
use http::request::Parts;
use leptos::prelude::use_context;
use serde::Deserialize;

use crate::api::error::ApiError;
use crate::domain::{DeletionId, UserId};
use crate::server::pages::Pages;

/// The caller of a request, put into its context by `http`.
#[derive(Debug, Clone, Copy)]
pub struct Viewer(pub UserId);

/// The pages and who looks at them.
pub fn pages() -> Result<(Pages, UserId), ApiError> {
    let Viewer(viewer) = use_context::<Viewer>().ok_or(ApiError::Unauthenticated)?;
    let pages = use_context::<Pages>().ok_or_else(|| ApiError::Internal { reference: "no-context".into() })?;
    Ok((pages, viewer))
}

/// The deletion that the address of the page names, after a form has done it. A server function that the browser calls
/// has no such address.
pub fn deletion_in_address() -> Option<DeletionId> {
    #[derive(Deserialize)]
    struct Address {
        deleted: String,
    }
    let parts = use_context::<Parts>()?;
    Query::<Address>::try_from_uri(&parts.uri).ok()?.deleted.parse().ok()
}

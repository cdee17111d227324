//! The caller of a request and the handles of server functions. This is the only place where server functions access
//! the server.

use leptos::prelude::use_context;

use crate::api::error::ApiError;
use crate::domain::{DeletionId, UserId};
use crate::server::page_data::PageService;

/// The caller of a request, put into its context by `http`.
#[derive(Debug, Clone, Copy)]
pub struct Viewer(pub UserId);

/// Returns the page service and the viewer.
pub fn page_service_and_viewer() -> Result<(PageService, UserId), ApiError> {
    let Viewer(viewer) = use_context::<Viewer>().ok_or(ApiError::Unauthenticated)?;
    let pages = use_context::<PageService>().ok_or_else(|| ApiError::Internal { reference: "no-context".into() })?;
    Ok((pages, viewer))
}

/// The build id of this server's pages; put into the context by `http`.
#[derive(Debug, Clone)]
pub struct SiteBuild(pub String);

/// Returns the build id; empty when there is none.
pub fn site_build() -> String {
    use_context::<SiteBuild>().map(|SiteBuild(build)| build).unwrap_or_default()
}

/// The deletion that the address of a page names after a form has deleted something; put into the context by `http`.
/// A server function that the browser calls has no such address.
#[derive(Debug, Clone, Copy)]
pub struct RecentDeletion(pub Option<DeletionId>);

pub fn recent_deletion() -> Option<DeletionId> {
    use_context::<RecentDeletion>()?.0
}

/// The client's offset behind UTC in minutes, as the browser reported it; put into the context by `http`.
#[derive(Debug, Clone, Copy)]
pub struct UtcOffset(pub i32);

/// Returns the client's offset; 0 when it is unknown.
pub fn utc_offset_minutes() -> i32 {
    use_context::<UtcOffset>().map_or(0, |UtcOffset(minutes)| minutes)
}

//! Who is calling, and the handles that a server function body may use. The one place where server functions find the
//! server.

use leptos::prelude::use_context;

use crate::api::error::ApiError;
use crate::domain::{DeletionId, UserId};
use crate::server::page_data::PageService;

/// The caller of a request, put into its context by `http`.
#[derive(Debug, Clone, Copy)]
pub struct Viewer(pub UserId);

/// The pages and who looks at them.
pub fn page_service_and_viewer() -> Result<(PageService, UserId), ApiError> {
    let Viewer(viewer) = use_context::<Viewer>().ok_or(ApiError::Unauthenticated)?;
    let pages = use_context::<PageService>().ok_or_else(|| ApiError::Internal { reference: "no-context".into() })?;
    Ok((pages, viewer))
}

/// The name of the build that this server's pages are of; put into the context by `http`.
#[derive(Debug, Clone)]
pub struct SiteBuild(pub String);

/// It; empty where there is none.
pub fn site_build() -> String {
    use_context::<SiteBuild>().map(|SiteBuild(build)| build).unwrap_or_default()
}

/// The deletion that the address of the page names, after a form has done it; put into the context by `http`. A server
/// function that the browser calls has no such address.
#[derive(Debug, Clone, Copy)]
pub struct RecentDeletion(pub Option<DeletionId>);

pub fn recent_deletion() -> Option<DeletionId> {
    use_context::<RecentDeletion>()?.0
}

/// How many minutes the clock of whoever asks is before that of UTC, as the browser told; put into the context by `http`.
#[derive(Debug, Clone, Copy)]
pub struct UtcOffset(pub i32);

/// It; that of UTC where nobody told.
pub fn utc_offset_minutes() -> i32 {
    use_context::<UtcOffset>().map_or(0, |UtcOffset(minutes)| minutes)
}

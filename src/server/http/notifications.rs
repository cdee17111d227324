//! The page of notifications, and the form that marks all as read.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, see_other};
use crate::server::server_pages::ActionNotice;
use crate::server::server_pages::messages::notifications as texts;
use crate::server::server_pages::notifications::NotificationsPage;
use turnleaf_service::notifications::{Notification, NotificationSubject};

/// The query of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NotificationsQuery {
    /// Present after everything was marked as read.
    done: Option<NotificationsResult>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NotificationsResult {
    Read,
}

/// `GET /notifications`. The listed imports are seen by that; replies stay unread until they are read.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    StrictQuery(query): StrictQuery<NotificationsQuery>,
) -> Result<Response, Problem> {
    let notifications = app.service().notifications(principal.user).await?;
    let is_new_import = |one: &&Notification| one.is_new && matches!(one.subject, NotificationSubject::Import(_));
    if let Some(last) = notifications.iter().filter(is_new_import).filter_map(|one| one.at).max() {
        app.service().mark_notifications_seen(principal.user, last).await;
    }
    let notice = query.done.map(|NotificationsResult::Read| ActionNotice::Done(texts::all_read().to_owned()));
    let page = NotificationsPage { notifications, now: app.service().supervisor().clock().now() };
    Ok(context.respond(&app, StatusCode::OK, page.draw(notice)))
}

/// `POST /forms/notifications`: marks all replies as read and all notifications as seen.
pub async fn mark_all_read(State(app): State<App>, principal: Principal) -> Result<Response, Problem> {
    app.service().mark_all_read(principal.user).await?;
    Ok(see_other("/notifications?done=read"))
}

//! The API that attaches content to a draft, so that another page can add it to a chat without sending it.

use axum::extract::State;
use serde::{Deserialize, Serialize};

use crate::domain::ChatId;
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::json::ApiJson;
use crate::server::http::response::problem::Problem;
use turnleaf_service::turns::messages::MessageBlock;

/// Content to attach to the next message of a chat.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachToDraftRequest {
    /// The chat. Without it, the draft of the next new chat.
    chat_id: Option<ChatId>,
    /// Images, documents and selections.
    content: Vec<MessageBlock>,
}

/// The state of a draft after a change.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct DraftRevision {
    /// The new revision of the draft.
    rev: i64,
}

/// `POST /api/drafts/attachments`.
pub async fn attach(
    State(app): State<App>,
    principal: Principal,
    ApiJson(body): ApiJson<AttachToDraftRequest>,
) -> Result<ApiJson<DraftRevision>, Problem> {
    let rev = app.service().attach_to_draft(principal.user, body.chat_id, body.content).await?;
    Ok(ApiJson(DraftRevision { rev }))
}

//! Messages: the draft, sending it, and editing a sent message.

use super::PageService;
use crate::api::error::ApiError;
use crate::api::view::{ComposedMessage, DraftView, StartedReply};
use crate::domain::documents::attachment::Attachment;
use crate::domain::{ChatId, ModelParams, Thinking, TurnId, UserId};
use turnleaf_service::Draft;
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::messages::MessageBlock;
use turnleaf_service::turns::placement::PlacementRequest;

impl PageService {
    pub async fn send_message(&self, viewer: UserId, message: ComposedMessage) -> Result<StartedReply, ApiError> {
        let request = self.turn_request(viewer, message).await?;
        let started = self.0.start_turn(viewer, request).await.map_err(self.api_error())?;
        self.started_view(viewer, started).await
    }

    /// Returns the request of a composed message.
    pub(super) async fn turn_request(&self, viewer: UserId, message: ComposedMessage) -> Result<TurnRequest, ApiError> {
        let defaults = match (message.thinking, message.chat_id) {
            // Nothing is compared with them.
            (None, _) => ModelParams::default(),
            (Some(_), Some(id)) => self.0.chat(viewer, id).await.map_err(self.api_error())?.settings.params,
            (Some(_), None) => self.0.next_chat(viewer).await.map_err(self.api_error())?.params,
        };
        // The menu shows the chat's token budget as the nearest level; an unchanged level keeps the budget.
        let is_default = message.thinking.is_some() && message.thinking == defaults.thinking.map(Thinking::level);
        let thinking = message.thinking.filter(|_| !is_default);
        let takes_attachments = message.attachments.is_none();
        let attached = message.attachments.unwrap_or_default().into_iter().map(MessageBlock::from);
        let text_block =
            Some(message.text).filter(|text| !text.trim().is_empty()).map(|text| MessageBlock::Text { text });
        Ok(TurnRequest {
            chat_id: message.chat_id,
            content: attached.chain(text_block).collect(),
            place: PlacementRequest {
                prev_turn_id: message.prev_turn_id,
                branch_id: None,
                provider: message.provider,
                model: message.model,
                may_branch: message.may_branch,
                ..PlacementRequest::default()
            },
            params: ModelParams { thinking, ..ModelParams::default() },
            takes_attachments,
            client_request_id: Some(message.client_request_id).filter(|id| !id.is_empty()),
            keeps_draft: message.keeps_draft,
        })
    }

    /// Edits the turn with this text and these attachments.
    pub async fn edit_message(
        &self,
        viewer: UserId,
        id: TurnId,
        text: String,
        attached: Vec<MessageBlock>,
        request_id: String,
    ) -> Result<StartedReply, ApiError> {
        let mut content = attached;
        // A message may consist of attachments only.
        if content.is_empty() || !text.trim().is_empty() {
            content.push(MessageBlock::Text { text });
        }
        let request = TurnRequest {
            content,
            client_request_id: Some(request_id).filter(|id| !id.is_empty()),
            ..TurnRequest::default()
        };
        let started = self.0.edit_turn(viewer, id, request).await.map_err(self.api_error())?;
        self.started_view(viewer, started).await
    }

    /// Stores the draft as the page has it, or without its attachments: the stored ones stay then.
    pub async fn save_draft(
        &self,
        viewer: UserId,
        chat: Option<ChatId>,
        draft: DraftView,
        keeps_attachments: bool,
    ) -> Result<i64, ApiError> {
        let attachments = (!keeps_attachments).then(|| draft.attachments.clone());
        self.store_draft(viewer, chat, draft, attachments).await
    }

    /// Stores the text of a draft from a form without script, which does not know the attachments; they stay.
    pub async fn save_draft_text(
        &self,
        viewer: UserId,
        chat: Option<ChatId>,
        draft: DraftView,
    ) -> Result<i64, ApiError> {
        self.store_draft(viewer, chat, draft, None).await
    }

    async fn store_draft(
        &self,
        viewer: UserId,
        chat: Option<ChatId>,
        draft: DraftView,
        attachments: Option<Vec<Attachment>>,
    ) -> Result<i64, ApiError> {
        let DraftView { text, rev, lock, thinking, .. } = draft;
        let draft = Draft { text, rev, lock, thinking, attachments };
        self.0.save_draft(viewer, chat, draft).await.map_err(self.api_error())
    }

    /// Returns a draft with the status of its attachments; an empty one when there is none.
    pub(super) async fn draft_view(&self, viewer: UserId, draft: Option<Draft>) -> Result<DraftView, ApiError> {
        let draft = draft.unwrap_or_default();
        let attachments = draft.attachments.unwrap_or_default();
        let named = self.0.draft_reference_statuses(viewer, &attachments).await.map_err(self.api_error())?;
        let (text, rev, lock, thinking) = (draft.text, draft.rev, draft.lock, draft.thinking);
        Ok(DraftView { text, attachments, named, rev, lock, thinking })
    }
}

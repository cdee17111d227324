//! Continuing a reply that ended early: within its text where the model can, else with a message
//! (`docs/adr/0091-continued-replies.md`).

use crate::turns::exchanges::AcceptedExchange;
use crate::turns::messages::MessageBlock;
use crate::turns::placement::PlacementRequest;
use crate::turns::{AnotherReply, TurnRequest};
use crate::{Service, ServiceError};
use turnleaf_domain::turns::continued_text::text_to_continue;
use turnleaf_domain::{TurnId, UserId};
use turnleaf_store::{branches, turns};

impl Service {
    /// Continues a reply that ended early: creates a version of it that begins with its text where the model can
    /// continue that; else sends `message`, which asks for the rest, after it.
    pub async fn continue_turn(
        &self,
        owner: UserId,
        id: TurnId,
        message: String,
        client_request_id: Option<String>,
    ) -> Result<AcceptedExchange, ServiceError> {
        let old = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        let branch = branches::find(self.db(), owner, old.branch_id).await?.ok_or(ServiceError::NotFound)?;
        let model = self.supervisor().registry().capabilities(owner, &branch.lock);
        if let Some(text) = text_to_continue(&old, &model) {
            let again = AnotherReply { begins_with: Some(text), client_request_id, ..AnotherReply::default() };
            return self.answer_again(owner, id, again).await;
        }
        let request = TurnRequest {
            chat_id: Some(old.chat_id),
            content: vec![MessageBlock::Text { text: message }],
            place: PlacementRequest { prev_turn_id: Some(id), ..PlacementRequest::default() },
            client_request_id,
            keeps_draft: true,
            ..TurnRequest::default()
        };
        self.start_turn(owner, request).await
    }
}

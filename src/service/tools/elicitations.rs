//! Answers to questions of tool servers during a call (docs/adr/0071-elicitation.md).

use serde_json::{Map, Value};

use super::calls::{call_of, no_open_request};
use crate::{Service, ServiceError};
use turnleaf_domain::tools::elicitation::{Elicitation, ElicitationAnswer};
use turnleaf_domain::{BlockId, ElicitationId, InvalidField, MessageCode, Turn, TurnId, UserId};
use turnleaf_run::mailbox::{QuestionAnswer, RunCommand};

/// The field with the values of a form; those of a single field are `content/NAME`.
pub const CONTENT_FIELD: &str = "content";

/// An open question of a running call.
#[derive(Debug, Clone)]
pub struct OpenElicitation {
    pub turn: Turn,
    pub block: BlockId,
    pub asked: Elicitation,
}

impl Service {
    /// Returns the first open question of a call.
    ///
    /// # Errors
    /// `NotFound` for a call of another user; `not_asked` for a call without an open question.
    pub async fn open_elicitation(
        &self,
        owner: UserId,
        turn: TurnId,
        block: BlockId,
    ) -> Result<OpenElicitation, ServiceError> {
        let turn = self.current_turn(owner, turn).await?;
        let asked = Elicitation::find_open(call_of(&turn, block)?).filter(|_| !turn.status.is_terminal());
        Ok(OpenElicitation { asked: asked.ok_or_else(no_open_request)?, turn, block })
    }

    /// Answers a question of a running call. The answer is stored before this returns.
    ///
    /// # Errors
    /// `InvalidField` for content that does not fit the form (`content/NAME`), and for content without `Accept`.
    /// `NotFound` for a call of another user; `not_asked` for a question that is not open any more.
    pub async fn answer_elicitation(
        &self,
        owner: UserId,
        (turn, block): (TurnId, BlockId),
        question: ElicitationId,
        mut answer: ElicitationAnswer,
    ) -> Result<Turn, ServiceError> {
        let turn = self.current_turn(owner, turn).await?;
        let call = call_of(&turn, block)?;
        let is_open = Elicitation::can_be_open(call) && !turn.status.is_terminal();
        let asked = Elicitation::list(call).into_iter().find(|asked| asked.id == question && asked.outcome.is_none());
        let asked = asked.filter(|_| is_open).ok_or_else(no_open_request)?;
        if let ElicitationAnswer::Accept(content) = &mut answer {
            *content = checked_content(&asked, content)?;
        }
        let answer = QuestionAnswer { question, answer };
        self.send_command(owner, turn, RunCommand::Answer { block, answer }).await
    }
}

fn checked_content(asked: &Elicitation, content: &Map<String, Value>) -> Result<Map<String, Value>, InvalidField> {
    if asked.request.page.is_some() && !content.is_empty() {
        return Err(InvalidField::new(CONTENT_FIELD, MessageCode::IsUnknown));
    }
    asked.request.check_content(content).map_err(|invalid| {
        let field = format!("{CONTENT_FIELD}/{}", invalid.field);
        InvalidField { field, ..invalid }
    })
}

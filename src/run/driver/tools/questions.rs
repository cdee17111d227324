//! Questions of tool servers to the user during a call. Each is stored with its call before it is shown, and its answer
//! before the server gets it; a call that ends leaves an open question behind as expired.

use serde_json::{Map, Value};

use super::call::{CallStage, OpenQuestion, ToolStep};
use crate::driver::run::{HaltReason, TurnRun};
use crate::journal::JournalBatch;
use crate::mailbox::{CommandOutcome, QuestionAnswer};
use turnleaf_domain::blocks::block::ToolStatus;
use turnleaf_domain::tools::elicitation::{Elicitation, ElicitationAnswer, ElicitationOutcome};
use turnleaf_domain::{BlockId, ElicitationId, Event};
use turnleaf_platform::ids;
use turnleaf_tools::question::{QuestionEvent, ToolQuestion};

impl TurnRun<'_> {
    /// Handles news of a running tool about its questions.
    pub(super) async fn handle_question(
        &mut self,
        step: &mut ToolStep,
        at: usize,
        event: QuestionEvent,
    ) -> Result<(), HaltReason> {
        let block = step.calls[at].pending.block_id;
        match event {
            QuestionEvent::Asked(question) => self.open_question(step, at, question).await,
            QuestionEvent::Withdrawn(id) => {
                if take_open(step, at, id).is_none() {
                    return Ok(());
                }
                self.end_question(block, id, (ElicitationOutcome::Withdrawn, None)).await
            }
            QuestionEvent::Completed(elicitation_id) => {
                let is_of_page = |asked: &Elicitation| {
                    let page = asked.request.page.as_ref();
                    asked.outcome.is_none() && page.is_some_and(|page| page.elicitation_id == elicitation_id)
                };
                let asked = self.questions_of(block).into_iter().find(is_of_page).map(|asked| asked.id);
                let Some((id, open)) = asked.and_then(|id| Some((id, take_open(step, at, id)?))) else { return Ok(()) };
                self.end_question(block, id, (ElicitationOutcome::Completed, None)).await?;
                // The tool may have ended meanwhile.
                let _ = open.answer.send(ElicitationAnswer::Accept(Default::default()));
                Ok(())
            }
            QuestionEvent::Required(request) if matches!(step.calls[at].stage, CallStage::Running) => {
                let (id, asked_at) = (ids::mint(), self.supervisor.clock().now());
                let outcome = Some(ElicitationOutcome::Required);
                let mut asked = self.questions_of(block);
                asked.push(Elicitation { id, request, asked_at, outcome, content: None, ended_at: Some(asked_at) });
                self.store_questions(block, &asked).await
            }
            QuestionEvent::Required(_) => Ok(()),
        }
    }

    async fn open_question(
        &mut self,
        step: &mut ToolStep,
        at: usize,
        question: ToolQuestion,
    ) -> Result<(), HaltReason> {
        let ToolQuestion { id, request, answer } = question;
        let call = &mut step.calls[at];
        if !matches!(call.stage, CallStage::Running) {
            return Ok(());
        }
        let block = call.pending.block_id;
        call.open.push(OpenQuestion { id, answer });
        let asked_at = self.supervisor.clock().now();
        let mut asked = self.questions_of(block);
        asked.push(Elicitation { id, request, asked_at, outcome: None, content: None, ended_at: None });
        self.store_questions(block, &asked).await
    }

    /// Answers a question for a person.
    pub(super) async fn answer_question(
        &mut self,
        step: &mut ToolStep,
        block: BlockId,
        answer: QuestionAnswer,
    ) -> Result<CommandOutcome, HaltReason> {
        let QuestionAnswer { question, answer } = answer;
        let Some(at) = step.call_index(block) else { return Ok(CommandOutcome::NotOpen) };
        let Some(open) = take_open(step, at, question) else { return Ok(CommandOutcome::NotOpen) };
        let content = match &answer {
            ElicitationAnswer::Accept(content) => Some(content.clone()).filter(|content| !content.is_empty()),
            ElicitationAnswer::Decline | ElicitationAnswer::Cancel => None,
        };
        self.end_question(block, question, (answer.outcome(), content)).await?;
        // The tool may have ended meanwhile.
        let _ = open.answer.send(answer);
        Ok(CommandOutcome::Done)
    }

    async fn end_question(
        &mut self,
        block: BlockId,
        id: ElicitationId,
        (outcome, content): (ElicitationOutcome, Option<Map<String, Value>>),
    ) -> Result<(), HaltReason> {
        let now = self.supervisor.clock().now();
        let mut asked = self.questions_of(block);
        for question in asked.iter_mut().filter(|question| question.id == id) {
            question.outcome = Some(outcome);
            question.ended_at = Some(now);
            question.content = content.clone();
        }
        self.store_questions(block, &asked).await
    }

    /// Returns the questions of a call, with all events so far applied.
    fn questions_of(&mut self, block: BlockId) -> Vec<Elicitation> {
        self.recorder.apply_pending();
        let block = self.recorder.turn().blocks.iter().find(|known| known.id == block);
        block.map(Elicitation::list).unwrap_or_default()
    }

    async fn store_questions(&mut self, block_id: BlockId, asked: &[Elicitation]) -> Result<(), HaltReason> {
        self.recorder.push(Event::BlockUpdate {
            block_id,
            status: ToolStatus::Running,
            duration_ms: None,
            metadata: Elicitation::as_metadata(asked),
        });
        self.recorder.flush(JournalBatch::default()).await?;
        Ok(())
    }
}

fn take_open(step: &mut ToolStep, at: usize, id: ElicitationId) -> Option<OpenQuestion> {
    let open = &mut step.calls[at].open;
    let place = open.iter().position(|question| question.id == id)?;
    Some(open.remove(place))
}

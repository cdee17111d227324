//! Tools of one step: all calls run side by side, their results are recorded in the order of the calls.

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::{Halt, Run};
use crate::domain::block::{ToolStatus, chat_seq};
use crate::domain::{Author, Block, BlockState, Content, Event, TurnStatus, limits};
use crate::server::outbound::builder::PendingCall;
use crate::server::outbound::provider::ToolOutcome;
use crate::server::platform::ids;
use crate::server::run::journal::Batch;

impl Run<'_> {
    /// Runs the calls and records their results; the model is asked again afterwards.
    pub(super) async fn run_tools(&mut self, calls: Vec<PendingCall>) -> Result<(), Halt> {
        for call in &calls {
            self.recorder.push(Event::tool_moved(call.block_id, ToolStatus::Running, None));
        }
        self.recorder.flush(Batch::default()).await?;
        let outcomes = join_all(calls.iter().map(|call| self.call(call)));
        let outcomes = tokio::select! {
            biased;
            why = self.live.interrupted() => return Err(Halt::Interrupted(why)),
            outcomes = outcomes => outcomes,
        };
        let first = self.recorder.turn().blocks.len() as u32;
        for (seq, (call, (outcome, took_ms))) in (first..).zip(calls.into_iter().zip(outcomes)) {
            let status = if outcome.is_error { ToolStatus::Failed } else { ToolStatus::Done };
            self.recorder.push(Event::tool_moved(call.block_id, status, Some(took_ms)));
            let generation_id = self
                .recorder
                .turn()
                .blocks
                .iter()
                .find(|block| block.id == call.block_id)
                .and_then(|block| block.generation_id);
            let block = Block {
                id: ids::mint(),
                seq,
                chat_seq: chat_seq(self.job.turn.ord, seq),
                author: Author::Tool,
                state: BlockState::Done,
                content: Content::ToolResult {
                    tool_use_id: call.tool_use_id,
                    tool_name: call.name,
                    result: outcome.result,
                    success: !outcome.is_error,
                    is_error: outcome.is_error,
                    metadata: Value::Null,
                },
                parent_block_id: Some(call.block_id),
                generation_id,
                block_metadata: Value::Null,
                created_at: self.supervisor.clock().now(),
            };
            self.recorder.push(Event::BlockStart { block });
        }
        self.status(TurnStatus::Streaming);
        self.recorder.flush(Batch::default()).await?;
        Ok(())
    }

    /// One call. Whatever goes wrong is a result that the model can read.
    async fn call(&self, call: &PendingCall) -> (ToolOutcome, u64) {
        let began = Instant::now();
        let error = |message: String| ToolOutcome { result: json!({ "error": message }), is_error: true };
        let outcome = match &call.arguments {
            None => error("the arguments are not valid JSON".into()),
            Some(arguments) => match self.provider.run_tool(&call.name, arguments) {
                None => error(format!("there is no tool called {}", call.name)),
                Some(running) => {
                    timeout(limits::TOOL_TIME, running).await.unwrap_or_else(|_| error("the tool took too long".into()))
                }
            },
        };
        (outcome, began.elapsed().as_millis() as u64)
    }
}

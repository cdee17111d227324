//! Recording of calls as events: the end of a call and its result are stored together, as soon as it ends.

use serde_json::{Map, Value};

use super::call::{CallEnding, CallStage, CallTarget, ToolStep};
use crate::driver::run::{HaltReason, TurnRun};
use crate::journal::JournalBatch;
use turnleaf_domain::blocks::block::ToolStatus;
use turnleaf_domain::blocks::sources::sources_content;
use turnleaf_domain::tools::call_edit::CallEdit;
use turnleaf_domain::tools::tool::ToolProgress;
use turnleaf_domain::{Author, Block, BlockState, Content, Event};
use turnleaf_platform::ids;

impl TurnRun<'_> {
    /// Ends a call and stores the end.
    pub(super) async fn end_call(
        &mut self,
        step: &mut ToolStep,
        at: usize,
        ending: CallEnding,
    ) -> Result<(), HaltReason> {
        self.record_end(step, at, ending);
        self.recorder.flush(JournalBatch::default()).await?;
        Ok(())
    }

    /// Ends a call; the next flush stores the end.
    pub(super) fn record_end(&mut self, step: &mut ToolStep, at: usize, ending: CallEnding) {
        step.abort_work(at);
        let call = &mut step.calls[at];
        if let CallTarget::Toolbox(ended) = &call.target {
            self.supervisor.toolbox().end_sign_in_wait(ended, false);
        }
        call.stage = CallStage::Over;
        let CallEnding { status, outcome, took, mut metadata } = ending;
        if std::mem::take(&mut call.has_progress) {
            metadata.insert(ToolProgress::KEY.to_owned(), Value::Null);
        }
        self.recorder.push(Event::BlockUpdate {
            block_id: call.pending.block_id,
            status,
            duration_ms: took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
            metadata: object_or_null(metadata),
        });
        let is_error = status != ToolStatus::Done;
        let mut about_result = outcome.metadata;
        let block = self.recorder.turn().blocks.iter().find(|known| known.id == call.pending.block_id);
        if let Some(block) = block {
            CallEdit::note_in_result(block, &mut about_result);
        }
        let content = Content::ToolResult {
            tool_use_id: call.pending.tool_use_id.clone(),
            tool_name: call.pending.name.clone(),
            result: outcome.result,
            success: !is_error,
            is_error,
            metadata: object_or_null(about_result),
        };
        let (author, call) = (Author::Tool, call.pending.block_id);
        let block = Block { author, parent_block_id: Some(call), ..self.new_block(content, BlockState::Done) };
        let generation_id = self.recorder.turn().blocks.iter().find(|known| known.id == call);
        let block = Block { generation_id: generation_id.and_then(|known| known.generation_id), ..block };
        self.recorder.push_blobs(block.id, outcome.blobs);
        self.recorder.push(Event::BlockStart { block });
        if let Some(sources) = sources_content(outcome.sources) {
            let block = Block { author, ..self.new_block(Content::Other(sources), BlockState::Done) };
            self.recorder.push(Event::BlockStart { block });
        }
    }

    /// Returns a new block at the end of the turn.
    pub(in crate::driver) fn new_block(&mut self, content: Content, state: BlockState) -> Block {
        // Pending events are applied first, so that the block gets the next position.
        self.recorder.apply_pending();
        let seq = self.recorder.turn().next_block_seq();
        let (place, now) = ((self.job.turn.ord, seq), self.supervisor.clock().now());
        Block { state, ..Block::new(ids::mint(), place, Author::System, content, now) }
    }
}

/// Returns null for an empty object.
pub(super) fn object_or_null(members: Map<String, Value>) -> Value {
    if members.is_empty() { Value::Null } else { Value::Object(members) }
}

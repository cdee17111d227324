//! The tools of a run: a person is told that the model searches for some, and that others cannot be offered; after a
//! search they are read again.

use futures::FutureExt;

use super::run::{HaltReason, TurnRun};
use turnleaf_domain::blocks::notice::Notice;
use turnleaf_domain::{Block, BlockState, Event};
use turnleaf_store::branches;
use turnleaf_store::chats::chat_tools;
use turnleaf_tools::tool_search;

impl TurnRun<'_> {
    /// Adds the notices on the tools of this path, each in front of the first reply that it concerns.
    pub(super) async fn announce_tools(&mut self) {
        let offered = self.context.as_ref().map(|context| context.frozen.tools.iter().flatten());
        if offered.is_some_and(|mut tools| tools.any(tool_search::is_search)) {
            self.announce_once(Notice::ToolsSearched);
        }
        if self.leaves_out_tools().await {
            self.announce_once(Notice::ToolsLeftOut);
        }
    }

    /// Returns whether the chat chose tools that cannot be offered. Asked once for each reply, because only the
    /// choice is in the database.
    async fn leaves_out_tools(&self) -> bool {
        if self.step > 1 || self.job.capabilities.tools == Some(false) {
            return false;
        }
        let unusable = self.supervisor.toolbox().unusable_tools(self.job.owner);
        if unusable.is_empty() {
            return false;
        }
        let choice = chat_tools::find(self.supervisor.db(), self.job.owner, self.job.turn.chat_id).await;
        // A reply does not fail for want of a notice.
        choice.ok().flatten().is_some_and(|choice| unusable.iter().any(|tool| choice.has_tool(tool)))
    }

    /// Adds a notice that its path does not have yet.
    fn announce_once(&mut self, notice: Notice) {
        let Some(context) = &self.context else { return };
        let is_notice = |block: &Block| Notice::from_block(block) == Some(notice);
        let is_known = self.recorder.turn().blocks.iter().any(is_notice)
            || context.history.iter().any(|turn| turn.blocks.iter().any(is_notice));
        if !is_known {
            let block = self.new_block(notice.content(), BlockState::Done);
            self.recorder.push(Event::BlockStart { block });
        }
    }

    /// Reads the tools of the branch again, because a search of this step may have added some.
    pub(super) async fn reload_tools(&mut self) -> Result<(), HaltReason> {
        let branch = self.job.turn.branch_id;
        let frozen = self.read_available(|| branches::frozen(self.supervisor.db(), branch).boxed()).await?;
        if let (Some(context), Some(frozen)) = (&mut self.context, frozen) {
            context.frozen.tools = frozen.tools;
        }
        Ok(())
    }
}

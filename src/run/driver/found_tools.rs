//! The tool search in a run: its tools are read again after a search, and a person is told that the model searches.

use futures::FutureExt;

use super::run::{HaltReason, TurnRun};
use turnleaf_domain::notice::Notice;
use turnleaf_domain::{Block, BlockState, Event};
use turnleaf_store::branches;
use turnleaf_tools::tool_search;

impl TurnRun<'_> {
    /// Adds the notice that the model searches for tools, in front of the first reply on a path that can.
    pub(super) fn announce_tool_search(&mut self) {
        let Some(context) = &self.context else { return };
        let is_notice = |block: &Block| Notice::from_block(block) == Some(Notice::ToolsSearched);
        let searches = context.frozen.tools.iter().flatten().any(tool_search::is_search);
        let is_known = self.recorder.turn().blocks.iter().any(is_notice)
            || context.history.iter().any(|turn| turn.blocks.iter().any(is_notice));
        if searches && !is_known {
            let block = self.new_block(Notice::ToolsSearched.content(), BlockState::Done);
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

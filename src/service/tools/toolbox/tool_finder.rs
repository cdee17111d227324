//! The tool search of a chat: ranks the tools of its servers and adds those that it finds to the branch of the call, so
//! that the gate and all later requests know them.

use serde_json::Value;
use tokio::sync::watch;

use super::ServiceToolbox;
use turnleaf_domain::tools::tool::{OfferedTool, ToolOrigin};
use turnleaf_platform::tasks;
use turnleaf_store::chats::{self, chat_tools};
use turnleaf_store::{StoreError, branches, turns};
use turnleaf_tools::result::{ResultPart, build_result, text_result};
use turnleaf_tools::tool_search::{ToolQuery, add_found, rank, search_result};
use turnleaf_tools::toolbox::{CallOutcome, RunningCall, ToolCall, ToolCaller};

/// The result of a search that failed. The log has the reason.
const FAILED: &str = "the tools could not be searched";

impl ServiceToolbox {
    /// Runs a call of the tool search.
    pub(super) fn search_tools(&self, call: ToolCall) -> RunningCall {
        let toolbox = self.clone();
        let result = async move {
            match toolbox.find_and_offer(&call).await {
                Ok(Some(found)) => build_result(CallOutcome::Done, Vec::<ResultPart>::new(), Some(found)),
                Ok(None) => text_result(CallOutcome::Failed, FAILED),
                Err(error) => {
                    tracing::error!(turn = %call.caller.turn, %error, "{FAILED}");
                    text_result(CallOutcome::Failed, FAILED)
                }
            }
        };
        RunningCall::new(Box::pin(result), watch::Sender::new(None).subscribe())
    }

    /// Returns the result for the model; `None` if the ranking failed.
    async fn find_and_offer(&self, call: &ToolCall) -> Result<Option<Value>, StoreError> {
        let caller = &call.caller;
        let choice = chat_tools::find(&self.0.db, caller.owner, caller.chat).await?.unwrap_or_default();
        let selection = self.select_tools(caller.owner, &choice).await?;
        let is_of_server = |tool: &OfferedTool| matches!(tool.origin, Some(ToolOrigin::Server { .. }));
        let offered = selection.offered.into_iter().filter(is_of_server);
        let tools: Vec<OfferedTool> = offered.chain(selection.searched).collect();
        let (query, count) = (ToolQuery::from_arguments(&call.arguments), tools.len());
        // The text of all tools may be large.
        let ranked = tasks::spawn_blocking(move || {
            let best = rank(&query, &tools);
            best.into_iter().map(|at| tools[at].clone()).collect::<Vec<_>>()
        });
        let Ok(found) = ranked.await else { return Ok(None) };
        let callable = self.offer_on_branch(caller, &found).await?;
        Ok(Some(search_result(&callable, count)))
    }

    /// Adds tools to those of the branch that the call belongs to. Returns those that it offers now.
    async fn offer_on_branch(
        &self,
        caller: &ToolCaller,
        found: &[OfferedTool],
    ) -> Result<Vec<OfferedTool>, StoreError> {
        let db = &self.0.db;
        let Some(turn) = turns::find(db, caller.owner, caller.turn).await? else { return Ok(Vec::new()) };
        let mut tx = db.begin().await?;
        // Searches of one step run at the same time.
        chats::lock_for_update(&mut tx, caller.owner, caller.chat).await?;
        let frozen = branches::frozen(db, turn.branch_id).await?.and_then(|frozen| frozen.tools).unwrap_or_default();
        let tools = add_found(frozen.clone(), found);
        if tools != frozen {
            branches::set_tools(&mut tx, turn.branch_id, &tools).await?;
        }
        tx.commit().await?;
        let is_offered = |tool: &&OfferedTool| tools.iter().any(|known| known.origin == tool.origin);
        Ok(found.iter().filter(is_offered).cloned().collect())
    }
}

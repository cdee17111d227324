//! The path of a share in the form that its page renders: nothing that was not chosen for its readers is left in it.

use super::PageService;
use crate::api::error::ApiError;
use crate::api::view::TurnView;
use crate::domain::shares::branch_share::written_part;
use crate::domain::shares::share::PathSnapshot;
use crate::domain::{ChatId, Content, Exchange, SharedParts, Turn, TurnId, UserId};
use turnleaf_service::paths::{ChatPath, TurnDetails};
use turnleaf_service::transfer::exports::ExportedPath;

/// A path for the readers of a share.
pub struct SharedPath {
    pub title: String,
    /// Empty unless it is shared.
    pub system_prompt: String,
    pub turns: Vec<TurnView>,
    /// True if the path ends with a running reply, whose blocks so far are among the turns.
    pub is_running: bool,
}

/// Returns whether a page shows anything of a reply.
fn has_content(turn: &Turn) -> bool {
    let is_empty = |content: &Content| matches!(content, Content::Text { text, .. } if text.trim().is_empty());
    turn.blocks.iter().any(|block| !is_empty(&block.content))
}

impl PageService {
    /// Returns the path from its first message to `leaf`, whatever follows it. Versions, references to other branches and
    /// everything besides the chosen parts are removed before anything is rendered.
    pub async fn shared_path(
        &self,
        viewer: UserId,
        id: ChatId,
        leaf: TurnId,
        parts: SharedParts,
    ) -> Result<SharedPath, ApiError> {
        let exported = self.0.path_for_export(viewer, id, Some(leaf)).await.map_err(self.api_error())?;
        let ExportedPath { path, .. } = exported;
        let ChatPath { chat, mut turns, mut exchanges, mut switches, .. } = path;
        let end = turns.iter().position(|turn| turn.id == leaf).ok_or(ApiError::NotFound)?;
        turns.truncate(end + 1);
        let statuses = {
            let turns: Vec<&Turn> = turns.iter().collect();
            self.0.reference_statuses(viewer, &turns).await.map_err(self.api_error())?
        };
        let mut snapshot = PathSnapshot::new(parts);
        let mut details = Vec::with_capacity(turns.len());
        let mut is_running = false;
        for turn in turns {
            // Nothing follows a reply that runs.
            if is_running {
                break;
            }
            is_running = !turn.status.is_terminal();
            let own = turn.id;
            let turn = if is_running { written_part(turn) } else { turn };
            let Some(turn) = snapshot.copy_turn(turn) else { continue };
            if is_running && !has_content(&turn) {
                break;
            }
            let exchange = exchanges.remove(&own);
            details.push(TurnDetails {
                // Only its thinking mode is rendered then.
                exchange: exchange.map(|exchange| Exchange { not_sent: Vec::new(), ..exchange }),
                siblings: vec![turn.id],
                versions: Vec::new(),
                retry_id: None,
                switched_to: switches.remove(&own),
                turn,
            });
        }
        let statuses = statuses.into_iter().filter_map(|(own, status)| Some((snapshot.copied_block(own)?, status)));
        let turns = self.render_turns_with_statuses(details, statuses.collect()).await?;
        let system_prompt = if parts.system_prompt { chat.system_prompt } else { String::new() };
        Ok(SharedPath { title: chat.title, system_prompt, turns, is_running })
    }
}

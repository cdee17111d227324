//! Windows onto a path for pages: its turns, more of them, and those that contain a search text.

use super::{PageService, direction};
use crate::api::error::ApiError;
use crate::api::view::{FoundTurns, PathDirection, TurnView, TurnsPage};
use crate::domain::{Chat, ChatId, ImportDifference, ImportOrigin, TurnId, UserId, limits};
use turnleaf_service::paths::window::{WindowDirection, WindowRequest};
use turnleaf_service::paths::{ChatPath, TurnDetails};
use turnleaf_service::transfer::exports::ExportedPath;

/// A path from its first message on.
pub struct WholePath {
    pub chat: Chat,
    pub turns: Vec<TurnView>,
    /// True when the path continues with an unfinished reply, which is left out.
    pub is_cut: bool,
    pub imported_from: Option<ImportOrigin>,
    /// The values that could not be read.
    pub damaged: Vec<ImportDifference>,
}

impl PageService {
    /// Returns more turns of the path to `leaf`: on one side of `from`, or around it.
    pub async fn turns(
        &self,
        viewer: UserId,
        id: ChatId,
        from: TurnId,
        leaf: TurnId,
        side: Option<PathDirection>,
    ) -> Result<TurnsPage, ApiError> {
        let (direction, limit) = match side {
            Some(side) => (direction(side), limits::PAGE_MORE),
            None => (WindowDirection::Both, limits::PAGE_MORE),
        };
        let window = WindowRequest { from: Some(from), leaf: Some(leaf), limit, direction, strict: false };
        let path = self.0.window_path(viewer, id, window).await.map_err(self.api_error())?;
        let (has_more_before, has_more_after) = (path.has_more_before, path.has_more_after);
        Ok(TurnsPage { turns: self.path_turn_views(viewer, path).await?, has_more_before, has_more_after })
    }

    /// Returns a whole path up to its last finished turn.
    pub async fn whole_path(&self, viewer: UserId, id: ChatId, leaf: Option<TurnId>) -> Result<WholePath, ApiError> {
        let exported = self.0.path_for_export(viewer, id, leaf).await.map_err(self.api_error())?;
        let ExportedPath { mut path, imported_from, damaged } = exported;
        let over = path.turns.iter().take_while(|turn| turn.status.is_terminal()).count();
        let is_cut = over < path.turns.len();
        path.turns.truncate(over);
        let chat = path.chat.clone();
        Ok(WholePath { chat, turns: self.path_turn_views(viewer, path).await?, is_cut, imported_from, damaged })
    }

    pub async fn find_in_path(
        &self,
        viewer: UserId,
        id: ChatId,
        leaf: TurnId,
        query: String,
    ) -> Result<FoundTurns, ApiError> {
        let search = self.0.find_in_chat(viewer, id, Some(leaf), &query, limits::FIND_MAX);
        let (_, found) = search.await.map_err(self.api_error())?;
        let hits = found.hits.into_iter().map(|hit| (hit.turn_id, hit.depth)).collect();
        Ok(FoundTurns { hits, total: found.total })
    }

    /// Renders the turns of a path, each with its details.
    pub(super) async fn path_turn_views(&self, viewer: UserId, path: ChatPath) -> Result<Vec<TurnView>, ApiError> {
        let mut details = self.0.path_details(viewer, &path).await.map_err(self.api_error())?;
        let (mut siblings, mut switches, mut exchanges) = (path.siblings, path.switches, path.exchanges);
        let views = path.turns.into_iter().map(|turn| TurnDetails {
            exchange: exchanges.remove(&turn.id),
            siblings: siblings.remove(&turn.id).unwrap_or_else(|| vec![turn.id]),
            versions: details.versions.remove(&turn.id).unwrap_or_default(),
            retry_id: details.retry_ids.remove(&turn.id),
            switched_to: switches.remove(&turn.id),
            turn,
        });
        self.render_turns(viewer, views.collect()).await
    }
}

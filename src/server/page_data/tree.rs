//! The tree page: the rows of the outline, and the card of the selected turn.

use super::PageService;
use crate::api::error::ApiError;
use crate::api::view::tree::{TreeCard, TreePage, TreePageQuery, TreeRow};
use crate::domain::branches::tree::outline::rows::{OutlineRow, OutlineViewState, visible_window};
use crate::domain::branches::tree::outline::{TurnMark, TurnSketch};
use crate::domain::text::excerpt::first_words;
use crate::domain::{Branch, BranchId, ChatId, TurnId, UserId, limits};
use turnleaf_service::branches::BranchChange;
use turnleaf_service::paths::outline::ChatOutline;

/// The number of characters of the text on a card.
const CARD_CHARS: usize = 280;

impl PageService {
    pub async fn tree(&self, viewer: UserId, ask: TreePageQuery) -> Result<TreePage, ApiError> {
        let seen = self.0.outline(viewer, ask.chat_id, ask.at, &ask.words).await.map_err(self.api_error())?;
        let card = match ask.on {
            // A turn that was deleted in between is not an error of the tree.
            Some(on) if seen.outline.find(on).is_some() => Some(self.card(viewer, &seen, on).await?),
            _ => None,
        };
        let hits = seen.hits.as_ref().map(|hits| hits.len());
        let wish = OutlineViewState {
            open: ask.open.into_iter().collect(),
            shut: ask.shut.into_iter().collect(),
            reveal: ask.on,
            hits: seen.hits.clone(),
        };
        let rows = seen.outline.rows(&wish);
        let around = |turn: Option<TurnId>| rows.iter().position(|row| Some(row.turn.node.id) == turn);
        let shown = match ask.from {
            Some(from) => from.min(rows.len())..rows.len().min(from.saturating_add(limits::TREE_ROWS)),
            None => {
                let middle = around(ask.on).or_else(|| around(seen.outline.leaf())).unwrap_or(0);
                visible_window(rows.len(), middle, limits::TREE_ROWS)
            }
        };
        Ok(TreePage {
            title: seen.chat.title.clone(),
            before: shown.start,
            after: rows.len() - shown.end,
            rows: rows[shown].iter().map(|row| self.tree_row(&seen, row)).collect(),
            turns: seen.outline.sketches().len(),
            leaves: seen.outline.leaves(),
            hits,
            leaf: seen.outline.leaf(),
            card,
        })
    }

    /// Returns the card of one turn; `at` is a turn of the path that is read.
    pub async fn tree_card(
        &self,
        viewer: UserId,
        chat: ChatId,
        at: Option<TurnId>,
        on: TurnId,
    ) -> Result<TreeCard, ApiError> {
        let seen = self.0.outline(viewer, chat, at, "").await.map_err(self.api_error())?;
        self.card(viewer, &seen, on).await
    }

    pub async fn change_branch(
        &self,
        viewer: UserId,
        branch: BranchId,
        name: Option<String>,
        label: Option<String>,
        pinned: Option<bool>,
    ) -> Result<Branch, ApiError> {
        // An empty label removes it.
        let change = BranchChange { name, label: label.map(Some), pinned, policy: None };
        self.0.change_branch(viewer, branch, change).await.map_err(self.api_error())
    }

    fn tree_row(&self, seen: &ChatOutline, row: &OutlineRow<'_>) -> TreeRow {
        let id = row.turn.node.id;
        let branch = seen.branches.get(&row.turn.branch).filter(|_| row.is_new_branch);
        let before = seen.outline.parent(id).and_then(|parent| seen.branches.get(&parent.branch));
        let other_lock = branch.filter(|branch| before.is_some_and(|before| before.lock != branch.lock));
        TreeRow {
            turn: id,
            role: row.turn.node.role,
            words: if row.folded.is_some() { String::new() } else { row.turn.words.clone() },
            level: row.level,
            place: row.place,
            folded: row.folded,
            is_open: row.is_open,
            hidden: row.hidden,
            mark: row.mark,
            version: row.version,
            label: branch.and_then(|branch| branch.label.clone()),
            model: other_lock.map(|branch| self.0.model_details(seen.chat.owner_id, &branch.lock).0),
            is_on_path: row.is_on_path,
            is_leaf: row.folded.is_none() && seen.outline.leaf() == Some(id),
            is_hit: row.is_hit,
        }
    }

    async fn card(&self, viewer: UserId, seen: &ChatOutline, on: TurnId) -> Result<TreeCard, ApiError> {
        let TurnSketch { node, branch, created_at, .. } = seen.outline.find(on).ok_or(ApiError::NotFound)?;
        let turn = self.0.turn(viewer, on).await.map_err(self.api_error())?;
        let branch = seen.branches.get(branch).cloned().ok_or(ApiError::NotFound)?;
        let (below, ends) = seen.outline.count_below(on);
        let leaf = seen.outline.leaf_below(on).unwrap_or(on);
        Ok(TreeCard {
            chat_id: seen.chat.id,
            turn: on,
            role: node.role,
            mark: TurnMark::from_status(turn.status),
            created_at: *created_at,
            text: first_words(&turn.content_text(), CARD_CHARS),
            model: self.0.model_details(viewer, &branch.lock).0,
            branch,
            below,
            ends,
            others: seen.outline.count_others(on),
            leaf,
            current: seen.outline.leaf().filter(|current| *current != leaf),
            is_on_path: seen.outline.is_on_path(on),
        })
    }
}

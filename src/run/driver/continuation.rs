//! Continuation: the request of a reply that begins with the text of another version ends with that text
//! (docs/reference/providers.md 2.12).

use super::run::TurnRun;
use turnleaf_domain::turns::context::{ManifestEntry, ReplayMode, current_steps_entry};
use turnleaf_domain::turns::continued_text;
use turnleaf_domain::{Block, Content, Role};
use turnleaf_providers::provider::HistoryTurn;

impl TurnRun<'_> {
    /// Returns the text with which the reply began, as a turn in front of its own steps, with its entry of the
    /// manifest. `None` unless the reply continues another version.
    pub(super) fn beginning_of_reply(&self) -> Option<(HistoryTurn, ManifestEntry)> {
        let turn = self.recorder.turn();
        let (block, text) = continued_text::beginning(turn)?;
        let text_block = Block { content: Content::text(text), ..block.clone() };
        let sent = HistoryTurn::new(turn.id, Role::Assistant, vec![text_block]);
        let entry = ManifestEntry { mode: ReplayMode::Canonical, ..current_steps_entry(turn, None) };
        Some((sent, entry))
    }
}

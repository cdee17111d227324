//! Adjacent growth of one block becomes one event, before its number is handed out. An event that has a number is
//! sealed: somebody may have seen it, so it is never extended.

use crate::event::Event;

/// Adds `next` to the end of `pending`, into the last event if both are growth of the same block. Text and reasoning
/// never join, because they are different blocks.
pub fn push(pending: &mut Vec<Event>, next: Event) {
    if let Event::BlockDelta { block_id, text } = &next
        && let Some(Event::BlockDelta { block_id: last_id, text: last_text }) = pending.last_mut()
        && last_id == block_id
    {
        last_text.push_str(text);
        return;
    }
    pending.push(next);
}

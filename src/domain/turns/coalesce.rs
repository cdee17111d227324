//! Coalescing: adjacent deltas of one block become one event before the event gets its number. A numbered event is
//! immutable, because a follower may have received it.

use crate::turns::event::Event;

/// Appends `next` to `pending`; merges it into the last event if both are deltas of the same block. Text and
/// reasoning are different blocks, so they never merge.
pub fn push_coalesced(pending: &mut Vec<Event>, next: Event) {
    if let Event::BlockDelta { block_id, text } = &next
        && let Some(Event::BlockDelta { block_id: last_id, text: last_text }) = pending.last_mut()
        && last_id == block_id
    {
        last_text.push_str(text);
        return;
    }
    pending.push(next);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::block_id;

    fn delta(id: u64, text: &str) -> Event {
        Event::BlockDelta { block_id: block_id(id), text: text.into() }
    }

    #[test]
    fn deltas_of_one_block_join_and_other_events_stay_separate() {
        let stop = Event::ModelReturned { model: "m".into() };
        let mut pending = Vec::new();
        for event in [delta(1, "a"), delta(1, "b"), delta(2, "c"), delta(1, "d"), stop.clone(), delta(1, "e")] {
            push_coalesced(&mut pending, event);
        }
        assert_eq!(pending, [delta(1, "ab"), delta(2, "c"), delta(1, "d"), stop, delta(1, "e")]);
    }
}

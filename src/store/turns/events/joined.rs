//! Joined deltas: adjacent deltas of one block that are stored in the same commit share a row, because a row costs more
//! than its text. The row has the number of the first, the text of all, and the length of each, so that reading it
//! gives every event again, byte for byte.

use std::borrow::Cow;
use std::fmt::Write as _;

use turnleaf_domain::TurnId;

/// The begin of a delta's JSON, its id, and what stands before and after its text.
const BEGIN: &str = r#"{"type":"block_delta","block_id":""#;
const ID_BYTES: usize = 36;
const TEXT: &str = r#"","text":""#;
const END: &str = r#""}"#;
/// Delimiters of the list of lengths: from the end of the joined text to the list, and after the list.
const LENGTHS: &str = r#"","lengths":["#;
const LENGTHS_END: &str = "]}";

/// A row to append: an event, or joined deltas. Its text is stored byte for byte.
#[derive(Debug, Clone, Copy)]
pub struct EventRow<'a> {
    pub turn_id: TurnId,
    /// The number of the event, or of the first of joined ones.
    pub seq: u64,
    pub event: &'a str,
}

/// A row of one event, or of joined deltas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedEvents<'a> {
    pub turn_id: TurnId,
    /// The number of the first event.
    pub seq: u64,
    pub event: Cow<'a, str>,
}

impl JoinedEvents<'_> {
    /// Returns the row as it is appended.
    pub fn row(&self) -> EventRow<'_> {
        EventRow { turn_id: self.turn_id, seq: self.seq, event: &self.event }
    }
}

/// The deltas that one row takes.
struct OpenRow<'a> {
    first: EventRow<'a>,
    /// The JSON up to the first text, or the whole event if it is no delta.
    head: &'a str,
    /// The texts, escaped as in the JSON.
    texts: Vec<&'a str>,
}

/// Joins adjacent deltas. The events of a turn are in order; other turns' may lie between them.
pub fn join<'a>(events: impl IntoIterator<Item = EventRow<'a>>) -> Vec<JoinedEvents<'a>> {
    let mut rows: Vec<JoinedEvents<'a>> = Vec::new();
    let mut open: Option<OpenRow<'a>> = None;
    for event in events {
        let delta = split_delta(event.event);
        if let (Some((head, text)), Some(row)) = (delta, &mut open)
            && row.first.turn_id == event.turn_id
            && row.head == head
            && row.first.seq + row.texts.len() as u64 == event.seq
        {
            row.texts.push(text);
            continue;
        }
        rows.extend(open.take().map(OpenRow::close));
        match delta {
            Some((head, text)) => open = Some(OpenRow { first: event, head, texts: vec![text] }),
            None => {
                rows.push(JoinedEvents { turn_id: event.turn_id, seq: event.seq, event: Cow::Borrowed(event.event) })
            }
        }
    }
    rows.extend(open.map(OpenRow::close));
    rows
}

impl<'a> OpenRow<'a> {
    fn close(self) -> JoinedEvents<'a> {
        let EventRow { turn_id, seq, event } = self.first;
        if self.texts.len() == 1 {
            return JoinedEvents { turn_id, seq, event: Cow::Borrowed(event) };
        }
        let bytes: usize = self.texts.iter().map(|text| text.len() + 4).sum();
        let mut joined = String::with_capacity(self.head.len() + bytes + LENGTHS.len());
        joined.push_str(self.head);
        self.texts.iter().for_each(|text| joined.push_str(text));
        joined.push_str(LENGTHS);
        for (at, text) in self.texts.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            // Writing into a string cannot fail.
            let _ = write!(joined, "{comma}{}", text.len());
        }
        joined.push_str(LENGTHS_END);
        JoinedEvents { turn_id, seq, event: Cow::Owned(joined) }
    }
}

/// Splits the JSON of a delta into what stands before its text, and its text as it is escaped there.
fn split_delta(json: &str) -> Option<(&str, &str)> {
    let text_at = BEGIN.len() + ID_BYTES + TEXT.len();
    let (head, rest) = json.split_at_checked(text_at)?;
    let is_delta = head.starts_with(BEGIN) && head.ends_with(TEXT);
    let text = rest.strip_suffix(END).filter(|_| is_delta)?;
    Some((head, text))
}

/// Returns the events of a row with their numbers, each exactly as it was before it was joined. `None` if the row was
/// joined but is damaged.
pub(crate) fn expand(seq: u64, event: String) -> Option<Vec<(u64, String)>> {
    // Within a string of JSON, a quote is escaped, so the lengths can only follow the end of the text.
    let split = event.strip_suffix(LENGTHS_END).and_then(|row| row.rsplit_once(LENGTHS));
    let Some((row, lengths)) = split.filter(|(row, _)| row.starts_with(BEGIN)) else { return Some(vec![(seq, event)]) };
    let (head, mut texts) = row.split_at_checked(BEGIN.len() + ID_BYTES + TEXT.len())?;
    let mut events = Vec::new();
    for (length, seq) in lengths.split(',').zip(seq..) {
        let (text, rest) = texts.split_at_checked(length.parse().ok()?)?;
        events.push((seq, [head, text, END].concat()));
        texts = rest;
    }
    (texts.is_empty() && head.ends_with(TEXT)).then_some(events)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use turnleaf_domain::{BlockId, Event};
    use uuid::Uuid;

    use super::*;

    fn json(event: &Event) -> String {
        serde_json::to_string(event).unwrap()
    }

    fn delta(block: u128, text: &str) -> Event {
        Event::BlockDelta { block_id: BlockId::from(Uuid::from_u128(block)), text: text.into() }
    }

    fn round_trip(lines: &[(u128, u64, String)]) -> (usize, Vec<(u128, u64, String)>) {
        let rows = lines.iter().map(|(turn, seq, event)| EventRow {
            turn_id: Uuid::from_u128(*turn).into(),
            seq: *seq,
            event,
        });
        let joined = join(rows);
        let expanded = joined.iter().flat_map(|row| {
            let events = expand(row.seq, row.event.clone().into_owned()).unwrap();
            events.into_iter().map(|(seq, event)| (row.turn_id.uuid().as_u128(), seq, event))
        });
        (joined.len(), expanded.collect())
    }

    #[test]
    fn adjacent_deltas_of_one_block_share_a_row() {
        let model = json(&Event::ModelReturned { model: "m".into() });
        let lines = [
            (1, 4, json(&delta(7, "a \"b\" \\"))),
            (1, 5, json(&delta(7, "\u{1f44d}\n"))),
            (1, 6, json(&delta(7, ""))),
            (1, 7, json(&delta(8, "c"))),
            (2, 8, json(&delta(8, "d"))),
            (2, 9, model.clone()),
            (2, 10, model),
            (2, 11, json(&delta(8, "e"))),
            (2, 13, json(&delta(8, "f"))),
        ];
        let (rows, expanded) = round_trip(&lines);
        assert_eq!((rows, expanded), (7, lines.to_vec()));
        let joined =
            join(lines[..2].iter().map(|(_, seq, event)| EventRow { turn_id: Uuid::nil().into(), seq: *seq, event }));
        let event: Event = serde_json::from_str(&joined[0].event).unwrap();
        assert_eq!(event, delta(7, "a \"b\" \\\u{1f44d}\n"), "an older version reads it as one delta");
    }

    #[test]
    fn damaged_lengths_are_found_and_other_rows_stay_as_they_are() {
        let row = |lengths: &str| {
            format!(r#"{{"type":"block_delta","block_id":"{}","text":"aé","lengths":[{lengths}]}}"#, Uuid::nil())
        };
        assert_eq!(expand(1, row("1,2")).unwrap().len(), 2);
        for lengths in ["", "1", "2,1", "1,2,1", "1,-2", "x", "1,3", "99999999999999999999"] {
            assert_eq!(expand(1, row(lengths)), None, "{lengths}");
        }
        for other in ["", "{}", r#"{"type":"x","lengths":[1]}"#, r#"{"a":"","lengths":[1]}"#] {
            assert_eq!(expand(3, other.to_owned()), Some(vec![(3, other.to_owned())]));
        }
    }

    proptest! {
        #[test]
        fn every_event_comes_back(texts in prop::collection::vec(("[ab]", ".*"), 0..12)) {
            let lines: Vec<(u128, u64, String)> = (1..)
                .zip(&texts)
                .map(|(seq, (block, text))| (1, seq, json(&delta(u128::from(block.as_bytes()[0]), text))))
                .collect();
            prop_assert_eq!(round_trip(&lines).1, lines);
        }
    }
}

//! Search cursors: the end of a page, with enough state to continue without repeating a hit, whatever was written or
//! deleted since.

use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::search::SearchKind;
use turnleaf_domain::{InvalidField, MessageCode};

/// The sort key of matches, best last: score, then age, then id.
pub type SearchRank = (i64, i64, Uuid);

/// Returns the sort key for a score and a time.
pub(super) fn rank(points: i64, at: DateTime<Utc>, id: Uuid) -> SearchRank {
    (points, at.timestamp_micros(), id)
}

/// A match, with its best row of the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct RankedMatch {
    pub rank: SearchRank,
    pub row: i64,
}

/// A position between two hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchCursor {
    pub(super) kind: SearchKind,
    /// The window of rows whose hits are being listed, inclusive; without a lowest row, the next window.
    pub(super) highest: i64,
    pub(super) lowest: Option<i64>,
    /// The last hit that was listed.
    pub(super) after: Option<SearchRank>,
    /// The hash of the query.
    pub(super) query_hash: u32,
}

impl SearchCursor {
    /// Encodes the cursor as an opaque string for clients.
    pub fn encode(&self) -> String {
        let kind = &self.kind.as_str()[..1];
        let lowest = self.lowest.map_or(String::new(), |row| format!("{row:x}"));
        let after =
            self.after.map_or(String::new(), |(points, micros, id)| format!("{points}_{micros}_{}", id.simple()));
        format!("{kind}.{:x}.{lowest}.{after}.{:08x}", self.highest, self.query_hash)
    }

    /// Parses an encoded cursor.
    ///
    /// # Errors
    /// If the text is not an encoded cursor; the field is `cursor`.
    pub fn parse(text: &str) -> Result<Self, InvalidField> {
        let read = || {
            let [kind, highest, lowest, after, query_hash] = text.split('.').collect::<Vec<_>>().try_into().ok()?;
            let number = |text: &str| i64::from_str_radix(text, 16).ok().filter(|row| *row >= 0);
            let after = match after {
                "" => None,
                rank => {
                    let [points, micros, id] = rank.split('_').collect::<Vec<_>>().try_into().ok()?;
                    Some((points.parse().ok()?, micros.parse().ok()?, Uuid::try_parse(id).ok()?))
                }
            };
            Some(Self {
                kind: SearchKind::ALL.into_iter().find(|known| &known.as_str()[..1] == kind)?,
                highest: number(highest)?,
                lowest: if lowest.is_empty() { None } else { Some(number(lowest)?) },
                after,
                query_hash: u32::from_str_radix(query_hash, 16).ok()?,
            })
        };
        // Only the canonical encoding is accepted.
        read()
            .filter(|cursor| cursor.encode() == text)
            .ok_or_else(|| InvalidField::new("cursor", MessageCode::UnknownCursor))
    }
}

/// Returns a hash that distinguishes queries.
pub(super) fn query_hash(question: &str) -> u32 {
    let hash = Sha256::digest(question.as_bytes());
    hash.first_chunk::<4>().copied().map_or(0, u32::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_round_trips_and_other_text_is_rejected() {
        let id = Uuid::from_u128(7);
        let whole = SearchCursor {
            kind: SearchKind::Turn,
            highest: 90,
            lowest: Some(3),
            after: Some((-5, 6, id)),
            query_hash: 1,
        };
        let next =
            SearchCursor { kind: SearchKind::Chat, highest: i64::MAX, lowest: None, after: None, query_hash: u32::MAX };
        for cursor in [whole, next] {
            assert_eq!(SearchCursor::parse(&cursor.encode()), Ok(cursor));
        }
        for wrong in
            ["", ".", "t....", "x.1...00000000", "t.-1...00000000", "t.1...0", "t.1..1_2.00000000", "T.1...00000000"]
        {
            assert_eq!(SearchCursor::parse(wrong).unwrap_err().field, "cursor", "{wrong}");
        }
    }
}

//! How much there is of a path, without reading it: what tells that a path which was read before is still the same.

use sqlx::QueryBuilder;

use super::span::{self, PathSpan};
use crate::db::Db;
use crate::error::StoreError;
use turnleaf_domain::{TurnId, UserId};

sql! {
    /// Followed by the condition of a path's spans.
    EXTENT = concat!("SELECT COUNT(*), CAST(COALESCE(", bounded_sum!("t.last_event_seq"), ", 0) AS BIGINT) \
        FROM turns t CROSS JOIN chats c ");
}

/// Of some turns of a path. Turns are added and deleted, and a turn gets events as long as it goes on; nothing else
/// changes what a path says (domain.md I6), so a path of the same end and the same extent is the same path, as long as its
/// chat was not deleted for ever and taken in again.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct PathFingerprint {
    pub turns: i64,
    /// The sum of their newest events.
    pub events: i64,
}

/// The extent of the path to `end` between two depths, both included; nothing of it when the owner has no such turn.
pub async fn path_fingerprint(
    db: &Db,
    owner: UserId,
    end: TurnId,
    first: i64,
    last: i64,
) -> Result<PathFingerprint, StoreError> {
    let mut seen = db.snapshot().await?;
    let spans: Vec<PathSpan> = span::path_spans(&mut seen, owner, end, first, last).await?;
    let mut extent = PathFingerprint::default();
    for portion in span::span_portions(&spans) {
        let (turns, events): (i64, i64) = in_tx!(&mut seen, |conn| {
            let mut query = QueryBuilder::new(EXTENT);
            span::push_span_condition(&mut query, owner, portion);
            query.build_query_as().persistent(portion.len() == 1).fetch_one(conn).await?
        });
        extent.turns += turns;
        extent.events += events;
    }
    seen.commit().await?;
    Ok(extent)
}

//! Path fingerprints: tell without reading a path whether it is the same as one that was read before.

use sqlx::QueryBuilder;

use super::span::{self, PathSpan};
use crate::database::db::Db;
use crate::database::error::StoreError;
use turnleaf_domain::{TurnId, UserId};

sql! {
    /// The condition of a path's spans follows.
    EXTENT = concat!("SELECT COUNT(*), CAST(COALESCE(", bounded_sum!("t.last_event_seq"), ", 0) AS BIGINT) \
        FROM turns t CROSS JOIN chats c ");
}

/// The fingerprint of some turns of a path. Turns are added and deleted, and a running turn gets events; nothing else
/// changes the content of a path (`docs/reference/domain.md I6`). So a path with the same end and fingerprint is the
/// same path, unless its chat was purged and imported again.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct PathFingerprint {
    pub turns: i64,
    /// The sum of the turns' newest event numbers.
    pub events: i64,
}

/// Returns the fingerprint of the path to `end` between two depths, inclusive; empty if the owner has no such turn.
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

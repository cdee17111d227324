//! Reads one page of a comparison in two steps: the sizes first, then only the turns that fit.

use std::collections::HashMap;
use std::ops::Range;

use super::comparison::ComparedPath;
use crate::{Service, ServiceError};
use turnleaf_domain::blocks::client_redaction;
use turnleaf_domain::{Turn, TurnId, UserId};
use turnleaf_store::turns;

impl Service {
    /// Returns the bytes of the blocks in each of these ranges of a side; the side begins at the depth `common`.
    pub(super) async fn range_bytes(
        &self,
        owner: UserId,
        walk: &ComparedPath,
        common: usize,
        ranges: impl Iterator<Item = &Range<usize>> + Clone,
    ) -> Result<Vec<u64>, ServiceError> {
        let Some(all) = covering_range(ranges.clone().cloned()) else { return Ok(ranges.map(|_| 0).collect()) };
        let bytes = self.bytes_between(owner, walk.end, common + all.start, common + all.end).await?;
        let held = |range: &Range<usize>| match range.is_empty() {
            true => 0,
            false => bytes[range.start - all.start..range.end - all.start].iter().sum(),
        };
        Ok(ranges.map(held).collect())
    }

    /// Returns the turns of a page with their blocks, by id; running turns have their live content.
    pub(super) async fn range_turns(
        &self,
        owner: UserId,
        walk: &ComparedPath,
        ranges: impl Iterator<Item = Range<usize>>,
    ) -> Result<HashMap<TurnId, Turn>, ServiceError> {
        let Some(all) = covering_range(ranges) else { return Ok(HashMap::new()) };
        let last = walk.own[all.end - 1].id;
        let limit = u32::try_from(all.len()).unwrap_or(u32::MAX);
        let (turns, _) = turns::path(self.db(), owner, last, limit).await?;
        Ok(turns.into_iter().map(|turn| (turn.id, client_redaction::redact_turn(self.latest_turn(turn)))).collect())
    }
}

/// Returns the smallest range that covers all of these, if any is not empty.
fn covering_range(ranges: impl Iterator<Item = Range<usize>>) -> Option<Range<usize>> {
    ranges.filter(|range| !range.is_empty()).reduce(|first, last| first.start..last.end)
}

//! Measures of a comparison: tokens, cost, time and tool calls of a side or of one reply.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};

use super::comparison::{ComparedPath, ComparedReply, ComparedSide, NamedLock, ToolCount, named_lock};
use crate::{Service, ServiceError};
use turnleaf_domain::{Branch, BranchId, Content, Cost, Role, Turn, TurnStatus, UserId};
use turnleaf_store::turns::Ancestor;
use turnleaf_store::{branches, turns};

impl Service {
    /// Sums up all turns of a side after the common turn.
    pub(super) async fn measure_side(
        &self,
        owner: UserId,
        walk: &ComparedPath,
        locks: &HashMap<BranchId, &Branch>,
    ) -> Result<ComparedSide, ServiceError> {
        let leaf = turns::find(self.db(), owner, walk.end).await?.ok_or(ServiceError::NotFound)?;
        let branch = branches::find(self.db(), owner, leaf.branch_id).await?.ok_or(ServiceError::NotFound)?;
        let replies: Vec<&Ancestor> = walk.own.iter().filter(|turn| turn.role == Role::Assistant).collect();
        let mut answering: Vec<NamedLock> = Vec::new();
        let mut unfinished = BTreeMap::new();
        for reply in &replies {
            if let Some(lock) = locks.get(&reply.branch_id).map(|branch| named_lock(&branch.lock))
                && !answering.contains(&lock)
            {
                answering.push(lock);
            }
            if reply.status != TurnStatus::Complete {
                *unfinished.entry(reply.status.as_str()).or_default() += 1;
            }
        }
        let first: Vec<u64> = replies.iter().filter_map(|reply| since(reply, reply.first_token_at)).collect();
        let names = if walk.own.is_empty() {
            Vec::new()
        } else {
            turns::tools_called(self.db(), owner, walk.end, walk.own.len()).await?
        };
        Ok(ComparedSide {
            leaf_turn_id: walk.end,
            branch,
            locks: answering,
            is_ancestor: walk.own.is_empty(),
            messages: walk.own.iter().filter(|turn| turn.role == Role::User).count(),
            replies: replies.len(),
            unfinished,
            usage: replies.iter().map(|reply| reply.usage).sum(),
            cost: sum_costs(replies.iter().map(|reply| reply.cost)),
            mean_first_token_ms: first.iter().sum::<u64>().checked_div(first.len() as u64),
            total_ms: replies.iter().filter_map(|reply| since(reply, reply.completed_at)).reduce(u64::saturating_add),
            tools: count_tools(names.iter().map(String::as_str)),
        })
    }
}

/// Combines the replies of one exchange; `None` when it has none.
pub(super) fn compared_reply(
    replies: &[(&Ancestor, &Turn)],
    locks: &HashMap<BranchId, &Branch>,
) -> Option<ComparedReply> {
    let (_, last) = replies.last()?;
    let (first, _) = replies.first()?;
    let branch = locks.get(&last.branch_id)?;
    let called = replies.iter().flat_map(|(_, turn)| &turn.blocks).filter_map(|block| match &block.content {
        Content::ToolUse { tool_name, .. } => Some(tool_name.as_str()),
        _ => None,
    });
    Some(ComparedReply {
        turn_id: last.id,
        model: named_lock(&branch.lock),
        model_used: last.model_used.clone(),
        status: last.status,
        failure: last.error.clone(),
        usage: replies.iter().map(|(_, turn)| turn.usage).sum(),
        cost: sum_costs(replies.iter().map(|(_, turn)| turn.cost)),
        first_token_ms: since(first, first.first_token_at),
        total_ms: replies.iter().filter_map(|(at, turn)| since(at, turn.completed_at)).reduce(u64::saturating_add),
        tools: count_tools(called),
    })
}

/// Returns `None` when any cost is unknown, because a partial sum would be mistaken for the total.
fn sum_costs(costs: impl Iterator<Item = Option<Cost>>) -> Option<Cost> {
    costs
        .reduce(|sum, cost| {
            let (sum, cost) = (sum?, cost?);
            Some(Cost {
                micros: sum.micros.saturating_add(cost.micros),
                is_estimated: sum.is_estimated || cost.is_estimated,
            })
        })
        .flatten()
}

/// Returns the milliseconds between the creation of a reply and `at`.
/// Returns the time from the start of a reply; `None` if it is unknown, as for an imported reply without an end.
fn since(reply: &Ancestor, at: Option<DateTime<Utc>>) -> Option<u64> {
    u64::try_from((at? - reply.created_at).num_milliseconds()).ok().filter(|ms| *ms > 0)
}

/// Counts the calls of each tool, in the order of its first call.
fn count_tools<'a>(names: impl Iterator<Item = &'a str>) -> Vec<ToolCount> {
    let mut counts: Vec<ToolCount> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|count| count.name == name) {
            Some(count) => count.calls += 1,
            None => counts.push(ToolCount { name: name.to_owned(), calls: 1 }),
        }
    }
    counts
}

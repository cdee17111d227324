//! Alignment of two paths of one chat: the length of their common prefix, and which of their exchanges are shown side
//! by side. The server compares the texts.

use std::ops::Range;

use crate::id::TurnId;
use crate::turns::turn::Role;

/// Returns the number of turns that two paths share from the root. 0 means that they have different roots.
pub fn shared_prefix_length(left: &[TurnId], right: &[TurnId]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// One row of a comparison: the turns of each side. An empty range means that the side has nothing there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlignedPair {
    pub left: Range<usize>,
    pub right: Range<usize>,
}

/// Aligns the exchanges of two paths by position, starting after the last shared turn; the surplus of the longer path
/// is paired with nothing. Replies to the last shared message belong to that message, so if only one path begins with
/// a reply, that reply is paired with nothing.
pub fn align(left: &[Role], right: &[Role]) -> Vec<AlignedPair> {
    let (mut left, mut right) = (exchange_spans(left), exchange_spans(right));
    if let (Some(one), Some(other)) = (left.first(), right.first())
        && one.begins_with_message != other.begins_with_message
    {
        let shorter = if one.begins_with_message { &mut left } else { &mut right };
        shorter.insert(0, ExchangeSpan { turns: 0..0, begins_with_message: false });
    }
    let (left_end, right_end) = (end_of_spans(&left), end_of_spans(&right));
    let at = |parts: &[ExchangeSpan], n: usize, end: usize| parts.get(n).map_or(end..end, |part| part.turns.clone());
    (0..left.len().max(right.len()))
        .map(|n| AlignedPair { left: at(&left, n, left_end), right: at(&right, n, right_end) })
        .collect()
}

/// A message with its replies.
struct ExchangeSpan {
    turns: Range<usize>,
    begins_with_message: bool,
}

fn exchange_spans(roles: &[Role]) -> Vec<ExchangeSpan> {
    let mut parts: Vec<ExchangeSpan> = Vec::new();
    for (at, role) in roles.iter().enumerate() {
        match parts.last_mut() {
            Some(part) if *role != Role::User => part.turns.end = at + 1,
            _ => parts.push(ExchangeSpan { turns: at..at + 1, begins_with_message: *role == Role::User }),
        }
    }
    parts
}

fn end_of_spans(parts: &[ExchangeSpan]) -> usize {
    parts.last().map_or(0, |part| part.turns.end)
}

#[cfg(test)]
mod tests;

//! Two paths of one chat side by side: how far they are one, and which exchange of the one stands beside which of the
//! other. Not for the words in them: comparing texts is the server's.

use std::ops::Range;

use crate::id::TurnId;
use crate::turn::Role;

/// How many turns from the root two paths share. 0 means that they begin at different roots.
pub fn shared_prefix_length(left: &[TurnId], right: &[TurnId]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// One line of a comparison: the turns of each side that stand there. An empty range is a side that has nothing there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlignedPair {
    pub left: Range<usize>,
    pub right: Range<usize>,
}

/// Puts the exchanges of two paths beside each other, both read from behind the turn where they part: the first beside
/// the first and so on; what the longer path has more stands beside nothing. Replies to the last shared message belong
/// to that message, so where only one path begins with one, it stands alone.
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

/// A message with what answers it.
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

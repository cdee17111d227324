//! Two paths of one chat side by side: how far they are one, and which exchange of the one stands beside which of the
//! other. Not for the words in them: comparing texts is the server's.

use std::ops::Range;

use crate::id::TurnId;
use crate::turn::Role;

/// How many turns from the root two paths share. 0 means that they begin at different roots.
pub fn shared(left: &[TurnId], right: &[TurnId]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// One line of a comparison: the turns of each side that stand there. An empty range is a side that has nothing there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub left: Range<usize>,
    pub right: Range<usize>,
}

/// Puts the exchanges of two paths beside each other, both read from behind the turn where they part: the first beside
/// the first and so on; what the longer path has more stands beside nothing. Replies to the last shared message belong
/// to that message, so where only one path begins with one, it stands alone.
pub fn align(left: &[Role], right: &[Role]) -> Vec<Pair> {
    let (mut left, mut right) = (exchanges(left), exchanges(right));
    if let (Some(one), Some(other)) = (left.first(), right.first())
        && one.begins_with_message != other.begins_with_message
    {
        let shorter = if one.begins_with_message { &mut left } else { &mut right };
        shorter.insert(0, Part { turns: 0..0, begins_with_message: false });
    }
    let (left_end, right_end) = (end(&left), end(&right));
    let at = |parts: &[Part], n: usize, end: usize| parts.get(n).map_or(end..end, |part| part.turns.clone());
    (0..left.len().max(right.len()))
        .map(|n| Pair { left: at(&left, n, left_end), right: at(&right, n, right_end) })
        .collect()
}

/// A message with what answers it.
struct Part {
    turns: Range<usize>,
    begins_with_message: bool,
}

fn exchanges(roles: &[Role]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (at, role) in roles.iter().enumerate() {
        match parts.last_mut() {
            Some(part) if *role != Role::User => part.turns.end = at + 1,
            _ => parts.push(Part { turns: at..at + 1, begins_with_message: *role == Role::User }),
        }
    }
    parts
}

fn end(parts: &[Part]) -> usize {
    parts.last().map_or(0, |part| part.turns.end)
}

#[cfg(test)]
mod tests;

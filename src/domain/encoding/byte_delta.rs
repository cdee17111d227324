//! Delta encoding of request bytes. Every request of a long chat contains the whole chat, so the database and the
//! archive store only the part that an earlier request of the path does not have.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::limits;

/// A delta: the lengths of the prefix and the suffix that the bytes share with their base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByteDelta {
    pub head: usize,
    pub tail: usize,
}

impl ByteDelta {
    /// Computes the delta of `whole` against `base`.
    pub fn new(base: &[u8], whole: &[u8]) -> Self {
        let head = common_prefix_length(base, whole);
        let tail = base[head..].iter().rev().zip(whole[head..].iter().rev()).take_while(|(was, is)| was == is).count();
        Self { head, tail }
    }

    /// Returns the range of the bytes that the delta itself stores, in a whole of this length.
    pub fn own_range(self, length: usize) -> Range<usize> {
        self.head..length - self.tail
    }

    /// Restores the whole from its own bytes and its base. Returns `None` if the base is too short.
    pub fn apply(self, own: &[u8], base: &[u8]) -> Option<Vec<u8>> {
        let end = base.len().checked_sub(self.tail).filter(|end| self.head <= *end)?;
        Some([&base[..self.head], own, &base[end..]].concat())
    }
}

/// Returns true if a request with its manifest is too short to be worth the search for a base.
pub fn is_too_short_for_delta(bytes: usize) -> bool {
    bytes < limits::REQUEST_SHORT_BYTES
}

/// Returns true if storing only the own bytes is worthwhile. A request with more of its own is stored whole, because
/// it is the better base for later ones.
pub fn is_delta_worthwhile(own: usize, whole: usize) -> bool {
    own <= limits::REQUEST_STORED_BYTES.min(whole / 2)
}

/// Returns the length of the common prefix. The prefix covers nearly all of a long chat, so it is compared in blocks
/// of 4,096 bytes, which is thirty times as fast as byte by byte.
fn common_prefix_length(one: &[u8], other: &[u8]) -> usize {
    const PAGE: usize = 4096;
    let pages = one.chunks_exact(PAGE).zip(other.chunks_exact(PAGE)).take_while(|(one, other)| one == other).count();
    let rest = one[pages * PAGE..].iter().zip(&other[pages * PAGE..]).take_while(|(one, other)| one == other).count();
    pages * PAGE + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn delta_and_its_base_restore_whole(
            head in "[ab]{0,9}", tail in "[ab]{0,9}", was in "[ab]{0,9}", is in "[ab]{0,9}", pages in 0_usize..3,
        ) {
            let head = "x".repeat(4096 * pages) + &head;
            let (was, is) = (format!("{head}{was}{tail}"), format!("{head}{is}{tail}"));
            let alike = ByteDelta::new(was.as_bytes(), is.as_bytes());
            prop_assert!(alike.head >= head.len(), "{} of {}", alike.head, head.len());
            prop_assert!(alike.head + alike.tail <= was.len().min(is.len()));
            let own = &is.as_bytes()[alike.own_range(is.len())];
            prop_assert_eq!(alike.apply(own, was.as_bytes()), Some(is.into_bytes()));
        }
    }

    #[test]
    fn too_short_base_is_rejected() {
        for (head, tail) in [(3, 3), (6, 0), (0, 6), (usize::MAX, 1)] {
            assert_eq!(ByteDelta { head, tail }.apply(b"x", b"12345"), None, "{head} {tail}");
        }
        assert_eq!(ByteDelta { head: 2, tail: 3 }.apply(b"x", b"12345"), Some(b"12x345".to_vec()));
    }
}

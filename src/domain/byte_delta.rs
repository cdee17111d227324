//! Bytes that are nearly the same as others: each message of a long chat sends the chat again, so a request is kept as
//! what it has that an earlier one has not, in the database and in an archive.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::limits;

/// What of a whole is that of its base: so many of the first bytes, and so many of the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByteDelta {
    pub head: usize,
    pub tail: usize,
}

impl ByteDelta {
    /// What `whole` has of `base`.
    pub fn new(base: &[u8], whole: &[u8]) -> Self {
        let head = common_prefix_length(base, whole);
        let tail = base[head..].iter().rev().zip(whole[head..].iter().rev()).take_while(|(was, is)| was == is).count();
        Self { head, tail }
    }

    /// Where the bytes of its own stand in a whole of so many.
    pub fn own_range(self, length: usize) -> Range<usize> {
        self.head..length - self.tail
    }

    /// The whole, of the bytes of its own and its base; none where the base is too short.
    pub fn apply(self, own: &[u8], base: &[u8]) -> Option<Vec<u8>> {
        let end = base.len().checked_sub(self.tail).filter(|end| self.head <= *end)?;
        Some([&base[..self.head], own, &base[end..]].concat())
    }
}

/// Whether a request with its manifest is too short for a base to be looked for.
pub fn is_too_short_for_delta(bytes: usize) -> bool {
    bytes < limits::REQUEST_SHORT_BYTES
}

/// Whether a request of which so many bytes are its own is kept as those. One with more is the better base of those to come.
pub fn is_delta_worthwhile(own: usize, whole: usize) -> bool {
    own <= limits::REQUEST_STORED_BYTES.min(whole / 2)
}

/// With how many equal bytes both begin. Of a long chat that is nearly all of them: compared by the page, which is thirty
/// times as fast as one by one.
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

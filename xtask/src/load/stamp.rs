//! Time stamps in text: `w<index>:<nanoseconds of the wall clock, 19 digits> `, read by clients on the same machine.

use std::time::{SystemTime, UNIX_EPOCH};

/// The digits of a wall clock in nanoseconds, until the year 2286.
const DIGITS: usize = 19;
/// A length that exceeds every stamp, for stamps that are cut between two reads.
const LONGEST: usize = 40;

/// Returns the wall clock in nanoseconds, the only clock that two processes share.
#[expect(clippy::disallowed_methods, reason = "measures, and is no part of the product")]
pub fn now_nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// A stamp of one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PieceStamp {
    pub index: u64,
    /// The time at which the piece was sent.
    pub sent: u64,
}

impl PieceStamp {
    /// Returns the length of its text: `w`, the index, `:`, the time and a space.
    pub fn text_bytes(self) -> u64 {
        u64::from(self.index.checked_ilog10().unwrap_or_default()) + 1 + DIGITS as u64 + 3
    }
}

/// Finds stamps in bytes that arrive in pieces.
#[derive(Default)]
pub struct StampScanner {
    rest: Vec<u8>,
}

impl StampScanner {
    /// Adds bytes and calls `found` for every stamp that they complete.
    pub fn feed(&mut self, bytes: &[u8], mut found: impl FnMut(PieceStamp)) {
        self.rest.extend_from_slice(bytes);
        let all = &self.rest;
        let mut at = 0;
        let mut keep = all.len().saturating_sub(LONGEST);
        while let Some(start) = all[at..].iter().position(|b| *b == b'w').map(|offset| at + offset) {
            match read(&all[start..]) {
                StampRead::Stamp(stamp, length) => {
                    found(stamp);
                    at = start + length;
                    keep = keep.max(at);
                }
                StampRead::Cut => {
                    keep = start;
                    break;
                }
                StampRead::Other => at = start + 1,
            }
        }
        self.rest.drain(..keep.min(self.rest.len()));
    }
}

/// Returns all stamps of a text.
pub fn stamps(text: &str) -> Vec<PieceStamp> {
    let mut all = Vec::new();
    StampScanner::default().feed(text.as_bytes(), |stamp| all.push(stamp));
    all
}

enum StampRead {
    Stamp(PieceStamp, usize),
    /// More bytes may complete a stamp.
    Cut,
    Other,
}

fn read(bytes: &[u8]) -> StampRead {
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let value = |from: usize, to: usize| bytes[from..to].iter().fold(0, |n: u64, b| n * 10 + u64::from(b - b'0'));
    let index = digits(1);
    let colon = 1 + index;
    if index > 9 {
        return StampRead::Other;
    }
    match bytes.get(colon) {
        None => return StampRead::Cut,
        Some(b':') if index > 0 => {}
        Some(_) => return StampRead::Other,
    }
    let length = digits(colon + 1).min(DIGITS);
    let end = colon + 1 + length;
    match length {
        DIGITS => StampRead::Stamp(PieceStamp { index: value(1, colon), sent: value(colon + 1, end) }, end),
        _ if end == bytes.len() => StampRead::Cut,
        _ => StampRead::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamp_is_found_once_however_split() {
        let text = "how w now w12:1700000000000000001 \",x w13:1700000000000000002 w";
        for cut in 0..text.len() {
            let (mut scanner, mut found) = (StampScanner::default(), Vec::new());
            scanner.feed(&text.as_bytes()[..cut], |stamp| found.push(stamp.index));
            scanner.feed(&text.as_bytes()[cut..], |stamp| found.push(stamp.index));
            assert_eq!(found, [12, 13], "cut at {cut}");
        }
        assert_eq!(stamps(text)[0], PieceStamp { index: 12, sent: 1_700_000_000_000_000_001 });
    }
}

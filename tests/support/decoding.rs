//! What every decoder must keep on every recording: any split gives the same items, and any beginning ends as an
//! interruption whose text is a beginning of the whole.

use turnleaf::server::outbound::provider::{Decoder, Item, Outcome};

use crate::fixtures::Recording;

/// A small generator with a fixed seed: failures can be had again.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    /// The body in pieces: many tiny ones, some large.
    pub fn pieces<'a>(&mut self, body: &'a [u8]) -> Vec<&'a [u8]> {
        let mut pieces = Vec::new();
        let mut rest = body;
        while !rest.is_empty() {
            let longest = [3, 40, 400, 4000][self.below(4)];
            let (piece, after) = rest.split_at((1 + self.below(longest)).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        pieces
    }
}

pub fn decode<'a>(mut decoder: Box<dyn Decoder>, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Item>, Outcome) {
    let mut items = Vec::new();
    for piece in pieces {
        decoder.feed(piece, &mut items);
    }
    let outcome = decoder.finish(&mut items);
    (items, outcome)
}

fn text(items: &[Item]) -> String {
    items.iter().filter_map(|item| if let Item::Text(text) = item { Some(text.as_str()) } else { None }).collect()
}

/// Byte by byte and in 200 random splits (fewer for large bodies: decoding is the slow part): the same items, with
/// neighbouring pieces of one text or one call's arguments joined, and the same outcome.
pub fn same_in_every_split(recordings: &[Recording], decoder: impl Fn(&Recording) -> Box<dyn Decoder>) {
    let mut dice = Dice(0x7475_726e_6c65_6166);
    for recording in recordings {
        let body = recording.body.as_slice();
        let read = |pieces: Vec<&[u8]>| {
            let (items, outcome) = decode(decoder(recording), pieces);
            (joined(items), outcome)
        };
        let whole = read(vec![body]);
        assert_eq!(read(body.chunks(1).collect()), whole, "{} byte by byte", recording.name);
        for round in 0..if body.len() < 16_000 { 200 } else { 20 } {
            assert_eq!(read(dice.pieces(body)), whole, "{} split {round}", recording.name);
        }
    }
}

/// Every beginning (of a long body: twenty of them) ends, complete or with a failure, and its text is a beginning of
/// the whole text.
pub fn every_beginning_ends(recordings: &[Recording], decoder: impl Fn(&Recording) -> Box<dyn Decoder>) {
    let mut dice = Dice(0x6c65_6176_6573);
    for recording in recordings {
        let body = recording.body.as_slice();
        let cuts: Vec<usize> = if body.len() < 2_000 {
            (0..body.len()).collect()
        } else {
            (0..20).map(|_| dice.below(body.len())).collect()
        };
        let whole = text(&decode(decoder(recording), [body]).0);
        for cut in cuts {
            let (items, early) = decode(decoder(recording), [&body[..cut]]);
            assert!(whole.starts_with(&text(&items)), "{} cut at {cut}", recording.name);
            assert_eq!(early.complete, early.failure.is_none(), "{} cut at {cut}", recording.name);
        }
    }
}

/// Where one text ends and the next begins may depend on the split (providers.md P2).
fn joined(items: Vec<Item>) -> Vec<Item> {
    let mut all: Vec<Item> = Vec::new();
    for item in items {
        match (all.last_mut(), item) {
            (Some(Item::Text(before)), Item::Text(more)) => before.push_str(&more),
            (Some(Item::Thinking(before)), Item::Thinking(more)) => before.push_str(&more),
            (Some(Item::ToolArguments { index, text }), Item::ToolArguments { index: same, text: more })
                if *index == same =>
            {
                text.push_str(&more);
            }
            (_, item) => all.push(item),
        }
    }
    all
}

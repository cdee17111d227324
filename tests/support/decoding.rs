//! Invariants of every decoder on every recording: the split of the bytes does not change the items, and a truncated
//! body ends as an interruption whose text is a prefix of the whole text.

use turnleaf_providers::provider::{DecodedItem, Decoder};

use crate::fixtures::FixtureRecording;

#[path = "invariants.rs"]
#[expect(dead_code, reason = "the rest of it is for `provider_damage`")]
mod invariants;

use invariants::merge_items;
pub use invariants::{DamageRng, decode};

fn text(items: &[DecodedItem]) -> String {
    items
        .iter()
        .filter_map(|item| if let DecodedItem::Text(text) = item { Some(text.as_str()) } else { None })
        .collect()
}

/// Decodes each recording byte by byte and in 200 random splits (fewer for large bodies, because decoding is slow)
/// and asserts that the outcome and the items are the same, with adjacent pieces of one text or of one call's
/// arguments joined.
pub fn assert_same_in_every_split(
    recordings: &[FixtureRecording],
    decoder: impl Fn(&FixtureRecording) -> Box<dyn Decoder>,
) {
    let mut dice = DamageRng(0x7475_726e_6c65_6166);
    for recording in recordings {
        let body = recording.body.as_slice();
        let read = |pieces: Vec<&[u8]>| {
            let (items, outcome) = decode(decoder(recording), pieces);
            (merge_items(items), outcome)
        };
        let whole = read(vec![body]);
        assert_eq!(read(body.chunks(1).collect()), whole, "{} byte by byte", recording.name);
        for round in 0..if body.len() < 16_000 { 200 } else { 20 } {
            assert_eq!(read(dice.random_pieces(body)), whole, "{} split {round}", recording.name);
        }
    }
}

/// Asserts that every prefix of a body (twenty of a long one) ends, complete or with a failure, and that its text is
/// a prefix of the whole text.
pub fn assert_every_prefix_ends(
    recordings: &[FixtureRecording],
    decoder: impl Fn(&FixtureRecording) -> Box<dyn Decoder>,
) {
    let mut dice = DamageRng(0x6c65_6176_6573);
    for recording in recordings {
        let body = recording.body.as_slice();
        let cuts: Vec<usize> = if body.len() < 2_000 {
            (0..body.len()).collect()
        } else {
            (0..20).map(|_| dice.next_below(body.len())).collect()
        };
        let whole = text(&decode(decoder(recording), [body]).0);
        for cut in cuts {
            let (items, early) = decode(decoder(recording), [&body[..cut]]);
            assert!(whole.starts_with(&text(&items)), "{} cut at {cut}", recording.name);
            assert_eq!(early.complete, early.failure.is_none(), "{} cut at {cut}", recording.name);
        }
    }
}

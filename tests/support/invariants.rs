//! Invariants of the framer and of every decoder for arbitrary bytes, also those that no provider would send: no
//! panic, the same result for every split, an outcome in every case, and memory bounded by the input. The fuzz
//! targets and the test of damaged recordings check these.

use serde_json::{Value, json};
use turnleaf_platform::endpoint::ProviderApi;
use turnleaf_providers::openai_chat::Dialect;
use turnleaf_providers::provider::{DecodeOutcome, DecodedItem, Decoder};
use turnleaf_providers::replay::{ReplayOptions, decoder_for_api, replay};
use turnleaf_providers::sse::{SseEvent, SseParser};

/// A small random generator with a fixed seed, so that failures can be reproduced.
pub struct DamageRng(pub u64);

impl DamageRng {
    /// Derives the seed from the bytes: the same bytes give the same sequence.
    pub fn from_bytes(body: &[u8]) -> Self {
        Self(
            body.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
                | 1,
        )
    }

    pub fn next_below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    /// Splits the body into pieces: many tiny ones, some large.
    pub fn random_pieces<'a>(&mut self, body: &'a [u8]) -> Vec<&'a [u8]> {
        let mut pieces = Vec::new();
        let mut rest = body;
        while !rest.is_empty() {
            let longest = [3, 40, 400, 4000][self.next_below(4)];
            let (piece, after) = rest.split_at((1 + self.next_below(longest)).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        pieces
    }
}

/// Decodes a body in these pieces and returns its items and the outcome.
pub fn decode<'a>(
    mut decoder: Box<dyn Decoder>,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<DecodedItem>, DecodeOutcome) {
    let mut items = Vec::new();
    for piece in pieces {
        decoder.feed(piece, &mut items);
    }
    let outcome = decoder.finish(&mut items);
    (items, outcome)
}

/// Joins adjacent items, because the split may decide where one text ends and the next begins
/// (docs/reference/providers.md P2).
pub fn merge_items(items: Vec<DecodedItem>) -> Vec<DecodedItem> {
    let mut all: Vec<DecodedItem> = Vec::new();
    for item in items {
        match (all.last_mut(), item) {
            (Some(DecodedItem::Text(before)), DecodedItem::Text(more)) => before.push_str(&more),
            (Some(DecodedItem::Thinking(before)), DecodedItem::Thinking(more)) => before.push_str(&more),
            (
                Some(DecodedItem::ToolArguments { index, text }),
                DecodedItem::ToolArguments { index: same, text: more },
            ) if *index == same => {
                text.push_str(&more);
            }
            (
                Some(DecodedItem::ProviderToolArguments { id, text }),
                DecodedItem::ProviderToolArguments { id: same, text: more },
            ) if *id == same => {
                text.push_str(&more);
            }
            (_, item) => all.push(item),
        }
    }
    all
}

/// The factor by which the text of the items may exceed the body: each value is kept in only a few places (a call's
/// arguments in pieces and whole, a source with its text).
const GROWTH: usize = 8;
/// Allowance for names, failure sentences and the like, which do not depend on the body.
const FIXED_ALLOWANCE: usize = 4096;

/// Checks the invariants of the framer alone.
pub fn assert_framer_invariants(body: &[u8]) {
    let frame = |pieces: &[&[u8]]| {
        let mut events: Vec<SseEvent> = Vec::new();
        let mut framer = SseParser::default();
        let taken = pieces.iter().try_for_each(|piece| framer.feed(piece, &mut |event| events.push(event)));
        events.extend(framer.finish());
        (events, taken)
    };
    let whole = frame(&[body]);
    assert_eq!(frame(&body.chunks(1).collect::<Vec<_>>()), whole, "byte by byte");
    assert_eq!(frame(&DamageRng::from_bytes(body).random_pieces(body)), whole, "in pieces");
    // An invalid byte becomes the three bytes of U+FFFD.
    let kept: usize = whole.0.iter().map(|event| event.name.len() + event.data.len()).sum();
    assert!(kept <= 3 * body.len(), "{kept} bytes of events from {}", body.len());
}

/// Checks the decoder of an API, the blocks that its items become, and the history that the next request would send.
/// `dialect` names a dialect of chat completions.
pub fn assert_decoder_invariants(api: ProviderApi, dialect: &str, body: &[u8]) {
    let row = Dialect::from_name(dialect).unwrap();
    let read = |pieces: Vec<&[u8]>| {
        let (items, outcome) = decode(decoder_for_api(api, row), pieces);
        (merge_items(items), outcome)
    };
    let (items, outcome) = read(vec![body]);
    assert_eq!(outcome.complete, outcome.failure.is_none(), "every end is complete or has a reason: {outcome:?}");
    let kept: usize = items.iter().map(size).sum();
    assert!(kept <= GROWTH * body.len() + FIXED_ALLOWANCE, "{kept} bytes of items from {}", body.len());
    let pieces = DamageRng::from_bytes(body).random_pieces(body);
    let sizes: Vec<usize> = pieces.iter().map(|piece| piece.len()).collect();
    assert_eq!(read(pieces), (items, outcome), "in pieces of {sizes:?}");
    let options = |chunk| ReplayOptions {
        api: api.as_str().to_owned(),
        dialect: Some(dialect.to_owned()),
        http_status: None,
        chunk,
        with_next_message: true,
    };
    let printed = replay(&options(None), body).unwrap();
    assert_eq!(replay(&options(Some(1)), body).unwrap(), printed, "byte by byte");
}

fn size(item: &DecodedItem) -> usize {
    match item {
        DecodedItem::Model(text)
        | DecodedItem::Text(text)
        | DecodedItem::Thinking(text)
        | DecodedItem::TextReplaced(text)
        | DecodedItem::ThinkingReplaced(text)
        | DecodedItem::FinishedReplaced { text, .. }
        | DecodedItem::ThinkingTitle(text)
        | DecodedItem::ThinkingSignature(text)
        | DecodedItem::RedactedThinking(text)
        | DecodedItem::ToolArguments { text, .. }
        | DecodedItem::ToolArgumentsReplaced { text, .. }
        | DecodedItem::ResponseId(text)
        | DecodedItem::StopReason(text) => text.len(),
        DecodedItem::ToolCall { id, name, .. } => id.len() + name.len(),
        DecodedItem::ProviderToolCall { id, name, server } => {
            id.len() + name.len() + server.as_ref().map_or(0, String::len)
        }
        DecodedItem::ProviderToolArguments { id, text } => id.len() + text.len(),
        DecodedItem::ProviderToolResult { id, name, result, .. } => id.len() + name.len() + result.to_string().len(),
        DecodedItem::Image(image) => image.bytes.len(),
        DecodedItem::Opaque(map) => json!(map).to_string().len(),
        DecodedItem::ThinkingHeadings | DecodedItem::Usage(_) | DecodedItem::Cost(_) | DecodedItem::Notice(_) => 0,
        DecodedItem::Failed(failure) => failure.message.len() + failure.detail.as_ref().map_or(0, String::len),
    }
}

/// Damages a recording in a few places: changed bytes, cut starts and ends, events that are duplicated, lost, swapped
/// or taken from another recording, and values of another type.
pub fn damage_body(dice: &mut DamageRng, body: &[u8], other: &[u8]) -> Vec<u8> {
    let mut events: Vec<Vec<u8>> = split_events(body);
    let others = self::split_events(other);
    for _ in 0..1 + dice.next_below(4) {
        let at = dice.next_below(events.len());
        match dice.next_below(8) {
            0 => events.swap(at, 0),
            1 => events.insert(at, events[at].clone()),
            2 if events.len() > 1 => drop(events.remove(at)),
            3 => events.insert(at, others[dice.next_below(others.len())].clone()),
            4 => {
                let length = dice.next_below(events[at].len() + 1);
                events[at].truncate(length);
            }
            5 if !events[at].is_empty() => {
                let byte = dice.next_below(events[at].len());
                events[at][byte] ^= 1 << dice.next_below(8);
            }
            _ => events[at] = replace_value(dice, &events[at]),
        }
    }
    events.concat()
}

/// Splits a stream into events, or a body without events into lines.
fn split_events(body: &[u8]) -> Vec<Vec<u8>> {
    let mut events = vec![Vec::new()];
    let is_stream = body.windows(5).any(|window| window == b"data:");
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let last = events.len() - 1;
        events[last].extend_from_slice(line);
        if !is_stream || line.trim_ascii().is_empty() {
            events.push(Vec::new());
        }
    }
    events
}

/// Returns the event with one of its values replaced by an unexpected one.
fn replace_value(dice: &mut DamageRng, event: &[u8]) -> Vec<u8> {
    let Some(start) = event.iter().position(|byte| *byte == b'{') else { return event.to_vec() };
    let Ok(mut value) = serde_json::from_slice::<Value>(event[start..].trim_ascii_end()) else { return event.to_vec() };
    let strange = [
        json!(null),
        json!(-1),
        json!(4_294_967_296_u64),
        json!(1.5e300),
        json!(""),
        json!("\u{0}\u{10F03D}😀"),
        json!([]),
        json!([[[{}]]]),
        json!({}),
        json!({"type": "unheard_of", "text": "x", "error": {"message": "m"}}),
        json!(true),
    ];
    let mut place = &mut value;
    loop {
        let count = match place {
            Value::Array(values) => values.len(),
            Value::Object(map) => map.len(),
            _ => 0,
        };
        if count == 0 || dice.next_below(5) == 0 {
            break;
        }
        let at = dice.next_below(count);
        place = match place {
            Value::Array(values) => &mut values[at],
            Value::Object(map) => map.values_mut().nth(at).unwrap(),
            _ => unreachable!("it has values inside"),
        };
    }
    *place = strange[dice.next_below(strange.len())].clone();
    [&event[..start], value.to_string().as_bytes(), b"\n\n"].concat()
}

//! What holds of the framer and of every decoder whatever bytes they get, even those that no provider would send: no
//! panic, the same result however the bytes are cut, an ending in every case, and no more memory than the bytes are
//! worth. The fuzz targets and the test of damaged recordings check nothing else.

use serde_json::{Value, json};
use turnleaf_platform::endpoint::ProviderApi;
use turnleaf_providers::openai_chat::Dialect;
use turnleaf_providers::provider::{DecodeOutcome, DecodedItem, Decoder};
use turnleaf_providers::replay::{ReplayOptions, decoder_for_api, replay};
use turnleaf_providers::sse::{SseEvent, SseParser};

/// A small generator with a fixed seed: failures can be had again.
pub struct DamageRng(pub u64);

impl DamageRng {
    /// Thrown the same way for the same bytes.
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

    /// The body in pieces: many tiny ones, some large.
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

/// The items of a body in these pieces, and how it ended.
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

/// Where one text ends and the next begins may depend on the split (docs/reference/providers.md P2).
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

/// How much more text the items of a body may be than the body: what a provider says once is kept in at most a few
/// places (a call's arguments in pieces and whole, a source with its text).
const GROWTH: usize = 8;
/// Names, sentences about failures and the like, which do not depend on the body.
const BESIDE: usize = 4096;

/// Checks the framer alone.
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
    // An invalid byte becomes the three of U+FFFD.
    let kept: usize = whole.0.iter().map(|event| event.name.len() + event.data.len()).sum();
    assert!(kept <= 3 * body.len(), "{kept} bytes of events from {}", body.len());
}

/// Checks an API's decoder, what its items become, and what would go back in the next request. `dialect` is the name
/// of a row, for chat completions.
pub fn assert_decoder_invariants(api: ProviderApi, dialect: &str, body: &[u8]) {
    let row = Dialect::from_name(dialect).unwrap();
    let read = |pieces: Vec<&[u8]>| {
        let (items, outcome) = decode(decoder_for_api(api, row), pieces);
        (merge_items(items), outcome)
    };
    let (items, outcome) = read(vec![body]);
    assert_eq!(outcome.complete, outcome.failure.is_none(), "every end is complete or has a reason: {outcome:?}");
    let kept: usize = items.iter().map(size).sum();
    assert!(kept <= GROWTH * body.len() + BESIDE, "{kept} bytes of items from {}", body.len());
    let pieces = DamageRng::from_bytes(body).random_pieces(body);
    let sizes: Vec<usize> = pieces.iter().map(|piece| piece.len()).collect();
    assert_eq!(read(pieces), (items, outcome), "in pieces of {sizes:?}");
    let how = |chunk| ReplayOptions {
        api: api.as_str().to_owned(),
        dialect: Some(dialect.to_owned()),
        http_status: None,
        chunk,
        with_next_message: true,
    };
    let printed = replay(&how(None), body).unwrap();
    assert_eq!(replay(&how(Some(1)), body).unwrap(), printed, "byte by byte");
}

fn size(item: &DecodedItem) -> usize {
    match item {
        DecodedItem::Model(text)
        | DecodedItem::Text(text)
        | DecodedItem::Thinking(text)
        | DecodedItem::ThinkingSignature(text)
        | DecodedItem::RedactedThinking(text)
        | DecodedItem::ToolArguments { text, .. }
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
        DecodedItem::Usage(_) | DecodedItem::Cost(_) | DecodedItem::Notice(_) => 0,
        DecodedItem::Failed(failure) => failure.message.len() + failure.detail.as_ref().map_or(0, String::len),
    }
}

/// A recording with a few damages: bytes, beginnings and ends, events that are doubled, lost, exchanged or borrowed
/// from another recording, and values that are of another kind.
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

/// The events of a stream, or the lines of a body that has none.
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

/// The event with one of its values replaced by one that is not expected there.
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

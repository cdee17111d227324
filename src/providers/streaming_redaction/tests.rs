//! Tests of streaming redaction: however a body is split, no key remains, and everything else passes unchanged.

use futures::stream;
use proptest::prelude::*;
use secrecy::SecretString;

use super::*;
use turnleaf_domain::FailureKind;

const KEYS: [&str; 3] = ["key-0123456789abcdef", "key-0123456789abcdef-longer", "aabaabaabaac"];

/// Secrets that JSON escapes.
const SPELLED: [&str; 2] = [r"ends-in-two\\", "a\\\\é\"😀-b"];

fn secrets() -> SecretSet {
    SecretSet::new(KEYS.map(SecretString::from))
}

/// Returns the output of a redactor for these chunks.
fn redacted(pieces: &[&[u8]]) -> Vec<u8> {
    let mut redactor = Redactor::new(secrets());
    let mut all = Vec::new();
    for piece in pieces {
        all.extend_from_slice(&redactor.push(Bytes::copy_from_slice(piece)));
    }
    all.extend_from_slice(&redactor.finish());
    all
}

fn split<'a>(body: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (body.len() + 1)).collect();
    cuts.extend([0, body.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect()
}

fn holds_key(bytes: &[u8]) -> bool {
    KEYS.iter().any(|key| bytes.windows(key.len()).any(|window| window == key.as_bytes()))
}

/// Generates keys, their beginnings and ends, and other bytes.
fn part() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        (0..KEYS.len()).prop_map(|at| KEYS[at].as_bytes().to_vec()),
        (0..KEYS.len(), 0_usize..12).prop_map(|(at, end)| KEYS[at].as_bytes()[..end].to_vec()),
        (0..KEYS.len(), 1_usize..12).prop_map(|(at, start)| KEYS[at].as_bytes()[start..].to_vec()),
        proptest::collection::vec(any::<u8>(), 0..8),
        Just(b"data: {\"a\":\"b\"}\n\n".to_vec()),
    ]
}

proptest! {
    #[test]
    fn any_split_of_body_reveals_no_key_and_yields_same_bytes(
        parts in proptest::collection::vec(part(), 0..10),
        cuts in proptest::collection::vec(any::<usize>(), 0..12),
    ) {
        let body = parts.concat();
        let clean = redacted(&split(&body, &cuts));
        prop_assert!(!holds_key(&clean), "{:?}", String::from_utf8_lossy(&clean));
        prop_assert_eq!(&clean, &secrets().redact_bytes(body.clone().into()));
        let one_by_one: Vec<&[u8]> = body.chunks(1).collect();
        prop_assert_eq!(&clean, &redacted(&one_by_one));
        if !holds_key(&body) {
            prop_assert_eq!(clean, body);
        }
    }
}

/// Generates encodings of the secrets, and near misses.
fn spelled_part() -> impl Strategy<Value = Vec<u8>> {
    let json = |text: &str| Value::from(text).to_string();
    let ascii = |text: &str| text.replace('é', "\\u00E9").replace('😀', "\\ud83d\\uDE00");
    let spellings: Vec<String> = SPELLED
        .iter()
        .flat_map(|text| [(*text).to_owned(), json(text), ascii(&json(text)), json(&json(text))])
        .collect();
    let count = spellings.len();
    (0..count, 0_usize..40, 0_usize..4).prop_map(move |(at, end, kind)| {
        let spelling = spellings[at].as_bytes();
        match kind {
            0 => spelling[..end.min(spelling.len())].to_vec(),
            1 => b"\\u005c\\\\"[end % 8..].to_vec(),
            _ => spelling.to_vec(),
        }
    })
}

proptest! {
    #[test]
    fn any_split_of_escaped_secrets_reveals_none_and_yields_same_bytes(
        parts in proptest::collection::vec(spelled_part(), 0..6),
        cuts in proptest::collection::vec(any::<usize>(), 0..12),
    ) {
        prop_assert!(is_same_in_pieces(&parts.concat(), &cuts));
    }
}

/// Returns true if a body is redacted to the same bytes as a whole and in chunks, without a secret.
fn is_same_in_pieces(body: &[u8], cuts: &[usize]) -> bool {
    let secrets = SecretSet::new(SPELLED.map(SecretString::from));
    let whole = secrets.redact_bytes(Bytes::copy_from_slice(body));
    let redacted = |pieces: Vec<&[u8]>| {
        let mut redactor = Redactor::new(secrets.clone());
        let mut given: Vec<u8> = pieces.iter().flat_map(|piece| redactor.push(Bytes::copy_from_slice(piece))).collect();
        given.extend_from_slice(&redactor.finish());
        given
    };
    !secrets.has_match_in(&whole) && whole == redacted(split(body, cuts)) && whole == redacted(body.chunks(1).collect())
}

#[test]
fn unfinished_backslash_escapes_are_held_back() {
    assert!(is_same_in_pieces(br"ends-in-two\\u005c\\\u005c\\", &[]));
}

#[test]
fn only_possible_key_prefixes_are_held_back() {
    let mut redactor = Redactor::new(secrets());
    for (piece, given) in [
        ("data: x\n\n", "data: x\n\n"),
        ("so ke", "so "),
        ("y to", "key to"),
        ("aabaab", ""),
        ("aab", ""),
        ("aab", "aab"),
        ("aac!", "[removed]!"),
        ("key-0123456789abcdef", ""),
        (" ", "[removed] "),
        ("key-0123456789abcdef-long", ""),
        ("er", "[removed]"),
    ] {
        assert_eq!(redactor.push(piece.into()), given, "{piece:?}");
    }
    redactor.push("the end: key-01".into());
    assert_eq!(redactor.finish(), "key-01");
}

#[tokio::test]
async fn held_bytes_are_released_before_end_and_before_failure() {
    let failure = || Failure::new(FailureKind::ProviderTruncated, "x");
    for (pieces, expected) in [
        (vec![Ok("a key-0123".into()), Ok("456789abcdef".into())], vec![Ok("a "), Ok("[removed]")]),
        (vec![Ok("a key-0".into())], vec![Ok("a "), Ok("key-0")]),
        (vec![Ok("a key-0".into()), Err(failure())], vec![Ok("a "), Ok("key-0"), Err(())]),
    ] {
        let given: Vec<_> = redact_body(stream::iter(pieces).boxed(), secrets()).collect().await;
        let given: Vec<Result<&[u8], ()>> = given.iter().map(|piece| piece.as_deref().map_err(|_| ())).collect();
        let expected: Vec<Result<&[u8], ()>> = expected.into_iter().map(|piece| piece.map(str::as_bytes)).collect();
        assert_eq!(given, expected);
    }
}

/// Emits one of these items for each byte that it is fed.
struct FixedDecoder(Vec<DecodedItem>);

impl Decoder for FixedDecoder {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<DecodedItem>) {
        let count = bytes.len().min(self.0.len());
        out.extend(self.0.drain(..count));
    }

    fn finish(&mut self, out: &mut Vec<DecodedItem>) -> DecodeOutcome {
        out.append(&mut self.0);
        DecodeOutcome { complete: true, stop_reason: None, failure: None }
    }

    fn event_count(&self) -> u64 {
        0
    }
}

#[test]
fn key_split_across_stream_events_is_redacted() {
    let text = |text: &str| DecodedItem::Text(text.into());
    let arguments = |index, text: &str| DecodedItem::ToolArguments { index, text: text.into() };
    for (deltas, expected) in [
        (
            vec![text("Your key-0123"), DecodedItem::Cost(1), text("456789ab"), text("cdef is wrong")],
            vec![text("Your "), DecodedItem::Cost(1), text("[removed] is wrong")],
        ),
        (
            vec![text("key-0123"), DecodedItem::Thinking("456789abcdef".into())],
            vec![text("key-0123"), DecodedItem::Thinking("456789abcdef".into())],
        ),
        (
            vec![
                arguments(0, "{\"k\":\"key-01234"),
                arguments(0, "56789abcdef\"}"),
                DecodedItem::StopReason("stop".into()),
            ],
            vec![arguments(0, "{\"k\":\""), arguments(0, "[removed]\"}"), DecodedItem::StopReason("stop".into())],
        ),
        (
            vec![
                arguments(0, "{\"k\":\"key-01234"),
                DecodedItem::ToolCall { index: 1, id: "b".into(), name: "b".into() },
                arguments(1, "{\"k\":\"key-0123456789"),
                arguments(0, "56789abcdef\"}"),
                arguments(1, "abcdef\"}"),
                DecodedItem::StopReason("stop".into()),
            ],
            vec![
                arguments(0, "{\"k\":\""),
                DecodedItem::ToolCall { index: 1, id: "b".into(), name: "b".into() },
                arguments(1, "{\"k\":\""),
                arguments(0, "[removed]\"}"),
                arguments(1, "[removed]\"}"),
                DecodedItem::StopReason("stop".into()),
            ],
        ),
        (
            vec![arguments(0, "key-01"), text("23"), arguments(1, "23456789abcdef"), arguments(0, "!")],
            vec![text("23"), arguments(1, "23456789abcdef"), arguments(0, "key-01!")],
        ),
        (
            vec![text("so ke"), DecodedItem::StopReason("stop".into())],
            vec![text("so "), text("ke"), DecodedItem::StopReason("stop".into())],
        ),
        (
            vec![
                text("so key-01"),
                DecodedItem::TextReplaced("thus key-0123456789abcdef, key-01".into()),
                DecodedItem::StopReason("stop".into()),
            ],
            vec![
                text("so "),
                DecodedItem::TextReplaced("thus [removed], ".into()),
                text("key-01"),
                DecodedItem::StopReason("stop".into()),
            ],
        ),
        (
            vec![
                text("so key-01"),
                DecodedItem::FinishedReplaced { block: 0, text: "thus key-0123456789abcdef, key-01".into() },
                text("!"),
            ],
            vec![
                text("so "),
                DecodedItem::FinishedReplaced { block: 0, text: "thus [removed], key-01".into() },
                text("key-01!"),
            ],
        ),
        (
            vec![DecodedItem::ProviderToolResult {
                id: "a".into(),
                name: "b".into(),
                result: serde_json::json!({ "x": ["key-0123456789abcdef!"] }),
                is_error: false,
            }],
            vec![DecodedItem::ProviderToolResult {
                id: "a".into(),
                name: "b".into(),
                result: serde_json::json!({ "x": ["[removed]!"] }),
                is_error: false,
            }],
        ),
    ] {
        let mut decoder = RedactingDecoder::wrap(Box::new(FixedDecoder(deltas)), secrets());
        let mut out = Vec::new();
        (0..6).for_each(|_| decoder.feed(b"x", &mut out));
        decoder.finish(&mut out);
        assert_eq!(out, expected);
    }
}

#[test]
fn body_beyond_work_budget_yields_nothing_after_cut() {
    let key = format!("{}bcdef", "a".repeat(4000));
    let mut redactor = Redactor::new(SecretSet::new([SecretString::from(key)]));
    let piece = r"\u0061".repeat(1 << 13);
    let mut shown = [redactor.push(piece.clone().into()), redactor.push(piece.into())].concat();
    assert!(shown.ends_with(b"[removed]"));
    shown.extend_from_slice(&redactor.push(Bytes::from_static(b"aaaabcdef and more")));
    shown.extend_from_slice(&redactor.finish());
    assert!(shown.ends_with(b"[removed]"), "{}", String::from_utf8_lossy(&shown));
}

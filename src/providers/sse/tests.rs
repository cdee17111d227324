//! Tests of the parser against the cases of the standard, against itself at every split, and against an independent
//! parser.

use proptest::prelude::*;

use super::*;

fn events(pieces: &[&[u8]]) -> Vec<SseEvent> {
    let mut framer = SseParser::default();
    let mut out = Vec::new();
    for piece in pieces {
        framer.feed(piece, &mut |event| out.push(event)).unwrap();
    }
    out.extend(framer.finish());
    out
}

fn datas(body: &str) -> Vec<String> {
    events(&[body.as_bytes()]).into_iter().map(|event| event.data).collect()
}

#[test]
fn line_endings_follow_standard() {
    for (body, expected) in [
        ("data: a\n\ndata: b\n\n", &["a", "b"][..]),
        ("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]),
        ("data: a\r\rdata: b\r\r", &["a", "b"]),
        ("data: a\r\n\ndata: b\n\r\n", &["a", "b"]),
        ("data:a\n\ndata:  b\n\n", &["a", " b"]),
        ("\u{feff}data: a\n\n", &["a"]),
        ("data: a\ndata: b\n\n", &["a\nb"]),
        ("data\n\ndata\ndata\n\n", &["", "\n"]),
        (": comment\n\n:\n\ndata: a\n: in between\n\n", &["a"]),
        ("id: 1\0\nretry: 10\nunknown: x\ndata: a\n\n", &["a"]),
        ("event: only a name\n\ndata: a\n\n", &["a"]),
        ("\n\n\n", &[]),
        ("", &[]),
    ] {
        assert_eq!(datas(body), expected, "{body:?}");
    }
}

#[test]
fn event_name_applies_to_one_event_only() {
    let names: Vec<_> =
        events(&[b"event: error\ndata: 1\n\ndata: 2\n\n"]).into_iter().map(|event| event.name).collect();
    assert_eq!(names, ["error", ""]);
}

#[test]
fn complete_event_without_blank_line_counts_and_truncated_one_does_not() {
    for (body, expected) in [
        ("data: {\"a\":1}", &["{\"a\":1}"][..]),
        ("data: {\"a\":1}\n", &["{\"a\":1}"]),
        ("data: {\"a\":1}\r", &["{\"a\":1}"]),
        ("data: [DONE]", &["[DONE]"]),
        ("data: {\"a\":", &[]),
        ("data: [DON", &[]),
        ("data: {\"a\":1}\nda", &["{\"a\":1}"]),
        ("dat", &[]),
    ] {
        assert_eq!(datas(body), expected, "{body:?}");
    }
}

#[test]
fn event_beyond_limit_is_refused_and_event_at_limit_is_not() {
    let at_limit = limits::PROVIDER_EVENT_BYTES - "data: ".len();
    for (length, expected) in [(at_limit, Ok(())), (at_limit + 1, Err(EventTooLarge))] {
        let mut framer = SseParser::default();
        let mut count = 0;
        let mut body = b"data: ".to_vec();
        body.resize(body.len() + length, b'x');
        let mut result = Ok(());
        for piece in body.chunks(1 << 20) {
            result = result.and_then(|()| framer.feed(piece, &mut |_| count += 1));
        }
        assert_eq!(result, expected);
        let ended = framer.feed(b"\n\n", &mut |_| count += 1);
        assert_eq!(ended, expected);
        assert_eq!(count, usize::from(expected.is_ok()));
    }
}

#[test]
fn lines_of_one_event_add_up_to_limit() {
    let mut framer = SseParser::default();
    let mut line = b"data: ".to_vec();
    line.resize(1 << 20, b'x');
    line.push(b'\n');
    let result = (0..17).try_for_each(|_| framer.feed(&line, &mut |_| {}));
    assert_eq!(result, Err(EventTooLarge));
}

/// Generates bodies of the pieces that matter to a parser, so that unusual combinations are common.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "\r\n\r\n",
        "data",
        "data:",
        "data: ",
        "event: ",
        ":",
        " ",
        "{\"a\":1}",
        "[DONE]",
        "你好😀",
        "\u{feff}",
        "id: 7",
        "x",
        "\0",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #[test]
    fn any_split_yields_same_events(body in body(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let whole = events(&[&body]);
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        at.extend([0, body.len()]);
        at.sort_unstable();
        let pieces: Vec<&[u8]> = at.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect();
        prop_assert_eq!(&events(&pieces), &whole);
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        prop_assert_eq!(&events(&bytes), &whole);
    }

    #[test]
    fn any_bytes_are_accepted(body in prop::collection::vec(any::<u8>(), 0..200)) {
        events(&[&body]);
    }
}

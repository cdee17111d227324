//! Tests of pages in many charsets, including false declarations.

use encoding_rs::{BIG5, EUC_KR, GBK, KOI8_R, SHIFT_JIS};

use super::*;

fn page(content_type: &str, charset: Option<&str>, body: impl Into<Vec<u8>>) -> FetchedPage {
    FetchedPage {
        url: "https://example.com/".into(),
        content_type: content_type.into(),
        charset: charset.map(str::to_owned),
        body: body.into().into(),
        is_cut: false,
    }
}

fn encode(encoding: &'static Encoding, text: &str) -> Vec<u8> {
    let (bytes, _, has_errors) = encoding.encode(text);
    assert!(!has_errors, "{text}");
    bytes.into_owned()
}

fn with_head(head: &str, bytes: Vec<u8>) -> Vec<u8> {
    [head.as_bytes().to_vec(), bytes].concat()
}

#[test]
fn byte_order_mark_beats_header_and_header_beats_meta() {
    const HTML: &str = "text/html";
    let gbk = || encode(GBK, "你好，世界");
    let japanese = || encode(SHIFT_JIS, "こんにちは");
    let wide = |mark: [u8; 2], order: fn(u16) -> [u8; 2]| {
        [mark.to_vec(), "Grüße 😀".encode_utf16().flat_map(order).collect()].concat()
    };
    let marked = [b"\xef\xbb\xbf".as_slice(), "Grüße".as_bytes()].concat();
    let meta = |label: &str| format!("<html><head><meta charset=\"{label}\"></head>");
    let long = format!("<!--{}-->", "x".repeat(PRESCAN));
    for (case, page, expected) in [
        ("said by the server", page(HTML, Some("gbk"), gbk()), "你好，世界"),
        ("in capitals, by an old name", page(HTML, Some("GB2312"), gbk()), "你好，世界"),
        ("a text", page("text/plain", Some("Shift_JIS"), japanese()), "こんにちは"),
        ("another name", page("text/plain", Some("windows-31j"), japanese()), "こんにちは"),
        ("Korean", page(HTML, Some("ks_c_5601-1987"), encode(EUC_KR, "안녕하세요")), "안녕하세요"),
        ("Russian", page(HTML, Some("koi8-r"), encode(KOI8_R, "Привет")), "Привет"),
        ("Chinese elsewhere", page(HTML, Some("big5"), encode(BIG5, "你好")), "你好"),
        ("Latin 1 is windows-1252", page(HTML, Some("iso-8859-1"), b"\x93Gr\xfc\xdfe\x94 \x80".to_vec()), "“Grüße” €"),
        ("blanks around it", page(HTML, Some(" windows-1252 "), b"caf\xe9".to_vec()), "café"),
        ("UTF-16, little", page(HTML, None, wide([0xff, 0xfe], u16::to_le_bytes)), "Grüße 😀"),
        ("UTF-16, big", page("text/plain", None, wide([0xfe, 0xff], u16::to_be_bytes)), "Grüße 😀"),
        ("the mark against the server", page(HTML, Some("gbk"), marked.clone()), "Grüße"),
        ("the mark against nobody", page("application/json", None, marked), "Grüße"),
        ("nothing said", page(HTML, None, "Grüße"), "Grüße"),
        ("a label that nobody knows", page(HTML, Some("of-tomorrow"), "Grüße"), "Grüße"),
        ("a label that is refused", page(HTML, Some("iso-2022-kr"), "Grüße"), "Grüße"),
        ("an empty label", page(HTML, Some(""), "Grüße"), "Grüße"),
    ] {
        assert_eq!(decode_page(&page), (expected.to_owned(), 0), "{case}");
    }
    for (case, head, encoding, text) in [
        ("a short meta", meta("gbk"), GBK, "你好"),
        (
            "a meta of old",
            "<META http-equiv='Content-Type' content='text/html; charset=shift_jis'>".into(),
            SHIFT_JIS,
            "今日",
        ),
        ("no quotes", "<meta http-equiv=content-type content=text/html;charset=gbk>".into(), GBK, "你好"),
        ("behind a comment", "<!-- <meta charset=big5> --><meta/charset=gbk />".into(), GBK, "你好"),
        ("behind an empty comment", "<!--><meta charset=gbk>".into(), GBK, "你好"),
        (
            "behind others",
            "<meta name=a content=charset=big5><link title='<meta charset=big5>'><meta charset=gbk>".into(),
            GBK,
            "你好",
        ),
        ("a server that says nonsense", meta("gbk"), GBK, "你好"),
    ] {
        let label = (case == "a server that says nonsense").then_some("nonsense");
        let decoded = decode_page(&page(HTML, label, with_head(&head, encode(encoding, text))));
        assert_eq!(decoded, (format!("{head}{text}"), 0), "{case}");
    }
    // A declared UTF-16 is impossible here, and a declaration after the prescan limit is ignored.
    assert_eq!(
        decode_page(&page(HTML, None, with_head(&meta("utf-16le"), "ü".into()))).0,
        format!("{}ü", meta("utf-16le"))
    );
    assert_eq!(decode_page(&page(HTML, None, format!("{long}{}ü", meta("gbk")))).0, format!("{long}{}ü", meta("gbk")));
    // Plain text has no declaration.
    assert_eq!(decode_page(&page("text/plain", None, format!("{}ü", meta("gbk")))).0, format!("{}ü", meta("gbk")));
    let declared = "<?xml version='1.0' encoding='windows-1252'?><a>";
    assert_eq!(
        decode_page(&page("application/rss+xml", None, with_head(declared, vec![0xfc]))).0,
        format!("{declared}ü")
    );
}

#[test]
fn invalid_bytes_are_counted_and_nothing_is_refused() {
    assert_eq!(decode_page(&page("text/html", None, b"a\xffb".to_vec())), ("a\u{fffd}b".into(), 1));
    assert_eq!(decode_page(&page("text/html", Some("gbk"), b"a\xffb".to_vec())).1, 1);
    assert_eq!(decode_page(&page("text/html", None, b"\xff\xfe\x00".to_vec())).1, 1);
    let odd: [&[u8]; 14] = [
        b"",
        b"<",
        b"<meta",
        b"<meta ",
        b"<meta charset",
        b"<meta charset=",
        b"<meta charset='",
        b"<meta =",
        b"<!--",
        b"<?xml",
        b"<?xml encoding=>",
        b"</",
        b"<a x='",
        b"<meta http-equiv=content-type content=charset>",
    ];
    for body in odd {
        for kind in ["text/html", "application/xhtml+xml", "text/plain"] {
            let (text, invalid) = decode_page(&page(kind, None, body.to_vec()));
            assert_eq!((text.as_bytes(), invalid), (body, 0));
        }
    }
}

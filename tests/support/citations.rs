//! Property tests of citation offsets, through each API that has them: OpenAI counts characters, Google counts bytes.
//! The text stays unchanged, every citation mark is on a character boundary, and the page shows all of the text.

use proptest::prelude::*;
use serde_json::{Value, json};
use turnleaf::domain::blocks::sources::{ReplySources, TYPE, collect_sources};
use turnleaf::domain::{Block, Content, TurnId};
use turnleaf::ui::markdown::{InlineCitation, PlainEnricher, render, render_with};
use turnleaf_platform::endpoint::ProviderApi;
use turnleaf_platform::ids;
use turnleaf_providers::provider::DecodedItem;
use turnleaf_providers::replay;

use crate::decoding::decode;

const PAGE: &str = "https://leaves.example/a";
const APIS: [ProviderApi; 3] = [ProviderApi::OpenaiResponses, ProviderApi::OpenaiChat, ProviderApi::Gemini];

/// Builds a whole response body with `text` and one citation of [`PAGE`] for each (start, end) of `places`.
fn body(api: ProviderApi, text: &str, places: &[(Value, Value)]) -> Vec<u8> {
    let all = |one: &dyn Fn(&Value, &Value) -> Value| -> Vec<Value> {
        places.iter().map(|(start, end)| one(start, end)).collect()
    };
    let document = match api {
        ProviderApi::OpenaiResponses => {
            let annotations = all(
                &|start, end| json!({"type": "url_citation", "url": PAGE, "title": "A", "start_index": start, "end_index": end}),
            );
            let content = json!([{"type": "output_text", "text": text, "annotations": annotations}]);
            let output =
                json!([{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}]);
            return json!({"object": "response", "status": "completed", "output": output}).to_string().into_bytes();
        }
        ProviderApi::OpenaiChat => {
            let annotations = all(
                &|start, end| json!({"type": "url_citation", "url_citation": {"url": PAGE, "title": "A", "start_index": start, "end_index": end}}),
            );
            json!({"choices": [{"index": 0, "delta": {"content": text, "annotations": annotations}, "finish_reason": "stop"}]})
        }
        _ => {
            let supports = all(
                &|start, end| json!({"segment": {"startIndex": start, "endIndex": end}, "groundingChunkIndices": [0]}),
            );
            let grounding =
                json!({"groundingChunks": [{"web": {"uri": PAGE, "title": "A"}}], "groundingSupports": supports});
            json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP",
                "groundingMetadata": grounding}]})
        }
    };
    let end = if api == ProviderApi::OpenaiChat { "data: [DONE]\n\n" } else { "" };
    format!("data: {document}\n\n{end}").into_bytes()
}

/// Decodes a body and keeps only its text and source blocks.
fn blocks(api: ProviderApi, body: &[u8]) -> Vec<Block> {
    let dialect = turnleaf_providers::openai_chat::dialect::Dialect::from_name("openai").unwrap();
    let (items, outcome) = decode(replay::decoder_for_api(api, dialect), [body]);
    assert!(outcome.complete, "{api:?} {outcome:?}");
    let mut contents: Vec<Content> = Vec::new();
    for item in items {
        match item {
            DecodedItem::Text(more) => match contents.last_mut() {
                Some(Content::Text { text, .. }) => text.push_str(&more),
                _ => contents.push(Content::text(&more)),
            },
            DecodedItem::Opaque(fields) if fields["type"] == TYPE => contents.push(Content::Other(fields)),
            _ => {}
        }
    }
    (0..).zip(contents).map(|(seq, content)| block(seq, content)).collect()
}

fn block(seq: u32, content: Content) -> Block {
    Block::new(ids::mint(), (0, seq), turnleaf::domain::Author::Assistant, content, Default::default())
}

/// Renders the only text block with the citation marks in it.
fn draw_with_citations(blocks: &[Block]) -> (String, ReplySources, Vec<InlineCitation>) {
    let texts: Vec<(&Block, &str)> = blocks
        .iter()
        .filter_map(|block| match &block.content {
            Content::Text { text, .. } => Some((block, text.as_str())),
            _ => None,
        })
        .collect();
    let sources = collect_sources(blocks);
    let [(block, text)] = texts[..] else { panic!("{blocks:?}") };
    let cites = InlineCitation::marks_in_block(&sources, ids::mint::<TurnId>(), block.id, text);
    (text.to_owned(), sources, cites)
}

/// Returns the rendered HTML without the citation marks.
fn without_marks(html: &str) -> String {
    let mut rest = html;
    let mut all = String::new();
    while let Some((before, mark)) = rest.split_once("<sup class=\"md-cite\">") {
        all.push_str(before);
        rest = mark.split_once("</sup>").unwrap().1;
    }
    all + rest
}

fn rendered_html(parts: &[turnleaf::ui::markdown::MarkupPart]) -> String {
    parts.iter().map(|part| part.markup().as_str()).collect()
}

fn offset() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (0_u64..90).prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(json!(1.5)),
        1 => Just(Value::Null),
        1 => Just(json!("7")),
    ]
}

proptest! {
    #[test]
    fn text_stays_complete_wherever_citation_points(
        text in "[a-c äß你😀🇩🇪\u{301}\u{200d}`*_|#$<&\\[\\]()\n]{0,50}x",
        places in prop::collection::vec((offset(), offset()), 1..4),
    ) {
        for api in APIS {
            let blocks = blocks(api, &body(api, &text, &places));
            let (rendered, sources, cites) = draw_with_citations(&blocks);
            prop_assert_eq!(&rendered, &text, "{:?}", api);
            prop_assert!(sources.list.len() <= 1);
            for cite in &cites {
                prop_assert!(rendered.is_char_boundary(cite.at), "{:?}", cite);
            }
            let with = rendered_html(&render_with(&rendered, &cites, &PlainEnricher));
            prop_assert_eq!(without_marks(&with), rendered_html(&render(&rendered)), "{:?}", api);
        }
    }
}

/// A citation of the first words, with characters of one to four bytes before its end, has a different end offset in
/// each API.
#[test]
fn offsets_count_in_each_providers_own_unit() {
    const WORDS: &str = "Grüße 😀 你好";
    let text = format!("{WORDS} and more");
    let (characters, bytes) = (WORDS.chars().count(), WORDS.len());
    for (api, end) in [
        (ProviderApi::OpenaiResponses, characters),
        (ProviderApi::OpenaiChat, characters),
        (ProviderApi::Gemini, bytes),
    ] {
        let (_, sources, cites) = draw_with_citations(&blocks(api, &body(api, &text, &[(json!(0), json!(end))])));
        let ends: Vec<&str> = cites.iter().map(|cite| &text[..cite.at]).collect();
        assert_eq!((ends, sources.list.len()), (vec![WORDS], 1), "{api:?}");
    }
    // An offset in the middle of a character is moved back to its start.
    let (_, _, cites) =
        draw_with_citations(&blocks(ProviderApi::Gemini, &body(ProviderApi::Gemini, "a😀b", &[(json!(0), json!(3))])));
    assert_eq!(cites.iter().map(|cite| cite.at).collect::<Vec<_>>(), [1]);
}

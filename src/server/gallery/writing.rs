//! Sample turns with text: all of Markdown, scripts of the world, documents and images, sources.

use serde_json::json;

use super::turns::{json_object, turn_view, user_turn};
use crate::api::view::TurnView;
use crate::domain::documents::attachment::{AttachmentCard, CARD_KEY, ReferenceStatus};
use crate::domain::{Block, Content, Turn, fixtures};

/// A text with every construct that is rendered.
const MARKDOWN: &str = include_str!("writing.md");

const RIGHT_TO_LEFT: &str = "شجرة المحادثة تحفظ كل إجابة، حتى تلك التي تُركت.\n\n```rust\nlet leaf = tree.newest();\n```\n\nويبقى الكود من اليسار إلى اليمين.";

const HAN: &str = "对话是一棵树：每次编辑或重试都会产生一个新分支，旧的回答仍然保留。\n\n1. 选择一条消息；\n2. 点击“重试”；\n3. 用箭头在版本之间切换。\n\n> 好记性不如烂笔头。";

/// Returns the turns of the page.
pub fn turns() -> Vec<TurnView> {
    let mut attached = user_turn(5, "What does the marked part say?");
    attached.turn.blocks.extend(attachment_blocks());
    attached.named = vec![
        (attached.turn.blocks[2].id, ReferenceStatus::Older),
        (attached.turn.blocks[4].id, ReferenceStatus::Deleted),
    ];
    vec![
        user_turn(1, "Show me everything that Markdown can do.\n\nLine by line, as I wrote it: **not bold**."),
        turn_view(fixtures::reply(2, [Content::text(MARKDOWN)])),
        user_turn(3, "والآن بالعربية"),
        turn_view(fixtures::reply(4, [Content::text(RIGHT_TO_LEFT)])),
        attached,
        turn_view(fixtures::reply(6, [Content::text(HAN)])),
        user_turn(7, "Where do leaves come from?"),
        turn_view(turn_with_sources(8)),
    ]
}

/// Returns blocks with documents, lines of them, and missing images.
fn attachment_blocks() -> Vec<Block> {
    let id = fixtures::uuid(0xd0c).to_string();
    let document = || Content::Reference { ref_id: id.clone(), ref_type: "document".into(), version_timestamp: None };
    let lines = Content::PartialReference {
        ref_id: id.clone(),
        ref_type: "document".into(),
        version_timestamp: None,
        selection_start: 0,
        selection_end: 120,
    };
    let picture = Content::Image { blob: "0".repeat(64), mime: "image/png".into(), alt: "A maple leaf".into() };
    let card =
        |title: &str, lines| AttachmentCard { title: title.into(), lines, tokens: 1_240, ..AttachmentCard::default() };
    let cards = [
        card("Field notes.md", None),
        card("Field notes.md", None),
        card("Field notes.md", Some((10, 42))),
        card("Maple", None),
    ];
    let contents = [document(), document(), lines, picture];
    let block = |((seq, content), card): ((u32, Content), AttachmentCard)| Block {
        block_metadata: json!({ CARD_KEY: card }),
        ..fixtures::block(5, seq, content)
    };
    (1..).zip(contents).zip(cards).map(block).collect()
}

fn turn_with_sources(ord: i64) -> Turn {
    let text = "Leaves grow from buds at the nodes of a stem. A deciduous tree lets them fall in autumn.";
    let source = |url: &str, title: &str, end: usize| json!({ "url": url, "title": title, "start": 0, "end": end });
    let sources = json!({ "type": "x:sources", "sources": [
        source("https://example.org/buds", "Buds and nodes", 45),
        source("https://example.com/autumn", "Why leaves fall", text.len()),
    ]});
    fixtures::reply(ord, [Content::text(text), Content::Other(json_object(sources))])
}

//! Attachments of a message, rendered by the server.

use turnleaf::domain::documents::attachment::{
    Attachment, AttachmentCard, CARD_KEY, DOCUMENT_REF_TYPE, ReferenceStatus,
};

use super::*;

const SHA: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const SMALL: &str = "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210";

/// Builds a user turn with a document selection and an image.
fn message() -> Turn {
    let selection = Content::PartialReference {
        ref_id: "00000000-0000-0000-0000-0000000000d1".into(),
        ref_type: DOCUMENT_REF_TYPE.into(),
        version_timestamp: Some("2026-11-22T07:00:00.5Z".parse().unwrap()),
        selection_start: 0,
        selection_end: 7,
    };
    let card = AttachmentCard {
        title: "spec <b>.md".into(),
        lines: Some((10, 42)),
        tokens: 1_234,
        ..AttachmentCard::default()
    };
    let picture =
        Attachment::image(SHA.into(), "image/png".into(), "A leaf".into(), Some((960, 384)), Some(SMALL.into()));
    let mut turn = user_turn(1, "Look");
    for (content, card) in [(selection, card), (picture.content, picture.card)] {
        let mut block = fixtures::block(1, turn.blocks.len() as u32, content);
        block.block_metadata = json!({ CARD_KEY: card });
        turn.blocks.push(block);
    }
    turn
}

fn render_references(named: &[ReferenceStatus]) -> String {
    let turn = message();
    let named = turn.blocks[1..].iter().map(|block| block.id).zip(named.iter().copied()).collect();
    render_turns(vec![TurnView { named, ..turn_view(turn) }])
}

#[test]
fn chip_names_its_lines_and_links_to_them_in_their_version() {
    let html = render_turn(message());
    let chip = html.split("attached-block").nth(1).unwrap().split("</a>").next().unwrap();
    let address = "href=\"/documents/00000000-0000-0000-0000-0000000000d1?version=2026-11-22T07:00:00.500000Z&amp;lines=10-42#L10-L42\"";
    assert!(chip.contains(address), "{chip}");
    assert!(chip.contains("spec &lt;b&gt;.md") && chip.contains(" · lines 10–42 · 1.2k tokens<"), "{chip}");
}

#[test]
fn image_reserves_its_space_and_links_to_full_size() {
    let html = render_turn(message());
    assert!(html.contains(&format!("class=\"picture\" href=\"/api/blobs/{SHA}\"")), "{html}");
    assert!(
        html.contains(&format!("src=\"/api/blobs/{SMALL}\" alt=\"A leaf\" width=\"480\" height=\"192\"")),
        "{html}"
    );
}

#[test]
fn changed_or_missing_reference_is_marked() {
    let html = render_references(&[ReferenceStatus::Older, ReferenceStatus::Deleted]);
    assert!(html.contains(" · older version<") && html.contains("href=\"/documents/"), "{html}");
    assert!(html.contains("A leaf · no longer available") && !html.contains("<img"), "{html}");
    let html = render_references(&[ReferenceStatus::Deleted]);
    assert!(html.contains(" · deleted<") && !html.contains("href=\"/documents/"), "{html}");
    assert!(html.contains("<img"), "the picture is there");
}

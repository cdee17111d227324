//! The code blocks of replies that have a preview.

use crate::domain::blocks::preview::{CodePreview, PreviewKind};
use crate::domain::text::hidden_text::visible_text;
use crate::domain::{Block, Content, Role, Turn, limits};
use crate::ui::markdown;

/// Returns the code blocks of these replies that have a preview, in order. Long texts take a while: call it where
/// blocking is allowed.
pub fn code_previews(turns: &[Turn]) -> Vec<CodePreview> {
    let replies = turns.iter().filter(|turn| turn.role == Role::Assistant);
    replies.flat_map(|turn| turn.blocks.iter().flat_map(move |block| previews_of_block(turn, block))).collect()
}

fn previews_of_block(turn: &Turn, block: &Block) -> Vec<CodePreview> {
    // These are the blocks that the page shows as Markdown.
    let text = match &block.content {
        Content::Text { text, .. } => text,
        Content::Thinking { thinking, .. } => thinking,
        _ => return Vec::new(),
    };
    // Code without a fence has no language.
    if !["```", "~~~"].iter().any(|fence| text.contains(fence)) {
        return Vec::new();
    }
    let numbered = (1..).zip(markdown::code_listings(text));
    let preview = |(number, listing): (usize, markdown::CodeListing)| {
        let kind = PreviewKind::from_language(&listing.language)?;
        let (name, code) = (listing.name.as_deref().map(shown_name), listing.code);
        Some(CodePreview { turn: turn.id, block: block.id, number, kind, name, code })
    };
    numbered.filter_map(preview).collect()
}

/// Returns the name of a file as people see it. A hidden character could reverse its end: the name of a page would read
/// like that of a picture where it is saved.
fn shown_name(name: &str) -> String {
    visible_text(&name.chars().take(limits::TITLE_CHARS).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fixtures::reply;
    use crate::domain::text::external_links::KnownHosts;
    use crate::ui::markdown::ReplyLinks;

    #[test]
    fn links_of_page_lead_to_previews_of_same_code() {
        let written = "```html\n<p>\n```\n\n- a\n\n      indented\n\n~~~rust\nfn a() {}\n~~~\n\n> ```SVG logo.svg\n> <svg/>\n> ```\n";
        let turn = reply(2, [Content::text(written)]);
        let found = code_previews(std::slice::from_ref(&turn));
        let kinds: Vec<_> = found.iter().map(|one| (one.kind, one.name.as_deref(), one.code.as_str())).collect();
        assert_eq!(kinds, [(PreviewKind::Html, None, "<p>\n"), (PreviewKind::Svg, Some("logo.svg"), "<svg/>\n"),]);
        let parts =
            ReplyLinks::new(turn.id, turn.blocks[0].id, true).draw(&markdown::render(written), &KnownHosts::default());
        let html: String = parts.iter().map(|part| part.markup().as_str()).collect();
        for one in &found {
            assert!(html.contains(&format!("class=\"md-preview\" href=\"{}\"", one.address())), "{html}");
        }
        assert_eq!(html.matches("md-preview").count(), found.len(), "{html}");
    }

    #[test]
    fn name_hides_no_character_and_has_bound() {
        let long = "n".repeat(limits::TITLE_CHARS + 1);
        let written = format!("```html photo\u{202e}gpj.html\n<p>\n```\n\n```html {long}.html\n<p>\n```\n");
        let found = code_previews(&[reply(2, [Content::text(&written)])]);
        let names: Vec<Option<&str>> = found.iter().map(|one| one.name.as_deref()).collect();
        assert_eq!(names, [Some("photo[U+202E]gpj.html"), Some(&long[1..])]);
        assert_eq!(found[0].file_name(), "photo[U+202E]gpj.html");
        assert!(found[1].file_name().ends_with("n.html"));
    }

    #[test]
    fn messages_of_people_have_no_previews() {
        let mut turn = reply(2, [Content::text("```html\n<p>\n```")]);
        turn.role = Role::User;
        assert_eq!(code_previews(&[turn]), []);
    }
}

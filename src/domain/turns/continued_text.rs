//! Continued text: a version of a reply that begins with the text of one that ended early, so that the model goes on
//! within it (`docs/adr/0091-continued-replies.md`).

use serde_json::{Value, json};

use crate::blocks::block::{Block, Content};
use crate::blocks::notice::is_notice;
use crate::messages::failure::FailureKind;
use crate::providers::capabilities::Capabilities;
use crate::providers::provider::ReasoningSupport;
use crate::turns::turn::{Role, Turn};

/// The key of `block_metadata` with the number of characters with which the text began.
const BEGAN_WITH: &str = "began_with";
/// The fewest characters that are continued. Some providers repeat the text first, and below this a repetition could
/// not be told from a continuation that begins with the same word.
const LEAST_CHARS: usize = 24;

/// Returns the text of a reply that its model can continue: the only thing that the reply has beside notices. White
/// space at its end is left out, because some providers refuse it, and line breaks before it, which are not sent.
/// `None` if a message must ask for the rest.
pub fn text_to_continue(reply: &Turn, model: &Capabilities) -> Option<String> {
    if !model.continues_text
        || model.reasoning == ReasoningSupport::Always
        || reply.role != Role::Assistant
        || !reply.status.is_terminal()
        || reply.is_edited()
        || reply.error.as_ref().is_some_and(|failure| rules_out(failure.kind))
    {
        return None;
    }
    let mut contents = reply.blocks.iter().map(|block| &block.content).filter(|content| !is_aside(content));
    let (Some(Content::Text { text, .. }), None) = (contents.next(), contents.next()) else { return None };
    let text = text.trim_end().trim_start_matches('\n');
    (text.chars().count() >= LEAST_CHARS).then(|| text.to_owned())
}

/// Returns whether a reply that failed so is not continued in place: the provider refused that, or the text is too
/// long.
fn rules_out(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::ProviderRefusedRequest | FailureKind::LimitOutput)
}

/// Returns whether a block is about the reply, and not a part of it.
fn is_aside(content: &Content) -> bool {
    matches!(content, Content::Text { is_error: true, .. }) || is_notice(content)
}

/// Returns the metadata of the block with which such a version begins.
pub fn began_with(text: &str) -> Value {
    json!({ BEGAN_WITH: text.chars().count() })
}

/// Returns the block and the text with which a reply began; `None` unless it continues another version.
pub fn beginning(reply: &Turn) -> Option<(&Block, &str)> {
    let block = reply.blocks.first()?;
    let Content::Text { text, .. } = &block.content else { return None };
    let chars = usize::try_from(block.block_metadata.get(BEGAN_WITH)?.as_u64()?).ok()?;
    let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    Some((block, &text[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::notice::Notice;
    use crate::fixtures;
    use crate::{Author, Failure, TurnStatus};

    const HALF: &str = "The first half of a sentence that";

    fn reply(status: TurnStatus, contents: Vec<Content>) -> Turn {
        Turn { blocks: fixtures::blocks(2, contents), ..fixtures::turn(2, Role::Assistant, status) }
    }

    fn model() -> Capabilities {
        Capabilities { continues_text: true, ..Capabilities::default() }
    }

    #[test]
    fn only_text_alone_is_continued() {
        let text = || Content::text(HALF);
        let stopped = |contents| text_to_continue(&reply(TurnStatus::Cancelled, contents), &model());
        assert_eq!(stopped(vec![text()]).as_deref(), Some(HALF));
        let spaced = Content::text(format!("\n{HALF} \n\n"));
        assert_eq!(stopped(vec![spaced]).as_deref(), Some(HALF), "without the white space around it");
        assert_eq!(stopped(vec![text(), Notice::LengthReached.content()]).as_deref(), Some(HALF));
        assert_eq!(stopped(vec![text(), fixtures::error_text("broken")]).as_deref(), Some(HALF));
        for contents in [
            vec![],
            vec![Content::text("Too short")],
            vec![Content::thinking("hm"), text()],
            vec![text(), text()],
            vec![fixtures::error_text(HALF)],
        ] {
            assert_eq!(stopped(contents.clone()), None, "{contents:?}");
        }
    }

    #[test]
    fn model_or_reply_may_rule_out_continuation() {
        let stopped = reply(TurnStatus::Cancelled, vec![Content::text(HALF)]);
        assert_eq!(text_to_continue(&stopped, &Capabilities::default()), None);
        let thinker = model().with_thinking(ReasoningSupport::Always, &[]);
        assert_eq!(text_to_continue(&stopped, &thinker), None);
        let running = reply(TurnStatus::Streaming, vec![Content::text(HALF)]);
        assert_eq!(text_to_continue(&running, &model()), None);
        let failed = |kind| {
            let error = Some(Failure::new(kind, "Test"));
            text_to_continue(&Turn { error, ..reply(TurnStatus::Error, vec![Content::text(HALF)]) }, &model())
        };
        assert!(failed(FailureKind::ProviderTruncated).is_some());
        assert_eq!(failed(FailureKind::ProviderRefusedRequest), None);
        assert_eq!(failed(FailureKind::LimitOutput), None);
        let mut edited = stopped;
        edited.blocks[0].author = Author::User;
        assert_eq!(text_to_continue(&edited, &model()), None);
    }

    #[test]
    fn beginning_is_text_that_other_version_had() {
        let mut continued = reply(TurnStatus::Streaming, vec![Content::text("Ein Stück ü und mehr")]);
        assert_eq!(beginning(&continued), None);
        continued.blocks[0].block_metadata = began_with("Ein Stück ü");
        assert_eq!(beginning(&continued).map(|(_, text)| text), Some("Ein Stück ü"));
        // A damaged block may be shorter.
        continued.blocks[0].content = Content::text("Ein");
        assert_eq!(beginning(&continued).map(|(_, text)| text), Some("Ein"));
    }
}

//! Notices tell a person that a request was changed or why a reply ended early. They are stored as `x:notice` blocks
//! of the reply, never sent to a model, and never counted as reasoning. Failures are not notices.

use serde_json::{Map, Value};

use crate::blocks::block::{Block, Content};

/// The block type, as stored.
pub const TYPE: &str = "x:notice";

/// The kind of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// The request was refused because of its reasoning, and sent again without it.
    ReasoningRefused,
    /// The request was refused, and sent again with a text description of this reply's tool calls.
    StepsDescribed,
    /// The request was refused because reasoning was missing, and sent again with it.
    ReasoningAdded,
    /// The provider accepted the request and ignored its reasoning (`docs/reference/providers.md 3.7`).
    ReasoningDropped,
    /// The provider did not have the response to continue from, so the whole conversation was sent.
    ResentWhole,
    /// The request was refused because of its images, and sent again with text descriptions.
    ImagesDescribed,
    /// Images were replaced with text descriptions, because the model does not accept images.
    ImagesUnsupported,
    /// The chosen servers have more tools than a model accepts, so it searches for those that it needs.
    ToolsSearched,
    /// Some of the chosen tools cannot be described to a model, so they are not offered.
    ToolsLeftOut,
    /// The reply reached its maximum length.
    LengthReached,
    /// Conversation and reply fill the model's context window.
    ContextFilled,
    /// A filter of the provider ended the reply.
    Filtered,
    /// The model refused to continue.
    Declined,
    /// The provider ended the reply for a reason that no API documents; the block stores it.
    StoppedOtherwise,
    /// The model ended normally after reasoning, without an answer.
    NoAnswer,
}

/// The number of characters of a provider's stop reason that a notice shows.
const SHOWN_REASON: usize = 80;

impl Notice {
    /// All kinds.
    pub const ALL: [Self; 15] = [
        Self::ReasoningRefused,
        Self::StepsDescribed,
        Self::ReasoningAdded,
        Self::ReasoningDropped,
        Self::ResentWhole,
        Self::ImagesDescribed,
        Self::ImagesUnsupported,
        Self::ToolsSearched,
        Self::ToolsLeftOut,
        Self::LengthReached,
        Self::ContextFilled,
        Self::Filtered,
        Self::Declined,
        Self::StoppedOtherwise,
        Self::NoAnswer,
    ];

    /// Returns true if the notice explains why a reply ended. It is placed after the reply, the others before it.
    pub fn is_ending(self) -> bool {
        matches!(
            self,
            Self::LengthReached
                | Self::ContextFilled
                | Self::Filtered
                | Self::Declined
                | Self::StoppedOtherwise
                | Self::NoAnswer
        )
    }

    /// Returns the code, for programs.
    pub fn kind(self) -> &'static str {
        match self {
            Self::ReasoningRefused => "reasoning_refused",
            Self::StepsDescribed => "steps_told",
            Self::ReasoningAdded => "reasoning_added",
            Self::ReasoningDropped => "reasoning_dropped",
            Self::ResentWhole => "sent_whole",
            Self::ImagesDescribed => "images_told",
            Self::ImagesUnsupported => "images_not_seen",
            Self::ToolsSearched => "tools_searched",
            Self::ToolsLeftOut => "tools_left_out",
            Self::LengthReached => "length_reached",
            Self::ContextFilled => "context_filled",
            Self::Filtered => "filtered",
            Self::Declined => "declined",
            Self::StoppedOtherwise => "stopped_otherwise",
            Self::NoAnswer => "no_answer",
        }
    }

    /// Returns the English sentence, for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::ReasoningRefused => "Earlier reasoning was omitted because the provider rejected it.",
            Self::StepsDescribed => {
                "Earlier reasoning was omitted and tool calls were summarized because the provider rejected them."
            }
            Self::ReasoningAdded => "The request was sent again in the form that the provider requires.",
            Self::ReasoningDropped => {
                "The provider omitted earlier reasoning because the conversation before it has changed."
            }
            Self::ResentWhole => "The whole conversation was sent again because the provider no longer had it.",
            Self::ImagesDescribed => "Images were replaced with text descriptions because the provider rejected them.",
            Self::ImagesUnsupported => {
                "Images were replaced with text descriptions because this model does not accept images."
            }
            Self::ToolsSearched => {
                "The selected servers have more tools than a model accepts, so the model searches for those it needs."
            }
            Self::ToolsLeftOut => "Some of the selected tools cannot be used. The tools page of this chat says why.",
            Self::LengthReached => "The reply reached the model's length limit.",
            Self::ContextFilled => "The conversation reached the model's context limit, so the reply ends here.",
            Self::Filtered => "The provider's content filter ended the reply here.",
            Self::Declined => "The model declined to continue.",
            Self::StoppedOtherwise => "The provider stopped the reply.",
            Self::NoAnswer => "The model ended without an answer.",
        }
    }

    /// Returns the content of the notice's block. The sentence is stored for programs and for versions that do not know
    /// the code; pages and exports show the sentence of the code.
    pub fn content(self) -> Content {
        let field = |key: &str, value: &str| (key.to_owned(), Value::from(value));
        let fields = [field("type", TYPE), field("kind", self.kind()), field("text", self.sentence())];
        Content::Other(Map::from_iter(fields))
    }

    /// Returns the notice of a block, by its code. `None` for a kind of another version.
    pub fn from_block(block: &Block) -> Option<Self> {
        let Content::Other(map) = &block.content else { return None };
        let kind = map.get("kind").and_then(Value::as_str).filter(|_| stored_notice_text(block).is_some())?;
        Self::ALL.into_iter().find(|notice| notice.kind() == kind)
    }

    /// Returns the sentence with the provider's stop reason where only that explains the end.
    pub fn sentence_with_stop_reason(self, stop_reason: &str) -> String {
        match self {
            Self::StoppedOtherwise if !stop_reason.trim().is_empty() => {
                format!("The provider stopped the reply: {}.", shown_reason(stop_reason))
            }
            _ => self.sentence().to_owned(),
        }
    }

    /// Returns the content with the provider's stop reason.
    pub fn content_with_stop_reason(self, stop_reason: &str) -> Content {
        let mut content = self.content();
        if let Content::Other(fields) = &mut content {
            fields.insert("text".to_owned(), Value::from(self.sentence_with_stop_reason(stop_reason)));
            fields.insert("stop_reason".to_owned(), Value::from(stop_reason));
        }
        content
    }
}

/// Returns the stop reason of a notice that only the reason explains, for a sentence.
pub fn stop_reason_of(block: &Block) -> Option<String> {
    let Content::Other(map) = &block.content else { return None };
    let reason = map.get("stop_reason").and_then(Value::as_str).map(shown_reason);
    reason.filter(|reason| !reason.is_empty() && Notice::from_block(block) == Some(Notice::StoppedOtherwise))
}

/// Returns the English sentence of a block that explains why a reply ended.
pub fn ending_sentence(block: &Block) -> Option<String> {
    let notice = ending_notice(block)?;
    Some(notice.sentence_with_stop_reason(&stop_reason_of(block).unwrap_or_default()))
}

/// Formats a stop reason for a sentence: on one line, and short.
fn shown_reason(stop_reason: &str) -> String {
    let plain: String = stop_reason.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut shown: String = plain.trim().trim_end_matches('.').chars().take(SHOWN_REASON).collect();
    if plain.trim().chars().count() > SHOWN_REASON {
        shown.push('…');
    }
    shown
}

/// Returns true if a block's content is a notice.
pub fn is_notice(content: &Content) -> bool {
    matches!(content, Content::Other(_)) && content.block_type() == TYPE
}

/// Returns the stored English sentence of one of our notices; a provider's own block of this type has none. Pages show
/// it only if [`Notice::from_block`] does not know the notice.
pub fn stored_notice_text(block: &Block) -> Option<&str> {
    match &block.content {
        Content::Other(map) if is_notice(&block.content) => map.get("text")?.as_str(),
        _ => None,
    }
}

/// Returns the notice of a block that explains why a reply ended.
pub fn ending_notice(block: &Block) -> Option<Notice> {
    Notice::from_block(block).filter(|notice| notice.is_ending())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn notice_is_block_with_code_and_sentence() {
        for notice in Notice::ALL {
            let block = fixtures::block(2, 0, notice.content());
            assert_eq!(block.content.block_type(), "x:notice");
            assert_eq!(stored_notice_text(&block), Some(notice.sentence()));
            let stored = serde_json::to_value(&block.content).unwrap();
            assert_eq!(stored["kind"], notice.kind());
            let back: Content = serde_json::from_value(stored).unwrap();
            assert_eq!(back, block.content);
            assert_eq!(Notice::from_block(&block), Some(notice));
        }
        let foreign = serde_json::json!({"type": "x:notice", "value": {"text": "Click here"}});
        let foreign = fixtures::block(2, 0, serde_json::from_value(foreign).unwrap());
        assert_eq!((stored_notice_text(&foreign), Notice::from_block(&foreign)), (None, None));
        let newer = serde_json::json!({"type": "x:notice", "kind": "newer", "text": "Something new."});
        let newer = fixtures::block(2, 0, serde_json::from_value(newer).unwrap());
        assert_eq!((stored_notice_text(&newer), Notice::from_block(&newer)), (Some("Something new."), None));
        assert_eq!(stored_notice_text(&fixtures::block(2, 0, Content::text("x:notice"))), None);
    }

    #[test]
    fn early_end_is_notice_with_provider_stop_reason() {
        let block = fixtures::block(2, 3, Notice::LengthReached.content_with_stop_reason("MAX_TOKENS"));
        assert_eq!(ending_notice(&block), Some(Notice::LengthReached));
        assert_eq!(serde_json::to_value(&block.content).unwrap()["stop_reason"], "MAX_TOKENS");
        assert_eq!(ending_notice(&fixtures::block(2, 0, Notice::StepsDescribed.content())), None, "it stands in front");
    }

    #[test]
    fn notice_of_unknown_stop_reason_shows_it_short_and_on_one_line() {
        let sentence = |reason: &str| {
            let block = fixtures::block(2, 3, Notice::StoppedOtherwise.content_with_stop_reason(reason));
            assert_eq!(ending_notice(&block), Some(Notice::StoppedOtherwise));
            ending_sentence(&block).unwrap()
        };
        assert_eq!(sentence("quota_pause"), "The provider stopped the reply: quota_pause.");
        assert_eq!(sentence(" a\nb. "), "The provider stopped the reply: a b.");
        assert_eq!(sentence(&"x".repeat(200)), format!("The provider stopped the reply: {}….", "x".repeat(80)));
    }
}

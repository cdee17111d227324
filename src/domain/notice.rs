//! Notices: what happened to a request and changes what a reply can know, said to the person in one calm line. Kept as
//! `x:notice` blocks of the reply; never sent to a model, never counted as reasoning. Not for failures.

use serde_json::{Map, Value};

use crate::block::{Block, Content};

/// The block type, as stored.
const TYPE: &str = "x:notice";

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// The request was refused for the reasoning in it, and sent again without.
    ReasoningRefused,
    /// The request was refused, and sent again with this reply's own tool calls told in words.
    StepsTold,
    /// The request was refused for reasoning that was missing in it, and sent again with it.
    ReasoningAdded,
    /// The provider took the request and left reasoning out of it by itself (prefix binding, providers.md 3.7).
    ReasoningDropped,
    /// The provider did not know the response that the request went on from, and got the whole conversation.
    SentWhole,
    /// The request was refused for the images in it, and sent again with words in their place.
    ImagesTold,
    /// The same, because the model takes none at all.
    ImagesNotSeen,
}

impl Notice {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::ReasoningRefused,
        Self::StepsTold,
        Self::ReasoningAdded,
        Self::ReasoningDropped,
        Self::SentWhole,
        Self::ImagesTold,
        Self::ImagesNotSeen,
    ];

    /// The code, for programs.
    pub fn kind(self) -> &'static str {
        match self {
            Self::ReasoningRefused => "reasoning_refused",
            Self::StepsTold => "steps_told",
            Self::ReasoningAdded => "reasoning_added",
            Self::ReasoningDropped => "reasoning_dropped",
            Self::SentWhole => "sent_whole",
            Self::ImagesTold => "images_told",
            Self::ImagesNotSeen => "images_not_seen",
        }
    }

    /// The sentence, for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::ReasoningRefused => "Earlier reasoning was left out, because the provider refused it.",
            Self::StepsTold => {
                "Earlier reasoning was left out and tools were summed up, because the provider refused them."
            }
            Self::ReasoningAdded => "The request was sent again in the form that the provider asked for.",
            Self::ReasoningDropped => {
                "The provider left earlier reasoning out, because the conversation before it has changed."
            }
            Self::SentWhole => "The whole conversation was sent again, because the provider did not have it any more.",
            Self::ImagesTold => "The images were told in words, because the provider refused them.",
            Self::ImagesNotSeen => "The images were told in words, because this model does not take images.",
        }
    }

    /// The content of its block. The sentence is kept, so that a page and an export need no table of their own.
    pub fn content(self) -> Content {
        let field = |key: &str, value: &str| (key.to_owned(), Value::from(value));
        let fields = [field("type", TYPE), field("kind", self.kind()), field("text", self.sentence())];
        Content::Other(Map::from_iter(fields))
    }
}

/// Whether a block's content is a notice.
pub fn is_notice(content: &Content) -> bool {
    matches!(content, Content::Other(_)) && content.block_type() == TYPE
}

/// The sentence of a block that is a notice of ours; a provider's own block of that name says nothing here.
pub fn sentence_of(block: &Block) -> Option<&str> {
    match &block.content {
        Content::Other(map) if is_notice(&block.content) => map.get("text")?.as_str(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_notice_is_a_block_with_a_code_and_a_sentence() {
        for notice in [
            Notice::ReasoningRefused,
            Notice::StepsTold,
            Notice::ReasoningAdded,
            Notice::ReasoningDropped,
            Notice::SentWhole,
            Notice::ImagesTold,
            Notice::ImagesNotSeen,
        ] {
            let block = sample::block(2, 0, notice.content());
            assert_eq!(block.content.block_type(), "x:notice");
            assert_eq!(sentence_of(&block), Some(notice.sentence()));
            let stored = serde_json::to_value(&block.content).unwrap();
            assert_eq!(stored["kind"], notice.kind());
            let back: Content = serde_json::from_value(stored).unwrap();
            assert_eq!(back, block.content);
        }
        let foreign = serde_json::json!({"type": "x:notice", "value": {"text": "Click here"}});
        let foreign = sample::block(2, 0, serde_json::from_value(foreign).unwrap());
        assert_eq!(sentence_of(&foreign), None);
        assert_eq!(sentence_of(&sample::block(2, 0, Content::text("x:notice"))), None);
    }
}

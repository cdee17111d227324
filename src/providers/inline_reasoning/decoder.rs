//! Decoder that splits reasoning from the text of another decoder, for APIs that have a place of their own for it: local
//! servers imitate these APIs, too, and leave the reasoning of a model in its text.

use super::InlineReasoning;
use crate::provider::{DecodeOutcome, DecodedItem, Decoder};

/// The kind of block that is open in the decoded response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SplitChannel {
    Nothing,
    Text,
    Thinking,
}

/// A decoder whose text may contain reasoning.
pub struct InlineReasoningDecoder {
    decoder: Box<dyn Decoder>,
    inline: InlineReasoning,
    decoded: Vec<DecodedItem>,
    open: SplitChannel,
    /// The number of blocks of text and reasoning that the decoder has begun.
    begun: usize,
    /// The number of its first block of text, which alone can be split.
    first_text: Option<usize>,
    /// Reasoning came directly before that block, so that the one in it is no block of its own.
    follows_thinking: bool,
    /// That block contained reasoning.
    is_split: bool,
}

impl InlineReasoningDecoder {
    /// Wraps a decoder.
    pub fn wrap(decoder: Box<dyn Decoder>) -> Box<dyn Decoder> {
        Box::new(Self {
            decoder,
            inline: InlineReasoning::default(),
            decoded: Vec::new(),
            open: SplitChannel::Nothing,
            begun: 0,
            first_text: None,
            follows_thinking: false,
            is_split: false,
        })
    }

    fn split_items(&mut self, out: &mut Vec<DecodedItem>) {
        let mut decoded = std::mem::take(&mut self.decoded);
        decoded.drain(..).for_each(|item| self.split_item(item, out));
        self.decoded = decoded;
    }

    fn split_item(&mut self, item: DecodedItem, out: &mut Vec<DecodedItem>) {
        match item {
            DecodedItem::Text(text) => {
                self.begin(SplitChannel::Text, text.is_empty());
                if self.inline.is_over() {
                    return out.push(DecodedItem::Text(text));
                }
                let from = out.len();
                self.inline.push(&text, out);
                self.note_split(&out[from..]);
            }
            DecodedItem::Thinking(text) => {
                self.begin(SplitChannel::Thinking, text.is_empty());
                self.inline.note_reasoning();
                self.flush(out);
                out.push(DecodedItem::Thinking(text));
            }
            DecodedItem::TextReplaced(text) => {
                self.flush(out);
                out.push(DecodedItem::TextReplaced(self.answer_of(self.begun.checked_sub(1), text)));
            }
            DecodedItem::FinishedReplaced { block, text } => {
                let is_apart = self.is_split && !self.follows_thinking;
                let is_behind = is_apart && self.first_text.is_some_and(|first| first <= block);
                let text = self.answer_of(Some(block), text);
                out.push(DecodedItem::FinishedReplaced { block: block + usize::from(is_behind), text });
            }
            DecodedItem::Model(model) => {
                self.inline.note_model(&model);
                out.push(DecodedItem::Model(model));
            }
            DecodedItem::StopReason(reason) => {
                self.inline.note_stop(&reason);
                self.flush(out);
                out.push(DecodedItem::StopReason(reason));
            }
            DecodedItem::Failed(failure) => {
                self.inline.note_end();
                self.flush(out);
                out.push(DecodedItem::Failed(failure));
            }
            // Arguments of calls may arrive within a text.
            item @ (DecodedItem::ToolArguments { .. }
            | DecodedItem::ToolArgumentsReplaced { .. }
            | DecodedItem::ProviderToolArguments { .. }) => out.push(item),
            item if !item.is_content() => out.push(item),
            item => {
                self.flush(out);
                if !matches!(item, DecodedItem::ThinkingReplaced(_) | DecodedItem::ThinkingTitle(_)) {
                    self.open = SplitChannel::Nothing;
                }
                out.push(item);
            }
        }
    }

    /// Counts the blocks of the decoded response as the builder would.
    fn begin(&mut self, kind: SplitChannel, is_empty: bool) {
        if is_empty || self.open == kind {
            return;
        }
        if kind == SplitChannel::Text && self.first_text.is_none() {
            self.first_text = Some(self.begun);
            self.follows_thinking = self.open == SplitChannel::Thinking;
        }
        self.open = kind;
        self.begun += 1;
    }

    fn note_split(&mut self, items: &[DecodedItem]) {
        self.is_split |= items.iter().any(|item| matches!(item, DecodedItem::Thinking(text) if !text.is_empty()));
    }

    fn flush(&mut self, out: &mut Vec<DecodedItem>) {
        let from = out.len();
        self.inline.flush(out);
        self.note_split(&out[from..]);
    }

    /// Returns a corrected text without the reasoning that was split from its block.
    fn answer_of(&self, block: Option<usize>, text: String) -> String {
        if !self.is_split || block != self.first_text {
            return text;
        }
        let mut inline = self.inline.like_new();
        let mut items = Vec::new();
        inline.push(&text, &mut items);
        inline.note_stop("stop");
        inline.flush(&mut items);
        let answer = |item: DecodedItem| if let DecodedItem::Text(text) = item { Some(text) } else { None };
        items.into_iter().filter_map(answer).collect()
    }
}

impl Decoder for InlineReasoningDecoder {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<DecodedItem>) {
        self.decoder.feed(bytes, &mut self.decoded);
        self.split_items(out);
    }

    fn note_requested_model(&mut self, model: &str) {
        self.inline.note_model(model);
        self.decoder.note_requested_model(model);
    }

    fn is_over(&self) -> bool {
        self.decoder.is_over()
    }

    fn finish(&mut self, out: &mut Vec<DecodedItem>) -> DecodeOutcome {
        let outcome = self.decoder.finish(&mut self.decoded);
        self.split_items(out);
        self.inline.note_end();
        self.flush(out);
        outcome
    }

    fn has_headings(&self) -> bool {
        self.decoder.has_headings()
    }

    fn event_count(&self) -> u64 {
        self.decoder.event_count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Emits these items at once.
    struct FixedDecoder(Vec<DecodedItem>);

    impl Decoder for FixedDecoder {
        fn feed(&mut self, _: &[u8], out: &mut Vec<DecodedItem>) {
            out.append(&mut self.0);
        }

        fn finish(&mut self, _: &mut Vec<DecodedItem>) -> DecodeOutcome {
            DecodeOutcome { complete: true, stop_reason: None, failure: None }
        }

        fn event_count(&self) -> u64 {
            0
        }
    }

    fn split(model: &str, items: Vec<DecodedItem>) -> Vec<DecodedItem> {
        let mut decoder = InlineReasoningDecoder::wrap(Box::new(FixedDecoder(items)));
        decoder.note_requested_model(model);
        let mut out = Vec::new();
        decoder.feed(b"x", &mut out);
        decoder.finish(&mut out);
        out.retain(|item| !matches!(item, DecodedItem::Thinking(text) if text.is_empty()));
        out
    }

    #[test]
    fn reasoning_in_text_of_any_api_is_split_from_it() {
        let text = |text: &str| DecodedItem::Text(text.to_owned());
        let thinking = |text: &str| DecodedItem::Thinking(text.to_owned());
        let stop = || DecodedItem::StopReason("end_turn".to_owned());
        let call = || DecodedItem::ToolCall { index: 0, id: "a".into(), name: "f".into() };
        for (model, items, expected) in [
            ("m", vec![text("<think>a</th"), text("ink>\nb"), stop()], vec![thinking("a"), text("b"), stop()]),
            ("m", vec![text("plain"), stop()], vec![text("plain"), stop()]),
            ("m", vec![text("<think>a"), call(), stop()], vec![thinking("a"), call(), stop()]),
            ("qwq", vec![text("a</think>b"), stop()], vec![thinking("a"), text("b"), stop()]),
            ("qwq", vec![text("b"), stop()], vec![text("b"), stop()]),
            ("qwq", vec![thinking("a"), text("b"), stop()], vec![thinking("a"), text("b"), stop()]),
            ("qwq", vec![text("a, cut")], vec![thinking("a, cut")]),
        ] {
            assert_eq!(split(model, items.clone()), expected, "{model} {items:?}");
        }
    }

    #[test]
    fn corrections_find_their_blocks_behind_the_split() {
        let text = |text: &str| DecodedItem::Text(text.to_owned());
        let replaced = |block, text: &str| DecodedItem::FinishedReplaced { block, text: text.to_owned() };
        let thinking = || DecodedItem::Thinking("s".to_owned());
        let citation = || DecodedItem::Opaque(Default::default());
        let items = [text("<think>a</think>b"), citation(), text("c"), citation()];
        let corrections = [replaced(0, "<think>a</think>B"), replaced(1, "C")];
        let out = split("m", [&items[..], &corrections].concat());
        assert_eq!(out[out.len() - 2..], [replaced(1, "B"), replaced(2, "C")]);
        // Reasoning directly before the text and that in it are one block.
        let corrections = [replaced(0, "S"), replaced(1, "<think>a</think>B"), replaced(2, "C")];
        let out = split("m", [&[thinking()][..], &items, &corrections].concat());
        assert_eq!(out[out.len() - 3..], [replaced(0, "S"), replaced(1, "B"), replaced(2, "C")]);
        let plain = split("m", vec![text("b"), citation(), replaced(0, "B")]);
        assert_eq!(plain.last(), Some(&replaced(0, "B")));
        let open = split("m", vec![text("<think>a</think>b"), DecodedItem::TextReplaced("<think>a</think>B".into())]);
        assert_eq!(open.last(), Some(&DecodedItem::TextReplaced("B".into())));
    }
}

//! Decoder that splits reasoning from the text of another decoder, for APIs that have a place of their own for it: local
//! servers imitate these APIs, too, and leave the reasoning of a model in its text.

use super::InlineReasoning;
use crate::provider::{DecodeOutcome, DecodedItem, Decoder};

/// The kind of block that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SplitChannel {
    Nothing,
    Text,
    Thinking,
}

/// A block of text or reasoning of the decoded response.
#[derive(Debug, Clone, Copy, Default)]
struct SplitBlock {
    /// The number of the block that shows it, or of the one with its answer; `None` if it was all reasoning.
    place: Option<usize>,
    /// It is text that contained reasoning.
    is_split: bool,
}

/// A decoder whose text may contain reasoning.
pub struct InlineReasoningDecoder {
    decoder: Box<dyn Decoder>,
    inline: InlineReasoning,
    decoded: Vec<DecodedItem>,
    /// The open block of the decoded response, and that of the emitted one.
    open: SplitChannel,
    shown: SplitChannel,
    /// The blocks of text and reasoning that the decoder has begun, and the number of emitted ones.
    blocks: Vec<SplitBlock>,
    emitted: usize,
    /// The number of the first block of text, whose beginning alone is that of the reply.
    first_text: Option<usize>,
}

impl InlineReasoningDecoder {
    /// Wraps a decoder.
    pub fn wrap(decoder: Box<dyn Decoder>) -> Box<dyn Decoder> {
        Box::new(Self {
            decoder,
            inline: InlineReasoning::default(),
            decoded: Vec::new(),
            open: SplitChannel::Nothing,
            shown: SplitChannel::Nothing,
            blocks: Vec::new(),
            emitted: 0,
            first_text: None,
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
                let from = out.len();
                if self.inline.is_over() {
                    out.push(DecodedItem::Text(text));
                } else {
                    self.inline.push(&text, out);
                }
                self.note_emitted(&out[from..]);
            }
            DecodedItem::Thinking(text) => {
                self.inline.note_reasoning();
                self.flush(out);
                self.begin(SplitChannel::Thinking, text.is_empty());
                let from = out.len();
                out.push(DecodedItem::Thinking(text));
                self.note_emitted(&out[from..]);
            }
            DecodedItem::TextReplaced(text) => {
                self.flush(out);
                let text = match self.blocks.len().checked_sub(1) {
                    Some(newest) => self.answer_of(newest, text),
                    None => Some(text),
                };
                let Some(text) = text else { return };
                let from = out.len();
                out.push(DecodedItem::TextReplaced(text));
                self.note_emitted(&out[from..]);
            }
            DecodedItem::FinishedReplaced { block, text } => {
                let place = self.blocks.get(block).and_then(|block| block.place);
                if let Some((place, text)) = place.zip(self.answer_of(block, text)) {
                    out.push(DecodedItem::FinishedReplaced { block: place, text });
                }
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
                    (self.open, self.shown) = (SplitChannel::Nothing, SplitChannel::Nothing);
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
        if kind == SplitChannel::Text {
            self.first_text = self.first_text.or(Some(self.blocks.len()));
        }
        self.open = kind;
        self.blocks.push(SplitBlock::default());
    }

    /// Counts the blocks of the emitted items as the builder will, for the newest block of the decoded response.
    fn note_emitted(&mut self, items: &[DecodedItem]) {
        for item in items {
            let kind = match item {
                DecodedItem::Text(text) | DecodedItem::TextReplaced(text) if !text.is_empty() => SplitChannel::Text,
                DecodedItem::Thinking(text) if !text.is_empty() => SplitChannel::Thinking,
                _ => continue,
            };
            self.emitted += usize::from(self.shown != kind);
            self.shown = kind;
            let (open, number) = (self.open, self.emitted - 1);
            let Some(block) = self.blocks.last_mut() else { continue };
            if open == kind {
                block.place = Some(number);
            } else {
                block.is_split |= open == SplitChannel::Text;
            }
        }
    }

    fn flush(&mut self, out: &mut Vec<DecodedItem>) {
        let from = out.len();
        self.inline.flush(out);
        self.note_emitted(&out[from..]);
    }

    /// Returns a corrected text without the reasoning that was split from its block; `None` if its answer is unknown.
    fn answer_of(&self, block: usize, text: String) -> Option<String> {
        let SplitBlock { place, is_split } = *self.blocks.get(block)?;
        if !is_split {
            return Some(text);
        }
        if self.first_text != Some(block) {
            return None;
        }
        let mut inline = self.inline.like_new();
        let mut items = Vec::new();
        inline.push(&text, &mut items);
        match place {
            Some(_) => inline.note_stop("stop"),
            // Text without a tag was taken for reasoning.
            None => inline.note_end(),
        }
        inline.flush(&mut items);
        let answer = |item: DecodedItem| if let DecodedItem::Text(text) = item { Some(text) } else { None };
        Some(items.into_iter().filter_map(answer).collect())
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

    #[test]
    fn correction_of_text_that_was_all_reasoning_changes_no_other_block() {
        let text = |text: &str| DecodedItem::Text(text.to_owned());
        let thinking = |text: &str| DecodedItem::Thinking(text.to_owned());
        let replaced = |block, text: &str| DecodedItem::FinishedReplaced { block, text: text.to_owned() };
        let citation = || DecodedItem::Opaque(Default::default());
        for (model, first) in [("m", "<think>a"), ("qwq", "a")] {
            let items =
                vec![text(first), citation(), text("b</think>c"), citation(), text("d"), citation(), replaced(0, "A")];
            let expected = [thinking("a"), citation(), thinking("b"), text("c"), citation(), text("d"), citation()];
            let mut later = items.clone();
            later.extend([replaced(1, "b</think>C"), replaced(2, "D"), replaced(9, "E")]);
            assert_eq!(split(model, items), expected, "{model}");
            assert_eq!(split(model, later), [&expected[..], &[replaced(3, "D")]].concat(), "{model}");
        }
        let open = split("qwq", vec![text("a"), DecodedItem::TextReplaced("a, corrected".into())]);
        assert_eq!(open, [thinking("a"), DecodedItem::TextReplaced(String::new())]);
    }
}

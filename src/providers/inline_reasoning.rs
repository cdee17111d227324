//! Reasoning that a model writes into its text, between tags: local servers without a parser of their own pass it on
//! like that (docs/reference/providers.md 4.2). Only a tag that opens the reply counts; the same characters later are
//! text. The raw response keeps the tags.

mod decoder;

pub use decoder::InlineReasoningDecoder;

use crate::provider::DecodedItem;
use turnleaf_domain::blocks::notice::Notice;
use turnleaf_domain::providers::stop_reason::{StopMeaning, stop_meaning};

/// The opening and the closing tags. Case does not matter.
const TAGS: [(&str, &str); 11] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reason>", "</reason>"),
    ("<reasoning>", "</reasoning>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<analysis>", "</analysis>"),
    ("<seed:think>", "</seed:think>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
];

/// The tag that ends the reasoning of models whose prompt already contains the opening one.
const CLOSING: &str = "</think>";

/// The number of bytes that are held until it is known whether they are reasoning. A longer text of a model whose prompt
/// opens the reasoning is reasoning.
const MOST_HELD: usize = 32 << 10;

/// Splits the text of one response into reasoning and answer.
#[derive(Debug, Default)]
pub struct InlineReasoning {
    state: InlineReasoningState,
    /// The text that is not emitted yet, because a tag may begin in it.
    held: String,
    /// The prompt of the model contains the opening tag.
    is_opened_by_prompt: bool,
    /// The reasoning between the tags has begun: white space before it is dropped.
    is_begun: bool,
    /// The response has reasoning outside of its text.
    has_reasoning: bool,
    end: End,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum InlineReasoningState {
    /// Only white space, or the beginning of a tag.
    #[default]
    Start,
    /// In reasoning that ends with this tag.
    Inside(&'static str),
    /// In text that is reasoning if the closing tag follows, or if it is long; it is held until then.
    Undecided,
    /// After the closing tag: white space before the answer is dropped.
    Closed,
    Text,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum End {
    /// More may follow.
    #[default]
    Open,
    /// The model ended its reply.
    Finished,
    /// The reply was cut.
    Cut,
}

impl InlineReasoning {
    /// Notes the model that was requested, or the one that answers: servers of one model give it any name, or none.
    pub fn note_model(&mut self, model: &str) {
        self.is_opened_by_prompt |= opens_in_prompt(model);
    }

    /// Returns the state before the first text of the same response.
    pub fn like_new(&self) -> Self {
        Self { is_opened_by_prompt: self.is_opened_by_prompt, has_reasoning: self.has_reasoning, ..Self::default() }
    }

    /// Notes that the response has reasoning outside of its text, so that the server has a parser.
    pub fn note_reasoning(&mut self) {
        self.has_reasoning = true;
    }

    /// Notes the stop reason: text that is still held is then an answer, unless a limit cut it.
    pub fn note_stop(&mut self, reason: &str) {
        let is_cut = stop_meaning(reason) == StopMeaning::Early(Notice::LengthReached);
        self.end = if is_cut { End::Cut } else { End::Finished };
    }

    /// Notes the end of the body; without a stop reason the reply was cut.
    pub fn note_end(&mut self) {
        if self.end == End::Open {
            self.end = End::Cut;
        }
    }

    /// Returns true if all further text is the answer.
    pub fn is_over(&self) -> bool {
        self.state == InlineReasoningState::Text
    }

    /// Returns true if the text contains reasoning.
    pub fn has_found(&self) -> bool {
        self.is_begun
    }

    /// Reads a piece of the text.
    pub fn push(&mut self, text: &str, out: &mut Vec<DecodedItem>) {
        if text.is_empty() {
            return;
        }
        if self.state == InlineReasoningState::Text {
            return out.push(DecodedItem::Text(text.to_owned()));
        }
        self.held.push_str(text);
        if self.state == InlineReasoningState::Start {
            self.start();
        }
        match self.state {
            InlineReasoningState::Start => {}
            InlineReasoningState::Inside(tag) => self.read_reasoning(tag, text.len(), out),
            InlineReasoningState::Undecided => {
                self.read_undecided(text.len(), out);
                if self.state == InlineReasoningState::Undecided {
                    // An empty piece shows that the model is at work; its text is not known to be reasoning yet.
                    out.push(DecodedItem::Thinking(String::new()));
                }
            }
            InlineReasoningState::Closed | InlineReasoningState::Text => self.read_answer(out),
        }
    }

    /// Finds out how the text begins, as far as `held` tells.
    fn start(&mut self) {
        let begin = self.held.trim_start();
        if begin.is_empty() {
            return;
        }
        if let Some((tag, closing)) = TAGS.iter().find(|(tag, _)| starts_with(begin, tag)) {
            self.held = begin[tag.len()..].to_owned();
            self.state = InlineReasoningState::Inside(closing);
        } else if TAGS.iter().any(|(tag, _)| starts_with(tag, begin)) {
            // The rest of the tag may follow.
        } else if self.is_opened_by_prompt && !self.has_reasoning {
            self.state = InlineReasoningState::Undecided;
        } else {
            self.state = InlineReasoningState::Text;
        }
    }

    /// Emits reasoning, except white space and the beginning of the closing tag at its end. `added` is the length of
    /// the newest piece.
    fn read_reasoning(&mut self, tag: &'static str, added: usize, out: &mut Vec<DecodedItem>) {
        if !self.is_begun {
            self.held = self.held.trim_start().to_owned();
            self.is_begun = !self.held.is_empty();
        }
        if let Some(at) = find_new(&self.held, tag, added) {
            let reasoning = self.held[..at].trim_end().to_owned();
            self.held.drain(..at + tag.len());
            push(DecodedItem::Thinking, reasoning, out);
            self.state = InlineReasoningState::Closed;
            return self.read_answer(out);
        }
        let kept = kept_length(&self.held, tag);
        let reasoning: String = self.held.drain(..kept).collect();
        push(DecodedItem::Thinking, reasoning, out);
    }

    fn read_undecided(&mut self, added: usize, out: &mut Vec<DecodedItem>) {
        if let Some(at) = find_new(&self.held, CLOSING, added) {
            let reasoning = self.held[..at].trim().to_owned();
            self.held.drain(..at + CLOSING.len());
            self.is_begun |= !reasoning.is_empty();
            push(DecodedItem::Thinking, reasoning, out);
            self.state = InlineReasoningState::Closed;
            self.read_answer(out);
        } else if self.held.len() > MOST_HELD {
            self.state = InlineReasoningState::Inside(CLOSING);
            self.read_reasoning(CLOSING, 0, out);
        }
    }

    fn read_answer(&mut self, out: &mut Vec<DecodedItem>) {
        let held = std::mem::take(&mut self.held);
        let answer = if self.state == InlineReasoningState::Closed { held.trim_start() } else { &held };
        if !answer.is_empty() {
            out.push(DecodedItem::Text(answer.to_owned()));
            self.state = InlineReasoningState::Text;
        }
    }

    /// Emits what is held, at a block boundary or at the end of the body.
    pub fn flush(&mut self, out: &mut Vec<DecodedItem>) {
        let held = std::mem::take(&mut self.held);
        match (self.state, self.end) {
            (InlineReasoningState::Start, _) if held.is_empty() => {}
            (InlineReasoningState::Start, End::Open) if held.trim().is_empty() => out.push(DecodedItem::Text(held)),
            (InlineReasoningState::Start, End::Open | End::Finished) => {
                out.push(DecodedItem::Text(held));
                self.state = InlineReasoningState::Text;
            }
            // The beginning of a tag at the end of a reply that was cut is no text.
            (InlineReasoningState::Start, End::Cut) => push(DecodedItem::Thinking, held.trim().to_owned(), out),
            (InlineReasoningState::Inside(_), _) => push(DecodedItem::Thinking, held.trim_end().to_owned(), out),
            (InlineReasoningState::Undecided, End::Finished) => {
                push(DecodedItem::Text, held, out);
                self.state = InlineReasoningState::Text;
            }
            (InlineReasoningState::Undecided, _) => push(DecodedItem::Thinking, held.trim().to_owned(), out),
            (InlineReasoningState::Closed | InlineReasoningState::Text, _) => {}
        }
    }
}

fn push(item: fn(String) -> DecodedItem, text: String, out: &mut Vec<DecodedItem>) {
    if !text.is_empty() {
        out.push(item(text));
    }
}

/// Finds a tag in a text whose last `added` bytes are new, so that long texts are not searched again and again.
fn find_new(text: &str, tag: &str, added: usize) -> Option<usize> {
    let mut from = text.len().saturating_sub(added + tag.len());
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    let first = tag.chars().next()?;
    let begins = text[from..].match_indices(first).map(|(at, _)| from + at);
    begins.into_iter().find(|at| starts_with(&text[*at..], tag))
}

/// Returns true if a text begins with a tag, whatever the case of its letters.
fn starts_with(text: &str, tag: &str) -> bool {
    text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag))
}

/// Returns the length of a text without the end that may begin the tag, and without white space before that.
fn kept_length(text: &str, tag: &str) -> usize {
    let is_end = |start: &&str| {
        text.len()
            .checked_sub(start.len())
            .and_then(|at| text.get(at..))
            .is_some_and(|end| end.eq_ignore_ascii_case(start))
    };
    let starts = tag.char_indices().map(|(at, _)| &tag[..at]).rev();
    let begun = starts.into_iter().find(is_end).unwrap_or_default();
    text[..text.len() - begun.len()].trim_end().len()
}

/// Returns true for models whose chat template opens the reasoning in the prompt, so that their text has only the
/// closing tag.
fn opens_in_prompt(model: &str) -> bool {
    let name = model.to_ascii_lowercase().replace(['_', ' '], "-");
    ["deepseek-r1", "r1-distill", "r1-1776", "qwq", "glm-z1", "minimax-m2"].iter().any(|known| name.contains(known))
        || (name.contains("qwen3") && name.contains("thinking"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns reasoning and text of a response with this text, whole and in every split into two and into characters.
    fn split(model: &str, text: &str, reason: Option<&str>) -> (String, String) {
        let read = |pieces: &[&str]| {
            let mut inline = InlineReasoning::default();
            let mut items = Vec::new();
            inline.note_model(model);
            pieces.iter().for_each(|piece| inline.push(piece, &mut items));
            if let Some(reason) = reason {
                inline.note_stop(reason);
            }
            inline.note_end();
            inline.flush(&mut items);
            let (mut reasoning, mut answer) = (String::new(), String::new());
            for item in items {
                match item {
                    DecodedItem::Thinking(more) => {
                        assert!(answer.is_empty() || more.is_empty(), "reasoning comes first");
                        reasoning.push_str(&more);
                    }
                    DecodedItem::Text(more) => answer.push_str(&more),
                    other => panic!("{other:?}"),
                }
            }
            (reasoning, answer)
        };
        let whole = read(&[text]);
        for (at, _) in text.char_indices() {
            assert_eq!(read(&[&text[..at], &text[at..]]), whole, "{text:?} at {at}");
        }
        let letters: Vec<String> = text.chars().map(String::from).collect();
        assert_eq!(read(&letters.iter().map(String::as_str).collect::<Vec<_>>()), whole, "{text:?} by characters");
        whole
    }

    #[test]
    fn tag_that_opens_reply_is_reasoning() {
        for (text, reasoning, answer) in [
            ("<think>\nsecret plan\n</think>\n\nAnswer.", "secret plan", "Answer."),
            ("\n <think>a\n\nb</think>c", "a\n\nb", "c"),
            ("<think>\n\n</think>\n\nAnswer.", "", "Answer."),
            ("<thinking>a</think>b</thinking>c", "a</think>b", "c"),
            ("<reasoning>a</reasoning> c ", "a", "c "),
            ("<thought>a</thought>c", "a", "c"),
            ("[THINK]a[/THINK]c", "a", "c"),
            ("◁think▷a◁/think▷c", "a", "c"),
            ("<THINK>a</Think>c", "a", "c"),
            ("<Thoughts>a</thoughts>c", "a", "c"),
            ("<reason>a</reasoning>b</reason>c", "a</reasoning>b", "c"),
            ("<analysis>a</analysis>c", "a", "c"),
            ("<|START_THINKING|>a<|END_THINKING|>c", "a", "c"),
            ("<think>never </thi closed", "never </thi closed", ""),
            ("<think>a</think>b <think>c</think>", "a", "b <think>c</think>"),
            ("a <think>b</think>", "", "a <think>b</think>"),
            ("<thin", "", "<thin"),
            ("<thinker>b", "", "<thinker>b"),
            ("a</think>b", "", "a</think>b"),
            ("  indented", "", "  indented"),
            ("", "", ""),
        ] {
            assert_eq!(split("m", text, Some("stop")), (reasoning.to_owned(), answer.to_owned()), "{text:?}");
        }
    }

    #[test]
    fn closing_tag_alone_counts_for_known_models() {
        let plan = "plan\n</think>\n\nAnswer.";
        for model in ["deepseek-ai/DeepSeek-R1", "qwq:32b", "Qwen/Qwen3-30B-A3B-Thinking-2507", "qwen3_thinking"] {
            assert_eq!(split(model, plan, Some("stop")), ("plan".to_owned(), "Answer.".to_owned()), "{model}");
            assert_eq!(split(model, "<think>a</think>b", Some("stop")), ("a".to_owned(), "b".to_owned()), "{model}");
            assert_eq!(split(model, "Just this.", Some("stop")), (String::new(), "Just this.".to_owned()), "{model}");
            assert_eq!(split(model, "plan, cut", Some("length")), ("plan, cut".to_owned(), String::new()), "{model}");
            assert_eq!(split(model, "plan, cut", None), ("plan, cut".to_owned(), String::new()), "{model}");
        }
        assert_eq!(split("gpt-4o", plan, Some("stop")), (String::new(), plan.to_owned()));
        let mut inline = InlineReasoning::default();
        let mut items = Vec::new();
        inline.note_model("deepseek-r1");
        inline.note_reasoning();
        inline.push("An answer", &mut items);
        assert_eq!(items, [DecodedItem::Text("An answer".to_owned())], "the server has a parser");
    }

    #[test]
    fn long_text_of_known_model_is_not_held_for_ever() {
        let mut inline = InlineReasoning::default();
        inline.note_model("qwq-32b");
        let mut items = Vec::new();
        let mut first = 0;
        for count in 1..=MOST_HELD / 16 + 2 {
            inline.push("sixteen letters ", &mut items);
            if first == 0 && items.iter().any(|item| matches!(item, DecodedItem::Thinking(text) if !text.is_empty())) {
                first = count * 16;
            }
        }
        assert!((MOST_HELD + 1..=MOST_HELD + 16).contains(&first), "{first}");
        inline.push("end</thi", &mut items);
        inline.push("nk>\nAnswer.", &mut items);
        assert_eq!(items.last(), Some(&DecodedItem::Text("Answer.".to_owned())));
        assert!(!items.iter().any(|item| matches!(item, DecodedItem::Thinking(text) if text.contains("</thi"))));
    }

    #[test]
    fn requested_model_counts_where_response_names_another() {
        for named in ["gpt-3.5-turbo", "", "local"] {
            let mut inline = InlineReasoning::default();
            let mut items = Vec::new();
            inline.note_model("qwen/qwq-32b");
            inline.note_model(named);
            inline.push("plan</think>Answer.", &mut items);
            assert_eq!(items, [DecodedItem::Thinking("plan".to_owned()), DecodedItem::Text("Answer.".to_owned())]);
        }
    }

    #[test]
    fn reply_that_is_cut_in_tag_has_no_text() {
        for text in ["<", "<think", " \n<th"] {
            assert_eq!(split("m", text, None).1, "", "{text:?}");
        }
        assert_eq!(split("m", "\n", None), (String::new(), String::new()));
    }
}

//! The blocks of text and reasoning: which parts of which items they consist of, and their corrections. A complete text
//! that differs from its deltas replaces them, also in a block that has ended (docs/reference/providers.md 6.3).

use serde_json::{Value, json};

use super::{OutputBlock, OutputChannel, OutputSegment, ResponseOutput};
use crate::openai_responses::entry::{self, OutputItemKind};
use crate::openai_responses::part_matching::{FinalText, PartMatch, match_final_texts};
use crate::openai_responses::text_part::{FinalSource, PartEnding, PartPosition, TextCompletion, resolve_surrogates};
use crate::provider::DecodedItem;
use turnleaf_domain::tools::tool::parse_arguments;

/// The separator of two parts of reasoning.
const PARAGRAPH: &str = "\n\n";

impl ResponseOutput {
    /// Ends the text block, because something else follows, and emits its corrected text.
    pub(super) fn close_text(&mut self, out: &mut Vec<DecodedItem>) {
        let mut block = std::mem::take(&mut self.open);
        if block.segments.is_empty() {
            return;
        }
        for segment in &mut block.segments {
            segment.end = Some(self.entries[segment.entry].parts[segment.part].1.emitted.len());
        }
        if std::mem::take(&mut block.is_corrected) {
            let text = self.text_of(&block);
            out.push(match block.channel {
                OutputChannel::Thinking(..) => DecodedItem::ThinkingReplaced(text),
                OutputChannel::Text(_) | OutputChannel::None => DecodedItem::TextReplaced(text),
            });
        }
        self.closed.push(block);
    }

    /// Emits the corrections of ended blocks that were put off.
    pub(super) fn emit_late_corrections(&mut self, out: &mut Vec<DecodedItem>) {
        for number in 0..self.closed.len() {
            if std::mem::take(&mut self.closed[number].is_corrected) {
                out.push(DecodedItem::FinishedReplaced { block: number, text: self.text_of(&self.closed[number]) });
            }
        }
    }

    fn text_of(&self, block: &OutputBlock) -> String {
        let text = |segment: &OutputSegment| {
            let whole = &self.entries[segment.entry].parts[segment.part].1.emitted;
            let end = segment.end.unwrap_or(whole.len());
            [segment.separator, whole.get(segment.skipped..end).unwrap_or_default()]
        };
        block.segments.iter().flat_map(text).collect()
    }

    /// Reads the complete text of a part.
    pub(super) fn end_text(
        &mut self,
        at: usize,
        place: PartPosition,
        whole: &str,
        ending: PartEnding,
        is_mended: bool,
        out: &mut Vec<DecodedItem>,
    ) -> Option<usize> {
        let known = if is_mended { resolve_surrogates(whole, true) } else { whole.to_owned() };
        let part = self.entries[at].part_for_final(place, &known, ending)?;
        self.complete_part(at, part, (&known, FinalSource::Text), out);
        if !known.is_empty() {
            self.entries[at].parts[part].1.end(ending);
        }
        Some(part)
    }

    /// Reads the texts of a complete item. Every one is matched with the parts that deltas emitted, so that nothing is
    /// emitted twice.
    pub(super) fn finish_texts(
        &mut self,
        at: usize,
        (item, source): (&Value, FinalSource),
        is_mended: bool,
        out: &mut Vec<DecodedItem>,
    ) {
        let mut finals: Vec<FinalText> = entry::final_texts(item);
        if is_mended {
            finals.iter_mut().for_each(|(_, text)| *text = resolve_surrogates(text, true));
        }
        let mut matches = finals.iter().zip(match_final_texts(&self.entries[at].parts, &finals));
        for field in ["summary", "content"] {
            let value = item.get(field).unwrap_or(&Value::Null);
            let parts = if value.is_string() {
                std::slice::from_ref(value)
            } else {
                value.as_array().map_or(&[][..], Vec::as_slice)
            };
            for value in parts {
                if entry::part_text(value).is_none() {
                    self.emit_part_without_text(at, value, out);
                    continue;
                }
                let Some((text, found)) = matches.next() else { return };
                let part = self.finish_text(at, (text, source), found, out);
                self.emit_citations(at, part, &text.1, value, out);
            }
        }
    }

    /// Reads one text of a complete item. Returns its part, if it is a part of its own.
    fn finish_text(
        &mut self,
        at: usize,
        ((place, text), source): (&FinalText, FinalSource),
        found: PartMatch,
        out: &mut Vec<DecodedItem>,
    ) -> Option<usize> {
        match found {
            PartMatch::Emitted(_) => None,
            PartMatch::Continues(part, rest) => {
                self.entries[at].parts[part].1.emitted.push_str(&rest);
                self.emit_rest(at, part, rest, out);
                None
            }
            PartMatch::New if text.is_empty() => None,
            PartMatch::New => {
                let part = self.entries[at].add_part(*place);
                self.complete_part(at, part, (text, source), out);
                Some(part)
            }
            PartMatch::Part(part) => {
                self.complete_part(at, part, (text, source), out);
                Some(part)
            }
        }
    }

    fn complete_part(
        &mut self,
        at: usize,
        part: usize,
        (whole, source): (&str, FinalSource),
        out: &mut Vec<DecodedItem>,
    ) {
        match self.entries[at].parts[part].1.complete_with(whole, source) {
            TextCompletion::Rest(rest) => self.emit_rest(at, part, rest, out),
            TextCompletion::Correction(whole) => self.correct_text(at, part, whole, out),
        }
    }

    /// Emits the rest of a part, which has it already: in the block of the part, even if that has ended.
    fn emit_rest(&mut self, at: usize, part: usize, rest: String, out: &mut Vec<DecodedItem>) {
        if rest.is_empty() {
            return;
        }
        let closed = if self.open.segment(at, part).is_none() { self.closed_place(at, part) } else { None };
        match closed {
            Some(place) => self.replace_closed(place, rest.len(), out),
            None => self.emit_text(at, part, rest, out),
        }
    }

    /// Replaces the text of a part in its newest block, or the arguments of a call. Arguments that are JSON are not
    /// replaced by others that are not, and the text of a part that blocks share changes in the last one only.
    fn correct_text(&mut self, at: usize, part: usize, whole: String, out: &mut Vec<DecodedItem>) {
        let entry = &mut self.entries[at];
        let target = &mut entry.parts[part].1;
        if entry.kind == OutputItemKind::Call {
            if parse_arguments(&whole).is_none() && parse_arguments(&target.emitted).is_some() {
                return;
            }
            target.correct(whole.clone());
            out.extend(entry.call.map(|index| DecodedItem::ToolArgumentsReplaced { index, text: whole }));
            return;
        }
        let open = self.open.segment(at, part);
        let closed = if open.is_none() { self.closed_place(at, part) } else { None };
        let skipped = match (open, closed) {
            (Some(segment), _) => self.open.segments[segment].skipped,
            (None, Some((block, segment))) => self.closed[block].segments[segment].skipped,
            (None, None) => return,
        };
        let target = &mut self.entries[at].parts[part].1;
        if target.emitted.get(..skipped).is_none_or(|earlier| !whole.starts_with(earlier)) {
            return;
        }
        let length = whole.len();
        target.correct(whole);
        match closed {
            Some(place) => self.replace_closed(place, length, out),
            None => self.open.is_corrected = true,
        }
    }

    /// Returns the newest ended block that has text of a part, and its place there.
    fn closed_place(&self, at: usize, part: usize) -> Option<(usize, usize)> {
        let in_block = |(number, block): (usize, &OutputBlock)| Some((number, block.segment(at, part)?));
        self.closed.iter().enumerate().rev().find_map(in_block)
    }

    /// Replaces the text of an ended block, whose part has its final text now. `length` is that of the new text: where
    /// the block has much more, its text is emitted once, at the end of the response.
    fn replace_closed(&mut self, (block, segment): (usize, usize), length: usize, out: &mut Vec<DecodedItem>) {
        /// The number of times by which the block may be longer.
        const MOST: usize = 4;
        let OutputSegment { entry, part, .. } = self.closed[block].segments[segment];
        let replaced = &mut self.closed[block];
        replaced.segments[segment].end = Some(self.entries[entry].parts[part].1.emitted.len());
        let bytes = |segment: &OutputSegment| segment.end.unwrap_or_default().saturating_sub(segment.skipped);
        let in_all: usize = replaced.segments.iter().map(bytes).sum();
        replaced.is_corrected = in_all > length.saturating_mul(MOST);
        if !replaced.is_corrected {
            let text = self.text_of(&self.closed[block]);
            out.push(DecodedItem::FinishedReplaced { block, text });
        }
    }

    /// Emits the end of the text of a part.
    pub(super) fn emit_text(&mut self, at: usize, part: usize, text: String, out: &mut Vec<DecodedItem>) {
        if text.is_empty() {
            return;
        }
        match self.entries[at].kind {
            OutputItemKind::Message => {
                match self.open.channel {
                    // An opaque item separates two messages in a row, so that they become two text blocks.
                    OutputChannel::Text(other) if other != at => {
                        self.opaque("message", &json!({"output_index": self.entries[at].index}), out);
                    }
                    OutputChannel::Text(_) => {}
                    OutputChannel::None | OutputChannel::Thinking(..) => self.close_text(out),
                }
                self.open.channel = OutputChannel::Text(at);
                self.note_segment(at, part, text.len(), "");
                out.push(DecodedItem::Text(text));
            }
            OutputItemKind::Reasoning => {
                let channel = OutputChannel::Thinking(at, part);
                let is_next = matches!(self.open.channel, OutputChannel::Thinking(..)) && self.open.channel != channel;
                if !matches!(self.open.channel, OutputChannel::Thinking(..)) {
                    self.close_text(out);
                }
                self.open.channel = channel;
                self.note_segment(at, part, text.len(), if is_next { PARAGRAPH } else { "" });
                out.push(DecodedItem::Thinking(if is_next { format!("{PARAGRAPH}{text}") } else { text }));
            }
            OutputItemKind::Call => {
                out.extend(self.entries[at].call.map(|index| DecodedItem::ToolArguments { index, text }));
            }
            OutputItemKind::ProviderCall | OutputItemKind::ProviderOutput | OutputItemKind::Other => {}
        }
    }

    /// Returns the offset, in characters, of a part in the open text block; `None` if the block does not have all of
    /// it.
    pub(super) fn characters_before(&self, at: usize, part: usize) -> Option<usize> {
        let segment = self.open.segment(at, part).filter(|n| self.open.segments[*n].skipped == 0)?;
        let characters = |segment: &OutputSegment| {
            let whole = &self.entries[segment.entry].parts[segment.part].1.emitted;
            whole[segment.skipped.min(whole.len())..].chars().count() + segment.separator.len()
        };
        Some(self.open.segments[..segment].iter().map(characters).sum())
    }

    fn note_segment(&mut self, entry: usize, part: usize, length: usize, separator: &'static str) {
        if self.open.segment(entry, part).is_none() {
            let skipped = self.entries[entry].parts[part].1.emitted.len().saturating_sub(length);
            self.open.segments.push(OutputSegment { entry, part, skipped, end: None, separator });
        }
    }
}

//! Completed content parts and their citations. Citations of web pages become sources; their offsets count characters
//! of the part.

use serde_json::{Map, Value};

use super::ResponseOutput;
use crate::openai_responses::entry;
use crate::openai_responses::text_part::{PartEnding, PartPosition};
use crate::provider::DecodedItem;
use turnleaf_domain::blocks::sources::{SourceInput, is_web_url, sources_content};

impl ResponseOutput {
    /// Reads a complete part with its annotations.
    pub(super) fn finish_part(
        &mut self,
        at: usize,
        place: PartPosition,
        value: &Value,
        is_mended: bool,
        out: &mut Vec<DecodedItem>,
    ) {
        match entry::part_text(value) {
            Some(text) => {
                let part = self.end_text(at, place, text, PartEnding::Part, is_mended, out);
                self.emit_citations(at, part, text, value, out);
            }
            None => self.emit_part_without_text(at, value, out),
        }
    }

    /// Emits a part without text as an opaque item, once.
    pub(super) fn emit_part_without_text(&mut self, at: usize, value: &Value, out: &mut Vec<DecodedItem>) {
        if self.entries[at].is_first_sight(&value.to_string()) {
            self.opaque("part", value, out);
        }
    }

    /// Emits the citations of a text, once. `part` is the part that has this text and no other.
    pub(super) fn emit_citations(
        &mut self,
        at: usize,
        part: Option<usize>,
        text: &str,
        value: &Value,
        out: &mut Vec<DecodedItem>,
    ) {
        let citations = value.get("annotations").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if citations.is_empty() {
            return;
        }
        let is_new = match part {
            Some(part) => !std::mem::replace(&mut self.entries[at].parts[part].1.is_cited, true),
            None => self.entries[at].is_first_sight(&text),
        };
        if !is_new {
            return;
        }
        let before = part.and_then(|part| self.characters_before(at, part));
        if let Some(sources) = sources(citations, before) {
            self.close_text(out);
            out.push(DecodedItem::Opaque(sources));
        }
        citations.iter().filter(|one| !has_address(one)).for_each(|one| self.opaque("citation", one, out));
    }
}

/// Returns true for the citation of a web page.
fn has_address(annotation: &Value) -> bool {
    annotation.get("url").and_then(Value::as_str).is_some_and(is_web_url)
}

/// Returns the citations of web pages as the content of a sources block. `before` is the offset of the part in its
/// text block; it is unknown if other blocks are between the parts.
fn sources(annotations: &[Value], before: Option<usize>) -> Option<Map<String, Value>> {
    sources_content(annotations.iter().filter(|one| has_address(one)).map(|one| {
        let word = |field: &str| one.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |field: &str| one.get(field).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let place = before.zip(number("start_index").zip(number("end_index")));
        SourceInput {
            url: word("url"),
            title: word("title"),
            quote: String::new(),
            place: place.map(|(before, (start, end))| (before.saturating_add(start), before.saturating_add(end))),
        }
    }))
}

//! Completed content parts and their citations. Citations of web pages become sources; their offsets count characters
//! of the part.

use serde_json::{Map, Value};

use super::{Channel, ResponseOutput};
use crate::openai_responses::text_part::PartPosition;
use crate::provider::DecodedItem;
use turnleaf_domain::sources::{SourceInput, is_web_url, sources_content};

impl ResponseOutput {
    /// Reads a complete part with its annotations.
    pub(super) fn finish_part(
        &mut self,
        at: usize,
        place: PartPosition,
        part: &Value,
        is_mended: bool,
        out: &mut Vec<DecodedItem>,
    ) {
        let text = part.get("text").or_else(|| part.get("refusal")).and_then(Value::as_str);
        let known = self.entries[at].part_mut(place);
        let more = text.map(|text| known.complete_with(text, is_mended)).unwrap_or_default();
        self.emit_text(at, place, more, out);
        let citations = part.get("annotations").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if (text.is_some() && citations.is_empty()) || self.entries[at].part_mut(place).is_cited {
            return;
        }
        let before = (self.channel == Channel::Text(at)).then(|| self.entries[at].characters_before(place));
        self.entries[at].part_mut(place).is_cited = true;
        if text.is_none() {
            return self.opaque("part", part, out);
        }
        if let Some(sources) = sources(citations, before) {
            self.channel = Channel::None;
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

//! The HTML that is interpreted, as on GitHub: `<sub>`, `<sup>` and `<kbd>` in running text, each with its end in the
//! same element, and `<details>` with its `<summary>`. None of them has attributes, except `<details open>`. All other
//! HTML is text.
//!
//! A disclosure reaches over the blocks up to `</details>`, or to the end of the element or text that it stands in. One
//! without an end is open: nobody meant to hide the rest of a text, and one that is being written can be read.

use std::ops::Range;

use pulldown_cmark::{Event, TagEnd};

use super::drawing::{AUTO, BlockDrawing, DrawRefusal, OpenDisclosure};
use crate::domain::limits;
use crate::ui::markdown::html::{Attribute, Element, unescape};
use crate::ui::markdown::messages;

/// Returns the element of an inline tag, and whether the tag ends it.
fn inline_tag(tag: &str) -> Option<(Element, bool)> {
    const TAGS: [(&str, &str, Element); 3] =
        [("<sub>", "</sub>", Element::Sub), ("<sup>", "</sup>", Element::Sup), ("<kbd>", "</kbd>", Element::Kbd)];
    TAGS.iter().find_map(|(start, end, element)| {
        let is_end = tag.eq_ignore_ascii_case(end);
        (is_end || tag.eq_ignore_ascii_case(start)).then_some((*element, is_end))
    })
}

/// Returns of each event whether it is an inline tag that has a partner: pairs never cross an element or each other.
pub(super) fn paired_inline_tags(events: &[(Event, Range<usize>)]) -> Vec<bool> {
    let mut paired = vec![false; events.len()];
    let mut open: Vec<(usize, Element, usize)> = Vec::new();
    let mut depth = 0_usize;
    for (at, (event, _)) in events.iter().enumerate() {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                while open.pop_if(|(inside, ..)| *inside > depth).is_some() {}
            }
            Event::InlineHtml(tag) => match inline_tag(tag) {
                Some((element, false)) if open.len() < limits::MARKDOWN_NESTING => open.push((depth, element, at)),
                Some((element, true)) => {
                    let is_partner =
                        |(inside, other, _): &(usize, Element, usize)| (*inside, *other) == (depth, element);
                    if let Some(partner) = open.iter().rposition(is_partner) {
                        paired[open[partner].2] = true;
                        paired[at] = true;
                        open.truncate(partner);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
    paired
}

/// The tags of disclosures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DisclosureTag {
    Start { is_shown: bool },
    End,
    Summary,
    SummaryEnd,
}

/// Returns the first tag of a disclosure in a text, and its range.
fn next_tag(text: &str) -> Option<(Range<usize>, DisclosureTag)> {
    const TAGS: [(&str, DisclosureTag); 5] = [
        ("<details>", DisclosureTag::Start { is_shown: false }),
        ("<details open>", DisclosureTag::Start { is_shown: true }),
        ("</details>", DisclosureTag::End),
        ("<summary>", DisclosureTag::Summary),
        ("</summary>", DisclosureTag::SummaryEnd),
    ];
    text.match_indices('<').find_map(|(at, _)| {
        TAGS.iter().find_map(|(name, tag)| {
            let found = text.as_bytes().get(at..at + name.len())?;
            found.eq_ignore_ascii_case(name.as_bytes()).then_some((at..at + name.len(), *tag))
        })
    })
}

/// Returns whether a block of HTML begins with a tag of a disclosure; the tags of other blocks are text.
fn is_of_disclosure(html: &str) -> bool {
    next_tag(html.trim_start()).is_some_and(|(range, _)| range.start == 0)
}

/// Returns the text of the block of HTML with which these events end.
pub fn last_html(events: &[(Event, Range<usize>)]) -> String {
    let start = events.iter().rposition(|(event, _)| matches!(event, Event::Start(_))).unwrap_or(0);
    let text = |(event, _): &'_ (Event, Range<usize>)| match event {
        Event::Html(text) | Event::Text(text) => text.to_string(),
        _ => String::new(),
    };
    events[start..].iter().map(text).collect()
}

/// Returns how many disclosures are open behind a block of HTML, of those that are open before it.
pub fn open_disclosures(before: usize, html: &str) -> usize {
    let mut open = before;
    let mut rest = if is_of_disclosure(html) { html } else { "" };
    while let Some((range, tag)) = next_tag(rest) {
        match tag {
            DisclosureTag::Start { .. } => open += 1,
            DisclosureTag::End => open = open.saturating_sub(1),
            DisclosureTag::Summary | DisclosureTag::SummaryEnd => {}
        }
        rest = &rest[range.end..];
    }
    open
}

/// Returns the words of a summary: without the tags that models write around it, which is a heading already, and with
/// the characters that are written as references in HTML.
fn summary_words(text: &str) -> String {
    let tags = ["<b>", "</b>", "<strong>", "</strong>"];
    unescape(tags.into_iter().fold(text.to_owned(), |text, tag| text.replace(tag, "")).trim())
}

impl BlockDrawing<'_> {
    /// Renders an inline tag that has a partner.
    pub(super) fn inline_tag(&mut self, tag: &str) -> Result<(), DrawRefusal> {
        self.spend(1)?;
        match inline_tag(tag) {
            Some((element, false)) => {
                self.inline_depth += 1;
                if self.inline_depth > limits::MARKDOWN_NESTING {
                    return Err(DrawRefusal::TooDeep);
                }
                self.html.open(element, &[]);
            }
            Some((_, true)) => {
                self.inline_depth -= 1;
                self.html.close();
            }
            None => {}
        }
        Ok(())
    }

    /// Renders the block of HTML that these events begin with, if it belongs to a disclosure. Returns how many events
    /// that were.
    pub(super) fn disclosure(&mut self, events: &[(Event, Range<usize>)]) -> Result<usize, DrawRefusal> {
        let is_end = |(event, _): &(Event, Range<usize>)| matches!(event, Event::End(TagEnd::HtmlBlock));
        let Some(end) = events.iter().position(is_end) else { return Ok(0) };
        let html = last_html(&events[..end]);
        if !is_of_disclosure(&html) {
            return Ok(0);
        }
        let mut rest = html.as_str();
        while !rest.is_empty() {
            self.spend(1)?;
            let Some((range, tag)) = next_tag(rest).filter(|(range, _)| range.start == 0) else {
                let end = next_tag(rest).map_or(rest.len(), |(range, _)| range.start);
                self.html_text(&rest[..end])?;
                rest = &rest[end..];
                continue;
            };
            let tag_text = &rest[range.clone()];
            rest = &rest[range.end..];
            match tag {
                DisclosureTag::Start { is_shown } => self.start_disclosure(is_shown)?,
                DisclosureTag::End if self.is_in_disclosure() => {
                    self.end_disclosure();
                }
                DisclosureTag::Summary if self.lacks_summary => {
                    let next = next_tag(rest);
                    let text = &rest[..next.as_ref().map_or(rest.len(), |(range, _)| range.start)];
                    self.summary(&summary_words(text))?;
                    rest = match next {
                        Some((range, DisclosureTag::SummaryEnd)) => &rest[range.end..],
                        _ => &rest[text.len()..],
                    };
                }
                _ => self.html_text(tag_text)?,
            }
        }
        Ok(end + 1)
    }

    fn html_text(&mut self, text: &str) -> Result<(), DrawRefusal> {
        if !text.trim().is_empty() {
            self.name_disclosure()?;
            self.html.text_element(Element::P, &[(Attribute::Class, "md-literal"), AUTO], text.trim());
        }
        Ok(())
    }

    fn start_disclosure(&mut self, is_shown: bool) -> Result<(), DrawRefusal> {
        self.name_disclosure()?;
        self.block_depth += 1;
        if self.block_depth > limits::MARKDOWN_NESTING {
            return Err(DrawRefusal::TooDeep);
        }
        let shown = [(Attribute::Class, "md-details"), (Attribute::Open, "")];
        self.html.open(Element::Details, &shown[..1 + usize::from(is_shown)]);
        let attributes_end = self.html.attributes_end();
        self.disclosures.push(OpenDisclosure { frames: self.frames.len(), is_shown, attributes_end });
        self.lacks_summary = true;
        Ok(())
    }

    /// Returns whether a disclosure is open in the innermost element.
    fn is_in_disclosure(&self) -> bool {
        self.disclosures.last().is_some_and(|open| open.frames == self.frames.len())
    }

    /// Closes the innermost disclosure; every one has a summary.
    fn end_disclosure(&mut self) -> Option<OpenDisclosure> {
        let ended = self.disclosures.pop()?;
        if std::mem::take(&mut self.lacks_summary) {
            self.html.text_element(Element::Summary, &[AUTO], messages::details());
        }
        self.block_depth -= 1;
        self.html.close();
        Some(ended)
    }

    /// Closes the disclosures that have no end in the innermost element, and shows what is in them.
    pub(super) fn end_open_disclosures(&mut self) {
        while self.is_in_disclosure() {
            if let Some(ended) = self.end_disclosure().filter(|ended| !ended.is_shown) {
                self.html.show_disclosure(ended.attributes_end);
            }
        }
    }

    /// Writes the summary of a disclosure that has none of its own.
    pub(super) fn name_disclosure(&mut self) -> Result<(), DrawRefusal> {
        if self.lacks_summary { self.summary("") } else { Ok(()) }
    }

    fn summary(&mut self, text: &str) -> Result<(), DrawRefusal> {
        self.spend(1)?;
        self.lacks_summary = false;
        let text = if text.is_empty() { messages::details() } else { text };
        self.html.text_element(Element::Summary, &[AUTO], text);
        Ok(())
    }
}

//! Renders the events of one block to HTML. It does not recurse: open elements are on a stack.

mod alert;
mod citation;
mod code;
mod drawing;
mod footnote;
mod html_tag;
mod link;
mod table;
mod text;

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};

use super::citation::InlineCitation;
use super::enricher::MarkupEnricher;
use super::html::{Attribute, Element, Html};
use super::messages;
use super::part::MarkupPart;
use super::reading::Reading;
use crate::domain::limits;

pub use code::{CODE_LANGUAGE, draw_open_code, info_string_language, without_buttons};
use drawing::{AUTO, BlockDrawing, LTR, OpenImage, OpenTable};
pub use drawing::{DrawBudget, DrawRefusal};
pub use html_tag::{last_html, open_disclosures};
pub use link::{ReplyLinks, with_confirmation};

/// Renders the events of one block of the text. Takes what it needs from the budget `left`, which is undefined after a
/// refusal, and the block's marks from `cites`.
///
/// # Errors
/// The block is nested too deeply or exceeds the budget.
pub fn draw_block(
    reading: &Reading,
    events: &[(Event, Range<usize>)],
    left: &mut DrawBudget,
    cites: &mut &[InlineCitation],
    enrich: &dyn MarkupEnricher,
) -> Result<MarkupPart, DrawRefusal> {
    // Marks that found no place in the previous blocks are dropped.
    let start = events.first().map_or(0, |(_, range)| range.start);
    let passed = cites.iter().take_while(|cite| cite.at < start).count();
    *cites = &cites[passed..];
    let mut draw = BlockDrawing {
        reading,
        formulas: reading.formulas_from(start),
        left,
        cites,
        enrich,
        html: Html::default(),
        frames: Vec::new(),
        block_depth: 0,
        inline_depth: 0,
        links: 0,
        code: None,
        image: None,
        table: OpenTable::default(),
        disclosures: Vec::new(),
        lacks_summary: false,
    };
    draw.events(events)?;
    draw.end_open_disclosures();
    let left_over = draw.cites.len();
    let part = MarkupPart::new(draw.html.finish());
    *cites = &cites[cites.len() - left_over..];
    Ok(part)
}

/// Renders text as it was written, with an optional remark above it.
pub fn draw_plain(text: &str, remark: Option<&str>) -> MarkupPart {
    let mut html = Html::default();
    if let Some(remark) = remark {
        html.text_element(Element::P, &[(Attribute::Class, "md-remark")], remark);
    }
    html.text_element(Element::P, &[(Attribute::Class, "md-literal"), AUTO], text);
    MarkupPart::new(html.finish())
}

impl BlockDrawing<'_> {
    fn events(&mut self, events: &[(Event, Range<usize>)]) -> Result<(), DrawRefusal> {
        let paired = html_tag::paired_inline_tags(events);
        let mut at = 0;
        while let Some((event, range)) = events.get(at) {
            if let Event::Start(Tag::HtmlBlock) = event {
                let drawn = self.disclosure(&events[at..])?;
                if drawn > 0 {
                    at += drawn;
                    continue;
                }
            }
            self.name_disclosure()?;
            if let Event::Text(_) = event {
                at += self.text(&events[at..])?;
                continue;
            }
            if let Event::InlineHtml(tag) = event
                && self.image.is_none()
                && paired[at]
            {
                self.draw_citations_up_to(range.start);
                self.inline_tag(tag)?;
                at += 1;
                continue;
            }
            let is_task = matches!(events.get(at + 1), Some((Event::TaskListMarker(_), _)))
                || matches!(
                    events.get(at + 1..at + 3),
                    Some([(Event::Start(Tag::Paragraph), _), (Event::TaskListMarker(_), _)])
                );
            self.draw_citations_before(event, range);
            self.event(event, is_task)?;
            at += 1;
        }
        Ok(())
    }

    fn event(&mut self, event: &Event, is_task: bool) -> Result<(), DrawRefusal> {
        if !matches!(event, Event::End(_)) {
            self.spend(1)?;
        }
        match event {
            Event::Start(tag) => return self.start(tag, is_task),
            Event::End(end) => self.end(*end),
            Event::Text(text) | Event::Html(text) => self.literal_text(text),
            // Not enabled: formulas are found in the running text.
            Event::InlineMath(text) | Event::DisplayMath(text) => self.literal_text(text),
            Event::InlineHtml(tag) if self.image.is_none() && text::is_line_break(tag) => self.html.line_break(),
            Event::InlineHtml(text) => self.literal_text(text),
            Event::Code(code) => match &mut self.image {
                Some(image) => image.alt.push_str(code),
                None => self.html.text_element(Element::Code, &[LTR], code),
            },
            Event::SoftBreak => self.literal_text("\n"),
            Event::HardBreak => match &mut self.image {
                Some(image) => image.alt.push(' '),
                None => self.html.line_break(),
            },
            Event::Rule => self.html.thematic_break(),
            Event::TaskListMarker(done) => {
                let (name, mark) = if *done { (messages::done(), "☑") } else { (messages::not_done(), "☐") };
                let attributes =
                    [(Attribute::Class, "md-check"), (Attribute::Role, "img"), (Attribute::AriaLabel, name)];
                self.html.text_element(Element::Span, &attributes, mark);
                self.html.text(" ");
            }
            Event::FootnoteReference(name) => return self.footnote_reference(name),
        }
        Ok(())
    }

    fn start(&mut self, tag: &Tag, is_task: bool) -> Result<(), DrawRefusal> {
        match tag {
            Tag::BlockQuote(_) | Tag::List(_) | Tag::FootnoteDefinition(_) => self.block_depth += 1,
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. } => {
                self.inline_depth += 1
            }
            _ => {}
        }
        if self.block_depth > limits::MARKDOWN_NESTING || self.inline_depth > limits::MARKDOWN_NESTING {
            return Err(DrawRefusal::TooDeep);
        }
        if let Some(image) = &mut self.image {
            image.inner += usize::from(matches!(tag, Tag::Image { .. }));
            self.frames.push(0);
            return Ok(());
        }
        match tag {
            Tag::Paragraph => self.open(&[(Element::P, &[AUTO])]),
            Tag::Heading { level, .. } => {
                let (element, class) = heading_element(*level);
                self.open(&[(element, &[(Attribute::Class, class), AUTO])]);
            }
            Tag::BlockQuote(Some(kind)) => return self.start_alert(*kind),
            Tag::BlockQuote(None) => self.open(&[(Element::Blockquote, &[AUTO])]),
            Tag::List(None) => self.open(&[(Element::Ul, &[])]),
            Tag::List(Some(1)) => self.open(&[(Element::Ol, &[])]),
            Tag::List(Some(first)) => self.open(&[(Element::Ol, &[(Attribute::Start, &first.to_string())])]),
            Tag::Item if is_task => self.open(&[(Element::Li, &[(Attribute::Class, "md-task"), AUTO])]),
            Tag::Item => self.open(&[(Element::Li, &[AUTO])]),
            Tag::CodeBlock(kind) => {
                let language =
                    if let CodeBlockKind::Fenced(info) = kind { info_string_language(info) } else { String::new() };
                self.code = Some((language, String::new()));
                self.frames.push(0);
            }
            Tag::HtmlBlock => self.open(&[(Element::P, &[(Attribute::Class, "md-literal"), AUTO])]),
            Tag::Emphasis => self.open(&[(Element::Em, &[])]),
            Tag::Strong => self.open(&[(Element::Strong, &[])]),
            Tag::Strikethrough => self.open(&[(Element::Del, &[])]),
            Tag::Link { link_type, dest_url, title, .. } => self.start_link(*link_type, dest_url, title),
            Tag::Image { dest_url, .. } => {
                self.image = Some(OpenImage::new(dest_url));
                self.frames.push(0);
            }
            Tag::Table(_) | Tag::TableHead | Tag::TableRow | Tag::TableCell => return self.start_table(tag),
            Tag::FootnoteDefinition(name) => return self.start_footnote(name),
            // These are not enabled in the options.
            Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => self.frames.push(0),
        }
        Ok(())
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::FootnoteDefinition => self.block_depth -= 1,
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image => {
                self.inline_depth -= 1
            }
            _ => {}
        }
        self.end_open_disclosures();
        match end {
            TagEnd::Image => self.end_image(),
            TagEnd::Link if self.image.is_none() => self.links -= 1,
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::Table | TagEnd::TableHead => self.end_table(end),
            _ => {}
        }
        for _ in 0..self.frames.pop().unwrap_or(0) {
            self.html.close();
        }
        if end == TagEnd::Table {
            self.end_table_frame();
        }
    }
}

/// Returns the element of a heading: headings of the text are below the turn's own h3.
fn heading_element(level: HeadingLevel) -> (Element, &'static str) {
    match level {
        HeadingLevel::H1 => (Element::H4, "md-h1"),
        HeadingLevel::H2 => (Element::H5, "md-h2"),
        HeadingLevel::H3 => (Element::H6, "md-h3"),
        HeadingLevel::H4 => (Element::H6, "md-h4"),
        HeadingLevel::H5 => (Element::H6, "md-h5"),
        HeadingLevel::H6 => (Element::H6, "md-h6"),
    }
}

//! Formulas: TeX to MathML. The output of the library is parsed into a tree of allowed elements, so nothing else that
//! it may write reaches a page.

use std::io::{self, Write};

use pulldown_latex::config::DisplayMode;
use pulldown_latex::{Parser, RenderConfig, Storage, write_mathml};
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};

use crate::domain::limits;
use crate::ui::markdown::{MathAttribute, MathElement, MathStep, MathTree};

/// Commands that define others. With them a formula of a few bytes can expand until it fills the memory or the stack.
const DEFINITIONS: &[&str] = &["def", "let", "newcommand", "providecommand", "renewcommand", "futurelet"];

/// Converts a formula into a tree. Needs a deep stack, see [`super`]. `None`: the formula is invalid, not allowed or
/// too long, and its source is shown instead.
pub fn mathml_tree(source: &str, display: bool) -> Option<MathTree> {
    let defines = |command: &str| DEFINITIONS.iter().any(|name| command.starts_with(name));
    if source.len() > limits::MATH_BYTES || source.trim().is_empty() || source.split('\\').any(defines) {
        return None;
    }
    // The library does not support `\boxed`, which models put around their answers. The formula is readable without
    // the box.
    let source = source.replace("\\boxed", "");
    let storage = Storage::new();
    let mut events = Vec::new();
    for event in Parser::new(&source, &storage) {
        events.push(event.ok()?);
        if events.len() > limits::MATHML_BYTES / 8 {
            return None;
        }
    }
    let display_mode = if display { DisplayMode::Block } else { DisplayMode::Inline };
    let mut written = CappedWriter::default();
    let events = events.into_iter().map(Ok::<_, io::Error>);
    write_mathml(&mut written, events, RenderConfig { display_mode, ..RenderConfig::default() }).ok()?;
    read(&escaped_operators(std::str::from_utf8(&written.bytes).ok()?))
}

/// A writer with a bound, because a short formula can become a very long one.
#[derive(Default)]
struct CappedWriter {
    bytes: Vec<u8>,
}

impl Write for CappedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > limits::MATHML_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Escapes the operators `<` and `&`, which the library writes unescaped.
fn escaped_operators(xml: &str) -> String {
    xml.replace("><</", ">&lt;</").replace(">&</", ">&amp;</")
}

/// Parses MathML. A forbidden element rejects the whole formula; a forbidden attribute is dropped.
fn read(xml: &str) -> Option<MathTree> {
    let mut reader = Reader::from_str(xml);
    let mut steps = Vec::new();
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => steps.push(open(&tag)?),
            Event::Empty(tag) => steps.extend([open(&tag)?, MathStep::Close]),
            Event::End(_) => steps.push(MathStep::Close),
            Event::Text(text) => push_text(&mut steps, text.as_ref().to_owned()),
            Event::GeneralRef(name) => {
                let character =
                    name.resolve_char_ref().ok()?.or((&*name == "nbsp").then_some('\u{a0}')).map(String::from);
                push_text(&mut steps, character.or_else(|| resolve_predefined_entity(&name).map(str::to_owned))?);
            }
            Event::Eof => return MathTree::new(steps),
            _ => return None,
        }
    }
}

fn push_text(steps: &mut Vec<MathStep>, more: String) {
    match steps.last_mut() {
        Some(MathStep::Text(text)) => text.push_str(&more),
        _ => steps.push(MathStep::Text(more)),
    }
}

fn open(tag: &BytesStart) -> Option<MathStep> {
    let element = MathElement::from_name(tag.name().as_ref())?;
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.ok()?;
        let Some(name) = MathAttribute::from_name(attribute.key.as_ref()) else {
            continue;
        };
        attributes.push((name, attribute.value.into_owned()));
    }
    Some(MathStep::Open(element, attributes))
}

//! Tool results: text, a JSON tree, images, files, and notes on changes before they were stored.

use serde_json::Value;

use super::arguments::as_text;
use super::link::{NEW_TAB, REL, blob_address};
use super::picture::PictureView;
use super::{hidden_characters, json, picture};
use crate::domain::encoding::url_encoding::encode;
use crate::domain::id::is_imported;
use crate::domain::text::hidden_text::{count_hidden_characters, visible_text};
use crate::domain::tools::tool_output::ResourceLink;
use crate::domain::{Block, Content, TurnId, limits};
use crate::ui::markdown::{Attribute, Element, Html, MarkupPart};
use crate::ui::messages::standalone::file_elsewhere;
use crate::ui::messages::transcript as words;
use crate::ui::standalone::standalone_context;

/// Renders the result of a call. `failed` means that it is the error.
pub fn result(block: &Block, turn: TurnId, failed: bool) -> MarkupPart {
    let mut html = Html::default();
    let Content::ToolResult { result, metadata, .. } = &block.content else { return MarkupPart::new(html.finish()) };
    let name = if failed { words::tool_error() } else { words::result() };
    hidden_characters::write_line(&mut html, name);
    let id = block.id.to_string();
    let attributes = [
        (Attribute::Class, "tool-result"),
        (Attribute::DataBlockId, id.as_str()),
        (Attribute::DataBlockType, "tool_result"),
    ];
    html.open(Element::Div, &attributes);
    let mut images = images(metadata);
    let whole = as_text(result);
    let shown = &whole[..whole.floor_char_boundary(limits::TOOL_SHOWN_BYTES)];
    // A tree shows values without the indentation and line breaks that the text form adds.
    let fits = shown.len() == whole.len() || result.to_string().len() <= limits::TOOL_SHOWN_BYTES;
    let is_text = result.is_string() || !fits || !json::write_json_tree(&mut html, name, result);
    if is_text && (!whole.is_empty() || metadata.get("images").is_none()) {
        images = text_with_images(&mut html, (name, !result.is_string()), shown, images);
    }
    images.iter().for_each(|image| write_image(&mut html, image));
    cut(&mut html, metadata, is_text && shown.len() < whole.len(), whole.len() as u64, turn);
    files(&mut html, metadata);
    resource_links(&mut html, metadata, turn);
    cleaned(&mut html, metadata, &whole);
    html.close();
    MarkupPart::new(html.finish())
}

/// Renders the last log lines of a running call; none where there are none.
pub fn tail(lines: &[&str]) -> Option<MarkupPart> {
    if lines.is_empty() {
        return None;
    }
    let mut html = Html::default();
    hidden_characters::write_line(&mut html, words::tool_output());
    hidden_characters::write_text_box(&mut html, words::tool_output(), false, &lines.join("\n"));
    Some(MarkupPart::new(html.finish()))
}

/// An image of a result.
struct ResultImage<'m> {
    address: String,
    /// The name, which stands in brackets where the image was before a text.
    name: &'m str,
}

/// Returns the images that are stored as blobs.
fn images(metadata: &Value) -> Vec<ResultImage<'_>> {
    let mut images = Vec::new();
    for image in many(metadata, "images").take(limits::TOOL_IMAGES) {
        let Some(address) = blob(image) else { continue };
        images.push(ResultImage { address, name: image.get("alt").and_then(Value::as_str).unwrap_or_default() });
    }
    images
}

/// Writes an image with a link to the full picture.
fn write_image(html: &mut Html, image: &ResultImage) {
    let alt = if image.name.is_empty() { words::image() } else { image.name };
    picture::write_picture(html, &PictureView { address: &image.address, small: None, alt, size: None });
}

/// Writes a text with each image where it came. Returns the images that came after the text.
fn text_with_images<'m>(
    html: &mut Html,
    (name, is_code): (&str, bool),
    text: &str,
    images: Vec<ResultImage<'m>>,
) -> Vec<ResultImage<'m>> {
    let (mut rest, mut behind) = (text, Vec::new());
    for image in images {
        let Some((before, after)) = split_at_note(rest, image.name) else {
            behind.push(image);
            continue;
        };
        if !before.is_empty() {
            hidden_characters::write_text_box(html, name, is_code, before);
        }
        write_image(html, &image);
        rest = after;
    }
    if !rest.is_empty() || text.is_empty() {
        hidden_characters::write_text_box(html, name, is_code, rest);
    }
    behind
}

/// Splits a text at the first line that consists of the name of an image.
fn split_at_note<'t>(text: &'t str, name: &str) -> Option<(&'t str, &'t str)> {
    if name.is_empty() {
        return None;
    }
    let note = format!("[{name}]");
    let mut splits = text.match_indices(&note).map(|(at, _)| (&text[..at], &text[at + note.len()..]));
    let is_line = |(before, after): &(&str, &str)| {
        (before.is_empty() || before.ends_with('\n')) && (after.is_empty() || after.starts_with('\n'))
    };
    let (before, after) = splits.find(is_line)?;
    Some((before.trim_end_matches('\n'), after.trim_start_matches('\n')))
}

/// Writes the note that a result is truncated, with a link to all of it. `length` is that of the stored result.
fn cut(html: &mut Html, metadata: &Value, is_cut_here: bool, length: u64, turn: TurnId) {
    let stored = metadata.get("cut");
    if !is_cut_here && stored.is_none() {
        return;
    }
    let bytes = stored.and_then(|cut| cut.get("bytes")).and_then(Value::as_u64).unwrap_or(length);
    let whole = stored.or_else(|| metadata.get("whole")).and_then(blob);
    html.open(Element::P, &[(Attribute::Class, "tool-part")]);
    html.text(&words::cut_at(limits::TOOL_SHOWN_BYTES, bytes));
    // A result that was truncated before it was stored, without being kept, is not available anywhere.
    if (whole.is_some() || is_cut_here) && standalone_context().is_none() {
        let address = whole.unwrap_or_else(|| format!("/api/turns/{turn}"));
        html.text(" ");
        html.text_element(Element::A, &[(Attribute::Href, &address), REL, NEW_TAB], words::open_full());
    }
    html.close();
}

fn files(html: &mut Html, metadata: &Value) {
    for file in many(metadata, "files").take(limits::TOOL_IMAGES) {
        let Some(address) = blob(file) else { continue };
        let mime = file.get("mime").and_then(Value::as_str).unwrap_or_default();
        let bytes = file.get("bytes").and_then(Value::as_u64);
        if standalone_context().is_some() {
            html.text_element(Element::Span, &[(Attribute::Class, "chip")], &file_elsewhere(mime));
            continue;
        }
        html.open(
            Element::A,
            &[(Attribute::Class, "chip"), (Attribute::Href, &address), REL, (Attribute::Download, "")],
        );
        html.text(&words::file(mime, bytes));
        html.close();
    }
}

/// Writes the links of a result to resources of its server. Each leads to a page of ours that shows the resource, and has
/// a button that attaches it to the message of this chat. Nothing is read before. An imported result has none, because
/// its file chose the server and the addresses.
fn resource_links(html: &mut Html, metadata: &Value, turn: TurnId) {
    let is_linked = standalone_context().is_none() && !is_imported(turn.uuid());
    let Some((server, links)) = ResourceLink::list(metadata).filter(|_| is_linked) else { return };
    if links.is_empty() {
        return;
    }
    html.open(Element::Ul, &[(Attribute::Class, "resource-links")]);
    for ResourceLink { name, uri } in links.iter().take(limits::RESOURCE_LINKS) {
        let address = format!("/insert/view?server={}&uri={}&turn={turn}", encode(server), encode(uri));
        html.open(Element::Li, &[(Attribute::Dir, "auto")]);
        let name = if name.is_empty() { uri } else { name };
        hidden_characters::write_revealed(html, name);
        html.text(" · ");
        let named = |html: &mut Html, verb: &str| {
            html.text(verb);
            html.text_element(Element::Span, &[(Attribute::Class, "quiet")], &format!(" {}", visible_text(name)));
        };
        html.open(Element::A, &[(Attribute::Href, &address), REL]);
        named(html, words::view_resource());
        html.close();
        let form = [
            (Attribute::Class, "inline-form no-print"),
            (Attribute::Method, "post"),
            (Attribute::Action, "/forms/insert/resource"),
        ];
        html.open(Element::Form, &form);
        html.hidden_field("turn", &turn.to_string());
        html.hidden_field("server", server);
        html.hidden_field("uri", uri);
        html.open(Element::Button, &[(Attribute::Type, "submit"), (Attribute::Class, "button bare")]);
        named(html, words::attach_resource());
        html.close();
        html.close();
        html.close();
    }
    html.close();
}

/// Writes the note on characters that were removed before the result was stored, and on hidden ones that are in it.
fn cleaned(html: &mut Html, metadata: &Value, whole: &str) {
    let count = |key: &str| metadata.get("cleaned")?.get(key)?.as_u64();
    let hidden = u64::from(count_hidden_characters(whole));
    let note = words::cleaned([
        count("ansi").unwrap_or(0),
        count("nul").unwrap_or(0),
        count("invalid").unwrap_or(0),
        count("hidden").unwrap_or(0).max(hidden),
    ]);
    if !note.is_empty() {
        html.text_element(Element::P, &[(Attribute::Class, "hidden-count")], &note);
    }
}

fn many<'a>(metadata: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    metadata.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the address of the blob that a piece names; none when the name is invalid.
fn blob(piece: &Value) -> Option<String> {
    blob_address(piece.get("blob")?.as_str()?)
}

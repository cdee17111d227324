//! Reads an entry of the log as HTML into the members that the same entry has in the log as JSON.
//!
//! Derived from public readers and their samples: cells of the classes `outer-cell`, `header-cell` (the product),
//! `content-cell` (the prompt, the lines below it, the date and the answer, with line breaks between them), the same with
//! `text-right` (a picture), and with `caption` (products, and an address that may name the conversation).

use serde_json::{Value, json};

use super::dates::{LineDate, ZoneHints, read_date};
use super::html::tags::{HtmlTag, HtmlToken, HtmlTokens};
use crate::domain::blocks::sources::is_web_url;

/// The markup with which an entry begins. Texts of people cannot contain it, because they have no `<`.
pub(super) const ENTRY: &[u8] = b"<div class=\"outer-cell";

/// The longest line that counts files, in characters.
const COUNT_CHARS: usize = 40;
/// The most lines above the date; the others are read as the answer. A line takes many times the size of its HTML.
const LINES: usize = 10_000;
/// The most links of a line, and the most addresses and pictures of an entry, that are read; for the same reason.
const LINKS: usize = 1_000;

/// The cells of an entry.
#[derive(Default)]
struct EntryCells<'h> {
    header: String,
    body: &'h str,
    /// The addresses below the entry.
    addresses: Vec<String>,
    pictures: Vec<String>,
}

/// The cell that contains a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    Outside,
    Header,
    /// With its position.
    Body(usize),
    Beside,
    Caption,
}

/// A line of a cell.
#[derive(Default)]
struct Line {
    text: String,
    links: Vec<String>,
}

/// The parts of the main cell.
struct EntryBody<'h> {
    lines: Vec<Line>,
    /// The line with the date, if there is one.
    date: Option<(String, LineDate)>,
    /// The answer as HTML.
    answer: &'h str,
}

/// Returns the product that an entry is of.
pub(super) fn product(html: &str) -> String {
    cells_of(html).header
}

/// Returns an entry as in the log as JSON. A date that is not understood is an object with its text.
pub(super) fn activity(html: &str, hints: ZoneHints) -> Value {
    let cells = cells_of(html);
    let body = split_body(cells.body, hints);
    let time = match body.date {
        Some((_, LineDate::At(at))) => json!(at.to_rfc3339()),
        Some((text, _)) => json!({ "text": text }),
        None => json!({ "text": "" }),
    };
    let first_file = body.lines.iter().skip(1).position(|line| file_of(line).is_some()).map(|at| at + 1);
    let mut title = body.lines.first().map(|line| line.text.clone()).unwrap_or_default();
    let mut subtitles = Vec::new();
    for (at, line) in body.lines.iter().enumerate().skip(1) {
        let name = line.text.trim();
        let gem = || line.links.iter().find(|link| link.contains("/gems/"));
        // The number of the files that follow, in any language.
        let counts_files = first_file == Some(at + 1)
            && name.chars().count() <= COUNT_CHARS
            && name.contains(|c: char| c.is_ascii_digit());
        if let Some(address) = file_of(line).or_else(gem) {
            subtitles.push(json!({ "name": name, "url": address }));
        } else if is_count(name) {
            subtitles.push(json!({ "name": name }));
        } else if !counts_files {
            title.push('\n');
            title.push_str(&line.text);
        }
    }
    let details: Vec<Value> = cells.addresses.into_iter().map(|address| json!({ "name": address })).collect();
    let address = body.lines.first().and_then(|line| line.links.iter().find(|link| is_web_url(link)));
    let mut activity = json!({
        "header": cells.header, "products": [cells.header], "title": title.trim(), "time": time,
        "subtitles": subtitles, "details": details, "attachedFiles": cells.pictures,
        "safeHtmlItem": [{ "html": body.answer }],
    });
    if let Some(address) = address {
        activity["titleUrl"] = json!(address);
    }
    activity
}

/// Returns the address of the file that a line below a prompt names.
fn file_of(line: &Line) -> Option<&String> {
    let is_item = line.text.trim_start().starts_with('-');
    line.links.iter().find(|link| is_item && !link.is_empty() && !is_web_url(link))
}

/// Returns whether a line counts items that Gemini created, such as “1 generated image.”, or the files of a prompt.
fn is_count(line: &str) -> bool {
    let line = line.trim_end_matches('.');
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_made = rest.len() < line.len() && rest.starts_with(" generated ") && rest.split_whitespace().count() == 2;
    let attached = line.strip_prefix("Attached ").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    is_made || matches!(attached, Some(" file" | " files"))
}

fn cell_of(tag: &HtmlTag, end: usize, current: Cell) -> Option<Cell> {
    let classes = tag.attribute("class").unwrap_or_default();
    if classes.contains("header-cell") {
        Some(Cell::Header)
    } else if !classes.contains("content-cell") {
        None
    } else if classes.contains("caption") {
        Some(Cell::Caption)
    } else if classes.contains("text-right") || matches!(current, Cell::Beside | Cell::Caption) {
        Some(Cell::Beside)
    } else {
        Some(Cell::Body(end))
    }
}

/// Finds the cells. One ends where the next begins, because an answer may have elements of its own that are not closed.
fn cells_of(html: &str) -> EntryCells<'_> {
    let (mut cells, mut current) = (EntryCells::default(), Cell::Outside);
    let mut tokens = HtmlTokens::new(html);
    loop {
        let start = tokens.offset();
        let Some(token) = tokens.next() else { break };
        match (token, current) {
            (HtmlToken::Tag(tag), _) if tag.name == "div" && !tag.is_closing => {
                if let Some(cell) = cell_of(&tag, tokens.offset(), current) {
                    cells.end_body(html, current, start);
                    current = cell;
                }
            }
            (HtmlToken::Tag(tag), Cell::Caption) if tag.name == "a" && cells.addresses.len() < LINKS => {
                cells.addresses.extend(tag.attribute("href").map(str::to_owned));
            }
            (HtmlToken::Tag(tag), Cell::Beside) if tag.name == "img" && cells.pictures.len() < LINKS => {
                let address = tag.attribute("src").filter(|address| !address.is_empty() && !is_web_url(address));
                cells.pictures.extend(address.map(str::to_owned));
            }
            (HtmlToken::Text(text), Cell::Header) => cells.header.push_str(text.trim()),
            _ => {}
        }
    }
    cells.end_body(html, current, html.len());
    cells
}

impl<'h> EntryCells<'h> {
    fn end_body(&mut self, html: &'h str, current: Cell, end: usize) {
        if let Cell::Body(start) = current
            && self.body.is_empty()
        {
            self.body = html.get(start..end).unwrap_or_default();
        }
    }
}

/// Splits the main cell. The date is the first line below the prompt that is one, before any element of the answer; of
/// lines that only look like one the first, because a prompt may mention a date, and languages may be unknown.
fn split_body(body: &str, hints: ZoneHints) -> EntryBody<'_> {
    let mut tokens = HtmlTokens::new(body);
    let (mut lines, mut line): (Vec<Line>, Line) = (Vec::new(), Line::default());
    // The number of the line that looks like a date, and where the answer below it begins.
    let mut unclear: Option<(usize, usize)> = None;
    loop {
        let start = tokens.offset();
        let is_break = match tokens.next() {
            Some(HtmlToken::Text(text)) => {
                line.text.push_str(&text);
                continue;
            }
            Some(HtmlToken::Tag(tag)) => match tag.name.as_str() {
                "a" if line.links.len() >= LINKS => continue,
                "a" => {
                    line.links.extend(tag.attribute("href").map(|href| href.trim().to_owned()));
                    continue;
                }
                "b" | "i" | "u" | "em" | "strong" | "span" | "font" => continue,
                name => name == "br",
            },
            None => false,
        };
        let ended = std::mem::take(&mut line);
        let answer_at = if is_break { tokens.offset() } else { start };
        let answer_from = |at: usize| body.get(at..).unwrap_or_default();
        if !lines.is_empty() {
            match read_date(&ended.text, hints) {
                date @ LineDate::At(_) => {
                    let date = Some((ended.text.trim().to_owned(), date));
                    return EntryBody { lines, date, answer: answer_from(answer_at) };
                }
                LineDate::Unclear => unclear = unclear.or(Some((lines.len(), answer_at))),
                LineDate::NoDate => {}
            }
        }
        // Empty lines between others belong to the prompt.
        if is_break || !ended.text.trim().is_empty() {
            lines.push(ended);
        }
        if !is_break || lines.len() >= LINES {
            let Some((at, answer_at)) = unclear else {
                return EntryBody { lines, date: None, answer: answer_from(answer_at) };
            };
            let date = lines.get(at).map(|line| (line.text.trim().to_owned(), LineDate::Unclear));
            lines.truncate(at);
            return EntryBody { lines, date, answer: answer_from(answer_at) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(body: &str, caption: &str) -> String {
        format!(
            "<div class=\"outer-cell mdl-cell\"><div class=\"mdl-grid\"><div class=\"header-cell mdl-cell\">\
             <p class=\"mdl-typography--title\">Gemini Apps<br></p></div>\
             <div class=\"content-cell mdl-cell mdl-typography--body-1\">{body}</div>\
             <div class=\"content-cell mdl-cell mdl-typography--body-1 mdl-typography--text-right\"></div>\
             <div class=\"content-cell mdl-cell mdl-typography--caption\"><b>Products:</b><br>&emsp;Gemini Apps<br>\
             {caption}</div></div></div>"
        )
    }

    fn read(body: &str) -> Value {
        activity(&entry(body, ""), ZoneHints::default())
    }

    #[test]
    fn entry_is_read_like_the_one_in_json() {
        let found =
            read("Prompted&nbsp;Why &lt;b&gt;?<br>Apr 12, 2026, 3:34:31\u{202f}PM EDT<br><p>So <b>it</b> is.</p><br>");
        assert_eq!(found["header"], "Gemini Apps");
        assert_eq!(found["title"], "Prompted\u{a0}Why <b>?");
        assert_eq!(found["time"], "2026-04-12T19:34:31+00:00");
        assert!(found["safeHtmlItem"][0]["html"].as_str().unwrap().starts_with("<p>So <b>it</b> is.</p>"), "{found}");
        assert_eq!((&found["subtitles"], &found["details"]), (&json!([]), &json!([])));
    }

    #[test]
    fn lines_before_the_date_are_the_prompt_and_its_files() {
        let found = read(
            "Eingegebener Prompt: Eins<br><br>Zwei<br>2 Dateien angehängt.<br>-&nbsp;<a href=\"a-1.png\">a.png</a><br>\
             -&nbsp;<a href=\"b.pdf\">b.pdf</a><br>18.04.2026, 17:38:51 MESZ<br><p>Ja</p>",
        );
        assert_eq!(found["title"], "Eingegebener Prompt: Eins\n\nZwei");
        assert_eq!(
            found["subtitles"],
            json!([{"name": "-\u{a0}a.png", "url": "a-1.png"}, {"name": "-\u{a0}b.pdf", "url": "b.pdf"}])
        );
        assert_eq!(found["time"], "2026-04-18T15:38:51+00:00");
        let made = read("Prompted A cat<br>1 generated image.<br>Sep 2, 2026, 11:36:40 AM PDT<br><p></p>");
        assert_eq!(
            (&made["title"], &made["subtitles"]),
            (&json!("Prompted A cat"), &json!([{"name": "1 generated image."}]))
        );
    }

    #[test]
    fn date_may_be_followed_by_the_answer_or_be_unclear_or_missing() {
        let joined = read("Prompted Hi<br>Apr 12, 2026, 3:34:31 PM EDT<p>Hello</p>");
        assert_eq!(
            (&joined["time"], &joined["safeHtmlItem"][0]["html"]),
            (&json!("2026-04-12T19:34:31+00:00"), &json!("<p>Hello</p></div>"))
        );
        let unclear = read("Prompted Hi<br>2 Smarch 2026, 25:99 XYZ<br><p>Hello</p>");
        assert_eq!(
            (&unclear["title"], &unclear["time"]),
            (&json!("Prompted Hi"), &json!({"text": "2 Smarch 2026, 25:99 XYZ"}))
        );
        let missing = read("Prompted Hi<p>At 2026/05/21 17:47:55 JST</p>");
        assert_eq!((&missing["title"], &missing["time"]), (&json!("Prompted Hi"), &json!({"text": ""})));
        assert!(missing["safeHtmlItem"][0]["html"].as_str().unwrap().starts_with("<p>At 2026"), "{missing}");
        let mentioned =
            read("Prompted Remind me<br>on 5 May 2026 at 12:30<br>Apr 12, 2026, 3:34:31 PM EDT<br><p>Done</p>");
        assert_eq!(
            (&mentioned["title"], &mentioned["time"]),
            (&json!("Prompted Remind me\non 5 May 2026 at 12:30"), &json!("2026-04-12T19:34:31+00:00"))
        );
        let endless = read(&format!("Prompted Hi{}<p>Hello</p>", "<br>x".repeat(LINES + 5)));
        assert_eq!(endless["title"].as_str().unwrap().lines().count(), LINES);
        assert!(endless["safeHtmlItem"][0]["html"].as_str().unwrap().starts_with("x<br>x"), "the rest is the answer");
        // A prompt that is a date is no date of the entry.
        let dated = read("2026/05/21 17:47:55 JST<br>2026/05/22 17:47:55 JST<br>x");
        assert_eq!(dated["time"], "2026-05-22T08:47:55+00:00");
    }

    #[test]
    fn unclosed_elements_of_an_answer_stay_in_it() {
        let found = read("Prompted Hi<br>Apr 12, 2026, 3:34:31 PM EDT<br></div><div>Hello<div>there");
        assert!(found["safeHtmlItem"][0]["html"].as_str().unwrap().contains("Hello<div>there"), "{found}");
        let address = "https://gemini.google.com/app/0a1b2c3d4e5f";
        let caption = format!("<b>Details:</b><br>&emsp;<a href=\"{address}\">{address}</a>");
        let found = activity(&entry("Prompted Hi<br>x<div", &caption), ZoneHints::default());
        assert_eq!(found["details"], json!([{ "name": address }]));
    }
}

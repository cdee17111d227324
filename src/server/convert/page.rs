//! Markup as Markdown: a page of the web as what it is about, a file as all that it says. Nothing in it is ever fetched.

mod plain;

use dom_smoothie::{Config, Readability, TextMode};

use crate::domain::limits;
use plain::{nests_deeper_than, plain_text};

/// Elements in elements: the reader of pages follows each.
const NESTING: usize = 256;
/// Elements that have no text for people.
const NO_TEXT: [&str; 7] = ["script", "style", "meta", "head", "noscript", "template", "svg"];

/// The title and the main text of a page; all of its text where no main text is found, or where it is made to be hard to
/// read.
pub fn article(html: &str, url: &str) -> (String, String) {
    let article = reader(html, Some(url)).and_then(|mut page| page.parse().ok());
    match article {
        Some(article) if !article.text_content.trim().is_empty() => {
            (one_line(&article.title), article.text_content.to_string())
        }
        _ => plainly(html),
    }
}

/// All of a file's text, under its title.
pub fn whole(html: &str) -> String {
    let (title, body) = match reader(html, None) {
        Some(page) => {
            // Pictures within the markup would be megabytes of letters in the text.
            page.doc.select("img[src^='data:']").remove();
            (one_line(&page.get_article_title()), page.doc.md(Some(&NO_TEXT)).to_string())
        }
        None => plainly(html),
    };
    let body = body.trim();
    match title.is_empty() || body.starts_with("# ") || body.is_empty() {
        true => body.to_owned(),
        false => format!("# {title}\n\n{body}"),
    }
}

/// None where it is made to be hard to read.
fn reader(html: &str, url: Option<&str>) -> Option<Readability> {
    let config = Config {
        max_elements_to_parse: limits::FETCH_ELEMENTS,
        text_mode: TextMode::Markdown,
        disable_json_ld: true,
        ..Config::default()
    };
    let is_hard = nests_deeper_than(html, NESTING, limits::FETCH_ELEMENTS);
    (!is_hard).then(|| Readability::new(html, url, Some(config)).ok()).flatten()
}

fn plainly(html: &str) -> (String, String) {
    let (title, text) = plain_text(html);
    (one_line(&title), text)
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(limits::TITLE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_are_made_to_be_hard_to_read_are_read_plainly() {
        let read = |html: &str| article(html, "https://example.com/a");
        let deep = format!("<title>Deep</title>{}here{}", "<div>".repeat(40_000), "</x>".repeat(40_000));
        assert_eq!(read(&deep), ("Deep".into(), "here".into()));
        assert_eq!(whole(&deep), "# Deep\n\nhere");
        let wide = format!("{}here", "<b>".repeat(200_000));
        assert!(read(&wide).1.ends_with("here") && whole(&wide).ends_with("here"));
        let nested = format!("{}<p>here</p>{}", "<div>".repeat(NESTING - 2), "</div>".repeat(NESTING - 2));
        assert!(read(&nested).1.ends_with("here") && whole(&nested).ends_with("here"));
        for odd in ["", "<", "<!--", "<script>", "<a", "</", "<p>&#x110000;&amp;lt;&nosuch;", "\u{0}"] {
            article(odd, "https://example.com/a");
            whole(odd);
        }
    }

    #[test]
    fn a_file_keeps_all_of_its_text() {
        let html = "<html><head><title>Leaves  of\ngrass</title><style>p{}</style></head><body><nav><a href='/x'>Menu</a></nav>\
                    <h2>One</h2><p>two <b>bold</b></p><ul><li>a<li>b</ul><table><tr><th>h</th></tr><tr><td>1</td></tr></table>\
                    <script>alert(1)</script><img alt=big src='data:image/png;base64,AAAA'><footer>End</footer></body></html>";
        let text = whole(html);
        assert!(text.starts_with("# Leaves of grass\n\n"), "{text}");
        for kept in ["Menu", "## One", "**bold**", "End", "| h |"] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
        for gone in ["alert", "p{}", "base64"] {
            assert!(!text.contains(gone), "{gone}: {text}");
        }
        assert_eq!(whole("<h1>A</h1>b"), "# A\n\nb");
    }
}

//! A web page as text: its title, and what it is about without the rest.

use dom_smoothie::{Config, Readability, TextMode};

use crate::domain::limits;
use crate::server::outbound::fetch::{Fetcher, Page};
use crate::server::tools::result::{Part, outcome, said, with_invalid};
use crate::server::tools::toolbox::{Fate, Outcome};
use charset::text_of;
use plain::{nests_deeper_than, plain_text};

mod charset;
mod plain;

/// Elements in elements: the reader of pages follows each.
const NESTING: usize = 256;

/// Gets a page and reads it.
pub async fn fetch(fetcher: &Fetcher, url: &str) -> Outcome {
    let page = match fetcher.get(url).await {
        Ok(page) => page,
        Err(refusal) => return said(Fate::Failed, &refusal.to_string()),
    };
    // Reading it takes a moment and never waits.
    let read = tokio::task::spawn_blocking(move || {
        let (text, invalid) = text_of(&page);
        (told(&page, &text), invalid)
    });
    match read.await {
        Ok((text, invalid)) => with_invalid(outcome(Fate::Done, vec![Part::Text(text)], None), invalid),
        Err(_) => said(Fate::Failed, "The page came, but it could not be read."),
    }
}

/// What of a page is told: its address, its title, its text.
fn told(page: &Page, text: &str) -> String {
    let (title, body) = if page.is_markup() { read(text, &page.url) } else { (String::new(), text.to_owned()) };
    let mut told = format!("{}\n", page.url);
    if !title.is_empty() {
        told = format!("# {title}\n{told}");
    }
    told.push('\n');
    told.push_str(body.trim());
    if page.is_cut {
        told.push_str(&format!("\n\n[The page is longer than the {} bytes that were read.]", limits::FETCH_BYTES));
    }
    told
}

/// The title and the main text of a page; all of its text where no main text is found, or where it is made to be hard to
/// read.
fn read(html: &str, url: &str) -> (String, String) {
    let is_plain = nests_deeper_than(html, NESTING, limits::FETCH_ELEMENTS);
    let config = || Config {
        max_elements_to_parse: limits::FETCH_ELEMENTS,
        text_mode: TextMode::Markdown,
        disable_json_ld: true,
        ..Config::default()
    };
    let article = (!is_plain)
        .then(|| Readability::new(html, Some(url), Some(config())).and_then(|mut page| page.parse()).ok())
        .flatten();
    match article {
        Some(article) if !article.text_content.trim().is_empty() => {
            (one_line(&article.title), article.text_content.to_string())
        }
        _ => {
            let (title, text) = plain_text(html);
            (one_line(&title), text)
        }
    }
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(limits::TITLE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(content_type: &str, body: &str) -> String {
        let page = Page {
            url: "https://example.com/a".into(),
            content_type: content_type.into(),
            charset: None,
            body: body.to_owned().into(),
            is_cut: false,
        };
        told(&page, body)
    }

    #[test]
    fn a_page_is_its_title_and_its_text() {
        let paragraph =
            "The leaves turn in autumn, and the garden is full of colour, until the wind takes them. ".repeat(8);
        let html = format!(
            "<html><head><title>Leaves</title><style>p {{ color: red }}</style></head><body><nav><a href=/x>Menu</a></nav>\
             <article><h1>Leaves</h1><p>{paragraph}</p><p>{paragraph} <a href=\"/more\">More</a></p>\
             <script>alert(1)</script></article><footer>Imprint</footer></body></html>"
        );
        let told = page("text/html", &html);
        assert!(told.starts_with("# Leaves\nhttps://example.com/a\n\n"), "{told}");
        assert!(told.contains("The leaves turn in autumn"));
        assert!(!told.contains("alert") && !told.contains("color: red") && !told.contains("<p>"), "{told}");
    }

    #[test]
    fn what_is_no_markup_stays_as_it_is() {
        assert_eq!(page("application/json", "{\"a\": \"<b>\"}"), "https://example.com/a\n\n{\"a\": \"<b>\"}");
        assert_eq!(page("text/plain", "a < b"), "https://example.com/a\n\na < b");
    }

    #[test]
    fn pages_that_are_made_to_be_hard_to_read_are_read_plainly() {
        let deep = format!("<title>Deep</title>{}here{}", "<div>".repeat(40_000), "</x>".repeat(40_000));
        assert_eq!(page("text/html", &deep), "# Deep\nhttps://example.com/a\n\nhere");
        let wide = format!("{}here", "<b>".repeat(200_000));
        assert!(page("text/html", &wide).ends_with("here"));
        let nested = format!("{}<p>here</p>{}", "<div>".repeat(NESTING - 2), "</div>".repeat(NESTING - 2));
        assert!(page("text/html", &nested).ends_with("here"));
        for odd in ["", "<", "<!--", "<script>", "<a", "</", "<p>&#x110000;&amp;lt;&nosuch;", "\u{0}"] {
            let told = page("text/html", odd);
            assert!(told.starts_with("https://example.com/a\n"), "{odd:?}: {told}");
        }
    }
}

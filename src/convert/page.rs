//! Converts markup to Markdown: the main content of a web page, or the whole text of a file. No resource is ever
//! fetched. This code runs in the converter process, because a hostile page can exhaust the time and memory of its
//! parser.

pub mod tree;

use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};

use crate::{Article, ConversionError};
use turnleaf_domain::limits;

/// Elements without text for people.
const NO_TEXT: [&str; 8] = ["script", "style", "meta", "head", "noscript", "template", "svg", "iframe"];

/// Extracts the title and the main content of a page; the whole text if no main content is found or the page has too
/// many elements to search.
///
/// # Errors
/// [`ConversionError::OutOfBounds`] if it is too large.
pub fn extract_article(html: &str, url: &str) -> Result<Article, ConversionError> {
    let article = reader(tree::parse(html)?, Some(url)).and_then(|mut page| page.parse().ok());
    match article {
        Some(article) if !article.text_content.trim().is_empty() => {
            Ok(Article { title: one_line(&article.title), text: article.text_content.to_string() })
        }
        // The search has modified its tree, so the page is parsed again.
        _ => Ok(plain_text(&tree::parse(html)?)),
    }
}

/// Extracts the whole text of a file, under its title.
///
/// # Errors
/// [`ConversionError::OutOfBounds`] if it is too large.
pub fn extract_all_text(html: &str) -> Result<String, ConversionError> {
    let document = tree::parse(html)?;
    let elements = document.root().descendants_it().filter(|node| node.is_element()).count();
    let Article { title, text: body } = match elements > limits::FETCH_ELEMENTS {
        true => plain_text(&document),
        false => markdown(document),
    };
    let body = body.trim();
    Ok(match title.is_empty() || body.starts_with("# ") || body.is_empty() {
        true => body.to_owned(),
        false => format!("# {title}\n\n{body}"),
    })
}

/// Returns the title and the whole text as Markdown.
fn markdown(document: Document) -> Article {
    // Inline images would become megabytes of base64 in the text.
    document.select("img[src^='data:']").remove();
    let text = document.md(Some(&NO_TEXT)).to_string();
    let title = reader(document, None).map(|page| one_line(&page.get_article_title())).unwrap_or_default();
    Article { title, text }
}

fn reader(document: Document, url: Option<&str>) -> Option<Readability> {
    let config = Config {
        max_elements_to_parse: limits::FETCH_ELEMENTS,
        text_mode: TextMode::Markdown,
        disable_json_ld: true,
        ..Config::default()
    };
    Readability::with_document(document, url, Some(config)).ok()
}

/// Returns the title and the whole text without Markdown formatting.
fn plain_text(document: &Document) -> Article {
    let title = one_line(&document.select_single("title").text());
    document.select(&NO_TEXT.join(", ")).remove();
    Article { title, text: document.formatted_text().to_string() }
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(limits::TITLE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_and_wide_pages_are_read() {
        let read = |html: &str| {
            let Article { title, text } =
                extract_article(html, "https://example.com/a").expect("it is within the bounds");
            (title, text.trim().to_owned())
        };
        let whole = |html: &str| extract_all_text(html).expect("it is within the bounds");
        let deep = format!("<title>Deep</title>{}here{}", "<div>".repeat(40_000), "</x>".repeat(40_000));
        assert_eq!(read(&deep), ("Deep".into(), "here".into()));
        assert_eq!(whole(&deep), "# Deep\n\nhere");
        let wide = format!("{}here", "<b>x</b>".repeat(60_000));
        assert!(read(&wide).1.ends_with("here") && whole(&wide).ends_with("here"));
        let nested = format!("{}<p>here</p>{}", "<div>".repeat(254), "</div>".repeat(254));
        assert!(read(&nested).1.ends_with("here") && whole(&nested).ends_with("here"));
        for odd in ["", "<", "<!--", "<script>", "<a", "</", "<p>&#x110000;&amp;lt;&nosuch;", "\u{0}"] {
            read(odd);
            whole(odd);
        }
    }

    #[test]
    fn page_without_main_text_keeps_all_text() {
        let html = "<!DOCTYPE html><TITLE>A &amp; B</TITLE><h1 title='>'>One</h1><!-- <p>no</p> --><p>two <b>bold</b>\n  \
                    three<br>four &lt;x&gt; &#8364; 1 < 2</p><script>if (a < b) {}</script><svg><text>no</text></svg>";
        let Article { title, text } = plain_text(&tree::parse(html).expect("it is within the bounds"));
        assert_eq!(title, "A & B");
        assert_eq!(text, "One\n\ntwo bold three\nfour <x> € 1 < 2");
    }

    #[test]
    fn html_file_keeps_all_text() {
        let whole = |html: &str| extract_all_text(html).expect("it is within the bounds");
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

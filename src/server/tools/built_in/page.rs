//! A web page as text: its title, and what it is about without the rest.

use crate::domain::limits;
use crate::server::convert::page::article;
use crate::server::outbound::fetch::{Crossing, Fetcher, Page};
use crate::server::tools::result::{Part, outcome, said, with_invalid};
use crate::server::tools::toolbox::{Fate, Outcome};
use charset::text_of;

mod charset;

/// Gets a page and reads it.
pub async fn fetch(fetcher: &Fetcher, url: &str, crossing: &dyn Crossing) -> Outcome {
    let page = match fetcher.get(url, crossing).await {
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
    let (title, body) = if page.is_markup() { article(text, &page.url) } else { (String::new(), text.to_owned()) };
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
}

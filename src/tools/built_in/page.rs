//! Web pages as text: title and main content. The charset is decoded here; markup is parsed in the converter process,
//! because a hostile page can crash its parser.

use crate::result::{CallOutcome, CallResult, ResultPart, build_result, note_invalid_bytes, text_result};
use charset::decode_page;
use turnleaf_convert::{Article, ConversionError, FileReader};
use turnleaf_domain::limits;
use turnleaf_platform::tasks;
use turnleaf_providers::page_fetcher::{FetchedPage, Fetcher, RedirectPolicy};

mod charset;

/// Fetches a page and extracts its text.
pub async fn fetch(fetcher: &Fetcher, reader: &dyn FileReader, url: &str, crossing: &dyn RedirectPolicy) -> CallResult {
    match fetcher.get(url, crossing).await {
        Ok(page) => read(page, reader).await,
        Err(refusal) => text_result(CallOutcome::Failed, &refusal.to_string()),
    }
}

/// Converts a fetched page into the result for the model.
async fn read(page: FetchedPage, reader: &dyn FileReader) -> CallResult {
    // Decoding is CPU-bound and never awaits.
    let decoded = tasks::spawn_blocking(move || {
        let (text, invalid) = decode_page(&page);
        (page, text, invalid)
    });
    let Ok((page, text, invalid)) = decoded.await else {
        return text_result(CallOutcome::Failed, "The page was fetched but could not be read.");
    };
    let article = match page.is_markup() {
        true => reader.read_article(text.into(), &page.url).await,
        false => Ok(Article { title: String::new(), text }),
    };
    match article {
        Ok(article) => note_invalid_bytes(
            build_result(CallOutcome::Done, vec![ResultPart::Text(format_page(&page, &article))], None),
            invalid,
        ),
        Err(ConversionError::OutOfBounds | ConversionError::TooLong(_)) => {
            text_result(CallOutcome::Failed, "The page was fetched but is too large or too deeply nested to read.")
        }
        Err(refused) => {
            text_result(CallOutcome::Failed, &format!("The page was fetched but could not be read: {refused}."))
        }
    }
}

/// Formats the title, the address and the text of a page.
fn format_page(page: &FetchedPage, article: &Article) -> String {
    let mut text = format!("{}\n\n{}", page.url, article.text.trim());
    if !article.title.is_empty() {
        text.insert_str(0, &format!("# {}\n", article.title));
    }
    if page.is_cut {
        text.push_str(&format!("\n\n[The page was cut after {} bytes.]", limits::FETCH_BYTES));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_convert::PlainReader;

    async fn read_as(content_type: &str, body: &str, is_cut: bool) -> CallResult {
        let page = FetchedPage {
            url: "https://example.com/a".into(),
            content_type: content_type.into(),
            charset: None,
            body: body.to_owned().into(),
            is_cut,
        };
        read(page, &PlainReader).await
    }

    #[tokio::test]
    async fn non_markup_stays_unchanged() {
        for (content_type, body) in [("application/json", "{\"a\": \"<b>\"}"), ("text/plain", "a < b")] {
            let outcome = read_as(content_type, body, false).await;
            assert_eq!(outcome.outcome, CallOutcome::Done);
            assert_eq!(outcome.result, format!("https://example.com/a\n\n{body}"));
        }
        let cut = read_as("text/plain", "a", true).await.result;
        assert!(cut.as_str().is_some_and(|text| text.ends_with("\n\n[The page was cut after 5242880 bytes.]")));
    }

    #[tokio::test]
    async fn markup_is_only_given_to_reader() {
        let outcome = read_as("text/html", "<p>a</p>", false).await;
        assert_eq!(outcome.outcome, CallOutcome::Failed);
        assert_eq!(outcome.result, "The page was fetched but could not be read: a web page is not supported.");
    }
}

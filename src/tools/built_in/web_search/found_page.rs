//! Queries of web searches, and their results. Results come from strangers: each is cleaned and bounded here.

use chrono::{DateTime, Datelike, NaiveDate};
use serde_json::{Value, json};

use turnleaf_domain::blocks::sources::{SourceInput, clean_line, is_web_url};
use turnleaf_domain::limits;

/// A query, with the number of results wanted.
#[derive(Debug, Clone)]
pub struct WebQuery {
    pub text: String,
    pub most: usize,
    /// Only pages that were published or changed since.
    pub since: Option<Recency>,
}

/// The age of the pages that a search may find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recency {
    Day,
    Week,
    Month,
    Year,
}

impl Recency {
    pub const ALL: [Self; 4] = [Self::Day, Self::Week, Self::Month, Self::Year];

    /// Returns the word that the tool, SearXNG and Tavily use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|since| since.as_str() == name)
    }
}

/// A result: plain text on one line each, bounded in length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPage {
    pub url: String,
    pub title: String,
    /// The excerpt that the engine shows; may be empty.
    pub text: String,
    /// The day of publication or change, as `2026-11-28`.
    pub date: Option<String>,
}

impl FoundPage {
    /// Reads a result. Its fields are the address, the title, the excerpt and the date, by their names in the engine's
    /// response. `None` without an address that a page may link to.
    fn read(result: &Value, [url, title, text, date]: [&str; 4], clean: fn(&str) -> String) -> Option<Self> {
        let field = |name: &str| result.get(name).and_then(Value::as_str).unwrap_or_default();
        let url = field(url);
        let line = |name: &str, most: usize| clean_line(&clean(field(name)), most);
        is_web_url(url).then(|| Self {
            url: url.to_owned(),
            title: line(title, limits::TITLE_CHARS),
            text: line(text, limits::WEB_SEARCH_TEXT_CHARS),
            date: day_of(field(date)),
        })
    }

    /// Returns the page as a result for the model.
    pub fn to_value(&self) -> Value {
        let mut value = json!({ "title": self.title, "url": self.url, "text": self.text });
        if let Some(date) = &self.date {
            value["date"] = json!(date);
        }
        value
    }

    /// Returns the page as a source of the reply.
    pub fn into_source(self) -> SourceInput {
        SourceInput { url: self.url, title: self.title, quote: self.text, place: None }
    }
}

/// Reads the first results of a list, each address once. `clean` removes the markup of the engine from a text.
pub fn read_pages(list: &[Value], fields: [&str; 4], most: usize, clean: fn(&str) -> String) -> Vec<FoundPage> {
    let mut pages: Vec<FoundPage> = Vec::new();
    for page in list.iter().filter_map(|result| FoundPage::read(result, fields, clean)) {
        if pages.len() == most {
            break;
        }
        if pages.iter().all(|known| known.url != page.url) {
            pages.push(page);
        }
    }
    pages
}

/// Returns the day of a date in ISO 8601 or in the form of mail headers.
fn day_of(date: &str) -> Option<String> {
    const ISO: &str = "%Y-%m-%d";
    let iso = date.get(..10).and_then(|day| NaiveDate::parse_from_str(day, ISO).ok());
    let day = iso.or_else(|| DateTime::parse_from_rfc2822(date).ok().map(|at| at.date_naive()))?;
    (1..=9999).contains(&day.year()).then(|| day.format(ISO).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [&str; 4] = ["url", "title", "content", "date"];

    fn pages(list: Value, most: usize) -> Vec<FoundPage> {
        read_pages(list.as_array().unwrap(), FIELDS, most, str::to_owned)
    }

    #[test]
    fn result_is_cleaned_and_bounded() {
        let long = "\u{202e}ä\n".repeat(5_000);
        let found = pages(json!([{ "url": "https://a.example/x", "title": long, "content": long }]), 5);
        assert_eq!(found[0].title.chars().count(), limits::TITLE_CHARS);
        assert_eq!(found[0].text.chars().count(), limits::WEB_SEARCH_TEXT_CHARS);
        assert!(!found[0].title.contains(['\n', '\u{202e}']), "{}", found[0].title);
    }

    #[test]
    fn only_web_addresses_are_results_and_each_once() {
        let list = json!([
            { "url": "javascript:alert(1)", "title": "no" }, { "title": "no" }, 3, null, { "url": 4 },
            { "url": "https://a.example/", "title": "first" }, { "url": "https://a.example/", "title": "again" },
            { "url": "http://b.example/" }, { "url": "http://c.example/" },
        ]);
        let found = pages(list, 2);
        let seen: Vec<(&str, &str)> = found.iter().map(|page| (page.url.as_str(), page.title.as_str())).collect();
        assert_eq!(seen, [("https://a.example/", "first"), ("http://b.example/", "")]);
    }

    #[test]
    fn date_is_reduced_to_its_day() {
        for (date, expected) in [
            ("2026-11-22T21:59:53", Some("2026-11-22")),
            ("2026-11-22 00:00:00", Some("2026-11-22")),
            ("2026-11-22", Some("2026-11-22")),
            ("Thu, 12 Sep 2024 12:00:00 GMT", Some("2024-09-12")),
            ("2026-13-40", None),
            ("-026-10-01T12:30:00", None),
            ("+02026-10-01", None),
            ("0000-10-01", None),
            ("3 days ago", None),
            ("äöüäöü", None),
            ("", None),
        ] {
            assert_eq!(day_of(date).as_deref(), expected, "{date}");
        }
    }
}

//! Collects the pages and posts that a Grok response found or cites.

use std::collections::HashSet;

use serde_json::Value;

use crate::conversation::ImportedSource;
use crate::reading::fields::{as_id, first_text, list};

/// The number of characters of a page's text that its source repeats.
const SNIPPET_CHARS: usize = 500;

/// Pages in the order in which they were found, each once.
#[derive(Default)]
pub(super) struct FoundSources {
    sources: Vec<ImportedSource>,
    known: HashSet<String>,
}

impl FoundSources {
    /// Adds the results of a search.
    pub(super) fn add_pages(&mut self, pages: &[Value]) {
        for page in pages {
            let url = first_text(page, &["url", "URL", "link"]).or_else(|| page.as_str()).unwrap_or_default();
            let title = first_text(page, &["title", "metadata_title", "metadataTitle", "name"]).unwrap_or_default();
            let snippet = first_text(page, &["preview", "description", "snippet", "text"]).unwrap_or_default();
            self.add(url, title, snippet);
        }
    }

    /// Adds posts of X by their ids, or the posts themselves.
    pub(super) fn add_posts(&mut self, posts: &[Value]) {
        for post in posts {
            let id = as_id(post).or_else(|| first_text(post, &["post_id", "postId", "id"]).map(str::to_owned));
            let Some(id) = id.filter(|id| id.bytes().all(|byte| byte.is_ascii_alphanumeric())) else { continue };
            let title = first_text(post, &["name", "username"]).unwrap_or_default();
            let words = first_text(post, &["text", "message"]).unwrap_or_default();
            self.add(&format!("https://x.com/i/status/{id}"), title, words);
        }
    }

    pub(super) fn add(&mut self, url: &str, title: &str, snippet: &str) {
        let key = if url.is_empty() { title } else { url };
        if key.is_empty() || !self.known.insert(key.to_owned()) {
            return;
        }
        let snippet = snippet.chars().take(SNIPPET_CHARS).collect();
        self.sources.push(ImportedSource { title: title.to_owned(), url: url.to_owned(), snippet, cited_range: None });
    }

    /// Adds everything that a response or a step lists as found.
    pub(super) fn add_all_of(&mut self, of: &Value) {
        for name in ["cited_web_search_results", "web_search_results"] {
            self.add_pages(list(of, name));
        }
        for name in ["xposts", "xpost_ids", "x_posts_ids"] {
            self.add_posts(list(of, name));
        }
    }

    pub(super) fn into_sources(self) -> Vec<ImportedSource> {
        self.sources
    }
}

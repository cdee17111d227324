//! The error page: what failed, what to do about it, and a link back.

use leptos::prelude::*;

use super::messages::error_page as words;
use super::{PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::escape::textarea_content;
use crate::ui::messages as app_words;

/// An error, as far as people see it.
pub struct ErrorPage<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The sentence of the problem, in the reader's language.
    pub detail: Option<String>,
    /// The limit of the account that the request would exceed.
    pub account_limit: Option<AccountLimit>,
    /// The requested path.
    pub path: &'a str,
    /// The address for a retry, if retrying is safe.
    pub retry_address: Option<String>,
    pub request_id: &'a str,
    /// The texts that were typed into the form.
    pub typed: &'a [String],
}

/// A limit of one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountLimit {
    /// The person can make room themself.
    Storage,
    /// It resets, or an administrator raises it.
    Budget,
}

impl ErrorPage<'_> {
    pub fn draw(self) -> ServerPage {
        let (title, description, hint) = self.explanation();
        // A stranger is shown no navigation.
        let section = if self.status == 401 { PageSection::Chat } else { section_for_path(self.path) };
        let may_work = matches!(self.status, 429 | 500..);
        let again = self.retry_address.clone().filter(|_| may_work).map(|address| {
            view! { <a class="button primary" href=address>{app_words::retry()}</a> }
        });
        let back = if section == PageSection::Chat {
            ("/".to_owned(), words::to_chats().to_owned())
        } else {
            (section.path().to_owned(), words::back_to(section.name()))
        };
        let body = view! {
            <p class="lead" dir="auto">{description}</p>
            <p>{hint}</p>
            {self.submitted_text()}
            <div class="deeds">
                {again}
                <a class="button" href=back.0>{back.1}</a>
            </div>
            <p class="hint">{words::request_id()}" "<code>{self.request_id.to_owned()}</code></p>
        };
        ServerPage { section, title: title.to_owned(), notice: None, body }
    }

    /// Returns the heading, what happened, and what to do.
    fn explanation(&self) -> (&'static str, String, &'static str) {
        let detail_or = |otherwise: &'static str| self.detail.clone().unwrap_or_else(|| otherwise.to_owned());
        match self.status {
            // Objects of other people look like missing ones.
            404 => (app_words::not_found_title(), words::missing().to_owned(), words::missing_hint()),
            401 => (words::sign_in_needed(), detail_or(words::refused_description()), words::sign_in_hint()),
            403 | 421 => (words::refused(), detail_or(words::refused_description()), words::refused_hint()),
            409 | 423 => (words::not_done(), detail_or(words::changed()), words::changed_hint()),
            405 => (words::not_done(), words::not_here().to_owned(), words::missing_hint()),
            413 => (words::not_done(), words::too_large().to_owned(), words::too_large_hint()),
            429 if self.account_limit == Some(AccountLimit::Budget) => {
                (words::not_done(), detail_or(words::busy()), words::budget_hint())
            }
            429 => (words::not_now(), detail_or(words::busy()), words::busy_hint()),
            503 => (words::not_now(), detail_or(words::busy()), words::busy_hint()),
            507 if self.account_limit == Some(AccountLimit::Storage) => {
                (words::not_done(), detail_or(words::server_failed()), words::quota_hint())
            }
            507 => (words::not_done(), detail_or(words::server_failed()), words::full_hint()),
            400..=499 => (words::not_done(), detail_or(words::not_understood()), words::not_understood_hint()),
            _ => (app_words::page_failed(), detail_or(words::server_failed()), words::server_failed_hint()),
        }
    }

    fn submitted_text(&self) -> Option<AnyView> {
        let box_of = |(at, text): (usize, &String)| {
            let id = format!("written-{at}");
            view! {
                <textarea {..textarea_content(text)} class="field" id=id rows="6" readonly dir="auto" aria-label=words::submitted_text()></textarea>
            }
        };
        (!self.typed.is_empty()).then(|| {
            view! {
                <section class="panel">
                    <h2>{words::submitted_text()}</h2>
                    <p class="hint">{words::submitted_text_hint()}</p>
                    {self.typed.iter().enumerate().map(box_of).collect_view()}
                </section>
            }
        })
    }
}

/// Returns the section of the page from which the request came, as far as the path tells.
fn section_for_path(path: &str) -> PageSection {
    let path = path.strip_prefix("/forms").unwrap_or(path).trim_start_matches("/settings");
    match path.trim_start_matches('/').split('/').next().unwrap_or_default() {
        "documents" => PageSection::Documents,
        "providers" => PageSection::Providers,
        "tools" => PageSection::Tools,
        "usage" => PageSection::Usage,
        "search" => PageSection::Search,
        "notifications" => PageSection::Notifications,
        "projects" => PageSection::Projects,
        "trash" | "restore" | "purge" | "empty-trash" => PageSection::Trash,
        "preferences" | "general" => PageSection::General,
        "appearance" => PageSection::Appearance,
        "keys" | "shortcuts" => PageSection::Shortcuts,
        "profile" => PageSection::Profile,
        "budgets" => PageSection::Budgets,
        "shares" | "shared" | "shared-links" => PageSection::SharedLinks,
        _ => PageSection::Chat,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::locale::{Locale, with_locale};

    fn rendered(status: u16, path: &str, typed: &[String], locale: Locale) -> String {
        let again = Some(path.into());
        let page = ErrorPage {
            status,
            detail: None,
            account_limit: None,
            path,
            retry_address: again,
            request_id: "r-1",
            typed,
        };
        with_locale(locale, || {
            Owner::new().with(|| {
                let page = page.draw();
                format!("{}|{}", page.title, page.body.to_html()).replace("<!>", "")
            })
        })
    }

    #[test]
    fn every_error_page_has_advice_and_way_back() {
        for status in [400, 401, 403, 404, 405, 409, 413, 415, 421, 422, 429, 500, 503, 507] {
            let (english, chinese) = (
                rendered(status, "/c/1/settings", &[], Locale::English),
                rendered(status, "/c/1", &[], Locale::Chinese),
            );
            assert!(english.contains("href=\"/\"") && english.contains("<code>r-1</code>"), "{status}: {english}");
            assert!(!chinese.contains("This ") && chinese.contains('。'), "{status}: {chinese}");
            assert_eq!(english.contains("Retry</a>"), status == 429 || status >= 500, "{status}");
        }
    }

    #[test]
    fn back_link_leads_to_originating_section() {
        for (path, back) in [
            ("/documents/1", "/documents"),
            ("/forms/documents/save", "/documents"),
            ("/forms/providers/key", "/settings/providers"),
            ("/settings/tools", "/settings/tools"),
            ("/forms/purge", "/trash"),
            ("/turns/1/edit", "/"),
            ("/nothing", "/"),
        ] {
            let html = rendered(404, path, &[], Locale::English);
            assert!(html.contains(&format!("href=\"{back}\"")), "{path}: {html}");
        }
    }

    #[test]
    fn submitted_text_is_shown_and_escaped() {
        let html = rendered(404, "/forms/edit", &["</textarea><script>x".to_owned()], Locale::English);
        assert!(html.contains("Your input") && html.contains("&lt;/textarea&gt;"), "{html}");
        assert!(!html.contains("<script"), "{html}");
    }
}

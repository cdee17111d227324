//! The document around a plain page: style sheets, the way back, the pages of the settings, the theme.

use leptos::prelude::*;

use super::words;
use crate::ui::erased::view;
use crate::ui::escape::sprite;
use crate::ui::kit::{Icon, installable};
use crate::ui::locale::locale;
use crate::ui::preferences::{Preferences, Setting};
use crate::ui::start::{Call, start};
use crate::ui::words as app_words;

/// What a document depends on beside its page: the request and the build.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Where the style sheets lie, such as `/pkg/0123456789abcdef`.
    pub package: String,
    pub preferences: Preferences,
    /// Path and query that show this page again.
    pub address: String,
    /// The nonce under which the policy lets script do more on the page; none where the page is all there is.
    pub nonce: Option<String>,
}

/// One page.
pub struct Page {
    pub section: Section,
    /// The heading and the document's title.
    pub title: String,
    /// What came of the deed before.
    pub said: Option<Said>,
    pub body: AnyView,
}

/// Which page of the settings it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    General,
    Appearance,
    Shortcuts,
    /// What goes out and comes in.
    Data,
    About,
    Documents,
    Providers,
    Tools,
    Usage,
    Search,
    /// Every chat, those of the archive too.
    Chats,
    Trash,
    Api,
    /// A chat's own settings: reached from the chat, not from the list.
    Chat,
}

impl Section {
    pub const ALL: [Self; 13] = [
        Self::Search,
        Self::Chats,
        Self::Documents,
        Self::General,
        Self::Appearance,
        Self::Providers,
        Self::Tools,
        Self::Usage,
        Self::Shortcuts,
        Self::Data,
        Self::Trash,
        Self::Api,
        Self::About,
    ];

    /// Where the page is.
    pub fn path(self) -> &'static str {
        match self {
            Self::General => "/settings/general",
            Self::Appearance => "/settings/appearance",
            Self::Shortcuts => "/settings/shortcuts",
            Self::Data => "/settings/data",
            Self::About => "/settings/about",
            Self::Documents => "/documents",
            Self::Providers => "/settings/providers",
            Self::Tools => "/settings/tools",
            Self::Usage => "/usage",
            Self::Search => "/search",
            Self::Chats => "/chats",
            Self::Trash => "/trash",
            Self::Api => "/api/docs",
            Self::Chat => "/",
        }
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::General => words::preferences::general(),
            Self::Appearance => words::preferences::appearance(),
            Self::Shortcuts => words::preferences::shortcuts(),
            Self::Data => words::transfer::title(),
            Self::About => words::preferences::about(),
            Self::Documents => words::documents::documents(),
            Self::Providers => words::providers_title(),
            Self::Tools => words::tools::title(),
            Self::Usage => words::usage_title(),
            Self::Search => words::search::title(),
            Self::Chats => app_words::chats::all_chats(),
            Self::Trash => words::trash::trash(),
            Self::Api => words::API,
            Self::Chat => words::chat_settings(),
        }
    }
}

/// A sentence about a deed, at the top of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    Done(String),
    /// Done, but somebody should know this.
    Careful(String),
    Refused(String),
}

impl Frame {
    /// The whole document as HTML.
    pub fn draw(&self, page: Page) -> String {
        // Some parts look for an owner of what they make; nothing of it outlives the string.
        let html = Owner::new().with(|| self.document(page).to_html());
        // Marks for hydration, which never comes here, and which a title would show. No text holds one: its `<` is
        // written as a reference.
        html.replace("<!>", "")
    }

    fn document(&self, page: Page) -> AnyView {
        let Page { section, title, said, body } = page;
        let sheet = |name: &str| format!("{}/{name}.css", self.package);
        let heading = title.clone();
        view! {
            <!DOCTYPE html>
            <html
                lang=locale().as_str()
                data-theme=self.preferences.get(Setting::Theme)
                data-size=self.preferences.mark(Setting::TextSize)
                data-density=self.preferences.mark(Setting::Density)
                data-code=self.preferences.mark(Setting::Code)
                data-motion=self.preferences.mark(Setting::Motion)
                data-reasoning=self.preferences.mark(Setting::Reasoning)
                data-send=self.preferences.mark(Setting::Send)
                data-letters=self.preferences.mark(Setting::Letters)
                data-announced=self.preferences.mark(Setting::Announced)
                data-notify=self.preferences.mark(Setting::Notify)
                data-keys=self.preferences.keys_mark()
            >
                <head>
                    <meta charset="utf-8"/>
                    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover"/>
                    <meta name="color-scheme" content="light dark"/>
                    <meta name="robots" content="noindex"/>
                    <title>{format!("{title} · {}", app_words::PRODUCT)}</title>
                    <link rel="stylesheet" href=sheet("turnleaf")/>
                    <link rel="stylesheet" href=sheet("plain")/>
                    <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                    {installable(self.preferences.get(Setting::Theme))}
                    {self.nonce.as_deref().map(|nonce| self.script(nonce))}
                </head>
                <body class="plain">
                    <a class="skip" href="#main">{words::skip()}</a>
                    <header class="plain-head">
                        <a class="button bare" id="way-back" href="/"><Icon name="chevron-left"/>{words::back()}</a>
                        <span class="brand"><Icon name="leaf"/>{app_words::PRODUCT}</span>
                    </header>
                    <div class="plain-columns">
                        {sections(section)}
                        <main id="main" class="plain-main" tabindex="-1">
                            <h1>{heading}</h1>
                            <div data-not-saved=words::not_reached() role="status">{said.map(sentence)}</div>
                            {body}
                        </main>
                    </div>
                    <footer class="plain-foot no-print">{self.themes()}</footer>
                    {sprite()}
                </body>
            </html>
        }
    }

    /// Loads the application's own bundle and lets it enhance the page. Nothing waits for it.
    fn script(&self, nonce: &str) -> AnyView {
        start(&self.package, "turnleaf", Some("plain"), Call::Enhance, Some(nonce.to_owned()))
    }

    fn themes(&self) -> AnyView {
        let choice = |theme: &'static str| {
            let is_chosen = self.preferences.is(Setting::Theme, theme);
            view! {
                <button type="submit" class="button bare" name="theme" value=theme aria-pressed=is_chosen.to_string()>
                    {app_words::theme(theme)}
                </button>
            }
        };
        view! {
            <form class="plain-themes" method="post" action="/forms/preferences" aria-label=app_words::theme_label()>
                <input type="hidden" name="next" value=self.address.clone()/>
                {Setting::Theme.values().iter().copied().map(choice).collect_view()}
            </form>
        }
    }
}

fn sections(current: Section) -> AnyView {
    let link = |section: Section| {
        let is_here = (section == current).then_some("page");
        view! { <li><a href=section.path() aria-current=is_here>{section.name()}</a></li> }
    };
    view! {
        <nav class="plain-nav no-print" aria-label=app_words::settings()>
            <ul>{Section::ALL.into_iter().map(link).collect_view()}</ul>
        </nav>
    }
}

fn sentence(said: Said) -> AnyView {
    let (class, icon, text) = match said {
        Said::Done(text) => ("said ok", "check", text),
        Said::Careful(text) => ("said warn", "alert", text),
        Said::Refused(text) => ("said danger", "alert", text),
    };
    view! { <p class=class><Icon name=icon/><span dir="auto">{text}</span></p> }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(title: &str, said: Option<Said>, address: &str) -> String {
        let frame = Frame {
            package: "/pkg/0".into(),
            preferences: Preferences::default().with(Setting::Theme, "dark"),
            address: address.into(),
            nonce: None,
        };
        let body = view! { <p>{title.to_owned()}</p> };
        frame.draw(Page { section: Section::Usage, title: title.into(), said, body })
    }

    #[test]
    fn a_document_is_whole_and_has_no_script() {
        let html = drawn("Usage", None, "/usage?a=1");
        assert!(html.starts_with("<!DOCTYPE html><html lang=\"en\" data-theme=\"dark\">"), "{html}");
        for part in [
            "<title>Usage · Turnleaf</title>",
            "href=\"/pkg/0/turnleaf.css\"",
            "href=\"/pkg/0/plain.css\"",
            "<a href=\"/usage\" aria-current=\"page\">",
            "<a href=\"/settings/providers\">",
            "name=\"next\" value=\"/usage?a=1\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<script") && !html.contains("style=\""), "{html}");
    }

    #[test]
    fn no_text_becomes_markup() {
        for hostile in ["</title><script>alert(1)</script>", "\"><script>alert(1)</script>"] {
            let html = drawn(hostile, Some(Said::Refused(hostile.into())), hostile);
            assert!(!html.contains("<script"), "{html}");
        }
    }
}

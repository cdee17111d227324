//! The document around a server page: style sheets, the link back, the navigation of the settings, the theme.

use leptos::prelude::*;

use super::messages;
use crate::ui::erased::view;
use crate::ui::escape::icon_sprite;
use crate::ui::kit::{Icon, installable};
use crate::ui::locale::locale;
use crate::ui::messages as app_words;
use crate::ui::preferences::{PreferenceSetting, Preferences};
use crate::ui::startup_script::{StartupCall, startup_script};

/// The data of the request and the build on which a document depends.
#[derive(Debug, Clone)]
pub struct PageFrame {
    /// The path of the style sheets, such as `/pkg/0123456789abcdef`.
    pub package: String,
    pub preferences: Preferences,
    /// The path and query that show this page again.
    pub address: String,
    /// The nonce with which the content security policy allows the page's script; `None` for a page without script.
    pub nonce: Option<String>,
}

/// A server page.
pub struct ServerPage {
    pub section: PageSection,
    /// The heading and the document's title.
    pub title: String,
    /// The notice about the previous action.
    pub notice: Option<ActionNotice>,
    pub body: AnyView,
}

/// The section to which a page belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageSection {
    General,
    Appearance,
    Shortcuts,
    /// Import and export.
    Data,
    About,
    Documents,
    Providers,
    Tools,
    Usage,
    Search,
    /// All chats, archived ones included.
    Chats,
    Notifications,
    Trash,
    Api,
    /// The settings of one chat, which are reached from the chat and not listed.
    Chat,
}

impl PageSection {
    pub const ALL: [Self; 14] = [
        Self::Search,
        Self::Chats,
        Self::Notifications,
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

    /// Returns the address of the page.
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
            Self::Notifications => "/notifications",
            Self::Trash => "/trash",
            Self::Api => "/api/docs",
            Self::Chat => "/",
        }
    }

    /// Returns its display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::General => messages::preferences::general(),
            Self::Appearance => messages::preferences::appearance(),
            Self::Shortcuts => messages::preferences::shortcuts(),
            Self::Data => messages::transfer::title(),
            Self::About => messages::preferences::about(),
            Self::Documents => messages::documents::documents(),
            Self::Providers => messages::providers_title(),
            Self::Tools => messages::tools::title(),
            Self::Usage => messages::usage_title(),
            Self::Search => messages::search::title(),
            Self::Chats => app_words::chats::all_chats(),
            Self::Notifications => app_words::notifications(),
            Self::Trash => messages::trash::trash(),
            Self::Api => messages::API,
            Self::Chat => messages::chat_settings(),
        }
    }
}

/// A notice about an action, at the top of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActionNotice {
    Done(String),
    /// The action succeeded, with a warning.
    Warning(String),
    Refused(String),
}

impl PageFrame {
    /// Renders the whole document as HTML.
    pub fn draw(&self, page: ServerPage) -> String {
        // Some components need a reactive owner, which is dropped with this call.
        let html = Owner::new().with(|| self.document(page).to_html());
        // Removes hydration markers, which these pages do not need and which a title would show. No text contains
        // one, because its `<` is escaped.
        html.replace("<!>", "")
    }

    fn document(&self, page: ServerPage) -> AnyView {
        let ServerPage { section, title, notice, body } = page;
        let sheet = |name: &str| format!("{}/{name}.css", self.package);
        let heading = title.clone();
        view! {
            <!DOCTYPE html>
            <html
                lang=locale().as_str()
                data-theme=self.preferences.get(PreferenceSetting::Theme)
                data-size=self.preferences.root_attribute(PreferenceSetting::TextSize)
                data-density=self.preferences.root_attribute(PreferenceSetting::Density)
                data-code=self.preferences.root_attribute(PreferenceSetting::Code)
                data-motion=self.preferences.root_attribute(PreferenceSetting::Motion)
                data-reasoning=self.preferences.root_attribute(PreferenceSetting::Reasoning)
                data-send=self.preferences.root_attribute(PreferenceSetting::Send)
                data-letters=self.preferences.root_attribute(PreferenceSetting::Letters)
                data-announced=self.preferences.root_attribute(PreferenceSetting::Announced)
                data-notify=self.preferences.root_attribute(PreferenceSetting::Notify)
                data-keys=self.preferences.keys_attribute()
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
                    {installable(self.preferences.get(PreferenceSetting::Theme))}
                    {self.nonce.as_deref().map(|nonce| self.script(nonce))}
                </head>
                <body class="plain">
                    <a class="skip" href="#main">{messages::skip()}</a>
                    <header class="plain-head">
                        <a class="button bare" id="way-back" href="/"><Icon name="chevron-left"/>{messages::back()}</a>
                        <span class="brand"><Icon name="leaf"/>{app_words::PRODUCT}</span>
                    </header>
                    <div class="plain-columns">
                        {sections(section)}
                        <main id="main" class="plain-main" tabindex="-1">
                            <h1>{heading}</h1>
                            <div data-not-saved=messages::save_failed() role="status">{notice.map(notice_view)}</div>
                            {body}
                        </main>
                    </div>
                    <footer class="plain-foot no-print">{self.themes()}</footer>
                    {icon_sprite()}
                </body>
            </html>
        }
    }

    /// Renders the script that loads the application's bundle to enhance the page, without blocking it.
    fn script(&self, nonce: &str) -> AnyView {
        startup_script(&self.package, "turnleaf", Some("plain"), StartupCall::Enhance, Some(nonce.to_owned()))
    }

    fn themes(&self) -> AnyView {
        let choice = |theme: &'static str| {
            let is_chosen = self.preferences.is_chosen(PreferenceSetting::Theme, theme);
            view! {
                <button type="submit" class="button bare" name="theme" value=theme aria-pressed=is_chosen.to_string()>
                    {app_words::theme(theme)}
                </button>
            }
        };
        view! {
            <form class="plain-themes" method="post" action="/forms/preferences" aria-label=app_words::theme_label()>
                <input type="hidden" name="next" value=self.address.clone()/>
                {PreferenceSetting::Theme.values().iter().copied().map(choice).collect_view()}
            </form>
        }
    }
}

/// Renders the navigation. On a narrow screen the list is behind a disclosure with the name of the page, so that the
/// page does not begin with it; the style lets the disclosure beside the list show and hide it.
fn sections(current: PageSection) -> AnyView {
    let link = |section: PageSection| {
        let is_here = (section == current).then_some("page");
        view! { <li><a href=section.path() aria-current=is_here>{section.name()}</a></li> }
    };
    // A page of a chat is not in the list.
    let here = if current == PageSection::Chat { app_words::settings() } else { current.name() };
    view! {
        <nav class="plain-nav no-print" aria-label=app_words::settings()>
            <details class="plain-here"><summary>{here}<Icon name="chevron-down"/></summary></details>
            <ul>{PageSection::ALL.into_iter().map(link).collect_view()}</ul>
        </nav>
    }
}

fn notice_view(notice: ActionNotice) -> AnyView {
    let (class, icon, text) = match notice {
        ActionNotice::Done(text) => ("said ok", "check", text),
        ActionNotice::Warning(text) => ("said warn", "alert", text),
        ActionNotice::Refused(text) => ("said danger", "alert", text),
    };
    view! { <p class=class><Icon name=icon/><span dir="auto">{text}</span></p> }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(title: &str, notice: Option<ActionNotice>, address: &str) -> String {
        let frame = PageFrame {
            package: "/pkg/0".into(),
            preferences: Preferences::default().with_choice(PreferenceSetting::Theme, "dark"),
            address: address.into(),
            nonce: None,
        };
        let body = view! { <p>{title.to_owned()}</p> };
        frame.draw(ServerPage { section: PageSection::Usage, title: title.into(), notice, body })
    }

    #[test]
    fn document_is_complete_and_has_no_script() {
        let html = rendered("Usage", None, "/usage?a=1");
        assert!(html.starts_with("<!DOCTYPE html><html lang=\"en\" data-theme=\"dark\">"), "{html}");
        for part in [
            "<title>Usage · Turnleaf</title>",
            "href=\"/pkg/0/turnleaf.css\"",
            "href=\"/pkg/0/plain.css\"",
            "<summary>Usage<svg",
            "<a href=\"/usage\" aria-current=\"page\">",
            "<a href=\"/settings/providers\">",
            "name=\"next\" value=\"/usage?a=1\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<script") && !html.contains("style=\""), "{html}");
    }

    #[test]
    fn text_never_becomes_markup() {
        for hostile in ["</title><script>alert(1)</script>", "\"><script>alert(1)</script>"] {
            let html = rendered(hostile, Some(ActionNotice::Refused(hostile.into())), hostile);
            assert!(!html.contains("<script"), "{html}");
        }
    }
}

//! The document around a server page: style sheets, the link back, and the navigation of the settings, or of the
//! pages beside the chats.

use leptos::prelude::*;

use super::messages;
use crate::ui::erased::view;
use crate::ui::escape::icon_sprite;
use crate::ui::kit::{Icon, installable};
use crate::ui::locale::locale;
use crate::ui::messages as app_words;
use crate::ui::preferences::{PreferenceSetting, Preferences};
use crate::ui::site_font::font_preload;
use crate::ui::startup_script::{StartupCall, startup_script};

/// The data of the request and the build on which a document depends.
#[derive(Debug, Clone)]
pub struct PageFrame {
    /// The path of the style sheets, such as `/pkg/0123456789abcdef`.
    pub package: String,
    pub preferences: Preferences,
    /// The nonce with which the content security policy allows the page's script; `None` for a page without script.
    pub nonce: Option<String>,
    pub accounts: AccountPages,
    /// True for a person who is signed in and can sign out.
    pub has_session: bool,
}

/// The pages about accounts that the reader may open. On a server without accounts there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AccountPages {
    #[default]
    None,
    Own,
    /// Those of an administrator, too.
    All,
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
    /// The index of the settings: on a narrow screen only their list, elsewhere with the first of them.
    Settings,
    General,
    Appearance,
    Shortcuts,
    /// Import and export.
    Data,
    /// The links under which others read paths.
    SharedLinks,
    About,
    Documents,
    Providers,
    Tools,
    Usage,
    Search,
    /// All chats, archived ones included.
    Chats,
    Projects,
    Notifications,
    Trash,
    Api,
    /// The own account.
    Profile,
    /// All accounts, for administrators.
    Users,
    /// The budgets of all accounts, for administrators.
    Budgets,
    /// Groups of accounts, and who may use what.
    Groups,
    AuditLog,
    /// The pages of one chat, which are reached from the chat and not listed.
    Chat,
    /// The pages for people who are not signed in, which lead nowhere else.
    SignIn,
    /// The pages on which somebody who has signed in takes a step first. They lead nowhere else, either.
    PendingStep,
}

/// A group of the settings.
struct SettingsGroup {
    name: fn() -> &'static str,
    icon: &'static str,
    sections: &'static [PageSection],
}

const SETTINGS: [SettingsGroup; 4] = [
    SettingsGroup {
        name: messages::preferences::group_you,
        icon: "user",
        sections: &[PageSection::Profile, PageSection::General, PageSection::Appearance, PageSection::Shortcuts],
    },
    SettingsGroup {
        name: messages::preferences::group_models,
        icon: "thought",
        sections: &[PageSection::Providers, PageSection::Tools],
    },
    SettingsGroup {
        name: messages::preferences::group_data,
        icon: "file",
        sections: &[PageSection::Data, PageSection::SharedLinks],
    },
    SettingsGroup {
        name: messages::preferences::group_server,
        icon: "system",
        sections: &[
            PageSection::Users,
            PageSection::Groups,
            PageSection::Budgets,
            PageSection::AuditLog,
            PageSection::Api,
            PageSection::About,
        ],
    },
];

/// The pages beside the chats, with their icons. They are no settings.
const PLACES: [(PageSection, &str); 7] = [
    (PageSection::Chats, "chat"),
    (PageSection::Projects, "folder"),
    (PageSection::Notifications, "bell"),
    (PageSection::Search, "search"),
    (PageSection::Documents, "file"),
    (PageSection::Usage, "chart"),
    (PageSection::Trash, "trash"),
];

impl PageSection {
    /// Returns the address of the page.
    pub fn path(self) -> &'static str {
        match self {
            Self::Settings => "/settings",
            Self::General => "/settings/general",
            Self::Appearance => "/settings/appearance",
            Self::Shortcuts => "/settings/shortcuts",
            Self::Data => "/settings/data",
            Self::SharedLinks => "/settings/shared-links",
            Self::About => "/settings/about",
            Self::Documents => "/documents",
            Self::Providers => "/settings/providers",
            Self::Tools => "/settings/tools",
            Self::Usage => "/usage",
            Self::Search => "/search",
            Self::Chats => "/chats",
            Self::Projects => "/projects",
            Self::Notifications => "/notifications",
            Self::Trash => "/trash",
            Self::Api => "/api/docs",
            Self::Profile => "/settings/profile",
            Self::Users => "/settings/users",
            Self::Budgets => "/settings/budgets",
            Self::Groups => "/settings/groups",
            Self::AuditLog => "/settings/audit",
            Self::Chat => "/",
            Self::SignIn => "/sign-in",
            Self::PendingStep => "/finish-sign-in",
        }
    }

    /// Returns its display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Settings => app_words::settings(),
            Self::General => messages::preferences::general(),
            Self::Appearance => messages::preferences::appearance(),
            Self::Shortcuts => messages::preferences::shortcuts(),
            Self::Data => messages::transfer::title(),
            Self::SharedLinks => messages::shares::shared_links(),
            Self::About => messages::preferences::about(),
            Self::Documents => messages::documents::documents(),
            Self::Providers => messages::providers_title(),
            Self::Tools => messages::tools::title(),
            Self::Usage => messages::usage_title(),
            Self::Search => messages::search::title(),
            Self::Chats => app_words::chats::all_chats(),
            Self::Projects => app_words::chats::projects(),
            Self::Notifications => app_words::notifications(),
            Self::Trash => messages::trash::trash(),
            Self::Api => messages::API,
            Self::Profile => messages::accounts::profile(),
            Self::Users => messages::accounts::users(),
            Self::Budgets => messages::budgets::budgets(),
            Self::Groups => messages::rights::groups(),
            Self::AuditLog => messages::accounts::audit_log(),
            Self::Chat => messages::chat_settings(),
            Self::SignIn => messages::accounts::sign_in(),
            Self::PendingStep => messages::accounts::finish_sign_in(),
        }
    }

    /// Returns whether its pages lead nowhere else, because their reader may not open anything else.
    fn is_apart(self) -> bool {
        matches!(self, Self::SignIn | Self::PendingStep)
    }

    /// Returns whether the navigation has the page for this reader.
    fn is_listed(self, accounts: AccountPages) -> bool {
        match self {
            Self::Profile => accounts != AccountPages::None,
            Self::Users | Self::Groups | Self::Budgets | Self::AuditLog => accounts == AccountPages::All,
            _ => true,
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
        let is_index = section == PageSection::Settings;
        // The heading of the index follows what the width shows.
        let (title, heading) = if is_index {
            let both = view! { <span class="index-name">{section.name()}</span><span>{title}</span> };
            (section.name().to_owned(), both)
        } else {
            (title.clone(), title.into_any())
        };
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
                data-font=self.preferences.font_attribute()
            >
                <head>
                    <meta charset="utf-8"/>
                    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover"/>
                    <meta name="color-scheme" content="light dark"/>
                    <meta name="robots" content="noindex"/>
                    <title>{format!("{title} · {}", app_words::PRODUCT)}</title>
                    <link rel="stylesheet" href=sheet("turnleaf")/>
                    <link rel="stylesheet" href=sheet("plain")/>
                    {font_preload(self.preferences, &self.package)}
                    <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                    {installable(self.preferences.get(PreferenceSetting::Theme))}
                    {self.nonce.as_deref().map(|nonce| self.script(nonce))}
                </head>
                <body class="plain">
                    <a class="skip" href="#main">{messages::skip()}</a>
                    <header class="plain-head">
                        {(!section.is_apart()).then(way_back)}
                        <span class="brand"><Icon name="leaf"/>{app_words::PRODUCT}</span>
                        {self.has_session.then(sign_out_form)}
                    </header>
                    <div class=if is_index { "plain-columns index" } else { "plain-columns" }>
                        {navigation(section, self.accounts)}
                        <main id="main" class="plain-main" tabindex="-1">
                            <h1>{heading}</h1>
                            <div data-not-saved=messages::save_failed() role="status">{notice.map(notice_view)}</div>
                            {body}
                        </main>
                    </div>
                    {icon_sprite()}
                </body>
            </html>
        }
    }

    /// Renders the script that loads the application's bundle to enhance the page, without blocking it.
    fn script(&self, nonce: &str) -> AnyView {
        startup_script(&self.package, "turnleaf", Some("plain"), StartupCall::Enhance, Some(nonce.to_owned()))
    }
}

/// Renders the link to the chats.
fn way_back() -> AnyView {
    view! { <a class="button bare" id="way-back" href="/"><Icon name="chevron-left"/>{messages::back()}</a> }
}

/// Renders the button that ends the session.
fn sign_out_form() -> AnyView {
    view! {
        <form method="post" action="/forms/sign-out">
            <button type="submit" class="button bare">{app_words::sign_out()}</button>
        </form>
    }
}

/// Renders the navigation beside a page: the groups of the settings, or the pages beside the chats. The pages of a chat
/// have none. A narrow screen has no room beside the page, so there the list is the index, and each page of the
/// settings has a link to it.
fn navigation(current: PageSection, accounts: AccountPages) -> Option<AnyView> {
    let link = |section: PageSection, icon: Option<&'static str>| {
        let is_here = (section == current).then_some("page");
        let icon = icon.map(|name| view! { <Icon name/> });
        view! { <li><a href=section.path() aria-current=is_here>{icon}{section.name()}</a></li> }
    };
    if current == PageSection::Chat || current.is_apart() {
        return None;
    }
    if PLACES.iter().any(|(section, _)| *section == current) {
        let places = PLACES.into_iter().map(|(section, icon)| link(section, Some(icon))).collect_view();
        return Some(view! {
            <nav class="plain-nav no-print" aria-label=messages::places()><ul>{places}</ul></nav>
        });
    }
    let group = |group: &SettingsGroup| {
        let id = format!("group-{}", group.icon);
        let labelled = id.clone();
        let sections = group.sections.iter().filter(|section| section.is_listed(accounts));
        let links = sections.map(|section| link(*section, None)).collect_view();
        view! {
            <p class="nav-group" id=id><Icon name=group.icon/>{(group.name)()}</p>
            <ul aria-labelledby=labelled>{links}</ul>
        }
    };
    let to_index = (current != PageSection::Settings).then(|| {
        view! {
            <a class="button bare to-index" href=PageSection::Settings.path()>
                <Icon name="chevron-left"/>
                {app_words::settings()}
            </a>
        }
    });
    Some(view! {
        <nav class="plain-nav no-print" aria-label=app_words::settings()>
            {to_index}
            <div class="nav-groups">{SETTINGS.iter().map(group).collect_view()}</div>
        </nav>
    })
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

    fn rendered(section: PageSection, title: &str, notice: Option<ActionNotice>) -> String {
        rendered_for(AccountPages::None, section, title, notice)
    }

    fn rendered_for(accounts: AccountPages, section: PageSection, title: &str, notice: Option<ActionNotice>) -> String {
        let frame = PageFrame {
            package: "/pkg/0".into(),
            preferences: Preferences::default().with_choice(PreferenceSetting::Theme, "dark"),
            nonce: None,
            accounts,
            has_session: accounts != AccountPages::None,
        };
        let body = view! { <p>{title.to_owned()}</p> };
        frame.draw(ServerPage { section, title: title.into(), notice, body })
    }

    #[test]
    fn document_is_complete_and_has_no_script() {
        let html = rendered(PageSection::Providers, "Providers", None);
        assert!(html.starts_with("<!DOCTYPE html><html lang=\"en\" data-theme=\"dark\">"), "{html}");
        for part in [
            "<title>Providers · Turnleaf</title>",
            "href=\"/pkg/0/turnleaf.css\"",
            "href=\"/pkg/0/plain.css\"",
            "<h1>Providers</h1>",
            "<a href=\"/settings/providers\" aria-current=\"page\">",
            "<a href=\"/settings/general\">",
            "href=\"/settings\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<script") && !html.contains("style=\""), "{html}");
    }

    #[test]
    fn settings_and_places_have_lists_of_their_own_and_pages_of_chat_have_none() {
        let settings = rendered(PageSection::Settings, "General", None);
        assert!(settings.contains("<title>Settings · Turnleaf</title>"), "{settings}");
        assert!(settings.contains("<h1><span class=\"index-name\">Settings</span><span>General</span></h1>"));
        assert!(settings.contains("/settings/about") && !settings.contains("\"/trash\""), "{settings}");
        assert!(!settings.contains("to-index"), "{settings}");
        let place = rendered(PageSection::Trash, "Trash", None);
        assert!(place.contains("<a href=\"/trash\" aria-current=\"page\">") && !place.contains("/settings/about"));
        assert!(!rendered(PageSection::Chat, "Branches", None).contains("<nav"));
    }

    #[test]
    fn pages_of_accounts_are_listed_for_those_who_may_open_them() {
        let listed = |accounts| {
            let html = rendered_for(accounts, PageSection::General, "General", None);
            ["profile", "users", "audit"].map(|page| html.contains(&format!("href=\"/settings/{page}\"")))
        };
        assert_eq!(listed(AccountPages::None), [false, false, false]);
        assert_eq!(listed(AccountPages::Own), [true, false, false]);
        assert_eq!(listed(AccountPages::All), [true, true, true]);
        for section in [PageSection::SignIn, PageSection::PendingStep] {
            let apart = rendered(section, "Sign in", None);
            assert!(!apart.contains("<nav") && !apart.contains("way-back"), "{apart}");
        }
    }

    #[test]
    fn every_page_of_session_has_way_to_sign_out() {
        let sign_out = "action=\"/forms/sign-out\"";
        for section in [PageSection::Settings, PageSection::Trash, PageSection::Chat, PageSection::PendingStep] {
            let page = rendered_for(AccountPages::Own, section, "Page", None);
            assert!(page.contains(sign_out) && page.contains(">Sign out</button>"), "{section:?}: {page}");
            assert!(!rendered(section, "Page", None).contains(sign_out), "{section:?}");
        }
    }

    #[test]
    fn text_never_becomes_markup() {
        for hostile in ["</title><script>alert(1)</script>", "\"><script>alert(1)</script>"] {
            let html = rendered(PageSection::Usage, hostile, Some(ActionNotice::Refused(hostile.into())));
            assert!(!html.contains("<script"), "{html}");
        }
    }
}

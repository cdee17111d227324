//! What a person chose for the look of the page. It is kept in cookies, so that the server draws the page right at once
//! and nothing flashes.

use crate::browser::{cookies, document};

/// The cookies' names.
pub const THEME_COOKIE: &str = "turnleaf_theme";
pub const SIDEBAR_COOKIE: &str = "turnleaf_sidebar";

/// Light, dark, or what the system says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// The word in the cookie, in the form and in `html[data-theme]`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Reads `as_str` back.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.as_str() == word)
    }
}

/// The choices, as the server found them in the request and as the page starts with them. In context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Preferences {
    pub theme: Theme,
    /// Whether the wide layout hides the list of chats.
    pub is_sidebar_closed: bool,
}

impl Preferences {
    /// From the text of a `Cookie` header; what is missing or unknown has its default.
    pub fn from_cookies(header: &str) -> Self {
        let find = |name: &str| {
            header
                .split(';')
                .filter_map(|pair| pair.trim().split_once('='))
                .find(|(key, _)| *key == name)
                .map(|(_, v)| v)
        };
        Self {
            theme: find(THEME_COOKIE).and_then(Theme::parse).unwrap_or_default(),
            is_sidebar_closed: find(SIDEBAR_COOKIE) == Some("closed"),
        }
    }

    /// As the server wrote them on the page that the browser shows.
    pub fn of_page() -> Self {
        Self {
            theme: document::root_attribute("data-theme").as_deref().and_then(Theme::parse).unwrap_or_default(),
            is_sidebar_closed: document::root_attribute("data-sidebar").as_deref() == Some("closed"),
        }
    }

    /// The word in the cookie and in `html[data-sidebar]`.
    pub fn sidebar_word(self) -> &'static str {
        if self.is_sidebar_closed { "closed" } else { "open" }
    }

    /// Shows these choices on the page and keeps them for the next one.
    pub fn apply(self) {
        document::set_root_attribute("data-theme", self.theme.as_str());
        document::set_root_attribute("data-sidebar", self.sidebar_word());
        cookies::keep(THEME_COOKIE, self.theme.as_str());
        cookies::keep(SIDEBAR_COOKIE, self.sidebar_word());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_found_among_other_cookies_and_nonsense_is_the_default() {
        let both = Preferences::from_cookies("a=b; turnleaf_theme=dark; turnleaf_sidebar=closed");
        assert_eq!(both, Preferences { theme: Theme::Dark, is_sidebar_closed: true });
        for nothing in ["", ";;", "turnleaf_theme", "turnleaf_theme=\"><script>", "xturnleaf_theme=dark"] {
            assert_eq!(Preferences::from_cookies(nothing), Preferences::default(), "{nothing}");
        }
    }
}

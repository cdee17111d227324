//! A person's display preferences. They are kept in cookies, so that the server renders the page correctly at once
//! and nothing flashes. On the page they are attributes of `<html>`, for the style sheets.

pub mod setting;

use leptos::prelude::{GetUntracked, RwSignal, Update};

use crate::browser::{cookies, document};
use crate::ui::keymap::Keymap;
use crate::ui::kit::installable::frame_colours;
pub use setting::{PreferenceSetting, current_value};

/// The cookie with the browser's UTC offset in minutes.
pub const ZONE_COOKIE: &str = "turnleaf_zone";

/// The cookie with the changed keyboard shortcuts.
pub const KEYS_COOKIE: &str = "turnleaf_keys";

/// The lifetime of the cookies in seconds: a year.
pub const KEPT_SECONDS: u32 = 365 * 24 * 60 * 60;

/// The preferences as the server found them in the request and as the page starts with them. Provided as context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Preferences {
    /// For each index of [`PreferenceSetting::ALL`], the index of the chosen value.
    chosen: [u8; PreferenceSetting::ALL.len()],
    keys: Keymap,
    /// True if this browser was here before.
    is_return_visit: bool,
}

impl Preferences {
    /// Returns the chosen value.
    pub fn get(self, setting: PreferenceSetting) -> &'static str {
        setting.values()[usize::from(self.chosen[setting as usize])]
    }

    /// Returns whether this value is chosen.
    pub fn is_chosen(self, setting: PreferenceSetting, value: &str) -> bool {
        self.get(setting) == value
    }

    /// Returns the attribute of `<html>`; none for the default.
    pub fn root_attribute(self, setting: PreferenceSetting) -> Option<&'static str> {
        Some(self.get(setting)).filter(|value| *value != setting.values()[0])
    }

    /// Returns the preferences with another choice; an unknown value becomes the default.
    #[must_use]
    pub fn with_choice(mut self, setting: PreferenceSetting, value: &str) -> Self {
        let at = setting.values().iter().position(|known| *known == value).unwrap_or(0);
        self.chosen[setting as usize] = at as u8;
        self
    }

    /// Returns the keyboard shortcuts.
    pub fn keys(&self) -> &Keymap {
        &self.keys
    }

    /// Returns the attribute of `<html>` for the shortcuts; none for the defaults.
    pub fn keys_attribute(&self) -> Option<String> {
        Some(self.keys.to_stored()).filter(|kept| !kept.is_empty())
    }

    /// Returns whether this browser was here before. A first visit goes without the font of the site.
    pub fn is_return_visit(self) -> bool {
        self.is_return_visit
    }

    /// Returns the attribute of `<html>` with which pages use the font of the site.
    pub fn font_attribute(self) -> Option<&'static str> {
        self.is_return_visit.then_some("site")
    }

    /// Parses a `Cookie` header; missing and unknown values become the default.
    pub fn from_cookies(header: &str) -> Self {
        let keys = cookie_value(header, KEYS_COOKIE).map(Keymap::from_stored).unwrap_or_default();
        // Every browser with script has this cookie from its first page on.
        let is_return_visit = cookie_value(header, ZONE_COOKIE).is_some();
        let chosen = Self::from_values(|setting| cookie_value(header, &setting.cookie()).map(str::to_owned));
        Self { keys, is_return_visit, ..chosen }
    }

    /// Reads the preferences from the server-rendered page in the browser.
    pub fn from_page() -> Self {
        let keys = Keymap::from_page();
        Self { keys, ..Self::from_values(|setting| document::root_attribute(&format!("data-{}", setting.name()))) }
    }

    fn from_values(find: impl Fn(PreferenceSetting) -> Option<String>) -> Self {
        PreferenceSetting::ALL.into_iter().fold(Self::default(), |all, setting| match find(setting) {
            Some(value) => all.with_choice(setting, &value),
            None => all,
        })
    }

    /// Applies this choice to the page and stores it for the next one.
    pub fn apply(self, setting: PreferenceSetting) {
        document::set_root_attribute(&format!("data-{}", setting.name()), self.get(setting));
        if setting == PreferenceSetting::Theme {
            document::set_theme_colours(&frame_colours(self.get(setting)));
        }
        cookies::set(&setting.cookie(), self.get(setting), KEPT_SECONDS);
    }
}

/// Changes a preference on the current page.
pub fn choose(preferences: RwSignal<Preferences>, setting: PreferenceSetting, value: &str) {
    preferences.update(|chosen| *chosen = chosen.with_choice(setting, value));
    preferences.get_untracked().apply(setting);
}

/// Returns the value of a cookie in a `Cookie` header.
pub fn cookie_value<'h>(header: &'h str, name: &str) -> Option<&'h str> {
    let mut pairs = header.split(';').filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_among_other_cookies_and_nonsense_is_default() {
        let some = Preferences::from_cookies("a=b; turnleaf_theme=dark; turnleaf_sidebar=closed; turnleaf_size=18");
        assert_eq!(some.get(PreferenceSetting::Theme), "dark");
        assert_eq!((some.get(PreferenceSetting::Sidebar), some.get(PreferenceSetting::TextSize)), ("closed", "18"));
        assert!(some.is_chosen(PreferenceSetting::Send, "enter"));
        for nothing in ["", ";;", "turnleaf_theme", "turnleaf_theme=\"><script>", "xturnleaf_theme=dark"] {
            assert_eq!(Preferences::from_cookies(nothing), Preferences::default(), "{nothing}");
        }
    }

    #[test]
    fn browser_with_zone_cookie_was_here_before() {
        for (header, attribute) in [("", None), ("turnleaf_theme=dark", None), ("a=b; turnleaf_zone=0", Some("site"))] {
            assert_eq!(Preferences::from_cookies(header).font_attribute(), attribute, "{header}");
        }
    }

    #[test]
    fn every_setting_has_its_place_and_name() {
        for (at, setting) in PreferenceSetting::ALL.into_iter().enumerate() {
            assert_eq!((setting as usize, PreferenceSetting::parse(setting.name())), (at, Some(setting)));
            for value in setting.values() {
                assert_eq!(Preferences::default().with_choice(setting, value).get(setting), *value);
            }
        }
    }
}

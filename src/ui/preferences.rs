//! What a person chose for the look and the ways of the page. It is kept in cookies, so that the server draws the page
//! right at once and nothing flashes. On the page it is in attributes of `<html>`, for the style sheets.

pub mod setting;

use leptos::prelude::{GetUntracked, RwSignal, Update};

use crate::browser::{cookies, document};
use crate::ui::keymap::Keymap;
use crate::ui::kit::installable::frame_colours;
pub use setting::{PreferenceSetting, current_value};

/// The cookie that says how many minutes the clock of the browser is before that of UTC.
pub const ZONE_COOKIE: &str = "turnleaf_zone";

/// The cookie that keeps the keys that are not the usual ones.
pub const KEYS_COOKIE: &str = "turnleaf_keys";

/// How long a browser keeps what was chosen, in seconds: a year.
pub const KEPT_SECONDS: u32 = 365 * 24 * 60 * 60;

/// The choices, as the server found them in the request and as the page starts with them. In context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Preferences {
    /// By place in [`Setting::ALL`] the place in its values.
    chosen: [u8; PreferenceSetting::ALL.len()],
    keys: Keymap,
}

impl Preferences {
    /// What is chosen.
    pub fn get(self, setting: PreferenceSetting) -> &'static str {
        setting.values()[usize::from(self.chosen[setting as usize])]
    }

    /// Whether this is chosen.
    pub fn is_chosen(self, setting: PreferenceSetting, value: &str) -> bool {
        self.get(setting) == value
    }

    /// What `<html>` says of it: nothing where it is as usual.
    pub fn root_attribute(self, setting: PreferenceSetting) -> Option<&'static str> {
        Some(self.get(setting)).filter(|value| *value != setting.values()[0])
    }

    /// The same with another choice; an unknown value is the usual one.
    #[must_use]
    pub fn with_choice(mut self, setting: PreferenceSetting, value: &str) -> Self {
        let at = setting.values().iter().position(|known| *known == value).unwrap_or(0);
        self.chosen[setting as usize] = at as u8;
        self
    }

    /// The keys of the commands.
    pub fn keys(&self) -> &Keymap {
        &self.keys
    }

    /// What `<html>` says of the keys: nothing where they are the usual ones.
    pub fn keys_attribute(&self) -> Option<String> {
        Some(self.keys.to_stored()).filter(|kept| !kept.is_empty())
    }

    /// From the text of a `Cookie` header; what is missing or unknown has its default.
    pub fn from_cookies(header: &str) -> Self {
        let keys = cookie_value(header, KEYS_COOKIE).map(Keymap::from_stored).unwrap_or_default();
        Self { keys, ..Self::from_values(|setting| cookie_value(header, &setting.cookie()).map(str::to_owned)) }
    }

    /// As the server wrote them on the page that the browser shows.
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

    /// Shows this choice on the page and keeps it for the next one.
    pub fn apply(self, setting: PreferenceSetting) {
        document::set_root_attribute(&format!("data-{}", setting.name()), self.get(setting));
        if setting == PreferenceSetting::Theme {
            document::set_theme_colours(&frame_colours(self.get(setting)));
        }
        cookies::set(&setting.cookie(), self.get(setting), KEPT_SECONDS);
    }
}

/// Chooses on the page that is shown.
pub fn choose(preferences: RwSignal<Preferences>, setting: PreferenceSetting, value: &str) {
    preferences.update(|chosen| *chosen = chosen.with_choice(setting, value));
    preferences.get_untracked().apply(setting);
}

/// The value of a cookie in the text of a `Cookie` header.
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
    fn every_setting_has_its_place_and_name() {
        for (at, setting) in PreferenceSetting::ALL.into_iter().enumerate() {
            assert_eq!((setting as usize, PreferenceSetting::parse(setting.name())), (at, Some(setting)));
            for value in setting.values() {
                assert_eq!(Preferences::default().with_choice(setting, value).get(setting), *value);
            }
        }
    }
}

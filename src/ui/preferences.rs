//! What a person chose for the look and the ways of the page. It is kept in cookies, so that the server draws the page
//! right at once and nothing flashes. On the page it is in attributes of `<html>`, for the style sheets.

pub mod setting;

use leptos::prelude::{GetUntracked, RwSignal, Update};

use crate::browser::{cookies, document};
use crate::ui::keymap::Keymap;
use crate::ui::kit::installable::frame_colours;
pub use setting::{Setting, chosen};

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
    chosen: [u8; Setting::ALL.len()],
    keys: Keymap,
}

impl Preferences {
    /// What is chosen.
    pub fn get(self, setting: Setting) -> &'static str {
        setting.values()[usize::from(self.chosen[setting as usize])]
    }

    /// Whether this is chosen.
    pub fn is(self, setting: Setting, value: &str) -> bool {
        self.get(setting) == value
    }

    /// What `<html>` says of it: nothing where it is as usual.
    pub fn mark(self, setting: Setting) -> Option<&'static str> {
        Some(self.get(setting)).filter(|value| *value != setting.values()[0])
    }

    /// The same with another choice; an unknown value is the usual one.
    #[must_use]
    pub fn with(mut self, setting: Setting, value: &str) -> Self {
        let at = setting.values().iter().position(|known| *known == value).unwrap_or(0);
        self.chosen[setting as usize] = at as u8;
        self
    }

    /// The keys of the commands.
    pub fn keys(&self) -> &Keymap {
        &self.keys
    }

    /// What `<html>` says of the keys: nothing where they are the usual ones.
    pub fn keys_mark(&self) -> Option<String> {
        Some(self.keys.kept()).filter(|kept| !kept.is_empty())
    }

    /// From the text of a `Cookie` header; what is missing or unknown has its default.
    pub fn from_cookies(header: &str) -> Self {
        let keys = kept(header, KEYS_COOKIE).map(Keymap::from_kept).unwrap_or_default();
        Self { keys, ..Self::of(|setting| kept(header, &setting.cookie()).map(str::to_owned)) }
    }

    /// As the server wrote them on the page that the browser shows.
    pub fn of_page() -> Self {
        let keys = Keymap::of_page();
        Self { keys, ..Self::of(|setting| document::root_attribute(&format!("data-{}", setting.name()))) }
    }

    fn of(find: impl Fn(Setting) -> Option<String>) -> Self {
        Setting::ALL.into_iter().fold(Self::default(), |all, setting| match find(setting) {
            Some(value) => all.with(setting, &value),
            None => all,
        })
    }

    /// Shows this choice on the page and keeps it for the next one.
    pub fn apply(self, setting: Setting) {
        document::set_root_attribute(&format!("data-{}", setting.name()), self.get(setting));
        if setting == Setting::Theme {
            document::colour_frame(&frame_colours(self.get(setting)));
        }
        cookies::keep(&setting.cookie(), self.get(setting), KEPT_SECONDS);
    }
}

/// Chooses on the page that is shown.
pub fn choose(preferences: RwSignal<Preferences>, setting: Setting, value: &str) {
    preferences.update(|chosen| *chosen = chosen.with(setting, value));
    preferences.get_untracked().apply(setting);
}

/// The value of a cookie in the text of a `Cookie` header.
pub fn kept<'h>(header: &'h str, name: &str) -> Option<&'h str> {
    let mut pairs = header.split(';').filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_found_among_other_cookies_and_nonsense_is_the_default() {
        let some = Preferences::from_cookies("a=b; turnleaf_theme=dark; turnleaf_sidebar=closed; turnleaf_size=18");
        assert_eq!(some.get(Setting::Theme), "dark");
        assert_eq!((some.get(Setting::Sidebar), some.get(Setting::TextSize)), ("closed", "18"));
        assert!(some.is(Setting::Send, "enter"));
        for nothing in ["", ";;", "turnleaf_theme", "turnleaf_theme=\"><script>", "xturnleaf_theme=dark"] {
            assert_eq!(Preferences::from_cookies(nothing), Preferences::default(), "{nothing}");
        }
    }

    #[test]
    fn each_setting_has_its_place_and_its_name() {
        for (at, setting) in Setting::ALL.into_iter().enumerate() {
            assert_eq!((setting as usize, Setting::parse(setting.name())), (at, Some(setting)));
            for value in setting.values() {
                assert_eq!(Preferences::default().with(setting, value).get(setting), *value);
            }
        }
    }
}

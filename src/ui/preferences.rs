//! What a person chose for the look and the ways of the page. It is kept in cookies, so that the server draws the page
//! right at once and nothing flashes. On the page it is in attributes of `<html>`, for the style sheets.

use leptos::prelude::{GetUntracked, RwSignal, Update};

use crate::browser::{cookies, document};
use crate::ui::keymap::Keymap;
use crate::ui::kit::installable::frame_colours;

/// The cookie that says how many minutes the clock of the browser is before that of UTC.
pub const ZONE_COOKIE: &str = "turnleaf_zone";

/// The cookie that keeps the keys that are not the usual ones.
pub const KEYS_COOKIE: &str = "turnleaf_keys";

/// How long a browser keeps what was chosen, in seconds: a year.
pub const KEPT_SECONDS: u32 = 365 * 24 * 60 * 60;

/// One thing to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    Theme,
    /// Whether the wide layout shows the list of chats.
    Sidebar,
    /// Of messages and everything else, in pixels where the browser's own is 16.
    TextSize,
    Density,
    /// Whether long lines of code are broken or scrolled.
    Code,
    /// Less of it than the system says, never more.
    Motion,
    /// Whether reasoning opens by itself: while it is written, then and where a tool in it failed, always, never.
    Reasoning,
    /// The key that sends a message.
    Send,
    /// Whether letters alone do something on a message (WCAG 2.1.4).
    Letters,
    /// What a screen reader is told of a reply: its text, that it came, nothing.
    Announced,
    /// Whether the system notes the end of a reply while nobody sees the page.
    Notify,
}

impl Setting {
    pub const ALL: [Self; 11] = [
        Self::Theme,
        Self::Sidebar,
        Self::TextSize,
        Self::Density,
        Self::Code,
        Self::Motion,
        Self::Reasoning,
        Self::Send,
        Self::Letters,
        Self::Announced,
        Self::Notify,
    ];

    /// Its name in forms, behind `turnleaf_` in cookies, behind `data-` in `<html>`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Theme => "theme",
            Self::Sidebar => "sidebar",
            Self::TextSize => "size",
            Self::Density => "density",
            Self::Code => "code",
            Self::Motion => "motion",
            Self::Reasoning => "reasoning",
            Self::Send => "send",
            Self::Letters => "letters",
            Self::Announced => "announced",
            Self::Notify => "notify",
        }
    }

    /// What can be chosen, the usual first.
    pub fn values(self) -> &'static [&'static str] {
        match self {
            Self::Theme => &["system", "light", "dark"],
            Self::Sidebar => &["open", "closed"],
            Self::TextSize => &["16", "14", "15", "17", "18", "20"],
            Self::Density => &["roomy", "compact"],
            Self::Code => &["scroll", "wrap"],
            Self::Motion => &["system", "reduced"],
            Self::Reasoning => &["auto", "failure", "open", "closed"],
            Self::Send => &["enter", "ctrl-enter"],
            Self::Letters => &["on", "off"],
            Self::Announced => &["full", "events", "off"],
            Self::Notify => &["off", "on"],
        }
    }

    /// The setting of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|setting| setting.name() == name)
    }

    /// The program's own copy of a value.
    pub fn value(self, word: &str) -> Option<&'static str> {
        self.values().iter().copied().find(|value| *value == word)
    }

    /// The name of its cookie.
    pub fn cookie(self) -> String {
        format!("turnleaf_{}", self.name())
    }
}

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

/// What is chosen on the page that is shown, where that is asked only when something happens.
pub fn chosen(setting: Setting) -> &'static str {
    let mark = document::root_attribute(&format!("data-{}", setting.name()));
    mark.and_then(|word| setting.value(&word)).unwrap_or(setting.values()[0])
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

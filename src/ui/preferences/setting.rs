//! The display settings: their values and their names.

use crate::browser::document;

/// A setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreferenceSetting {
    Theme,
    /// Visibility of the chat list in the wide layout.
    Sidebar,
    /// The text size, in pixels where the browser's own is 16.
    TextSize,
    Density,
    /// Wrapping or scrolling of long lines of code.
    Code,
    /// Motion: less of it than the system setting, never more.
    Motion,
    /// Automatic opening of reasoning: while it streams; also afterwards where a tool in it failed; always; never.
    Reasoning,
    /// The key that sends a message.
    Send,
    /// Bare letters as shortcuts on a message (WCAG 2.1.4).
    Letters,
    /// Screen reader announcements of a reply: its text, its arrival, nothing.
    Announced,
    /// System notifications that report the end of a reply while the page is hidden.
    Notify,
}

impl PreferenceSetting {
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

    /// Returns the name in forms, after `turnleaf_` in cookies, and after `data-` in `<html>`.
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

    /// Returns the possible values, the default first.
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

    /// Parses the name of a setting.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|setting| setting.name() == name)
    }

    /// Returns the static copy of a value.
    pub fn value(self, word: &str) -> Option<&'static str> {
        self.values().iter().copied().find(|value| *value == word)
    }

    /// Returns the name of its cookie.
    pub fn cookie(self) -> String {
        format!("turnleaf_{}", self.name())
    }
}

/// Returns the current choice from the page, for code that needs it only when an event occurs.
pub fn current_value(setting: PreferenceSetting) -> &'static str {
    let mark = document::root_attribute(&format!("data-{}", setting.name()));
    mark.and_then(|word| setting.value(&word)).unwrap_or(setting.values()[0])
}

//! The settings of the look and the ways of the page: what can be chosen, and what is.

use crate::browser::document;

/// One thing to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreferenceSetting {
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

/// What is chosen on the page that is shown, where that is asked only when something happens.
pub fn current_value(setting: PreferenceSetting) -> &'static str {
    let mark = document::root_attribute(&format!("data-{}", setting.name()));
    mark.and_then(|word| setting.value(&word)).unwrap_or(setting.values()[0])
}

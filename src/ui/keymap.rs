//! Which keys do what (ux.md 11): the commands that have keys, their usual keys, and those that a person gave them
//! instead. Every listener asks here. Keys of menus, dialogs and trees are those of their patterns and not for change.

use std::fmt;

use crate::browser::document;
use crate::ui::preferences::setting::{PreferenceSetting, current_value};

mod chord;

pub use chord::{Chord, KeyPress};

/// What a key can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyCommand {
    Search,
    NewChat,
    Sidebar,
    Panel,
    Find,
    Shortcuts,
    MessageBox,
    NextPart,
    PartBefore,
    StopAndSend,
    Stop,
    CopyCode,
    TurnBefore,
    NextTurn,
    VersionBefore,
    NextVersion,
    Edit,
    Retry,
    Branch,
    Copy,
    Reasoning,
    Quote,
}

/// Where a command listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyScope {
    /// Everywhere on a chat's page.
    Page,
    /// On a turn that has the focus, never where somebody types.
    Turn,
    /// Where something is read that can be quoted: on the page of a document and among the turns of a chat.
    Reading,
}

impl KeyCommand {
    /// In the order of the list.
    pub const ALL: [Self; 22] = [
        Self::Search,
        Self::NewChat,
        Self::Sidebar,
        Self::Panel,
        Self::Find,
        Self::Shortcuts,
        Self::MessageBox,
        Self::NextPart,
        Self::PartBefore,
        Self::StopAndSend,
        Self::Stop,
        Self::CopyCode,
        Self::TurnBefore,
        Self::NextTurn,
        Self::VersionBefore,
        Self::NextVersion,
        Self::Edit,
        Self::Retry,
        Self::Branch,
        Self::Copy,
        Self::Reasoning,
        Self::Quote,
    ];

    /// Its name in forms and in what is kept.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    pub fn scope(self) -> KeyScope {
        self.row().1
    }

    /// The keys that it has as long as nobody changes them.
    pub fn default_chord(self) -> Option<Chord> {
        Chord::parse(self.row().2)
    }

    fn row(self) -> (&'static str, KeyScope, &'static str) {
        use KeyScope::{Page, Reading, Turn};
        match self {
            Self::Search => ("search", Page, "Ctrl+K"),
            Self::NewChat => ("new-chat", Page, "Ctrl+Shift+O"),
            Self::Sidebar => ("sidebar", Page, "Ctrl+B"),
            Self::Panel => ("panel", Page, "Ctrl+."),
            Self::Find => ("find", Page, "Ctrl+Shift+F"),
            Self::Shortcuts => ("shortcuts", Page, "Ctrl+/"),
            Self::MessageBox => ("message-box", Page, "/"),
            Self::NextPart => ("next-part", Page, "F6"),
            Self::PartBefore => ("part-before", Page, "Shift+F6"),
            Self::StopAndSend => ("stop-and-send", Page, "Ctrl+Shift+Enter"),
            Self::Stop => ("stop", Page, "Ctrl+Shift+Backspace"),
            Self::CopyCode => ("copy-code", Page, "Ctrl+Shift+;"),
            Self::TurnBefore => ("turn-before", Turn, "Alt+ArrowUp"),
            Self::NextTurn => ("next-turn", Turn, "Alt+ArrowDown"),
            Self::VersionBefore => ("version-before", Turn, "Alt+ArrowLeft"),
            Self::NextVersion => ("next-version", Turn, "Alt+ArrowRight"),
            Self::Edit => ("edit", Turn, "E"),
            Self::Retry => ("retry", Turn, "R"),
            Self::Branch => ("branch", Turn, "B"),
            Self::Copy => ("copy", Turn, "C"),
            Self::Reasoning => ("reasoning", Turn, "O"),
            Self::Quote => ("quote", Reading, "Ctrl+Shift+L"),
        }
    }

    /// The command of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }
}

/// Why keys cannot be a command's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChordRejection {
    /// They name no keys.
    Unreadable,
    /// On their own they are what somebody types: the command works where somebody types too.
    Bare,
    /// Browsers keep them for themselves.
    ReservedByBrowser,
    /// Texts need them: copying, undoing, going by words.
    NeededForText,
    /// They do this already.
    Taken(KeyCommand),
}

/// The keys of each command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keymap([Option<Chord>; KeyCommand::ALL.len()]);

impl Default for Keymap {
    fn default() -> Self {
        Self(KeyCommand::ALL.map(KeyCommand::default_chord))
    }
}

impl Keymap {
    /// The keys of a command; none when it was switched off.
    pub fn chord(&self, command: KeyCommand) -> Option<Chord> {
        self.0[command as usize]
    }

    /// The same with other keys, or none, for a command.
    #[must_use]
    pub fn with_chord(mut self, command: KeyCommand, keys: Option<Chord>) -> Self {
        self.0[command as usize] = keys;
        self
    }

    /// Reads what somebody typed as a command's keys, and whether it may have them.
    pub fn check(&self, command: KeyCommand, typed: &str) -> Result<Chord, ChordRejection> {
        let chord = Chord::parse(typed).ok_or(ChordRejection::Unreadable)?;
        if chord.is_reserved_by_browser() {
            return Err(ChordRejection::ReservedByBrowser);
        }
        if chord.is_needed_for_text() {
            return Err(ChordRejection::NeededForText);
        }
        // The way to the message box is for where nobody types, and so is what is read.
        let may_be_bare = command.scope() != KeyScope::Page || command == KeyCommand::MessageBox;
        if chord.is_bare() && !may_be_bare {
            return Err(ChordRejection::Bare);
        }
        // A key can reach all of them on a chat's page.
        let taken = KeyCommand::ALL.into_iter().find(|other| *other != command && self.chord(*other) == Some(chord));
        taken.map_or(Ok(chord), |other| Err(ChordRejection::Taken(other)))
    }

    /// The command of a press, of those that listen in a scope. `in_text` is whether somebody types: a bare letter is
    /// never a command there. `has_letters` is whether letters and signs alone do something at all (WCAG 2.1.4).
    pub fn command_for(
        &self,
        scope: KeyScope,
        press: KeyPress<'_>,
        in_text: bool,
        has_letters: bool,
    ) -> Option<KeyCommand> {
        if scope == KeyScope::Turn && in_text {
            return None;
        }
        KeyCommand::ALL.into_iter().filter(|command| command.scope() == scope).find(|command| {
            self.chord(*command)
                .is_some_and(|chord| chord.matches(press) && (!chord.is_bare() || (!in_text && has_letters)))
        })
    }

    /// What differs from the usual, as it is kept in a cookie and in `<html>`; empty when nothing does. Without signs
    /// that mean something in either.
    pub fn to_stored(&self) -> String {
        let changed = KeyCommand::ALL.into_iter().filter(|command| self.chord(*command) != command.default_chord());
        let row = |command: KeyCommand| {
            format!("{}={}", command.name(), self.chord(command).map(|chord| chord.to_stored()).unwrap_or_default())
        };
        changed.map(row).collect::<Vec<_>>().join("&")
    }

    /// Reads [`Self::kept`] back. What is unknown, broken or may not be is the usual.
    pub fn from_stored(text: &str) -> Self {
        let rows = text.split('&').filter_map(|row| row.split_once('='));
        rows.filter_map(|(name, keys)| Some((KeyCommand::parse(name)?, keys))).fold(
            Self::default(),
            |map, (command, keys)| match Chord::from_stored(keys) {
                _ if keys.is_empty() => map.with_chord(command, None),
                Some(chord) => map.with_chord(command, Some(chord)),
                None => map,
            },
        )
    }

    /// The keys on the page that is shown.
    pub fn from_page() -> Self {
        document::root_attribute("data-keys").map_or_else(Self::default, |kept| Self::from_stored(&kept))
    }
}

/// The command of a press on the page that is shown.
pub fn command_on_page(scope: KeyScope, press: KeyPress<'_>, in_text: bool) -> Option<KeyCommand> {
    Keymap::from_page().command_for(scope, press, in_text, current_value(PreferenceSetting::Letters) == "on")
}

/// The keys of a command on the page that is shown, for a sentence or a menu; nothing where it has none.
pub fn key_hint(command: KeyCommand) -> String {
    Keymap::from_page().chord(command).map(|chord| chord.to_string()).unwrap_or_default()
}

impl fmt::Display for Keymap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_stored())
    }
}

#[cfg(test)]
mod tests;

//! The keyboard shortcuts (docs/reference/ux.md 11): the commands, their default keys, and a person's own keys. Every
//! listener looks them up here. Keys of menus, dialogs and trees are those of their patterns and cannot be changed.

use std::fmt;

use crate::browser::document;
use crate::ui::preferences::setting::{PreferenceSetting, current_value};

mod chord;

pub use chord::{Chord, KeyPress};

/// A command with a keyboard shortcut.
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

/// The scope in which a command listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyScope {
    /// Everywhere on a chat's page.
    Page,
    /// On a focused turn, never in a text field.
    Turn,
    /// In quotable text: on a document's page and among the turns of a chat.
    Reading,
}

impl KeyCommand {
    /// All commands in the order of the list.
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

    /// Returns the name in forms and in the stored keymap.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    pub fn scope(self) -> KeyScope {
        self.row().1
    }

    /// Returns the default keys.
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

    /// Parses a command name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }
}

/// The reason why a command cannot have these keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChordRejection {
    /// They name no keys.
    Unreadable,
    /// They are a bare character, and the command also works in text fields.
    Bare,
    /// They are reserved by browsers.
    ReservedByBrowser,
    /// They are needed for text editing: copying, undoing, moving by words.
    NeededForText,
    /// They belong to this command already.
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
    /// Returns the keys of a command; none when it is switched off.
    pub fn chord(&self, command: KeyCommand) -> Option<Chord> {
        self.0[command as usize]
    }

    /// Returns the keymap with other keys, or none, for a command.
    #[must_use]
    pub fn with_chord(mut self, command: KeyCommand, keys: Option<Chord>) -> Self {
        self.0[command as usize] = keys;
        self
    }

    /// Parses typed keys and checks whether the command may have them.
    pub fn check(&self, command: KeyCommand, typed: &str) -> Result<Chord, ChordRejection> {
        let chord = Chord::parse(typed).ok_or(ChordRejection::Unreadable)?;
        if chord.is_reserved_by_browser() {
            return Err(ChordRejection::ReservedByBrowser);
        }
        if chord.is_needed_for_text() {
            return Err(ChordRejection::NeededForText);
        }
        // The key for the message box works outside of text fields only, as do those of reading.
        let may_be_bare = command.scope() != KeyScope::Page || command == KeyCommand::MessageBox;
        if chord.is_bare() && !may_be_bare {
            return Err(ChordRejection::Bare);
        }
        // On a chat's page one key press can reach all commands, so keys must be unique.
        let taken = KeyCommand::ALL.into_iter().find(|other| *other != command && self.chord(*other) == Some(chord));
        taken.map_or(Ok(chord), |other| Err(ChordRejection::Taken(other)))
    }

    /// Returns the command of a press among those that listen in a scope. `in_text` means that a text field has the
    /// focus: a bare character is never a command there. `has_letters` says whether bare characters are shortcuts at
    /// all (WCAG 2.1.4).
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

    /// Serializes the differences from the default keys for a cookie and for `<html>`; empty when there are none.
    /// Uses no characters that are special in either.
    pub fn to_stored(&self) -> String {
        let changed = KeyCommand::ALL.into_iter().filter(|command| self.chord(*command) != command.default_chord());
        let row = |command: KeyCommand| {
            format!("{}={}", command.name(), self.chord(command).map(|chord| chord.to_stored()).unwrap_or_default())
        };
        changed.map(row).collect::<Vec<_>>().join("&")
    }

    /// Parses the result of [`Self::to_stored`]. Unknown, broken or forbidden keys become the default.
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

    /// Returns the keymap of the current page.
    pub fn from_page() -> Self {
        document::root_attribute("data-keys").map_or_else(Self::default, |kept| Self::from_stored(&kept))
    }
}

/// Returns the command of a press on the current page.
pub fn command_on_page(scope: KeyScope, press: KeyPress<'_>, in_text: bool) -> Option<KeyCommand> {
    Keymap::from_page().command_for(scope, press, in_text, current_value(PreferenceSetting::Letters) == "on")
}

/// Returns the keys of a command on the current page, for a sentence or a menu; empty where it has none.
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

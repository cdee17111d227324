//! Which keys do what (ux.md 11): the commands that have keys, their usual keys, and those that a person gave them
//! instead. Every listener asks here. Keys of menus, dialogs and trees are those of their patterns and not for change.

use std::fmt;

use crate::browser::document;
use crate::ui::preferences::setting::{Setting, chosen};

mod chord;

pub use chord::{Chord, Press};

/// What a key can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
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
pub enum Scope {
    /// Everywhere on a chat's page.
    Page,
    /// On a turn that has the focus, never where somebody types.
    Turn,
    /// Where something is read that can be quoted: on the page of a document and among the turns of a chat.
    Reading,
}

impl Command {
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

    pub fn scope(self) -> Scope {
        self.row().1
    }

    /// The keys that it has as long as nobody changes them.
    pub fn usual(self) -> Option<Chord> {
        Chord::parse(self.row().2)
    }

    fn row(self) -> (&'static str, Scope, &'static str) {
        use Scope::{Page, Reading, Turn};
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
pub enum Refused {
    /// They name no keys.
    Unreadable,
    /// On their own they are what somebody types: the command works where somebody types too.
    Bare,
    /// Browsers keep them for themselves.
    OfBrowser,
    /// Texts need them: copying, undoing, going by words.
    OfText,
    /// They do this already.
    Taken(Command),
}

/// The keys of each command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keymap([Option<Chord>; Command::ALL.len()]);

impl Default for Keymap {
    fn default() -> Self {
        Self(Command::ALL.map(Command::usual))
    }
}

impl Keymap {
    /// The keys of a command; none when it was switched off.
    pub fn of(&self, command: Command) -> Option<Chord> {
        self.0[command as usize]
    }

    /// The same with other keys, or none, for a command.
    #[must_use]
    pub fn with(mut self, command: Command, keys: Option<Chord>) -> Self {
        self.0[command as usize] = keys;
        self
    }

    /// Reads what somebody typed as a command's keys, and whether it may have them.
    pub fn check(&self, command: Command, typed: &str) -> Result<Chord, Refused> {
        let chord = Chord::parse(typed).ok_or(Refused::Unreadable)?;
        if chord.is_of_browser() {
            return Err(Refused::OfBrowser);
        }
        if chord.is_of_text() {
            return Err(Refused::OfText);
        }
        // The way to the message box is for where nobody types, and so is what is read.
        let may_be_bare = command.scope() != Scope::Page || command == Command::MessageBox;
        if chord.is_bare() && !may_be_bare {
            return Err(Refused::Bare);
        }
        // A key can reach all of them on a chat's page.
        let taken = Command::ALL.into_iter().find(|other| *other != command && self.of(*other) == Some(chord));
        taken.map_or(Ok(chord), |other| Err(Refused::Taken(other)))
    }

    /// The command of a press, of those that listen in a scope. `in_text` is whether somebody types: a bare letter is
    /// never a command there. `has_letters` is whether letters and signs alone do something at all (WCAG 2.1.4).
    pub fn asked(&self, scope: Scope, press: Press<'_>, in_text: bool, has_letters: bool) -> Option<Command> {
        if scope == Scope::Turn && in_text {
            return None;
        }
        Command::ALL.into_iter().filter(|command| command.scope() == scope).find(|command| {
            self.of(*command).is_some_and(|chord| chord.is(press) && (!chord.is_bare() || (!in_text && has_letters)))
        })
    }

    /// What differs from the usual, as it is kept in a cookie and in `<html>`; empty when nothing does. Without signs
    /// that mean something in either.
    pub fn kept(&self) -> String {
        let changed = Command::ALL.into_iter().filter(|command| self.of(*command) != command.usual());
        let row = |command: Command| {
            format!("{}={}", command.name(), self.of(command).map(|chord| chord.kept()).unwrap_or_default())
        };
        changed.map(row).collect::<Vec<_>>().join("&")
    }

    /// Reads [`Self::kept`] back. What is unknown, broken or may not be is the usual.
    pub fn from_kept(text: &str) -> Self {
        let rows = text.split('&').filter_map(|row| row.split_once('='));
        rows.filter_map(|(name, keys)| Some((Command::parse(name)?, keys))).fold(
            Self::default(),
            |map, (command, keys)| match Chord::from_kept(keys) {
                _ if keys.is_empty() => map.with(command, None),
                Some(chord) => map.with(command, Some(chord)),
                None => map,
            },
        )
    }

    /// The keys on the page that is shown.
    pub fn of_page() -> Self {
        document::root_attribute("data-keys").map_or_else(Self::default, |kept| Self::from_kept(&kept))
    }
}

/// The command of a press on the page that is shown.
pub fn asked(scope: Scope, press: Press<'_>, in_text: bool) -> Option<Command> {
    Keymap::of_page().asked(scope, press, in_text, chosen(Setting::Letters) == "on")
}

/// The keys of a command on the page that is shown, for a sentence or a menu; nothing where it has none.
pub fn told(command: Command) -> String {
    Keymap::of_page().of(command).map(|chord| chord.to_string()).unwrap_or_default()
}

impl fmt::Display for Keymap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kept())
    }
}

#[cfg(test)]
mod tests;

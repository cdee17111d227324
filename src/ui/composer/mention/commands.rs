//! The menu behind `/` at the begin of a line: what can be done without leaving the message box. It presses what is on
//! the page already, so each command is what its button is.

use leptos::prelude::*;

use super::list::{self, Beside, MentionOption};
use super::{LIST, command_at_end, text_before};
use crate::browser::letters::lower;
use crate::browser::{focus, textarea};
use crate::ui::composer::state::ComposerState;
use crate::ui::erased::{effect, live, on_change};
use crate::ui::words::commands as words;

/// What the menu offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    Model,
    /// Another model, which goes on in a branch of its own.
    Branch,
    Attach,
    Find,
    Tree,
    Settings,
    Export,
    NewChat,
    Clear,
}

/// What there is around the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Around {
    is_chat: bool,
    /// Whether the model is the branch's for good.
    is_locked: bool,
}

impl Command {
    /// In the order of the menu.
    const ALL: [Self; 9] = [
        Self::Model,
        Self::Branch,
        Self::Attach,
        Self::Find,
        Self::Tree,
        Self::Settings,
        Self::Export,
        Self::NewChat,
        Self::Clear,
    ];

    fn is_for(self, around: Around) -> bool {
        match self {
            Self::Model => !around.is_locked,
            Self::Branch => around.is_locked,
            Self::Find | Self::Tree | Self::Export => around.is_chat,
            Self::Attach | Self::Settings | Self::NewChat | Self::Clear => true,
        }
    }

    /// What is typed for it in any language, its icon, and its name: in English, for whoever knows that, and in the
    /// language of the page.
    fn row(self) -> (&'static str, &'static str, (&'static str, &'static str)) {
        match self {
            Self::Model => ("model", "thought", words::model()),
            Self::Branch => ("model", "branch", words::branch()),
            Self::Attach => ("attach", "attach", words::attach()),
            Self::Find => ("find", "search", words::find()),
            Self::Tree => ("tree", "branch", words::tree()),
            Self::Settings => ("settings", "tool", words::settings()),
            Self::Export => ("export", "external", words::export()),
            Self::NewChat => ("new", "plus", words::new_chat()),
            Self::Clear => ("clear", "close", words::clear()),
        }
    }

    fn shown(self) -> MentionOption {
        let (slash, icon, (_, name)) = self.row();
        MentionOption { icon, name: name.to_owned(), beside: Some(Beside::Typed(slash)) }
    }

    /// Whether what is typed is a part of what it is called.
    fn is_called(self, typed: &str) -> bool {
        let (slash, _, (english, shown)) = self.row();
        let typed = lower(typed);
        [slash, english, shown].iter().any(|name| lower(name).contains(&typed))
    }

    /// Does it, once the word is out of the text.
    fn act(self) {
        let press = |what: &str| {
            focus::press_last(what);
        };
        match self {
            // The dialog in which one of many is looked for.
            Self::Model | Self::Branch if focus::press_last("form.composer .pick-model") => {}
            Self::Model => {
                focus::on("form.composer select[name=model]");
            }
            Self::Branch => {
                press("form.composer [popovertarget=why-locked]");
                focus::on("#why-locked select");
            }
            Self::Attach => press("#attach-files"),
            Self::Find => press("#chat-head-menu a[href$='/find']"),
            Self::Tree => press("#tree-button"),
            Self::Settings => press(".chat-head a[href$='/settings']"),
            Self::Export => press("#chat-head-menu a[href$='/export']"),
            Self::NewChat => press("#sidebar .rail a.new-chat"),
            Self::Clear => {}
        }
    }
}

/// Those that can be meant: first what is typed for it, then what has it in its name.
fn fitting(typed: &str, around: Around) -> Vec<Command> {
    let all = Command::ALL.into_iter();
    let mut found: Vec<_> = all.filter(|command| command.is_for(around) && command.is_called(typed)).collect();
    let typed = lower(typed);
    found.sort_by_key(|command| !command.row().0.starts_with(&typed));
    found
}

/// Draws the menu while the box has a word for it.
pub(super) fn draw(state: ComposerState) -> AnyView {
    let mention = state.mention;
    let options = Memo::new(move |_| {
        let typed = mention.command.get()?;
        let around = Around { is_chat: state.chat_id.is_some(), is_locked: state.lock.get().is_some() };
        Some(fitting(&typed, around))
    });
    effect(move || {
        let Some(count) = options.with(|options| options.as_ref().map(Vec::len)) else { return };
        mention.count.set(Some(count));
        match count {
            // Whoever writes something else than a command is left alone.
            0 => mention.close(),
            _ => state.announcer.say(words::offered(count)),
        }
    });
    on_change(
        move || mention.chosen.get(),
        move |_, chosen| {
            let Some(options) = options.get_untracked() else { return };
            mention.chosen.set(None);
            if let Some(command) = chosen.and_then(|at| options.get(at).copied()) {
                take(state, command);
            }
        },
    );
    let choose = Callback::new(move |at| mention.chosen.set(Some(at)));
    live(move || {
        let rows = options.get()?.into_iter().map(Command::shown).collect();
        Some(list::draw(
            LIST,
            words::commands(),
            Some(rows),
            mention.active,
            choose,
            Signal::stored(words::leaves().into()),
        ))
    })
}

/// How all commands of a chat stand in the list.
pub fn rows() -> Vec<MentionOption> {
    fitting("", Around { is_chat: true, is_locked: true }).into_iter().map(Command::shown).collect()
}

/// Takes the word out of the text, or with it all of the text, and does what was chosen. Undo brings the text back.
fn take(state: ComposerState, command: Command) {
    let Some(area) = state.area.get_untracked() else { return };
    let before = text_before(state.area);
    state.mention.close();
    // The caret may stand somewhere else by now.
    let Some(word) = command_at_end(&before) else { return };
    let sign = before[..before.len() - word.len()].chars().next_back().map_or(0, char::len_utf8);
    let (piece, behind) = match command {
        Command::Clear => (textarea::value(&area), usize::MAX),
        _ => (before[before.len() - word.len() - sign..].to_owned(), before.len()),
    };
    textarea::take_out(&area, &piece, behind);
    command.act();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::locale::{Locale, speak};

    const NEW: Around = Around { is_chat: false, is_locked: false };
    const CHAT: Around = Around { is_chat: true, is_locked: true };

    #[test]
    fn what_is_typed_chooses_by_either_name_and_in_both_languages() {
        use Command::*;
        assert_eq!(fitting("", NEW), [Model, Attach, Settings, NewChat, Clear]);
        assert_eq!(fitting("", CHAT), [Branch, Attach, Find, Tree, Settings, Export, NewChat, Clear]);
        for (typed, found) in [
            ("mod", vec![Branch]),
            ("BRANCH", vec![Branch]),
            ("fi", vec![Find, Attach]),
            ("new", vec![NewChat, Branch]),
            ("exp", vec![Export]),
            ("xx", vec![]),
        ] {
            assert_eq!(fitting(typed, CHAT), found, "{typed}");
        }
        speak(Locale::Chinese, || {
            for (typed, found) in
                [("分支", vec![Branch]), ("find", vec![Find]), ("查找", vec![Find]), ("new chat", vec![NewChat])]
            {
                assert_eq!(fitting(typed, CHAT), found, "{typed}");
            }
        });
    }
}

//! The menu behind `/` at the beginning of a line: commands without leaving the message box, and prompts of tool servers
//! behind them. Each command presses the corresponding button of the page, so it behaves like that button.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::list::{self, MentionOption, OptionDetail};
use super::prompts::{ServerPrompt, ServerPrompts};
use super::{LIST, command_at_end, text_before};
use crate::browser::case_mapping::to_lowercase;
use crate::browser::{focus, textarea};
use crate::ui::composer::model_menu::PICK_MODEL;
use crate::ui::composer::state::ComposerState;
use crate::ui::erased::{effect, live_view, on_change};
use crate::ui::messages::commands as words;

/// A command of the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlashCommand {
    Model,
    /// Chooses another model, which continues on a branch of its own.
    Branch,
    Attach,
    /// Resources and prompts of tool servers, on a page of their own.
    Insert,
    Find,
    Tree,
    Settings,
    Export,
    NewChat,
    Clear,
}

/// The context of the box that decides which commands are available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CommandContext {
    is_chat: bool,
    /// True if the branch is locked to its model.
    is_locked: bool,
}

impl SlashCommand {
    /// All commands in the order of the menu.
    const ALL: [Self; 10] = [
        Self::Model,
        Self::Branch,
        Self::Attach,
        Self::Insert,
        Self::Find,
        Self::Tree,
        Self::Settings,
        Self::Export,
        Self::NewChat,
        Self::Clear,
    ];

    fn is_for(self, around: CommandContext) -> bool {
        match self {
            Self::Model => !around.is_locked,
            Self::Branch => around.is_locked,
            Self::Find | Self::Tree | Self::Export => around.is_chat,
            Self::Attach | Self::Insert | Self::Settings | Self::NewChat | Self::Clear => true,
        }
    }

    /// Returns the word that is typed for the command in any language, its icon, and its name in English, for people
    /// who know that one, and in the page's language.
    fn row(self) -> (&'static str, &'static str, (&'static str, &'static str)) {
        match self {
            Self::Model => ("model", "thought", words::model()),
            Self::Branch => ("model", "branch", words::branch()),
            Self::Attach => ("attach", "attach", words::attach()),
            Self::Insert => ("server", "tool", words::insert()),
            Self::Find => ("find", "search", words::find()),
            Self::Tree => ("tree", "branch", words::tree()),
            Self::Settings => ("settings", "tool", words::settings()),
            Self::Export => ("export", "external", words::export()),
            Self::NewChat => ("new", "plus", words::new_chat()),
            Self::Clear => ("clear", "close", words::clear()),
        }
    }

    fn to_option(self) -> MentionOption {
        let (slash, icon, (_, name)) = self.row();
        MentionOption { icon, name: name.to_owned(), detail: Some(OptionDetail::CommandWord(slash)) }
    }

    /// Returns whether the typed text is part of the command's name.
    fn is_named(self, typed: &str) -> bool {
        let (slash, _, (english, shown)) = self.row();
        let typed = to_lowercase(typed);
        [slash, english, shown].iter().any(|name| to_lowercase(name).contains(&typed))
    }

    /// Runs the command after its word was removed from the text.
    fn run(self) {
        let press = |selector: &str| {
            focus::press_last(selector);
        };
        match self {
            Self::Model | Self::Branch => press(PICK_MODEL),
            Self::Attach => press("#attach-files"),
            Self::Insert => open_server_page(),
            Self::Find => press("#chat-head-menu a[href$='/find']"),
            Self::Tree => press("#tree-button"),
            Self::Settings => press(".chat-head a[href$='/settings']"),
            Self::Export => press(".chat-head a[href$='/export']"),
            Self::NewChat => press("#sidebar .rail a.new-chat"),
            Self::Clear => {}
        }
    }
}

/// Returns the commands that match: first by the word that is typed for them, then by name.
fn matching_commands(typed: &str, around: CommandContext) -> Vec<SlashCommand> {
    let all = SlashCommand::ALL.into_iter();
    let found = all.filter(|command| command.is_for(around) && command.is_named(typed));
    let typed = to_lowercase(typed);
    let (mut first, others): (Vec<_>, Vec<_>) = found.partition(|command| command.row().0.starts_with(&typed));
    first.extend(others);
    first
}

/// An option of the menu.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SlashChoice {
    Command(SlashCommand),
    Prompt(ServerPrompt),
}

impl SlashChoice {
    fn to_option(&self) -> MentionOption {
        match self {
            Self::Command(command) => command.to_option(),
            Self::Prompt(prompt) => prompt.to_option(),
        }
    }
}

/// Renders the menu while the box has a word for it.
pub(super) fn draw(state: ComposerState) -> AnyView {
    let mention = state.mention;
    let prompts = ServerPrompts::new();
    effect(move || {
        if mention.command.with(Option::is_some) {
            prompts.load_once();
        }
    });
    let options = Memo::new(move |_| {
        let typed = mention.command.get()?;
        let around = CommandContext { is_chat: state.chat_id.is_some(), is_locked: state.lock.get().is_some() };
        let commands = matching_commands(&typed, around).into_iter().map(SlashChoice::Command);
        let found: Vec<_> = commands.chain(prompts.matching(&typed).into_iter().map(SlashChoice::Prompt)).collect();
        // Without a command that matches, the options are unknown until the prompts have arrived.
        (!found.is_empty() || prompts.is_settled()).then_some(found)
    });
    // First, because a choice may wait for the count.
    on_change(
        move || mention.chosen.get(),
        move |_, chosen| {
            let Some(options) = options.get_untracked() else { return };
            mention.chosen.set(None);
            match chosen.and_then(|at| options.get(at).cloned()) {
                Some(SlashChoice::Command(command)) => choose_command(state, command),
                Some(SlashChoice::Prompt(prompt)) => choose_prompt(state, prompt),
                None => {}
            }
        },
    );
    effect(move || {
        let count = options.with(|options| options.as_ref().map(Vec::len));
        // The count of the other menu stays.
        if count.is_some() || mention.command.with_untracked(Option::is_some) {
            mention.set_count(count);
        }
        let Some(count) = count else { return };
        match count {
            // The text is not a command, so the menu does not interfere.
            0 => mention.close(),
            _ => state.announcer.announce(words::offered(count)),
        }
    });
    let choose = Callback::new(move |at| mention.chosen.set(Some(at)));
    live_view(move || {
        let rows = options.get()?.iter().map(SlashChoice::to_option).collect();
        Some(list::draw_options(
            LIST,
            words::commands(),
            Some(rows),
            mention.active,
            choose,
            Signal::stored(words::escape_hint().into()),
        ))
    })
}

/// Closes the menu. Returns the text before the caret, and its last word with the sign; `None` if the caret has left the
/// word.
fn close_at_word(state: ComposerState) -> Option<(String, String)> {
    let before = text_before(state.area);
    state.mention.close();
    let word = command_at_end(&before)?;
    let sign = before[..before.len() - word.len()].chars().next_back().map_or(0, char::len_utf8);
    let typed = before[before.len() - word.len() - sign..].to_owned();
    Some((before, typed))
}

/// Opens the page on which prompts and resources with parameters are filled in.
pub(super) fn open_server_page() {
    focus::press_last("form.composer .insert-link");
}

/// Replaces the word by the text of a prompt. One that needs arguments or answers is filled in on the page of the servers.
fn choose_prompt(state: ComposerState, prompt: ServerPrompt) {
    let Some(area) = state.area.get_untracked() else { return };
    let Some((before, typed)) = close_at_word(state) else { return };
    textarea::remove_text(&area, &typed, before.len());
    if prompt.has_arguments {
        open_server_page();
        return;
    }
    spawn_local(async move {
        match prompt.text().await {
            Ok(None) => open_server_page(),
            Ok(Some(text)) => {
                if let Some(area) = state.area.try_get_untracked().flatten() {
                    textarea::insert(&area, &text);
                }
            }
            Err(why) => state.announcer.alert(&why.unwrap_or_else(|| words::prompt_failed().to_owned())),
        }
    });
}

/// Returns all commands of a chat as options.
pub fn command_options() -> Vec<MentionOption> {
    matching_commands("", CommandContext { is_chat: true, is_locked: true })
        .into_iter()
        .map(SlashCommand::to_option)
        .collect()
}

/// Removes the word (or all of the text) and runs the chosen command. Undo restores the text.
fn choose_command(state: ComposerState, command: SlashCommand) {
    let Some(area) = state.area.get_untracked() else { return };
    let Some((before, typed)) = close_at_word(state) else { return };
    let (piece, behind) = match command {
        SlashCommand::Clear => (textarea::value(&area), usize::MAX),
        _ => (typed, before.len()),
    };
    textarea::remove_text(&area, &piece, behind);
    command.run();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::locale::{Locale, with_locale};

    const NEW: CommandContext = CommandContext { is_chat: false, is_locked: false };
    const CHAT: CommandContext = CommandContext { is_chat: true, is_locked: true };

    #[test]
    fn typed_word_matches_either_name_in_both_languages() {
        use SlashCommand::*;
        assert_eq!(matching_commands("", NEW), [Model, Attach, Insert, Settings, NewChat, Clear]);
        assert_eq!(matching_commands("", CHAT), [Branch, Attach, Insert, Find, Tree, Settings, Export, NewChat, Clear]);
        for (typed, found) in [
            ("mod", vec![Branch]),
            ("BRANCH", vec![Branch]),
            ("fi", vec![Find, Attach]),
            ("new", vec![NewChat, Branch]),
            ("exp", vec![Export]),
            ("xx", vec![]),
        ] {
            assert_eq!(matching_commands(typed, CHAT), found, "{typed}");
        }
        with_locale(Locale::Chinese, || {
            for (typed, found) in
                [("分支", vec![Branch]), ("find", vec![Find]), ("查找", vec![Find]), ("new chat", vec![NewChat])]
            {
                assert_eq!(matching_commands(typed, CHAT), found, "{typed}");
            }
        });
    }
}

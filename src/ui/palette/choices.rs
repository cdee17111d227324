//! The entries of the palette: commands, settings and search hits, in their order.

use super::entry::{EntryAction, PaletteCommand, PaletteEntry, PaletteGroup};
use super::hits::PaletteHits;
use crate::browser::case_mapping::to_lowercase;
use crate::domain::encoding::url_encoding;
use crate::ui::keymap::{KeyCommand, Keymap};
use crate::ui::messages::palette as words;

/// The context of the page that decides which commands are available.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaletteContext {
    /// The path of the chat on screen.
    pub chat: Option<String>,
    pub is_running: bool,
}

/// Returns the commands and settings whose names contain all the words, in order; all commands where there are no
/// words.
pub fn matching_commands(context: &PaletteContext, typed: &str) -> Vec<PaletteEntry> {
    let keymap = Keymap::from_page();
    let mut all = page_commands(context, &keymap);
    if let Some(chat) = &context.chat {
        all.extend(chat_entries(chat, &keymap));
    }
    all.extend(general_entries(&keymap));
    let typed = to_lowercase(typed);
    let wanted: Vec<&str> = typed.split_whitespace().collect();
    all.retain(|entry| {
        let name = to_lowercase(&entry.key);
        wanted.iter().all(|word| name.contains(word))
    });
    all
}

/// Returns the commands of every page, and those of a page with a running reply.
fn page_commands(context: &PaletteContext, keymap: &Keymap) -> Vec<PaletteEntry> {
    let run = EntryAction::Run;
    let stop = || keyed(keymap, KeyCommand::Stop, "stop", words::stop(), run(PaletteCommand::Stop));
    let mut commands: Vec<PaletteEntry> = context.is_running.then(stop).into_iter().collect();
    let home = EntryAction::OpenPage("/".to_owned());
    commands.push(keyed(keymap, KeyCommand::NewChat, "plus", words::new_chat(), home));
    commands.push(keyed(keymap, KeyCommand::Sidebar, "sidebar", words::sidebar(), run(PaletteCommand::Sidebar)));
    commands
}

/// Returns the commands and settings of the chat on screen, whose path this is.
fn chat_entries(chat: &str, keymap: &Keymap) -> [PaletteEntry; 6] {
    use PaletteGroup::{Commands, Settings};
    let run = EntryAction::Run;
    let leave = |page: &str| EntryAction::OpenServerPage(format!("{chat}/{page}"));
    [
        keyed(keymap, KeyCommand::Panel, "branch", words::tree(), run(PaletteCommand::Tree)),
        keyed(keymap, KeyCommand::Find, "search", words::find_in_chat(), run(PaletteCommand::Find)),
        entry(Commands, "edit", words::rename_chat(), run(PaletteCommand::Rename)),
        entry(Commands, "external", words::export_chat(), leave("export")),
        entry(Settings, "tool", words::chat_tools(), leave("tools")),
        entry(Settings, "edit", words::chat_settings(), leave("settings")),
    ]
}

/// Returns the commands and settings of the application.
fn general_entries(keymap: &Keymap) -> [PaletteEntry; 19] {
    use PaletteGroup::{Commands, Settings};
    let leave = |address: &str| EntryAction::OpenServerPage(address.to_owned());
    let theme = |theme| EntryAction::Run(PaletteCommand::Theme(theme));
    let shortcuts = EntryAction::Run(PaletteCommand::Shortcuts);
    [
        entry(Commands, "chat", words::all_chats(), leave("/chats")),
        entry(Commands, "file", words::all_documents(), leave("/documents")),
        entry(Commands, "folder", words::projects(), leave("/projects")),
        entry(Commands, "bell", words::notifications(), leave("/notifications")),
        entry(Commands, "plus", words::new_document(), leave("/documents/new")),
        keyed(keymap, KeyCommand::Shortcuts, "keyboard", words::shortcuts(), shortcuts),
        entry(Commands, "system", words::theme_system(), theme("system")),
        entry(Commands, "sun", words::theme_light(), theme("light")),
        entry(Commands, "moon", words::theme_dark(), theme("dark")),
        entry(Settings, "user", words::general(), leave("/settings/general")),
        entry(Settings, "sun", words::appearance(), leave("/settings/appearance")),
        entry(Settings, "key", words::providers(), leave("/settings/providers")),
        entry(Settings, "tool", words::tools(), leave("/settings/tools")),
        entry(Settings, "chart", words::usage(), leave("/usage")),
        entry(Settings, "keyboard", words::keys(), leave("/settings/shortcuts")),
        entry(Settings, "file", words::data(), leave("/settings/data")),
        entry(Settings, "trash", words::trash(), leave("/trash")),
        entry(Settings, "external", words::API, leave("/api/docs")),
        entry(Settings, "leaf", words::about(), leave("/settings/about")),
    ]
}

/// Returns a command with the key that runs it.
fn keyed(keymap: &Keymap, command: KeyCommand, icon: &'static str, name: &str, action: EntryAction) -> PaletteEntry {
    let place = keymap.chord(command).map(|chord| chord.to_string()).unwrap_or_default();
    PaletteEntry { place, ..entry(PaletteGroup::Commands, icon, name, action) }
}

fn entry(group: PaletteGroup, icon: &'static str, name: &str, action: EntryAction) -> PaletteEntry {
    PaletteEntry {
        group,
        key: name.to_owned(),
        icon,
        title: vec![(name.to_owned(), false)],
        excerpt: Vec::new(),
        place: String::new(),
        action,
    }
}

/// Returns all rows in order. Without words: the recent chats and the commands; with words: the matches, and once all
/// results are there, the link to the search page.
pub fn palette_rows(
    context: &PaletteContext,
    typed: &str,
    recent: &[PaletteEntry],
    found: &PaletteHits,
) -> Vec<PaletteEntry> {
    let mut rows = matching_commands(context, typed);
    let typed = typed.trim();
    if typed.is_empty() {
        rows.extend(recent.iter().cloned());
    } else {
        rows.extend(found.entries());
        if found.is_complete() {
            rows.push(PaletteEntry {
                group: PaletteGroup::More,
                key: String::new(),
                icon: "search",
                title: vec![(words::search_all(typed), false)],
                excerpt: Vec::new(),
                place: String::new(),
                action: EntryAction::OpenServerPage(format!("/search?q={}", url_encoding::encode(typed))),
            });
        }
    }
    // A stable sort: the rows of a group keep their order.
    rows.sort_by_key(|entry| entry.group);
    rows
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ui::palette::hits::{PaletteHitKind, recent_chat};

    fn names(rows: &[PaletteEntry]) -> Vec<(PaletteGroup, String)> {
        rows.iter().map(|row| (row.group, row.title.iter().map(|(text, _)| text.as_str()).collect())).collect()
    }

    #[test]
    fn without_words_newest_chats_and_commands_are_offered() {
        let chats = [recent_chat("01890000-0000-7000-8000-000000000001".parse().unwrap(), "One")];
        let shown = names(&palette_rows(&PaletteContext::default(), "  ", &chats, &PaletteHits::default()));
        assert_eq!(shown[0], (PaletteGroup::Recent, "One".to_owned()));
        assert_eq!(shown[1], (PaletteGroup::Commands, words::new_chat().to_owned()));
        assert!(shown.iter().all(|(_, name)| name != words::stop() && name != words::tree()));
        let context = PaletteContext { chat: Some("/c/1".into()), is_running: true };
        let shown = names(&palette_rows(&context, "", &[], &PaletteHits::default()));
        assert_eq!(shown[0], (PaletteGroup::Commands, words::stop().to_owned()));
        assert!(shown.contains(&(PaletteGroup::Settings, words::chat_settings().to_owned())));
    }

    #[test]
    fn matches_come_in_groups_and_search_page_last() {
        let mut found = PaletteHits::pending();
        let hit =
            json!({ "hits": [{ "kind": "chat", "chat_id": "c", "title": { "text": "New plan", "marks": [[0, 3]] } }] });
        found.apply_response(PaletteHitKind::Chats, Ok(hit));
        let shown = names(&palette_rows(&PaletteContext::default(), "new", &[], &found));
        let expected = [
            (PaletteGroup::Commands, words::new_chat().to_owned()),
            (PaletteGroup::Commands, words::new_document().to_owned()),
            (PaletteGroup::Chats, "New plan".to_owned()),
        ];
        assert_eq!(shown, expected, "more may come");
        for kind in [PaletteHitKind::Turns, PaletteHitKind::Documents] {
            found.apply_response(kind, Ok(json!({ "hits": [] })));
        }
        let all = palette_rows(&PaletteContext::default(), " 100% ü ", &[], &found);
        let last = all.last().expect("a way to the page");
        assert_eq!(
            (last.group, &last.action),
            (PaletteGroup::More, &EntryAction::OpenServerPage("/search?q=100%25%20%C3%BC".into()))
        );
    }

    #[test]
    fn commands_match_words_in_any_order_and_case() {
        for (typed, first) in [
            ("THEME da", words::theme_dark()),
            ("light theme", words::theme_light()),
            ("usage", words::usage()),
            ("import", words::data()),
            ("export", words::data()),
            ("about", words::about()),
        ] {
            assert_eq!(names(&matching_commands(&PaletteContext::default(), typed))[0].1, first, "{typed}");
        }
        assert!(matching_commands(&PaletteContext::default(), "你好").is_empty());
        let context = PaletteContext { chat: Some("/c/1".into()), is_running: false };
        for (typed, first, does) in [
            ("export", words::export_chat(), EntryAction::OpenServerPage("/c/1/export".into())),
            ("rename", words::rename_chat(), EntryAction::Run(PaletteCommand::Rename)),
            ("find", words::find_in_chat(), EntryAction::Run(PaletteCommand::Find)),
        ] {
            let found = matching_commands(&context, typed);
            assert_eq!((names(&found)[0].1.as_str(), &found[0].action), (first, &does), "{typed}");
        }
    }
}

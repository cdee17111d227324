//! What the palette offers: the commands and the settings, and with them what was found, in their order.

use super::entry::{Command, Does, Entry, Group};
use super::hits::Found;
use crate::browser::letters::lower;
use crate::domain::percent;
use crate::ui::keymap::{self, Keymap};
use crate::ui::words::palette as words;

/// What the page has at the moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Here {
    /// The chat on screen: its path.
    pub chat: Option<String>,
    pub is_running: bool,
}

/// Commands and settings whose names have all the words, in their order; all commands where there are none.
pub fn commands(here: &Here, typed: &str) -> Vec<Entry> {
    use Group::{Commands, Settings};
    let entry = |group, icon, name: &str, place: &str, does| Entry {
        group,
        key: name.to_owned(),
        icon,
        title: vec![(name.to_owned(), false)],
        excerpt: Vec::new(),
        place: place.to_owned(),
        does,
    };
    let map = Keymap::of_page();
    let keys = |command| map.of(command).map(|chord| chord.to_string()).unwrap_or_default();
    let leave = |address: &str| Does::Leave(address.to_owned());
    let theme = |theme| Does::Do(Command::Theme(theme));
    let mut all = Vec::new();
    if here.is_running {
        all.push(entry(Commands, "stop", words::stop(), &keys(keymap::Command::Stop), Does::Do(Command::Stop)));
    }
    all.push(entry(Commands, "plus", words::new_chat(), &keys(keymap::Command::NewChat), Does::Open("/".to_owned())));
    all.push(entry(Commands, "sidebar", words::sidebar(), &keys(keymap::Command::Sidebar), Does::Do(Command::Sidebar)));
    if let Some(chat) = &here.chat {
        all.push(entry(Commands, "branch", words::tree(), &keys(keymap::Command::Panel), Does::Do(Command::Tree)));
        all.push(entry(
            Commands,
            "search",
            words::find_in_chat(),
            &keys(keymap::Command::Find),
            Does::Do(Command::Find),
        ));
        all.push(entry(Commands, "edit", words::rename_chat(), "", Does::Do(Command::Rename)));
        all.push(entry(Commands, "external", words::export_chat(), "", Does::Leave(format!("{chat}/export"))));
        all.push(entry(Settings, "tool", words::chat_tools(), "", Does::Leave(format!("{chat}/tools"))));
        all.push(entry(Settings, "edit", words::chat_settings(), "", Does::Leave(format!("{chat}/settings"))));
    }
    all.extend([
        entry(Commands, "chat", words::all_chats(), "", leave("/chats")),
        entry(Commands, "file", words::all_documents(), "", leave("/documents")),
        entry(Commands, "plus", words::new_document(), "", leave("/documents/new")),
        entry(
            Commands,
            "keyboard",
            words::shortcuts(),
            &keys(keymap::Command::Shortcuts),
            Does::Do(Command::Shortcuts),
        ),
        entry(Commands, "system", words::theme_system(), "", theme("system")),
        entry(Commands, "sun", words::theme_light(), "", theme("light")),
        entry(Commands, "moon", words::theme_dark(), "", theme("dark")),
        entry(Settings, "user", words::general(), "", leave("/settings/general")),
        entry(Settings, "sun", words::appearance(), "", leave("/settings/appearance")),
        entry(Settings, "key", words::providers(), "", leave("/settings/providers")),
        entry(Settings, "tool", words::tools(), "", leave("/settings/tools")),
        entry(Settings, "clock", words::usage(), "", leave("/usage")),
        entry(Settings, "keyboard", words::keys(), "", leave("/settings/shortcuts")),
        entry(Settings, "file", words::data(), "", leave("/settings/data")),
        entry(Settings, "trash", words::trash(), "", leave("/trash")),
        entry(Settings, "external", words::API, "", leave("/api/docs")),
        entry(Settings, "leaf", words::about(), "", leave("/settings/about")),
    ]);
    let typed = lower(typed);
    let wanted: Vec<&str> = typed.split_whitespace().collect();
    all.retain(|entry| {
        let name = lower(&entry.key);
        wanted.iter().all(|word| name.contains(word))
    });
    all
}

/// All rows in their order. Without words: the recent chats and the commands; with words: what has them, and when all of
/// it is there, the way to the page of the search.
pub fn rows(here: &Here, typed: &str, recent: &[Entry], found: &Found) -> Vec<Entry> {
    let mut rows = commands(here, typed);
    let typed = typed.trim();
    if typed.is_empty() {
        rows.extend(recent.iter().cloned());
    } else {
        rows.extend(found.entries());
        if found.is_settled() {
            rows.push(Entry {
                group: Group::More,
                key: String::new(),
                icon: "search",
                title: vec![(words::search_all(typed), false)],
                excerpt: Vec::new(),
                place: String::new(),
                does: Does::Leave(format!("/search?q={}", percent::encoded(typed))),
            });
        }
    }
    // Rows of a group stay in their order.
    rows.sort_by_key(|entry| entry.group);
    rows
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ui::palette::hits::{Kind, recent};

    fn names(rows: &[Entry]) -> Vec<(Group, String)> {
        rows.iter().map(|row| (row.group, row.title.iter().map(|(text, _)| text.as_str()).collect())).collect()
    }

    #[test]
    fn without_words_there_are_the_newest_chats_and_the_commands() {
        let chats = [recent("01890000-0000-7000-8000-000000000001".parse().unwrap(), "One")];
        let shown = names(&rows(&Here::default(), "  ", &chats, &Found::default()));
        assert_eq!(shown[0], (Group::Recent, "One".to_owned()));
        assert_eq!(shown[1], (Group::Commands, words::new_chat().to_owned()));
        assert!(shown.iter().all(|(_, name)| name != words::stop() && name != words::tree()));
        let here = Here { chat: Some("/c/1".into()), is_running: true };
        let shown = names(&rows(&here, "", &[], &Found::default()));
        assert_eq!(shown[0], (Group::Commands, words::stop().to_owned()));
        assert!(shown.contains(&(Group::Settings, words::chat_settings().to_owned())));
    }

    #[test]
    fn what_has_the_words_comes_in_groups_and_the_page_of_the_search_last() {
        let mut found = Found::asked();
        let hit =
            json!({ "hits": [{ "kind": "chat", "chat_id": "c", "title": { "text": "New plan", "marks": [[0, 3]] } }] });
        found.take(Kind::Chats, Ok(hit));
        let shown = names(&rows(&Here::default(), "new", &[], &found));
        let expected = [
            (Group::Commands, words::new_chat().to_owned()),
            (Group::Commands, words::new_document().to_owned()),
            (Group::Chats, "New plan".to_owned()),
        ];
        assert_eq!(shown, expected, "more may come");
        for kind in [Kind::Turns, Kind::Documents] {
            found.take(kind, Ok(json!({ "hits": [] })));
        }
        let all = rows(&Here::default(), " 100% ü ", &[], &found);
        let last = all.last().expect("a way to the page");
        assert_eq!((last.group, &last.does), (Group::More, &Does::Leave("/search?q=100%25%20%C3%BC".into())));
    }

    #[test]
    fn commands_are_found_by_words_in_any_order_and_case() {
        for (typed, first) in [
            ("THEME da", words::theme_dark()),
            ("light theme", words::theme_light()),
            ("usage", words::usage()),
            ("import", words::data()),
            ("export", words::data()),
            ("about", words::about()),
        ] {
            assert_eq!(names(&commands(&Here::default(), typed))[0].1, first, "{typed}");
        }
        assert!(commands(&Here::default(), "你好").is_empty());
        let here = Here { chat: Some("/c/1".into()), is_running: false };
        for (typed, first, does) in [
            ("export", words::export_chat(), Does::Leave("/c/1/export".into())),
            ("rename", words::rename_chat(), Does::Do(Command::Rename)),
            ("find", words::find_in_chat(), Does::Do(Command::Find)),
        ] {
            let found = commands(&here, typed);
            assert_eq!((names(&found)[0].1.as_str(), &found[0].does), (first, &does), "{typed}");
        }
    }
}

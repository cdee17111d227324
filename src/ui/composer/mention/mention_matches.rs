//! Matching for the menu behind `@` as pure functions: documents by title, lines of them, turns by their text.

use serde_json::Value;

use crate::domain::documents::attachment::Attachment;
use crate::domain::text::excerpt::first_words;
use crate::domain::{Content, Role, TextMatcher};
use crate::ui::locale::label_with_value;
use crate::ui::messages::transcript as of_turns;

/// The maximum number of options; more typing narrows them.
const SHOWN: usize = 8;
/// The maximum number of turns behind the documents.
pub(super) const TURNS_SHOWN: usize = 4;
/// The maximum number of resources between them, unless their server is named.
const RESOURCES_SHOWN: usize = 4;
/// The length of a turn's summary.
const FIRST_WORDS: usize = 60;

/// The first and the last line, from 1.
pub type LineRange = (u64, u64);

/// The matches, and the line range that was typed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MentionMatches {
    pub documents: Vec<Attachment>,
    pub lines: Option<LineRange>,
    pub resources: Vec<ServerResource>,
    pub turns: Vec<EarlierTurn>,
}

impl MentionMatches {
    pub fn count(&self) -> usize {
        self.documents.len() + self.resources.len() + self.turns.len()
    }
}

/// A resource of a tool server, or a template of resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerResource {
    /// The server's id and its display name.
    pub server: String,
    pub server_name: String,
    pub uri: String,
    pub title: String,
    /// Its address has parameters, which are filled in on the page of the servers.
    pub is_template: bool,
}

/// Returns the resources in the catalogs of all servers, the templates of each behind the others.
pub(super) fn resources_from_response(answer: &Value) -> Vec<ServerResource> {
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let of_server = |server: &Value| {
        let listed = |key: &str| server.get(key).and_then(Value::as_array).into_iter().flatten();
        let all = [("resources", false), ("templates", true)]
            .into_iter()
            .flat_map(|(key, is_template)| listed(key).map(move |resource| (resource, is_template)));
        let resource = |(resource, is_template): (&Value, bool)| ServerResource {
            server: text(server, "server"),
            server_name: text(server, "name"),
            uri: text(resource, "uri"),
            title: text(resource, "title"),
            is_template,
        };
        all.map(resource).collect::<Vec<_>>()
    };
    answer.as_array().into_iter().flatten().flat_map(of_server).collect()
}

/// Returns the resources that match a word: by title, or `server:title`, which lists all of a server.
pub(super) fn matching_resources(resources: &[ServerResource], word: &str) -> Vec<ServerResource> {
    let (server, words, most) = match word.split_once([':', '：']) {
        Some((server, words)) => (Some(server), words, SHOWN),
        None => (None, word, RESOURCES_SHOWN),
    };
    let (needle, is_blank) = (TextMatcher::new(words).ok(), words.trim().is_empty());
    if server.is_none() && is_blank {
        return Vec::new();
    }
    let fits = |resource: &&ServerResource| {
        let is_of_server = server.is_none_or(|server| resource.server == server || resource.server_name == server);
        let has_words = |text: &str| needle.as_ref().map_or(is_blank, |needle| needle.is_match(text));
        is_of_server && (has_words(&resource.title) || has_words(&resource.uri))
    };
    resources.iter().filter(fits).take(most).cloned().collect()
}

/// A turn of the path: its role and its text.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierTurn {
    pub role: Role,
    pub text: String,
}

/// Returns the turns with quotable text that contains this word.
pub(super) fn turns_with_word(
    turns: impl Iterator<Item = EarlierTurn>,
    word: &str,
) -> impl Iterator<Item = EarlierTurn> {
    let (needle, is_blank) = (TextMatcher::new(word).ok(), word.trim().is_empty());
    let fits = move |turn: &EarlierTurn| {
        let has_word = needle.as_ref().map_or(is_blank, |needle| needle.is_match(&turn.text));
        has_word && !turn.text.trim().is_empty()
    };
    turns.filter(fits)
}

/// Returns a one-line summary of a turn: its role and its first words.
pub(super) fn turn_summary(turn: &EarlierTurn) -> String {
    let author = match turn.role {
        Role::Assistant => of_turns::assistant(),
        Role::User => of_turns::you(),
        Role::System => of_turns::system(),
    };
    label_with_value(author, &first_words(&turn.text, FIRST_WORDS))
}

/// Returns the documents that match a word.
pub(super) fn matching_documents(documents: &[Attachment], word: &str) -> MentionMatches {
    let having = |words: &str| -> Vec<Attachment> {
        // An empty word matches every title; one longer than the limit matches none.
        let needle = TextMatcher::new(words).ok();
        let fits = |one: &&Attachment| match &needle {
            Some(needle) => needle.is_match(&one.card.title),
            None => words.trim().is_empty(),
        };
        documents.iter().filter(fits).take(SHOWN).cloned().collect()
    };
    let whole = having(word);
    match parse_line_range(word) {
        // A title may itself look like a line range.
        Some((title, lines)) if whole.is_empty() => {
            MentionMatches { documents: having(title), lines, ..MentionMatches::default() }
        }
        _ => MentionMatches { documents: whole, ..MentionMatches::default() },
    }
}

/// Merges search results into the known documents: a known document is updated, and the most recently changed come
/// first.
pub(super) fn merge_newest_first(documents: &mut Vec<Attachment>, found: Vec<Attachment>) {
    documents.retain(|known| found.iter().all(|one| one.dedup_key() != known.dedup_key()));
    documents.extend(found);
    let version = |one: &Attachment| match &one.content {
        Content::Reference { version_timestamp, .. } => *version_timestamp,
        _ => None,
    };
    documents.sort_by_key(|one| std::cmp::Reverse(version(one)));
}

/// Parses a title with a line range: `spec:12` or `spec:12-30`, also with the signs of a Chinese keyboard. No lines
/// while none are typed behind the colon.
pub(super) fn parse_line_range(word: &str) -> Option<(&str, Option<LineRange>)> {
    let (title, lines) = word.rsplit_once([':', '：'])?;
    if lines.is_empty() {
        return Some((title, None));
    }
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
    let (first, last) = lines.split_once(['-', '–', '－']).unwrap_or((lines, ""));
    let first = number(first).filter(|first| *first > 0)?;
    let last = if last.is_empty() { first } else { number(last).filter(|last| *last >= first)? };
    Some((title, Some((first, last))))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn document(id: &str, title: &str, second: i64) -> Attachment {
        let version = DateTime::from_timestamp(second, 0).unwrap();
        Attachment::document(id.to_owned(), title.to_owned(), version, 1)
    }

    fn titles(options: &MentionMatches) -> Vec<&str> {
        options.documents.iter().map(|one| one.card.title.as_str()).collect()
    }

    #[test]
    fn lines_are_named_after_colon() {
        for (word, read) in [
            ("spec", None),
            ("spec:", Some(("spec", None))),
            ("spec:3", Some(("spec", Some((3, 3))))),
            ("spec:3-", Some(("spec", Some((3, 3))))),
            ("spec:3-12", Some(("spec", Some((3, 12))))),
            ("规格：3－4", Some(("规格", Some((3, 4))))),
            ("a:b:7", Some(("a:b", Some((7, 7))))),
            ("spec:x", None),
            ("spec:3-x", None),
            ("spec:-3", None),
            ("spec:+3", None),
            ("spec:0", None),
            ("spec:12-3", None),
            ("spec:99999999999999999999", None),
        ] {
            assert_eq!(parse_line_range(word), read, "{word}");
        }
    }

    #[test]
    fn title_with_word_comes_before_lines_of_another() {
        let known = [document("a", "Ratio 3:2", 2), document("b", "ΟΔΟΣ 3", 1)];
        assert_eq!(titles(&matching_documents(&known, "3:2")), ["Ratio 3:2"]);
        assert_eq!(matching_documents(&known, "3:2").lines, None);
        let quoted = matching_documents(&known, "3:2:7");
        assert_eq!((titles(&quoted), quoted.lines), (vec!["Ratio 3:2"], Some((7, 7))));
        assert_eq!(titles(&matching_documents(&known, "οδος")), ["ΟΔΟΣ 3"], "the rule of finding in a chat");
        assert_eq!(titles(&matching_documents(&known, "")), ["Ratio 3:2", "ΟΔΟΣ 3"]);
        assert_eq!(titles(&matching_documents(&known, &"x".repeat(300))), [""; 0]);
    }

    #[test]
    fn resources_match_by_title_or_with_their_server() {
        let answer = serde_json::json!([
            { "server": "files", "name": "Files", "resources": [
                { "uri": "file:///a.md", "title": "Notes" }, { "uri": "file:///b.md", "title": "Plan" } ],
              "templates": [{ "uri": "file:///{path}", "title": "Any file" }] },
            { "server": "db", "name": "Data", "resources": [{ "uri": "db://notes", "title": "Table" }] },
        ]);
        let all = resources_from_response(&answer);
        let titles =
            |word: &str| matching_resources(&all, word).into_iter().map(|resource| resource.title).collect::<Vec<_>>();
        assert_eq!(titles("notes"), ["Notes", "Table"]);
        assert_eq!(titles("files:"), ["Notes", "Plan", "Any file"]);
        let found = matching_resources(&all, "any");
        assert_eq!((found.len(), found[0].is_template, all[0].is_template), (1, true, false));
        assert_eq!(titles("files:pl"), ["Plan"]);
        assert_eq!(titles("Data：notes"), ["Table"]);
        assert!(titles("").is_empty() && titles("other:").is_empty());
    }

    #[test]
    fn turns_need_word_and_something_to_quote() {
        let turn = |role, text: &str| EarlierTurn { role, text: text.to_owned() };
        let path = [
            turn(Role::Assistant, "Buds **open** in May."),
            turn(Role::User, "When do ΒUDS open?"),
            turn(Role::Assistant, " "),
        ];
        let having = |word: &str| {
            turns_with_word(path.iter().cloned(), word).map(|turn| turn_summary(&turn)).collect::<Vec<_>>()
        };
        assert_eq!(having(""), ["Assistant: Buds open in May.", "You: When do ΒUDS open?"]);
        assert_eq!(having("may"), ["Assistant: Buds open in May."]);
        assert_eq!(having("leaf"), [""; 0]);
    }

    #[test]
    fn found_documents_are_listed_once_newest_first() {
        let mut known = vec![document("a", "A", 3), document("b", "B", 2)];
        merge_newest_first(&mut known, vec![document("b", "B now", 5), document("c", "C", 1)]);
        let titles: Vec<&str> = known.iter().map(|one| one.card.title.as_str()).collect();
        assert_eq!(titles, ["B now", "A", "C"]);
    }
}

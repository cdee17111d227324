//! Cleaning of titles that a model suggests.

use crate::limits;
use crate::text::excerpt::{first_line, strip_markdown};
use crate::text::hidden_text::find_hidden_characters;

/// Quotation marks in pairs.
const QUOTES: [(char, char); 9] =
    [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’'), ('„', '“'), ('«', '»'), ('「', '」'), ('《', '》')];

/// Labels that models write before a title, in lower case.
const LABELS: [&str; 4] = ["title:", "chat title:", "标题：", "标题:"];

/// The layers of labels, quotation marks and Markdown that are removed.
const LAYERS: usize = 4;

/// Returns the title in a model's response: the first line with words, without Markdown, hidden characters, a label and
/// quotation marks around it, cut at a word. `None` if that leaves no letter and no digit.
pub fn clean_suggested_title(text: &str) -> Option<String> {
    let mut title = first_line(&strip_markdown(text), limits::TITLE_CHARS);
    for _ in 0..LAYERS {
        let inner = first_line(&strip_markdown(unquoted(without_label(&title))), limits::TITLE_CHARS);
        if inner == title {
            break;
        }
        title = inner;
    }
    let title = first_line(&without_hidden_characters(&title), limits::SUGGESTED_TITLE_CHARS);
    title.chars().any(char::is_alphanumeric).then_some(title)
}

fn without_label(title: &str) -> &str {
    let label = LABELS
        .into_iter()
        .find(|label| title.get(..label.len()).is_some_and(|start| start.eq_ignore_ascii_case(label)));
    label.map_or(title, |label| title[label.len()..].trim())
}

/// Removes one pair of quotation marks around the whole title. Marks inside of it may belong to two quotations.
fn unquoted(title: &str) -> &str {
    let inside = |(open, close): (char, char)| {
        let inner = title.strip_prefix(open)?.strip_suffix(close)?;
        (!inner.contains([open, close])).then_some(inner.trim())
    };
    QUOTES.into_iter().find_map(inside).unwrap_or(title)
}

fn without_hidden_characters(title: &str) -> String {
    let hidden: Vec<usize> = find_hidden_characters(title).map(|(at, _)| at).collect();
    title.char_indices().filter(|(at, _)| !hidden.contains(at)).map(|(_, c)| c).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_without_labels_quotes_and_markdown_is_title() {
        for (text, title) in [
            ("Names for a boat", "Names for a boat"),
            ("\n\n  Names for a boat.  \nIt is about boats.", "Names for a boat."),
            ("# Names for a boat", "Names for a boat"),
            ("**Names for a boat**", "Names for a boat"),
            ("Title: \"Names for a boat\"", "Names for a boat"),
            ("\"**Names for a boat**\"", "Names for a boat"),
            ("“Names for a boat”", "Names for a boat"),
            ("TITLE: `Names`", "Names"),
            ("标题：《船名》", "船名"),
            ("\"Ship\" or \"boat\"", "\"Ship\" or \"boat\""),
            ("```\nNames\n```", "Names"),
            ("[Names](https://example.com)", "Names"),
            ("Na\u{202e}mes\u{0}", "Names"),
        ] {
            assert_eq!(clean_suggested_title(text).as_deref(), Some(title), "{text:?}");
        }
    }

    #[test]
    fn response_without_words_is_no_title() {
        for text in ["", " \n\t", "\"\"", "Title:", "…", "---", "\u{202e}"] {
            assert_eq!(clean_suggested_title(text), None, "{text:?}");
        }
    }

    #[test]
    fn long_title_is_cut_at_word() {
        let title = clean_suggested_title(&"boats ".repeat(100)).unwrap();
        assert!(title.chars().count() <= limits::SUGGESTED_TITLE_CHARS + 1 && title.ends_with("boats…"), "{title}");
        assert!(super::super::check_title(&title).is_ok());
    }
}

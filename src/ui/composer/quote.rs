//! Passages as Markdown quotes in the message box: an earlier turn that `@` names, or a selection in a reply. They
//! are inserted as if typed, so that undo removes them.

use crate::browser::textarea;

/// A longer passage is quoted only up to this length, because the model has it whole.
const MOST_CHARS: usize = 8_000;
/// The selector of the composer's box.
const BOX: &str = "#message";

/// Quotes a passage at the end of the text, because a selection on the page takes the caret from the box. False where
/// there is no box, or nothing to quote.
pub fn quote_in_message_box(passage: &str) -> bool {
    let Some(area) = textarea::find(BOX) else { return false };
    textarea::move_caret_to_end(&area);
    let quoted = quote_after(&textarea::text_before_selection(&area), passage);
    if !quoted.is_empty() {
        textarea::insert(&area, &quoted);
    }
    !quoted.is_empty()
}

/// Returns a passage as a quote behind this text, followed by an empty line for the reply to it; empty for an empty
/// passage.
pub fn quote_after(before: &str, passage: &str) -> String {
    let passage = passage.trim_matches('\n').trim_end();
    if passage.trim().is_empty() {
        return String::new();
    }
    let mut quoted = match before {
        "" => String::new(),
        before if before.ends_with("\n\n") => String::new(),
        before if before.ends_with('\n') => "\n".to_owned(),
        _ => "\n\n".to_owned(),
    };
    let end = passage.char_indices().nth(MOST_CHARS).map(|(at, _)| at);
    let is_cut = end.is_some();
    for line in passage[..end.unwrap_or(passage.len())].lines() {
        quoted.push('>');
        if !line.trim().is_empty() {
            quoted.push(' ');
            quoted.push_str(line.trim_end());
        }
        quoted.push('\n');
    }
    if is_cut {
        quoted.insert_str(quoted.len() - 1, " …");
    }
    quoted.push('\n');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_passage_is_quoted_with_room_after_it() {
        assert_eq!(quote_after("", "one\n\n  two  \n"), "> one\n>\n>   two\n\n");
        assert_eq!(quote_after("", " \n\n"), "");
        assert_eq!(quote_after("See", "一"), "\n\n> 一\n\n");
        assert_eq!(quote_after("See\n", "a"), "\n> a\n\n");
        assert_eq!(quote_after("See\n\n", "a"), "> a\n\n");
    }

    #[test]
    fn long_passage_is_quoted_from_its_beginning() {
        let quoted = quote_after("", &"叶".repeat(MOST_CHARS + 1));
        assert!(quoted.ends_with("叶 …\n\n"), "{}", &quoted[quoted.len() - 20..]);
        assert_eq!(quoted.chars().filter(|c| *c == '叶').count(), MOST_CHARS);
        assert!(!quote_after("", &"叶".repeat(MOST_CHARS)).contains('…'));
    }
}

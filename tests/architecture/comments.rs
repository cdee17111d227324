//! The rule on the opening of comments: a comment names its subject, so it does not open with a question word.

use crate::{all_source_files, fail_on};

/// The words that no comment opens with.
const QUESTION_WORDS: &[&str] = &["What", "Who", "Whether", "Where", "How"];

/// Splits a line that holds only a comment into its marker and its text.
fn comment_of(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    ["///", "//!", "//"].into_iter().find_map(|marker| Some((marker, line.strip_prefix(marker)?.trim())))
}

/// Returns the numbers of the lines at which a paragraph of a comment opens with a question word. A line within a
/// paragraph may begin with one.
fn question_lines(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    // The marker of the paragraph that the next line may continue.
    let mut open: Option<&str> = None;
    for (index, line) in text.lines().enumerate() {
        let comment = comment_of(line);
        if let Some((marker, words)) = comment {
            let first = words.split(' ').next().unwrap_or_default();
            if open != Some(marker) && QUESTION_WORDS.contains(&first) {
                found.push(index + 1);
            }
        }
        // An empty line and a heading end the paragraph.
        open = comment.filter(|(_, words)| !words.is_empty() && !words.starts_with("# ")).map(|(marker, _)| marker);
    }
    found
}

#[test]
fn comments_do_not_open_with_question_words() {
    let mut found = Vec::new();
    for file in all_source_files() {
        found.extend(question_lines(&file.text).into_iter().map(|line| format!("{}:{line}", file.path)));
    }
    fail_on("comments that open with a question word instead of their subject (CONTRIBUTING.md, rule 3)", &found);
}

#[test]
fn question_word_is_found_only_at_start_of_paragraph() {
    let cases: [(&str, &[usize]); 6] = [
        ("/// What a turn keeps.", &[1]),
        ("//! How a run ends.\n\n    // Where it is.\nlet a = 1;\n// Who asks.", &[1, 3, 5]),
        ("/// Returns the place\n/// Where it is.", &[]),
        ("/// Text.\n///\n/// Whether it is stored.\n/// # Errors\n/// How it failed.", &[3, 5]),
        ("// Text.\n/// What it is.\n// Who it is.", &[2, 3]),
        ("/// Whatever it is.\n// The reason: What.\nlet a = 1; // What it is.", &[]),
    ];
    for (text, lines) in cases {
        assert_eq!(question_lines(text), lines, "{text}");
    }
}

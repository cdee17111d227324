//! What is left of the beginning of a text.

use super::*;

#[test]
fn first_words_are_one_line_of_whole_characters() {
    let table = [
        ("", ""),
        (" a\n\tb  c ", "a b c"),
        ("abcde", "abcde"),
        ("abcdef", "abcde…"),
        ("abcd efg", "abcd…"),
        ("你好世界再见", "你好世界再…"),
        ("a\u{7}b \u{7} c", "ab c"),
        ("abcdeé", "abcde…"),
        ("éééééé", "ééééé…"),
        ("abc d efgh", "abc d…"),
        ("a bcdefgh", "a bcd…"),
    ];
    for (text, words) in table {
        assert_eq!(first_words(text, 5), words, "{text:?}");
    }
}

#[test]
fn first_words_are_without_the_signs_of_lines_and_of_bold_words() {
    let table = [
        ("## Two **short words**\n\nand more", "Two short words and more"),
        ("**Note**: it is 2**3, #1 and C#", "Note: it is 2**3, #1 and C#"),
        ("- [ ] one\n* two\n  > - three", "[ ] one two three"),
        ("```rust\nfn main() {}\n```", "fn main() {}"),
        ("---\n#tag ####### seven", "#tag ####### seven"),
        ("-5 degrees, *args", "-5 degrees, *args"),
        ("**", "**"),
        ("2 ** 3, 2**3 and 4**5, char **argv", "2 ** 3, 2**3 and 4**5, char **argv"),
        ("src/**, then **/*.rs", "src/**, then **/*.rs"),
        ("**one** two, **three**", "one two, three"),
        ("```ls -la``` does what?", "```ls -la``` does what?"),
        ("# \n```\n", "# ```"),
        ("***\nafter ___\n___\n", "after ___"),
    ];
    for (text, words) in table {
        assert_eq!(first_words(text, 40), words, "{text:?}");
    }
}

#[test]
fn a_first_line_is_the_first_that_says_something() {
    let table = [
        ("\n**Bold** and `code`\nmore", "Bold and `code`"),
        ("```\nlet x = 1;\n```", "let x = 1;"),
        ("- \n> - one", "one"),
        ("**", "**"),
        ("\u{7}\n \n", ""),
    ];
    for (text, words) in table {
        assert_eq!(first_line(text, 40), words, "{text:?}");
    }
}

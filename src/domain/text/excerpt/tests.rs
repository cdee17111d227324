//! Tests of excerpts.

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
fn first_words_have_no_line_or_bold_markers() {
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
fn first_line_is_first_meaningful_line() {
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

#[test]
fn strip_markdown_leaves_rendered_text() {
    let table = [
        ("## How **leaves** grow\n\n- a *bud*\n> quoted", "How leaves grow\na bud\nquoted"),
        ("| a | b |\n|---|:-:|\n| `x` | [one](https://e.org/a) |", "a | b\nx | one"),
        ("See ![a tree](/t.png) and [the `docs`](https://e.org).", "See a tree and the docs."),
        ("```rust\n# no heading\nlet **x = `y`;\n```\nbehind", "# no heading\nlet **x = `y`;\nbehind"),
        ("2 * 3 * 4 and a_b and f(x)[1] (see)", "2 * 3 * 4 and a_b and f(x)[1] (see)"),
        ("a ` alone", "a ` alone"),
        ("```ls -la``` does *what*?", "ls -la does *what*?"),
        ("[open](never", "[open](never"),
        ("**树**和*叶*", "树和*叶*"),
        ("", ""),
    ];
    for (text, plain) in table {
        assert_eq!(strip_markdown(text), plain, "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn strip_markdown_never_lengthens_text(text in "[ab *`|\\[\\]()#>\\-\n!]{0,60}") {
        proptest::prop_assert!(strip_markdown(&text).len() <= text.len());
    }
}

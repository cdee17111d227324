//! Tests of the text diff: a table, properties, and texts of the largest allowed size.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// Renders a diff as `[-removed-]` and `{+added+}`.
fn marked(left: &str, right: &str) -> String {
    let marked = |span: &DiffSpan| match span.kind {
        DiffSpanKind::Same => span.text.clone(),
        DiffSpanKind::Removed => format!("[-{}-]", span.text),
        DiffSpanKind::Added => format!("{{+{}+}}", span.text),
    };
    TextDiff::from_texts(left, right).spans.iter().map(marked).collect()
}

fn sides(diff: &TextDiff) -> (String, String) {
    let side = |not: DiffSpanKind| diff.spans.iter().filter(|span| span.kind != not).map(|span| &*span.text).collect();
    (side(DiffSpanKind::Added), side(DiffSpanKind::Removed))
}

#[test]
fn words_are_distinguished_and_phrases_kept_together() {
    for (left, right, expected) in [
        ("", "", ""),
        ("same", "same", "same"),
        ("", "new", "{+new+}"),
        ("old", "", "[-old-]"),
        ("a red tree", "a green tree", "a [-red-]{+green+} tree"),
        ("one two three", "eins zwei three", "[-one two-]{+eins zwei+} three"),
        ("a b", "a very big b", "a {+very big +}b"),
        ("树是绿的。", "树是红的。", "树是[-绿-]{+红+}的。"),
        ("我喜欢树", "我很喜欢大树", "我{+很+}喜欢{+大+}树"),
        ("it's fine", "it is fine", "[-it's-]{+it is+} fine"),
        ("e\u{301}t\u{e9}", "ete", "[-e\u{301}t\u{e9}-]{+ete+}"),
        ("👩‍👩‍👧 x", "👩‍👩‍👦 x", "[-👩‍👩‍👧-]{+👩‍👩‍👦+} x"),
        ("a\nb\nc\n", "a\nX\nc\n", "a\n[-b-]{+X+}\nc\n"),
    ] {
        assert_eq!(marked(left, right), expected, "{left:?} {right:?}");
    }
}

#[test]
fn only_equal_texts_are_fully_same() {
    assert_eq!(TextDiff::from_texts("", "").same_percent, 100);
    assert_eq!(TextDiff::from_texts("a b", "a b").same_percent, 100);
    assert_eq!(TextDiff::from_texts("a", "b").same_percent, 0);
    assert_eq!(TextDiff::from_texts("", "b").same_percent, 0);
    let long = "word ".repeat(1_000);
    assert_eq!(TextDiff::from_texts(&long, &format!("{long}x")).same_percent, 99);
}

#[test]
fn largest_texts_are_compared_in_bounded_time() {
    let words = |seed: usize, count: usize| -> String {
        (0..count).map(|n| format!("w{}{}", (n * seed * 7919) % 5003, if n % 24 == 0 { "\n" } else { " " })).collect()
    };
    let largest = |text: String| text.chars().cycle().take(limits::MESSAGE_BYTES).collect::<String>();
    let without_lines = |text: &str| text.replace('\n', " ");
    // The texts are just within the bound on words, with nothing and with much in common.
    let half_words = limits::COMPARE_WORDS / 4 - 9;
    let (left, right) = (words(1, half_words), words(2, half_words));
    let of = |letters: [&str; 3], step: usize| -> String {
        (0..half_words).map(|n| letters[(n * n * step + n / (step + 4)) % 3]).collect()
    };
    let (long, other) = (largest(words(1, 9_000)), largest(words(3, 8_000)));
    for (left, right, unit) in [
        (left.clone(), right.clone(), DiffUnit::Words),
        (left.clone(), left.replace("w7", "v7"), DiffUnit::Words),
        ("a ".repeat(half_words), "b ".repeat(half_words), DiffUnit::Words),
        (of(["a ", "b ", "c "], 1), of(["a ", "b ", "c "], 3), DiffUnit::Words),
        (long.clone(), other.clone(), DiffUnit::Lines),
        (without_lines(&long), without_lines(&other), DiffUnit::Lines),
        ("\n".repeat(limits::MESSAGE_BYTES), "a\n".repeat(limits::MESSAGE_BYTES / 2), DiffUnit::Whole),
    ] {
        let began = Instant::now();
        let diff = TextDiff::from_texts(&left, &right);
        let took = began.elapsed();
        assert_eq!(diff.unit, unit, "{} {}", left.len(), right.len());
        assert_eq!(sides(&diff), (left, right));
        assert!(took < Duration::from_secs(20), "{took:?}");
    }
}

proptest! {
    #[test]
    fn spans_reproduce_both_texts(left in "[ab ,.\n树é]{0,60}", right in "[ab ,.\n树é]{0,60}") {
        let diff = TextDiff::from_texts(&left, &right);
        prop_assert_eq!(sides(&diff), (left.clone(), right.clone()));
        prop_assert!(diff.spans.iter().all(|span| !span.text.is_empty()));
        prop_assert!(diff.spans.windows(2).all(|pair| pair[0].kind != pair[1].kind));
        prop_assert_eq!(diff.is_same(), left == right);
    }

    #[test]
    fn any_text_equals_itself(text in ".{0,80}") {
        let diff = TextDiff::from_texts(&text, &text);
        prop_assert!(diff.is_same() && diff.spans.len() <= 1);
    }
}

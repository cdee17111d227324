//! Tests of language detection, and of texts that must not be detected.

use super::*;

const ENGLISH_TEXT: &str =
    "The tree keeps every version that you make, and you can go back to any of them when you like.";

#[test]
fn language_is_detected_from_letters() {
    for (text, language) in [
        ("好的。", Some("zh")),
        ("使用 Rust 的 async/await 语法来处理并发。", Some("zh")),
        ("這個問題可以這樣說明：請看下面的例子。", Some("zh-Hant")),
        ("東京は日本の首都です。", Some("ja")),
        ("这个店叫の之家，非常有名，大家都很喜欢来这里吃饭。", Some("zh")),
        ("네, 그렇게 하겠습니다.", Some("ko")),
        ("هذا جواب قصير.", Some("ar")),
        ("این پاسخ کوتاه است، گل.", None),
        ("זאת תשובה קצרה.", Some("he")),
        ("דאָס איז ייִדיש, אַ שפּראַך װאָס", None),
        ("นี่คือคำตอบ", Some("th")),
        ("Αυτή είναι η απάντηση.", Some("el")),
        ("ეს არის პასუხი", Some("ka")),
        ("यह उत्तर है", None),
        ("Это короткий ответ, чтобы вы поняли.", Some("ru")),
        ("Це коротка відповідь, її легко зрозуміти.", Some("uk")),
        ("Това е кратък отговор.", None),
        ("Гэта кароткі адказ, які ўсе разумеюць.", None),
        (ENGLISH_TEXT, Some("en")),
        ("Yes.", None),
        ("Der Baum behält alle Fassungen, und man kann zu jeder von ihnen zurück.", None),
        ("L'arbre garde toutes les versions que vous faites, et vous pouvez y revenir.", None),
        ("The word 你好 means hello.", None),
        ("", None),
        ("42 + 1 = 43 🙂", None),
    ] {
        assert_eq!(detect(text), language, "{text}");
    }
}

#[test]
fn code_is_ignored() {
    let code = "fn main() { let the = and(that, you, are, from); }\n".repeat(20);
    let text = format!("```rust\n{code}```\n这段代码什么也不做。");
    assert_eq!(detect(&text), Some("zh"));
    assert_eq!(detect(&format!("```\n{code}```\n")), None);
    assert_eq!(detect("用 `the_and_that_you_are_from_which` 和 `x` 就行。"), Some("zh"));
    assert_eq!(detect(&format!("``` {code}")), None, "a fence that is open");
    assert_eq!(
        detect(&format!("{ENGLISH_TEXT}\n```\n这段代码什么也不做，只是很长很长很长很长很长很长。\n```\n")),
        Some("en")
    );
}

#[test]
fn text_after_sample_changes_nothing() {
    let chinese = "树会保留你的每一个版本。".repeat(40);
    assert_eq!(detect(&format!("{}{chinese}", ENGLISH_TEXT.repeat(3))), Some("en"));
    assert_eq!(detect(&format!("{chinese}{}", ENGLISH_TEXT.repeat(30))), Some("zh"));
}

#[test]
fn streaming_text_changes_language_at_most_three_times_and_ends_with_final_one() {
    let texts = [
        ENGLISH_TEXT.repeat(5),
        "树会保留你的每一个版本。".repeat(40),
        format!("OK. The answer, and this is it: {}", "东京是日本的首都。".repeat(40)),
        format!("「東京」{}", "は日本の首都です。".repeat(40)),
        format!("```rust\nfn main() {{}}\n```\n{}", "树会保留你的每一个版本。".repeat(40)),
    ];
    for text in texts {
        let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        let detected: Vec<_> = ends.map(|end| detect_while_streaming(&text[..end])).collect();
        let changes = detected.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes <= 3, "{changes} changes: {text}");
        assert_eq!(detected.last().copied().flatten(), detect(&text), "{text}");
    }
}

#[test]
fn long_code_block_is_not_read_to_its_end() {
    let text = format!("```\n{}\n```\n这是中文。", "x".repeat(PASSED));
    assert_eq!(detect(&text), None);
}

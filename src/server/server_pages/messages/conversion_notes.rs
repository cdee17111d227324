//! Notes of the file converter (`turnleaf_convert`). They are stored with a document as English sentences and
//! recognized by their templates.

use std::borrow::Cow;

use crate::domain::messages::message_template::{fill_template, recognize_sentence};
use crate::ui::locale::localized_sentence;

/// The sentences in both languages.
const NOTES: &[(&str, &str)] = &[
    ("Page {pages} without text.", "第 {pages} 页没有文字。"),
    ("Pages {pages} without text.", "第 {pages} 页没有文字。"),
    ("Page {pages} could not be read.", "第 {pages} 页无法读取。"),
    ("Pages {pages} could not be read.", "第 {pages} 页无法读取。"),
    ("A picture in it was left out.", "已跳过其中的 1 张图片。"),
    ("{pages} pictures in it were left out.", "已跳过其中的 {pages} 张图片。"),
    ("The sheet “{sheet}” could not be read.", "工作表“{sheet}”无法读取。"),
    ("The sheet “{sheet}” was cut after {count} rows.", "工作表“{sheet}”在第 {count} 行后截断。"),
    ("Of the sheet “{sheet}” only the first {count} columns were read.", "工作表“{sheet}”只读取了前 {count} 列。"),
    ("And more of this kind.", "还有更多同类情况。"),
];

/// Returns a note in the reader's language; an unknown one stays as it is.
pub fn conversion_note(english: &str) -> Cow<'_, str> {
    let templates = NOTES.iter().map(|(english, chinese)| (*chinese, *english));
    let Some((chinese, args)) = recognize_sentence(templates, english) else { return Cow::Borrowed(english) };
    let chinese = || fill_template(chinese, &args).unwrap_or_default();
    Cow::Owned(localized_sentence(|| english.to_owned(), chinese))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::locale::{Locale, with_locale};

    #[test]
    fn known_notes_are_translated_with_their_arguments() {
        for (english, chinese) in [
            ("Pages 2, 5 without text.", "第 2, 5 页没有文字。"),
            ("The sheet “a” was cut after 9 rows.", "工作表“a”在第 9 行后截断。"),
            ("Something else.", "Something else."),
        ] {
            assert_eq!(with_locale(Locale::Chinese, || conversion_note(english).into_owned()), chinese);
            assert_eq!(with_locale(Locale::English, || conversion_note(english).into_owned()), english);
        }
    }
}

//! A sentence pattern in both languages, and its matching.

use crate::domain::message_template::{match_template, next_placeholder};

/// English and Chinese; `{}` is a placeholder for a value, in the same order in both, and `{!}` one for a sentence.
pub(super) type MessagePattern = (&'static str, &'static str);

const SENTENCE: &str = "!";

/// Returns the sentence in Chinese if it matches this pattern. Values of `{}` are inserted unchanged, because they
/// are names; `{!}` is a sentence that is translated by `of_part`, or unchanged where that does not know it.
pub(super) fn translate(
    (form, chinese): &MessagePattern,
    english: &str,
    of_part: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let mut values = match_template(form, english)?.into_iter();
    let mut translated = String::new();
    let mut chinese = *chinese;
    while let Some((before, _, behind)) = next_placeholder(chinese) {
        translated.push_str(before);
        match values.next()? {
            (SENTENCE, part) => translated.push_str(&of_part(part).unwrap_or_else(|| part.to_owned())),
            (_, value) => translated.push_str(value),
        }
        chinese = behind;
    }
    translated.push_str(chinese);
    Some(translated)
}

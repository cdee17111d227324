//! A sentence pattern in both languages, and its matching.

/// English and Chinese; `{}` is a placeholder for a value, in the same order in both, and `{!}` one for a sentence.
pub(super) type MessagePattern = (&'static str, &'static str);

const SENTENCE: &str = "{!}";

/// Returns the sentence in Chinese if it matches this pattern. Values of `{}` are inserted unchanged, because they
/// are names; `{!}` is a sentence that is translated by `of_part`, or unchanged where that does not know it.
pub(super) fn translate(
    (form, chinese): &MessagePattern,
    english: &str,
    of_part: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let mut values = Vec::new();
    let (mut form, mut rest) = (*form, english);
    while let Some((before, mark, behind)) = next_mark(form) {
        rest = rest.strip_prefix(before)?;
        let until = next_mark(behind).map_or(behind, |(until, ..)| until);
        let end = match (until.is_empty(), behind.len() == until.len()) {
            (true, _) => rest.len(),
            (false, true) => rest.strip_suffix(until)?.len(),
            (false, false) => rest.find(until)?,
        };
        if end == 0 {
            return None;
        }
        values.push((mark, &rest[..end]));
        (form, rest) = (behind, &rest[end..]);
    }
    if form != rest {
        return None;
    }
    let mut values = values.into_iter();
    let mut said = String::new();
    let mut chinese = *chinese;
    while let Some((before, _, behind)) = next_mark(chinese) {
        said.push_str(before);
        match values.next()? {
            (SENTENCE, part) => said.push_str(&of_part(part).unwrap_or_else(|| part.to_owned())),
            (_, value) => said.push_str(value),
        }
        chinese = behind;
    }
    said.push_str(chinese);
    Some(said)
}

/// Splits a pattern at its next placeholder: the text before it, the placeholder, and the rest.
fn next_mark(form: &str) -> Option<(&str, &str, &str)> {
    let at = form.find('{')?;
    let end = at + form[at..].find('}')? + 1;
    Some((&form[..at], &form[at..end], &form[end..]))
}

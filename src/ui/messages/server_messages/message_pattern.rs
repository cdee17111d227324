//! A sentence in both languages, and how it is known again by its form with whatever was put in.

/// English and Chinese; `{}` stands for what is put in, in the same order, and `{!}` for a sentence.
pub(super) type MessagePattern = (&'static str, &'static str);

const SENTENCE: &str = "{!}";

/// The sentence in Chinese, where it has the form of this pair. `{}` is put in as it is: names are names, whatever they
/// say; `{!}` is a sentence again, and stays as it is where `of_part` does not know it.
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

/// What is before the next mark, the mark, and what is behind it.
fn next_mark(form: &str) -> Option<(&str, &str, &str)> {
    let at = form.find('{')?;
    let end = at + form[at..].find('}')? + 1;
    Some((&form[..at], &form[at..end], &form[end..]))
}

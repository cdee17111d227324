//! Sentence templates. A stored failure or notice is a code with arguments; its sentence is the code's template, filled
//! with the arguments. Rows of older versions hold only the sentence, so it is matched against the templates.

use std::collections::BTreeMap;

/// The arguments of a sentence, by the names of the placeholders.
pub type MessageArgs = BTreeMap<String, String>;

/// Creates arguments from names and values.
pub fn message_args<const N: usize>(args: [(&str, String); N]) -> MessageArgs {
    let mut all = MessageArgs::new();
    for (name, value) in args {
        all.insert(name.to_owned(), value);
    }
    all
}

/// Replaces each `{name}` with its argument, unchanged. Returns `None` if one is missing.
pub fn fill_template(template: &str, args: &MessageArgs) -> Option<String> {
    let (mut sentence, mut rest) = (String::new(), template);
    while let Some((before, name, behind)) = next_placeholder(rest) {
        sentence.push_str(before);
        sentence.push_str(args.get(name)?);
        rest = behind;
    }
    sentence.push_str(rest);
    Some(sentence)
}

/// Returns the names of a template's placeholders with their values in a sentence that was made from the template.
/// A value is never empty and is as short as possible.
pub fn match_template<'a>(template: &'a str, sentence: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
    let mut values = Vec::new();
    let (mut template, mut rest) = (template, sentence);
    while let Some((before, name, behind)) = next_placeholder(template) {
        rest = rest.strip_prefix(before)?;
        let until = next_placeholder(behind).map_or(behind, |(until, ..)| until);
        let end = match (until.is_empty(), behind.len() == until.len()) {
            (true, _) => rest.len(),
            (false, true) => rest.strip_suffix(until)?.len(),
            (false, false) => rest.find(until)?,
        };
        if end == 0 {
            return None;
        }
        values.push((name, &rest[..end]));
        (template, rest) = (behind, &rest[end..]);
    }
    (template == rest).then_some(values)
}

/// Finds the code and the arguments of a sentence among codes with their templates.
pub fn recognize_sentence<T>(
    templates: impl IntoIterator<Item = (T, &'static str)>,
    sentence: &str,
) -> Option<(T, MessageArgs)> {
    templates.into_iter().find_map(|(code, template)| Some((code, sentence_args(template, sentence)?)))
}

/// Returns the arguments of a sentence that was made from the template. They are inserted one by one: each generic
/// function that collects a map brings a copy of the sort of the standard library into the browser's code.
fn sentence_args(template: &str, sentence: &str) -> Option<MessageArgs> {
    let mut args = MessageArgs::new();
    for (name, value) in match_template(template, sentence)? {
        args.insert(name.to_owned(), value.to_owned());
    }
    Some(args)
}

/// Splits a template at its next placeholder: the text before it, its name, and the rest.
pub fn next_placeholder(template: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = template.split_once('{')?;
    let (name, behind) = rest.split_once('}')?;
    Some((before, name, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filled_template_matches_with_its_arguments() {
        for (template, args) in [
            ("Nothing.", vec![]),
            ("Could not reach {provider}.", vec![("provider", "A {b} c.")]),
            ("{provider} sent nothing for {seconds} s.", vec![("provider", "Demo"), ("seconds", "60")]),
            ("no {a}, \"{b}\"", vec![("a", "x"), ("b", "y\"")]),
        ] {
            let given = args.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let sentence = fill_template(template, &given).unwrap();
            assert_eq!(match_template(template, &sentence), Some(args), "{sentence}");
            assert_eq!(recognize_sentence([(1, "other"), (2, template)], &sentence), Some((2, given)));
        }
    }

    #[test]
    fn missing_argument_and_other_sentence_are_none() {
        assert_eq!(fill_template("{provider} is here.", &MessageArgs::new()), None);
        for other in ["Could not reach .", "could not reach A.", "Could not reach A", ""] {
            assert_eq!(match_template("Could not reach {provider}.", other), None, "{other}");
        }
    }
}

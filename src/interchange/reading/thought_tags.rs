//! Finds reasoning that a program keeps between tags at the beginning of a reply's text, as models write it.

/// The names of the tags that models use.
const NAMES: [&str; 4] = ["think", "thinking", "thought", "thought_chain"];

/// Splits a reply that begins with reasoning between tags: returns the reasoning and the text behind it. `None` if the
/// text does not begin with such a tag, or the tag is not closed.
pub(crate) fn split_leading_thought(text: &str) -> Option<(&str, &str)> {
    let start = text.trim_start().strip_prefix('<')?;
    let (name, inside) = start.split_once('>')?;
    let name = NAMES.into_iter().find(|known| *known == name)?;
    let (thought, behind) = inside.split_once(&format!("</{name}>"))?;
    Some((thought.trim(), behind.trim_start_matches(['\r', '\n'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_closed_tag_at_beginning_is_reasoning() {
        let table = [
            ("<think>\nhm\n</think>\n\n a", Some(("hm", " a"))),
            (" \n<thinking>hm</thinking>a <think>b</think>", Some(("hm", "a <think>b</think>"))),
            ("<think></think>a", Some(("", "a"))),
            ("<think>open", None),
            ("<think>a</thinking>", None),
            ("a <think>b</think>", None),
            ("<b>a</b>", None),
            ("<", None),
        ];
        for (text, expected) in table {
            assert_eq!(split_leading_thought(text), expected, "{text}");
        }
    }
}

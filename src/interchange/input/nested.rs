//! Flattens message trees that are nested JSON: messages within the `children` of messages, as deep as the
//! conversation is long. JSON parsers limit the depth, so the messages are separated before parsing.

use serde_json::{Map, Value};

use super::repair::{parse, string_end};
use crate::bounds;

/// The member that records the index of the parent message in the flat list.
pub(crate) const PARENT_MEMBER: &str = "(stands on)";

const UNREADABLE: &str = "a message that is not JSON was skipped";
const TOO_MANY: &str = "messages beyond the limit of a conversation were skipped";

/// Returns the object with its nested list `messages` or `messagesTree` flattened, in the order in which the messages
/// begin, and the corrections. `None` if nothing is nested or the text is incomplete.
pub(super) fn flatten(text: &[u8]) -> Option<(Value, Vec<&'static str>)> {
    let cut = split_messages(text)?;
    let mut put_right = Vec::new();
    let mut read = |text: &[u8]| {
        let (value, corrections) = parse(text).ok()?;
        put_right.extend(corrections);
        Some(value)
    };
    let mut is_unreadable = false;
    let mut flat = Vec::with_capacity(cut.texts.len());
    let mut texts = cut.texts.into_iter();
    let Some(Value::Object(mut holder)) = read(&texts.next()?.1) else { return None };
    // Each text is freed as soon as it is parsed.
    for (parent, text) in texts {
        let mut message = read(&text).unwrap_or_else(|| {
            is_unreadable = true;
            Value::Object(Map::new())
        });
        if let (Value::Object(members), Some(parent)) = (&mut message, parent) {
            members.insert(PARENT_MEMBER.to_owned(), Value::from(parent));
        }
        flat.push(message);
    }
    holder.remove("messagesTree");
    holder.insert("messages".to_owned(), Value::Array(flat));
    put_right.extend(is_unreadable.then_some(UNREADABLE));
    put_right.extend(cut.is_cut.then_some(TOO_MANY));
    put_right.sort_unstable();
    put_right.dedup();
    Some((Value::Object(holder), put_right))
}

/// The texts of the object (first) and of its messages. Each has an empty list in place of nested messages, and the
/// index of its parent message, from 0.
struct SplitMessages {
    texts: Vec<(Option<usize>, Vec<u8>)>,
    /// There were more messages than a conversation may have.
    is_cut: bool,
}

enum Frame {
    /// An object, by its index in `texts`.
    Object(usize),
    /// The list in the object with this index.
    List(usize),
}

fn split_messages(text: &[u8]) -> Option<SplitMessages> {
    let mut texts: Vec<(Option<usize>, Vec<u8>)> = Vec::new();
    let mut stack: Vec<Frame> = Vec::new();
    // Depth of brackets within the innermost object of the stack.
    let mut inner = 0_usize;
    let mut key: &[u8] = &[];
    let mut awaits_key = false;
    let (mut at, mut is_nested, mut is_cut) = (0, false, false);
    while let Some(&byte) = text.get(at) {
        let from = at;
        at = if byte == b'"' { string_end(text, at) } else { at + 1 };
        let token = &text[from..at];
        let to = match stack.last() {
            Some(Frame::Object(to)) => *to,
            Some(Frame::List(owner)) => {
                match byte {
                    b'{' => {
                        is_nested |= *owner > 0;
                        // The first text is the top-level object, which is no parent message.
                        let parent = owner.checked_sub(1);
                        let place = texts.len();
                        if place <= bounds::MESSAGES {
                            texts.push((parent, b"{".to_vec()));
                        } else {
                            is_cut = true;
                        }
                        stack.push(Frame::Object(place));
                        awaits_key = true;
                    }
                    b']' => drop(stack.pop()),
                    b',' | b' ' | b'\t' | b'\r' | b'\n' => {}
                    // Children that are listed by id are not nested.
                    _ => return None,
                }
                continue;
            }
            None if texts.is_empty() && byte == b'{' => {
                texts.push((None, b"{".to_vec()));
                stack.push(Frame::Object(0));
                awaits_key = true;
                continue;
            }
            None if byte.is_ascii_whitespace() => continue,
            None => return None,
        };
        let mut add = |bytes: &[u8]| {
            if let Some((_, text)) = texts.get_mut(to) {
                text.extend_from_slice(bytes);
            }
        };
        match byte {
            b'[' if inner == 0 && is_list(key, to) => {
                add(b"[]");
                stack.push(Frame::List(to));
                continue;
            }
            b'{' | b'[' => inner += 1,
            b'}' | b']' if inner > 0 => inner -= 1,
            b'}' => drop(stack.pop()),
            b']' => return None,
            b'"' if inner == 0 && awaits_key => {
                key = token;
                awaits_key = false;
            }
            b',' if inner == 0 => awaits_key = true,
            _ => {}
        }
        add(token);
    }
    (stack.is_empty() && is_nested).then_some(SplitMessages { texts, is_cut })
}

/// Returns whether the array under this key holds messages.
fn is_list(key: &[u8], of: usize) -> bool {
    if of == 0 { matches!(key, b"\"messages\"" | b"\"messagesTree\"") } else { key == b"\"children\"" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nested_messages_are_flattened() {
        let text = br#" {"id": "c", "messages": [
            {"id": "a", "text": "] } \" children", "children": [{"id": "b", "children": [], "deep": {"children": [1]}}, {"id": "c"}]},
            {"id": "d", "children": [{"children": [{"id": "f"}], "id": "e"}]}
        ], "end": [1, {"messages": []}]} "#;
        let (value, put_right) = flatten(text).unwrap();
        assert_eq!(
            value,
            json!({"id": "c", "messages": [
                {"id": "a", "text": "] } \" children", "children": []},
                {"id": "b", "children": [], "deep": {"children": [1]}, PARENT_MEMBER: 0},
                {"id": "c", PARENT_MEMBER: 0},
                {"id": "d", "children": []},
                {"children": [], "id": "e", PARENT_MEMBER: 3},
                {"id": "f", PARENT_MEMBER: 4},
            ], "end": [1, {"messages": []}]})
        );
        assert!(put_right.is_empty());
    }

    #[test]
    fn flat_or_truncated_text_is_not_flattened() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"messages": [{"id": 1, "children": []}]}"#,
            r#"{"messages": [{"id": 1, "children": ["2"]}]}"#,
            r#"{"messages": [{"children": [{"id": 2}, 3]}]}"#,
            r#"{"messages": [{"children": [{"id": 2}]}"#,
            r#"{"messages": [{"children": [{"id": 2}]}]}]"#,
            r#"{"messages": [{"children": [{"id": "2]}]}"#,
        ] {
            assert!(flatten(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn broken_or_oversized_message_does_not_affect_others() {
        let bomb = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let text = format!(
            r#"{{"messages": [{{"id": "a", "x": {bomb}, "children": [{{"id" "b", "children": [{{"id": "c"}}]}}]}}]}}"#
        );
        let (value, put_right) = flatten(text.as_bytes()).unwrap();
        let messages = value["messages"].as_array().unwrap();
        assert_eq!(
            messages.iter().map(|message| message["id"].as_str()).collect::<Vec<_>>(),
            [Some("a"), None, Some("c")]
        );
        assert_eq!(messages[2][PARENT_MEMBER], 1);
        assert_eq!(put_right.len(), 2);
    }

    #[test]
    fn nesting_as_deep_as_conversation_is_flattened() {
        let (start, end) = (r#"{"id":"m","children":["#, "]}");
        let text = format!(r#"{{"messages":[{}{}]}}"#, start.repeat(20_000), end.repeat(20_000));
        let (value, _) = flatten(text.as_bytes()).unwrap();
        assert_eq!(value["messages"].as_array().map(Vec::len), Some(20_000));
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(text in r#"\{"messages":\[(\{|\}|\[|\]|"children":|"|,|\\|1| ){0,30}"#) {
            let _ = flatten(text.as_bytes());
        }
    }
}

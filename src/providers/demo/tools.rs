//! Tools of the demo: local and deterministic.

use serde_json::{Value, json};

use crate::provider::ToolOutcome;
use turnleaf_domain::tool::ToolSpec;

/// Terms of Turnleaf with their definitions.
const GLOSSARY: [(&str, &str); 6] = [
    ("chat", "A whole conversation: a tree of turns, not a list."),
    ("turn", "One node of the tree: a message of yours or a reply of a model."),
    ("branch", "A line through the tree that keeps its provider and model for life."),
    ("block", "One typed piece of a turn: text, reasoning, a tool call or its result."),
    ("reasoning block", "What a model thought and which tools it used meanwhile, folded into one panel."),
    ("version", "One of several replies to the same message; trying again makes another."),
];

/// Returns the tool specifications that a model gets.
pub fn specs() -> Vec<ToolSpec> {
    let spec = |name: &str, description: &str, argument: &str, meaning: &str| ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {argument: {"type": "string", "description": meaning}},
            "required": [argument],
        }),
    };
    vec![
        spec("look_up", "Explains a word of Turnleaf from a built-in glossary.", "term", "The word"),
        spec("count_words", "Counts the words and characters of a text.", "text", "The text"),
    ]
}

/// Runs a tool; `None` if there is no such tool.
pub fn run(name: &str, arguments: &Value) -> Option<ToolOutcome> {
    let argument = |key: &str| arguments.get(key).and_then(Value::as_str);
    let done = |result: Value| ToolOutcome { result, is_error: false };
    let wrong = |why: String| ToolOutcome { result: Value::String(why), is_error: true };
    Some(match name {
        "look_up" => match argument("term") {
            Some(term) => match GLOSSARY.iter().find(|(known, _)| known.eq_ignore_ascii_case(term.trim())) {
                Some((term, meaning)) => done(json!({"term": term, "meaning": meaning})),
                None => wrong(format!("The glossary has no word {term:?}.")),
            },
            None => wrong("look_up needs \"term\", a string.".to_owned()),
        },
        "count_words" => match argument("text") {
            Some(text) => done(json!({"words": text.split_whitespace().count(), "characters": text.chars().count()})),
            None => wrong("count_words needs \"text\", a string.".to_owned()),
        },
        _ => return None,
    })
}

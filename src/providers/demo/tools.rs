//! Tools of the demo: local and deterministic.

use serde_json::{Value, json};

use crate::demo::script::is_chinese;
use crate::provider::ToolOutcome;
use turnleaf_domain::tools::tool::ToolSpec;

/// Terms of Turnleaf with their definitions, in both languages.
const GLOSSARY: [(&str, &str); 12] = [
    ("chat", "A whole conversation: a tree of messages, not a list."),
    ("message", "One node of the tree: what you or the model wrote."),
    ("branch", "A line of messages and replies that keeps its provider and model."),
    ("block", "One typed part of a message or reply: text, reasoning, a tool call or its result."),
    ("reasoning block", "A model's reasoning and the tools it used in between, in one collapsible panel."),
    ("version", "One of several replies to the same message; a retry adds another."),
    ("对话", "一次完整的交谈：由消息组成的树，而不是列表。"),
    ("消息", "树上的一个节点：你或模型写下的内容。"),
    ("分支", "对话中的一串消息和回复，始终使用同一个服务商和模型。"),
    ("内容块", "消息或回复中有类型的一部分：文字、思考、工具调用或其结果。"),
    ("思考过程", "模型的思考以及其间使用的工具，放在同一个可折叠的面板中。"),
    ("版本", "对同一条消息的多条回复之一；重试会再增加一个。"),
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
    let wrong = |reason: String| ToolOutcome { result: Value::String(reason), is_error: true };
    Some(match name {
        "look_up" => match argument("term") {
            Some(term) => match GLOSSARY.iter().find(|(known, _)| known.eq_ignore_ascii_case(term.trim())) {
                Some((term, meaning)) => done(json!({"term": term, "meaning": meaning})),
                None if is_chinese(term) => wrong(format!("词汇表中没有“{term}”。")),
                None => wrong(format!("The glossary has no entry {term:?}.")),
            },
            None => wrong("look_up requires \"term\", a string.".to_owned()),
        },
        "count_words" => match argument("text") {
            Some(text) => done(json!({"words": text.split_whitespace().count(), "characters": text.chars().count()})),
            None => wrong("count_words requires \"text\", a string.".to_owned()),
        },
        _ => return None,
    })
}

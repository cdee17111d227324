//! Reads the reasoning of a Grok response: its steps with their calls, or the trace of the whole.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::keys;
use super::sources::FoundSources;
use crate::bounds;
use crate::conversation::{ImportedMessage, PieceBody};
use crate::reading::fields::{first_text, list, text};
use crate::reading::message_builder::call_body;
use crate::reading::notes::ConversationNotes;

const CARD: (&str, &str) = ("<xai:tool_usage_card>", "</xai:tool_usage_card>");

/// Adds the steps in order, or the trace if there are none, and the traces of other agents.
pub(super) fn add(
    message: &mut ImportedMessage,
    response: &Value,
    sources: &mut FoundSources,
    notes: &mut ConversationNotes,
) {
    let first = message.pieces.len();
    let mut answered = Answered { ids: HashSet::new(), pieces: first };
    for step in list(response, "steps") {
        keys::STEP.report_lost(step, &message.source_id, notes);
        add_step(message, step, &mut answered, sources);
    }
    let trace = text(response, "thinking_trace").unwrap_or_default();
    let mut said = Words::default();
    message.pieces[first..].iter().for_each(|piece| said.add(&piece.body));
    // The trace repeats the steps, unless they hold nothing of it.
    let before = message.pieces.len();
    add_unsaid(message, trace, None, &mut said);
    message.pieces[before..].iter().for_each(|piece| said.add(&piece.body));
    let date = |name: &str, notes: &mut ConversationNotes| notes.date(response, name, &message.source_id);
    let (from, to) = (date("thinking_start_time", notes), date("thinking_end_time", notes));
    set_duration(message, from, to);
    for agent in list(response, "agent_thinking_traces") {
        let trace = text(agent, "thinking_trace").or_else(|| agent.as_str()).unwrap_or_default();
        add_unsaid(message, trace, first_text(agent, &["agent_id", "agent_name", "name"]), &mut said);
    }
}

/// Adds a trace, or only those of its calls that are not in the message if its words are.
fn add_unsaid(message: &mut ImportedMessage, trace: &str, title: Option<&str>, said: &mut Words) {
    let before = message.pieces.len();
    if said.contain(trace) {
        let has_calls = !said.calls.is_empty();
        let mut rest = trace;
        while let Some((_, card, after)) = next_card(rest) {
            let is_known = match card_field(card, CARD_ID) {
                Some(id) => !said.calls.insert(id.to_owned()),
                None => has_calls,
            };
            if !is_known {
                add_call(message, card, &mut HashMap::new());
            }
            rest = after;
        }
    } else {
        add_traced(message, trace, &mut HashMap::new(), title);
    }
    said.calls.extend(message.pieces[before..].iter().filter_map(|piece| call_id(&piece.body)).map(str::to_owned));
}

fn call_id(body: &PieceBody) -> Option<&str> {
    match body {
        PieceBody::ToolCall { id, .. } | PieceBody::ToolResult { id, .. } => Some(id),
        _ => None,
    }
}

/// The words and calls that are already in the message, for comparison.
#[derive(Default)]
struct Words {
    words: String,
    calls: HashSet<String>,
    /// Number of bytes that were searched.
    searched: usize,
}

impl Words {
    fn add(&mut self, body: &PieceBody) {
        match body {
            PieceBody::Thinking { text, title, .. } => {
                self.words.push_str(&dense(title.as_deref().unwrap_or_default()));
                self.words.push_str(&dense(text));
            }
            PieceBody::Text(text) => self.words.push_str(&dense(text)),
            body => self.calls.extend(call_id(body).map(str::to_owned)),
        }
    }

    /// Returns whether the words of a text are in the message; a text without words always is.
    fn contain(&mut self, text: &str) -> bool {
        let wanted = dense(&without_cards(text));
        if wanted.is_empty() {
            return true;
        }
        self.searched = self.searched.saturating_add(self.words.len());
        self.searched <= bounds::TRACE_SEARCH_BYTES && self.words.contains(&wanted)
    }
}

fn dense(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn without_cards(text: &str) -> String {
    let mut rest = text;
    let mut words = String::new();
    while let Some((before, _, after)) = next_card(rest) {
        words.push_str(before);
        rest = after;
    }
    words + rest
}

/// Adds one step: its tagged texts in their order, with the results of its calls.
fn add_step(message: &mut ImportedMessage, step: &Value, answered: &mut Answered, sources: &mut FoundSources) {
    let tagged = step.get("tagged_text").and_then(Value::as_object);
    let ordered = list(step, "tag_order").iter().filter_map(Value::as_str);
    let others = tagged.into_iter().flat_map(|tagged| tagged.keys().map(String::as_str));
    let results = list(step, "tool_usage_results");
    let mut by_id = results_by_id(results);
    let mut seen: HashSet<&str> = HashSet::new();
    let mut title: Option<&str> = None;
    for tag in ordered.chain(others).filter(|tag| seen.insert(*tag)) {
        let words = tagged.and_then(|tagged| tagged.get(tag)).and_then(Value::as_str).unwrap_or_default();
        match tag {
            _ if words.trim().is_empty() => {}
            "header" => title = Some(words.trim()),
            "raw_function_result" => add_unnamed_result(message, json!(words)),
            _ => add_traced(message, words, &mut by_id, title.take()),
        }
    }
    if let Some(title) = title {
        let title = Some(title.to_owned());
        message.add_piece(PieceBody::Thinking { text: String::new(), title, duration_ms: None });
    }
    add_orphan_results(message, results, answered);
    for name in ["rag_results", "connector_search_results", "collection_search_results"] {
        add_found(message, name, list(step, name));
    }
    results.iter().flat_map(|result| result.get("web_search_results")).for_each(|found| {
        sources.add_pages(list(found, "results"));
        sources.add_pages(found.as_array().map(Vec::as_slice).unwrap_or_default());
    });
    sources.add_all_of(step);
}

/// Adds what a tool of the service found, as a call with its result.
pub(super) fn add_found(message: &mut ImportedMessage, name: &str, found: &[Value]) {
    if !found.is_empty() {
        let tool = name.trim_end_matches("_results").to_owned();
        add_answered_call(message, &tool, Value::Array(found.to_vec()));
    }
}

fn add_answered_call(message: &mut ImportedMessage, tool: &str, result: Value) {
    let id = format!("{}/{}", message.source_id, message.pieces.len());
    message.add_piece(call_body(id.clone(), tool, None));
    message.add_tool_result(&id, tool, result, true);
}

/// Adds a result to the last call of the message that has none, else to a call that is created for it.
fn add_unnamed_result(message: &mut ImportedMessage, result: Value) {
    let call = message.pieces.last().and_then(|piece| match &piece.body {
        PieceBody::ToolCall { id, name, .. } => Some((id.clone(), name.clone())),
        _ => None,
    });
    match call {
        Some((id, name)) => message.add_tool_result(&id, &name, result, true),
        None => add_answered_call(message, "tool", result),
    }
}

/// The results that name a call, by its id.
type ResultsById<'v> = HashMap<&'v str, Vec<&'v Value>>;

fn results_by_id(results: &[Value]) -> ResultsById<'_> {
    let mut by_id = ResultsById::new();
    for result in results {
        if let Some(id) = text(result, CARD_ID) {
            by_id.entry(id).or_default().push(result);
        }
    }
    by_id
}

/// Adds reasoning with the calls within it, each with the results that name it.
fn add_traced(message: &mut ImportedMessage, trace: &str, results: &mut ResultsById<'_>, title: Option<&str>) {
    let mut title = title.map(str::to_owned);
    let mut add_thought = |message: &mut ImportedMessage, words: &str| {
        if !words.trim().is_empty() {
            let text = words.trim().to_owned();
            message.add_piece(PieceBody::Thinking { text, title: title.take(), duration_ms: None });
        }
    };
    let mut rest = trace;
    while let Some((before, card, after)) = next_card(rest) {
        add_thought(message, before);
        add_call(message, card, results);
        rest = after;
    }
    add_thought(message, rest);
}

/// Splits a text at its first card: the text before it, its inside, and the text after it.
fn next_card(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(CARD.0)?;
    let (inside, after) = rest.split_once(CARD.1)?;
    Some((before, inside, after))
}

/// Returns a field of a card, unless it is blank.
fn card_field<'c>(card: &'c str, name: &str) -> Option<&'c str> {
    let inside = card.split_once(&format!("<xai:{name}>"))?.1;
    Some(inside.split_once(&format!("</xai:{name}>"))?.0.trim()).filter(|text| !text.is_empty())
}

/// Adds a call with the results that name it, which it takes: another call with its id has none.
fn add_call(message: &mut ImportedMessage, card: &str, results: &mut ResultsById<'_>) {
    let arguments = card_field(card, "tool_args").unwrap_or_default();
    let arguments = arguments.strip_prefix("<![CDATA[").and_then(|text| text.strip_suffix("]]>")).unwrap_or(arguments);
    let own = || format!("{}/{}", message.source_id, message.pieces.len());
    let id = card_field(card, CARD_ID).map_or_else(own, str::to_owned);
    let name = card_field(card, "tool_name").unwrap_or("tool");
    message.add_piece(call_body(id.clone(), name, Some(&json!(arguments))));
    let answers = results.remove(id.as_str()).unwrap_or_default().into_iter().map(without_id).collect();
    if let Some(result) = one_or_all(answers) {
        message.add_tool_result(&id, name, result, true);
    }
}

/// The member that names a call in its card and its results.
const CARD_ID: &str = "tool_usage_card_id";

/// The calls that have results.
struct Answered {
    ids: HashSet<String>,
    /// Number of pieces of the message that were examined.
    pieces: usize,
}

impl Answered {
    fn add_pieces_of(&mut self, message: &ImportedMessage) {
        for piece in &message.pieces[self.pieces..] {
            if let PieceBody::ToolResult { id, .. } = &piece.body {
                self.ids.insert(id.clone());
            }
        }
        self.pieces = message.pieces.len();
    }
}

/// Adds the results that no call within the step names.
fn add_orphan_results(message: &mut ImportedMessage, results: &[Value], answered: &mut Answered) {
    answered.add_pieces_of(message);
    for result in results.iter().filter(|result| text(result, CARD_ID).is_none_or(|id| !answered.ids.contains(id))) {
        match text(result, CARD_ID) {
            Some(id) => message.add_tool_result(id, "tool", without_id(result), true),
            None => add_answered_call(message, "tool", result.clone()),
        }
    }
}

fn without_id(result: &Value) -> Value {
    let mut result = result.clone();
    if let Some(members) = result.as_object_mut() {
        members.shift_remove(CARD_ID);
        members.retain(|_, value| !value.is_null());
    }
    result
}

fn one_or_all(mut values: Vec<Value>) -> Option<Value> {
    match values.len() {
        0 => None,
        1 => values.pop(),
        _ => Some(Value::Array(values)),
    }
}

/// Sets how long the reasoning took on its last piece.
fn set_duration(message: &mut ImportedMessage, from: Option<DateTime<Utc>>, to: Option<DateTime<Utc>>) {
    let took = from.zip(to).and_then(|(from, to)| u64::try_from((to - from).num_milliseconds()).ok());
    let Some(took) = took.filter(|took| *took > 0) else { return };
    for piece in message.pieces.iter_mut().rev() {
        if let PieceBody::Thinking { duration_ms, .. } = &mut piece.body {
            *duration_ms = Some(took);
            return;
        }
    }
}

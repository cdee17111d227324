//! Search for tools by the words of a query: the tool through which a model finds those of its servers when they are
//! too many to offer (docs/adr/0070-tool-search.md). The ranking is BM25 over weighted fields; the same tools always
//! have the same order.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::toolbox::ToolDescription;
use turnleaf_domain::limits;
use turnleaf_domain::tools::tool::{OfferedTool, ToolOrigin};

/// The name of the tool.
pub const NAME: &str = "tool_search";

/// The number of tools that a search finds by default.
const USUAL: usize = 5;
/// The most words of a query and of one tool that count.
const QUERY_WORDS: usize = 32;
const TOOL_WORDS: usize = 400;
/// The most bytes of a description in a result.
const SHOWN_BYTES: usize = 300;
/// The weights of a word in the name, the title, the name of the server, and the rest.
const NAME_WEIGHT: f64 = 4.0;
const TITLE_WEIGHT: f64 = 3.0;
const SERVER_WEIGHT: f64 = 2.0;
/// The saturation of repeated words, and the influence of the length of a tool's text (BM25's k1 and b).
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;

/// Describes the tool. `servers` are the display names of the servers that it searches, with their numbers of tools.
pub fn describe(servers: &[(String, usize)]) -> ToolDescription {
    let mut description = "Finds tools of the connected servers that are not listed here, by words such as what they do or \
                           what they work on. The tools that it finds can be called from the next step on. Search before \
                           saying that something cannot be done."
        .to_owned();
    if !servers.is_empty() {
        let listed: Vec<String> = servers.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        description.push_str(&format!(" Servers with their numbers of tools: {}.", listed.join(", ")));
        let end = description.floor_char_boundary(limits::TOOL_DESCRIPTION_BYTES.min(description.len()));
        description.truncate(end);
    }
    let properties = json!({
        "query": {
            "type": "string", "minLength": 1, "maxLength": limits::FIND_CHARS,
            "description": "Words, such as: create calendar event.",
        },
        "limit": {
            "type": "integer", "minimum": 1, "maximum": limits::TOOLS_FOUND,
            "description": format!("The maximum number of tools; {USUAL} by default."),
        },
    });
    let schema = json!({
        "type": "object", "properties": properties, "required": ["query"], "additionalProperties": false,
    });
    let tool = ToolDescription::new(NAME, description, schema);
    ToolDescription { title: "Tool search".into(), is_harmless: true, ..tool }
}

/// Returns whether an origin is that of the tool search.
pub fn is_origin(origin: &ToolOrigin) -> bool {
    matches!(origin, ToolOrigin::BuiltIn { tool } if tool == NAME)
}

/// Returns whether a tool is the tool search.
pub fn is_search(tool: &OfferedTool) -> bool {
    tool.origin.as_ref().is_some_and(is_origin)
}

/// Adds found tools behind those that are offered. If they were too many, those that earlier searches found go first,
/// the oldest ones first.
pub fn add_found(mut offered: Vec<OfferedTool>, found: &[OfferedTool]) -> Vec<OfferedTool> {
    let is_in = |tools: &[OfferedTool], tool: &OfferedTool| {
        tools.iter().any(|known| known.origin == tool.origin || known.spec.name == tool.spec.name)
    };
    let new: Vec<OfferedTool> = found.iter().filter(|tool| !is_in(&offered, tool)).cloned().collect();
    let mut excess = (offered.len() + new.len()).saturating_sub(limits::TOOLS_OFFERED);
    offered.retain(|tool| {
        let goes = excess > 0 && tool.is_found && !is_in(found, tool);
        excess -= usize::from(goes);
        !goes
    });
    let room = limits::TOOLS_OFFERED.saturating_sub(offered.len());
    offered.extend(new.into_iter().take(room).map(|tool| OfferedTool { is_found: true, ..tool }));
    offered
}

/// The arguments of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolQuery {
    pub query: String,
    pub limit: usize,
}

impl ToolQuery {
    /// Reads arguments that fit the tool's schema.
    pub fn from_arguments(arguments: &Value) -> Self {
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default().to_owned();
        let limit = arguments.get("limit").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
        Self { query, limit: limit.unwrap_or(USUAL).clamp(1, limits::TOOLS_FOUND) }
    }
}

/// Returns the indexes of the tools that match a query, best first, at most as many as it asks for.
pub fn rank(query: &ToolQuery, tools: &[OfferedTool]) -> Vec<usize> {
    let wanted: BTreeSet<String> = words(&query.query).into_iter().take(QUERY_WORDS).collect();
    let texts: Vec<WeightedWords> = tools.iter().map(WeightedWords::of_tool).collect();
    let mean = texts.iter().map(|text| text.length).sum::<f64>() / texts.len().max(1) as f64;
    let mut scores = vec![0.0; tools.len()];
    for word in &wanted {
        let with_word = texts.iter().filter(|text| text.weights.contains_key(word)).count() as f64;
        let rarity = ((tools.len() as f64 - with_word + 0.5) / (with_word + 0.5)).ln_1p();
        for (score, text) in scores.iter_mut().zip(&texts) {
            if let Some(weight) = text.weights.get(word) {
                let damping = SATURATION * (1.0 - LENGTH + LENGTH * text.length / mean.max(1.0));
                *score += rarity * weight * (SATURATION + 1.0) / (weight + damping);
            }
        }
    }
    let exact = query.query.trim();
    let is_exact = |at: usize| tools[at].spec.name.eq_ignore_ascii_case(exact) || local_name(&tools[at]) == exact;
    let mut found: Vec<usize> = (0..tools.len()).filter(|at| scores[*at] > 0.0 || is_exact(*at)).collect();
    found.sort_by(|a, b| {
        is_exact(*b).cmp(&is_exact(*a)).then_with(|| scores[*b].total_cmp(&scores[*a])).then_with(|| a.cmp(b))
    });
    found.truncate(query.limit);
    found
}

/// Returns the result for the model: the tools that it can call now, best first, and how many there are in all.
pub fn search_result(found: &[OfferedTool], of: usize) -> Value {
    if found.is_empty() {
        return json!({
            "found": [], "searched": of,
            "hint": "No tool has any of these words. Try other words, or fewer and more general ones.",
        });
    }
    let shown = |tool: &OfferedTool| {
        let text = &tool.spec.description;
        let kept = &text[..text.floor_char_boundary(SHOWN_BYTES.min(text.len()))];
        let more = if kept.len() < text.len() { "…" } else { "" };
        json!({ "name": tool.spec.name, "description": format!("{kept}{more}") })
    };
    json!({
        "found": found.iter().map(shown).collect::<Vec<_>>(), "searched": of,
        "hint": "You can call these tools by their names from the next step on.",
    })
}

/// The words of a tool with their weights.
struct WeightedWords {
    weights: BTreeMap<String, f64>,
    length: f64,
}

impl WeightedWords {
    fn of_tool(tool: &OfferedTool) -> Self {
        let mut text = Self { weights: BTreeMap::new(), length: 0.0 };
        text.add(local_name(tool), NAME_WEIGHT);
        if let Some(label) = tool.label() {
            text.add(&label.title, TITLE_WEIGHT);
            text.add(label.server.as_deref().unwrap_or_default(), SERVER_WEIGHT);
        }
        text.add(&tool.spec.description, 1.0);
        for (name, schema) in tool.spec.parameters.get("properties").and_then(Value::as_object).into_iter().flatten() {
            text.add(name, 1.0);
            text.add(schema.get("description").and_then(Value::as_str).unwrap_or_default(), 1.0);
        }
        text
    }

    fn add(&mut self, text: &str, weight: f64) {
        for word in words(text).into_iter().take(TOOL_WORDS) {
            *self.weights.entry(word).or_default() += weight;
            self.length += weight;
        }
    }
}

/// Returns the name of a tool at its server.
fn local_name(tool: &OfferedTool) -> &str {
    match &tool.origin {
        Some(ToolOrigin::Server { tool, .. } | ToolOrigin::BuiltIn { tool }) => tool,
        _ => &tool.spec.name,
    }
}

/// Splits a text into words: at everything that is no letter or digit, and before a capital letter inside a word. Text
/// without spaces is split into pairs of characters.
fn words(text: &str) -> Vec<String> {
    let mut split = Vec::new();
    for run in text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        let mut word = String::new();
        let mut wide: Vec<char> = Vec::new();
        let mut previous = ' ';
        for c in run.chars() {
            if is_wide(c) {
                push_word(&mut split, &mut word);
                wide.push(c);
            } else {
                push_pairs(&mut split, &mut wide);
                if c.is_uppercase() && previous.is_lowercase() {
                    push_word(&mut split, &mut word);
                }
                word.extend(c.to_lowercase());
            }
            previous = c;
        }
        push_word(&mut split, &mut word);
        push_pairs(&mut split, &mut wide);
    }
    split
}

/// Adds a word, without the ending of a plural.
fn push_word(split: &mut Vec<String>, word: &mut String) {
    let mut word = std::mem::take(word);
    if word.chars().count() > 3 && word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
    if !word.is_empty() {
        split.push(word);
    }
}

fn push_pairs(split: &mut Vec<String>, wide: &mut Vec<char>) {
    match wide.as_slice() {
        [] => {}
        [one] => split.push(one.to_string()),
        more => split.extend(more.windows(2).map(|pair| pair.iter().collect())),
    }
    wide.clear();
}

/// Returns whether a character belongs to a script that is written without spaces.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '\u{e00}'..='\u{eff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(server: &str, name: &str, description: &str) -> OfferedTool {
        let schema = json!({ "type": "object", "properties": { "calendarId": { "description": "Which agenda." } } });
        ToolDescription::new(name, description, schema).to_offered_tool(Some((server, server)))
    }

    fn all() -> Vec<OfferedTool> {
        vec![
            tool("files", "readFile", "Reads a file from the disk."),
            tool("files", "write_file", "Writes text into a file, and creates the file."),
            tool("calendar", "create_event", "Creates an event with a title and a time."),
            tool("calendar", "list_events", "Lists the events of a day."),
            tool("maps", "route", "查找两地之间的路线。"),
        ]
    }

    fn found(query: &str, limit: usize) -> Vec<String> {
        let tools = all();
        let query = ToolQuery { query: query.into(), limit };
        rank(&query, &tools).into_iter().map(|at| local_name(&tools[at]).to_owned()).collect()
    }

    #[test]
    fn tools_are_ranked_by_words_of_name_first() {
        assert_eq!(found("create calendar event", 2), ["create_event", "list_events"]);
        assert_eq!(found("read files", 9)[0], "readFile");
        assert_eq!(found("create a file", 1), ["write_file"]);
        assert_eq!(found("EVENTS day", 1), ["list_events"]);
        assert_eq!(found("路线", 5), ["route"]);
        assert_eq!(found("agenda", 9).len(), 5, "parameters count too");
        assert_eq!(found("zebra", 5), Vec::<String>::new());
        assert_eq!(found(" ", 5), Vec::<String>::new());
    }

    #[test]
    fn exact_name_is_first_and_order_is_always_the_same() {
        assert_eq!(found("files__write_file", 1), ["write_file"]);
        assert_eq!(found("route", 9)[0], "route");
        let many: Vec<OfferedTool> = (0..300).map(|n| tool("s", &format!("same{n}"), "Same words.")).collect();
        let query = ToolQuery { query: "same words".into(), limit: 8 };
        assert_eq!(rank(&query, &many), (0..8).collect::<Vec<_>>());
        assert_eq!(rank(&query, &[]), Vec::<usize>::new());
    }

    #[test]
    fn words_are_split_at_case_marks_and_wide_characters() {
        let split = |text: &str| words(text).join(" ");
        assert_eq!(split("getHTTPPages_v2 class-names"), "get httppage v2 class name");
        assert_eq!(split("読込file路线图"), "読込 file 路线 线图");
        assert_eq!(split("--"), "");
    }

    #[test]
    fn arguments_are_bounded_and_result_names_tools() {
        let query = |arguments: Value| ToolQuery::from_arguments(&arguments);
        assert_eq!(query(json!({ "query": "a" })), ToolQuery { query: "a".into(), limit: USUAL });
        assert_eq!(query(json!({ "query": "a", "limit": 900 })).limit, limits::TOOLS_FOUND);
        let long = tool("files", "read", &"é".repeat(SHOWN_BYTES));
        let result = search_result(&[long], 200);
        assert_eq!((&result["found"][0]["name"], &result["searched"]), (&json!("files__read"), &json!(200)));
        let shown = result["found"][0]["description"].as_str().unwrap();
        assert!(shown.ends_with('…') && shown.len() <= SHOWN_BYTES + 3, "{shown}");
        assert_eq!(search_result(&[], 3)["found"], json!([]));
    }

    #[test]
    fn found_tools_are_added_behind_and_oldest_leave_first() {
        let own: Vec<OfferedTool> = (0..126).map(|n| tool("own", &format!("t{n}"), "")).collect();
        let names = |tools: &[OfferedTool]| tools[126..].iter().map(|tool| tool.spec.name.clone()).collect::<Vec<_>>();
        let all = all();
        let first = add_found(own.clone(), &all[..2]);
        assert_eq!(names(&first), ["files__readFile", "files__write_file"]);
        assert!(first[126].is_found && !first[125].is_found);
        assert_eq!(add_found(first.clone(), &all[..2]), first, "what is offered stays as it is");
        let second = add_found(first, &all[1..3]);
        assert_eq!(names(&second), ["files__write_file", "calendar__create_event"]);
        // Chosen tools are never removed.
        let full: Vec<OfferedTool> = (0..128).map(|n| tool("own", &format!("t{n}"), "")).collect();
        assert_eq!(add_found(full.clone(), &all), full);
    }

    #[test]
    fn description_names_servers_within_its_bound() {
        let servers: Vec<(String, usize)> = (0..32).map(|n| (format!("Server {n} {}", "é".repeat(300)), n)).collect();
        let described = describe(&servers);
        assert!(described.description.contains("Server 0") && described.is_harmless);
        assert!(described.description.len() <= limits::TOOL_DESCRIPTION_BYTES);
        assert!(crate::schema::check_schema(&described.schema).is_ok());
    }
}

//! Assembles tool calls from deltas and finds the call that a delta belongs to, although servers omit, repeat or
//! reuse indexes and ids (docs/reference/providers.md 4.2).

use serde_json::Value;

use crate::call_id::{nameless_call_content, unique_call_id};
use crate::openai_chat::json_progress::JsonProgress;
use crate::openai_chat::vendor_members::CallMembers;
use crate::provider::DecodedItem;
use turnleaf_domain::limits::TOOL_ARGS_BYTES;

/// A call that is being received.
#[derive(Debug, Clone, Default)]
struct Call {
    /// The server's own index, if it sends one.
    index: Option<u64>,
    /// The server's id; empty while it sent none. Once the call is announced, this is its final id.
    id: String,
    /// The server's id that came after the announcement: blocks keep the derived one, and this one goes back.
    late_id: String,
    /// The announced id was derived, because the server had sent none.
    is_id_derived: bool,
    name: String,
    /// The number under which `DecodedItem::ToolCall` was emitted; id and name can no longer change.
    number: Option<u64>,
    progress: JsonProgress,
    /// Arguments that arrived before the name, at most [`TOOL_ARGS_BYTES`] of them.
    held: String,
    /// `held` may contain placeholders for lone surrogates.
    is_held_mended: bool,
    /// The number of the last list in which a fragment with a name belonged to this call.
    named_in_list: u64,
    /// A fragment with a name had arguments, even if they were empty or null: its name is complete.
    has_arguments: bool,
    /// A fragment with a name had the type of a function.
    is_function: bool,
    /// Members that only this vendor has, if they are kept.
    members: CallMembers,
}

/// One element of `delta.tool_calls`, with blank ids and names read as missing.
#[derive(Debug)]
struct Fragment<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: String,
    /// The fragment has arguments, even if they are empty or null.
    has_arguments: bool,
    is_function: bool,
}

/// Arguments to append to an announced call.
#[derive(Debug, PartialEq, Eq)]
pub struct MoreArguments {
    /// The number of the call among the announced calls.
    pub number: u64,
    pub text: String,
    /// The text may contain placeholders for lone surrogates.
    pub is_mended: bool,
}

/// The tool calls of one reply.
#[derive(Debug, Default)]
pub struct ChatToolCalls {
    calls: Vec<Call>,
    /// The final ids of the announced calls.
    ids: Vec<String>,
    /// The number of the current `delta.tool_calls`, from 1.
    list: u64,
    /// Vendor members are kept for the next request.
    keeps_members: bool,
}

impl<'a> Fragment<'a> {
    fn from_value(value: &'a Value) -> Self {
        let text = |value: Option<&'a Value>| value.and_then(Value::as_str).unwrap_or_default();
        let filled = |text: &'a str| if text.trim().is_empty() { "" } else { text };
        let function = value.get("function").filter(|function| function.is_object()).unwrap_or(value);
        let arguments = match function.get("arguments") {
            // Some servers send the arguments as an object instead of a string.
            Some(whole @ Value::Object(_)) => whole.to_string(),
            other => text(other).to_owned(),
        };
        Self {
            index: value.get("index").and_then(Value::as_u64),
            id: filled(text(value.get("id"))),
            name: filled(text(function.get("name"))),
            arguments,
            has_arguments: function.get("arguments").is_some(),
            is_function: value.get("type").and_then(Value::as_str) == Some("function"),
        }
    }

    /// Returns true if this fragment starts a call of its own, although `call` has the same index or the same id.
    /// Only a fragment with a name can.
    fn starts_after(&self, call: &Call, list: u64) -> bool {
        if self.name.is_empty() {
            return false;
        }
        // A bracket continues the arguments in a place where a value may stand.
        let begins_anew = self.arguments.trim_start().starts_with(['{', '[']) && !call.progress.takes_value();
        if call.name.is_empty() {
            // A name may arrive after the arguments, but not together with new ones.
            return call.progress.has_begun() && begins_anew;
        }
        let is_same_id = call.has_id(self.id);
        let has_other_id = !self.id.is_empty() && !is_same_id;
        let is_same_name = self.name == call.name;
        if call.progress.is_complete() {
            // A server that repeats id and name with every fragment does so in its last, empty one, too.
            return !(is_same_id && is_same_name && self.arguments.trim().is_empty());
        }
        if call.progress.has_begun() {
            // The arguments are incomplete: the same name continues them, whatever the id is, unless they begin
            // anew.
            return !is_same_name || has_other_id && begins_anew;
        }
        // Without arguments so far, the name may arrive in pieces or repeatedly, and the id late.
        let has_late_id = call.lacks_id() && is_same_name;
        let is_name_complete = call.has_arguments || (call.is_function && self.is_function);
        (has_other_id && !has_late_id)
            || (!is_same_id && (call.named_in_list == list || (!is_same_name && is_name_complete)))
    }
}

impl Call {
    /// Returns true if the server sent no id for it so far.
    fn lacks_id(&self) -> bool {
        self.late_id.is_empty() && (self.id.is_empty() || self.is_id_derived)
    }

    /// Returns true if a fragment with a name and another id may belong to it.
    fn may_go_on(&self, fragment: &Fragment<'_>) -> bool {
        let is_incomplete = self.progress.has_begun() && !self.progress.is_complete();
        self.lacks_id() || (is_incomplete && self.name == fragment.name)
    }

    fn has_id(&self, id: &str) -> bool {
        !id.is_empty() && (self.id == id || self.late_id == id)
    }

    fn keep_late_id(&mut self, id: &str) {
        if self.number.is_some() && self.lacks_id() {
            id.clone_into(&mut self.late_id);
        }
    }
}

impl ChatToolCalls {
    /// Keeps the vendor members of calls.
    pub fn keep_members(&mut self) {
        self.keeps_members = true;
    }

    /// Returns id and vendor members of each announced call for the next request, in the order of their numbers. An id
    /// that came late replaces the derived one, unless another call has it.
    pub fn into_sent_parts(self) -> Vec<(String, CallMembers)> {
        let mut sent = self.ids.clone();
        let mut announced: Vec<_> = self.calls.into_iter().filter_map(|call| Some((call.number?, call))).collect();
        announced.sort_by_key(|(number, _)| *number);
        for ((_, call), at) in announced.iter().zip(0..) {
            if !call.late_id.is_empty() && !sent.contains(&call.late_id) {
                sent[at] = call.late_id.clone();
            }
        }
        sent.into_iter().zip(announced.into_iter().map(|(_, call)| call.members)).collect()
    }

    /// Starts a list of fragments: two elements with names are two calls.
    pub fn begin_list(&mut self) {
        self.list += 1;
    }

    /// Reads one element of `delta.tool_calls`. A call is announced with its first arguments, so that a name that
    /// arrives in pieces and an id that arrives late are complete; without a name its arguments are held back.
    /// Missing ids are derived from `response_id`. Returns the arguments to append.
    pub fn push_fragment(
        &mut self,
        fragment: &Value,
        is_mended: bool,
        response_id: &str,
        out: &mut Vec<DecodedItem>,
    ) -> Option<MoreArguments> {
        let value = fragment;
        let fragment = Fragment::from_value(value);
        let at = match self.find(&fragment) {
            Some(at) => at,
            None if fragment.id.is_empty() && fragment.name.is_empty() && fragment.arguments.is_empty() => {
                if let Some(newest) = self.calls.last_mut().filter(|_| self.keeps_members) {
                    newest.members.read_fragment(value);
                }
                return None;
            }
            None => {
                self.announce_all(response_id, out);
                self.calls.push(Call { index: fragment.index, ..Call::default() });
                self.calls.len() - 1
            }
        };
        let call = self.calls.get_mut(at)?;
        if self.keeps_members {
            call.members.read_fragment(value);
        }
        if !fragment.name.is_empty() {
            call.named_in_list = self.list;
            call.has_arguments |= fragment.has_arguments;
            call.is_function |= fragment.is_function;
        }
        call.keep_late_id(fragment.id);
        if call.number.is_none() {
            if call.name != fragment.name {
                call.name.push_str(fragment.name);
            }
            if call.id.is_empty() {
                fragment.id.clone_into(&mut call.id);
            }
        }
        call.progress.push(&fragment.arguments);
        if call.name.is_empty() {
            let room = TOOL_ARGS_BYTES.saturating_sub(call.held.len()).min(fragment.arguments.len());
            call.held.push_str(&fragment.arguments[..fragment.arguments.floor_char_boundary(room)]);
            call.is_held_mended |= is_mended;
            return None;
        }
        let text = std::mem::take(&mut call.held) + &fragment.arguments;
        let is_mended = is_mended || call.is_held_mended;
        if text.is_empty() {
            return None;
        }
        let number = self.announce(at, response_id, out);
        Some(MoreArguments { number, text, is_mended })
    }

    /// Returns the call that an element of a whole message repeats: the one of its id, else the one at its position
    /// if the name is the same.
    pub fn repeated(&self, position: usize, element: &Value) -> Option<usize> {
        let element = Fragment::from_value(element);
        let by_id = self.calls.iter().rposition(|call| call.has_id(element.id));
        let is_same = |at: &usize| self.calls[*at].name == element.name;
        by_id.or_else(|| Some(position).filter(|at| *at < self.calls.len()).filter(is_same))
    }

    /// Reads the element of a whole message that repeats a call. Returns the number of the call with its arguments, if
    /// they did not arrive whole before.
    pub fn complete_repeated(
        &mut self,
        at: usize,
        element: &Value,
        response_id: &str,
        out: &mut Vec<DecodedItem>,
    ) -> Option<(u64, String)> {
        let whole = Fragment::from_value(element);
        let call = self.calls.get_mut(at)?;
        if call.name.is_empty() || call.progress.is_complete() || whole.arguments.is_empty() {
            return None;
        }
        call.progress = JsonProgress::default();
        call.progress.push(&whole.arguments);
        Some((self.announce(at, response_id, out), whole.arguments))
    }

    /// Announces the calls that have a name and no arguments yet.
    pub fn announce_all(&mut self, response_id: &str, out: &mut Vec<DecodedItem>) {
        for at in 0..self.calls.len() {
            if self.calls[at].number.is_none() && !self.calls[at].name.is_empty() {
                self.announce(at, response_id, out);
            }
        }
    }

    /// Emits what arrived of calls without a name as opaque items, at the end of the reply: they can be neither run
    /// nor sent back.
    pub fn drop_nameless(&mut self, out: &mut Vec<DecodedItem>) {
        self.calls.retain(|call| {
            if call.name.is_empty() && !call.held.trim().is_empty() {
                out.push(DecodedItem::Opaque(nameless_call_content(&call.id, &call.held)));
            }
            !call.name.is_empty()
        });
    }

    /// Returns true if the model made no call.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Finds the call that a fragment continues. With a name it is the newest call with its index, or else with its
    /// id, or else the newest of all, unless the fragment starts a call of its own. Without a name it is the
    /// call of its index and id, else the newest of its index, else that of its id, else the newest of all while that
    /// one is incomplete: unknown ids of such fragments mean nothing, because some servers make a new one for each.
    fn find(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let has_id = |call: &Call| call.has_id(fragment.id);
        let has_index = |call: &Call| fragment.index.is_some() && call.index == fragment.index;
        let newest = self.calls.len().checked_sub(1);
        let by_index = self.calls.iter().rposition(has_index);
        let by_id = || self.calls.iter().rposition(has_id);
        if fragment.name.is_empty() {
            let is_start = fragment.arguments.is_empty() && !fragment.id.is_empty() && fragment.index.is_some();
            let newest_named = self.calls.iter().rposition(|call| !call.name.is_empty());
            let mut open = [newest_named, newest].into_iter().flatten();
            return self
                .calls
                .iter()
                .rposition(|call| has_index(call) && has_id(call))
                .or(by_index)
                .or_else(by_id)
                .or_else(|| open.find(|at| !self.calls[*at].progress.is_complete() && !is_start));
        }
        let candidate = match (fragment.index, fragment.id.is_empty()) {
            (Some(_), _) => by_index,
            (None, true) => newest,
            // An id may arrive after the name, or be another one in every fragment, also without an index.
            (None, false) => by_id().or_else(|| newest.filter(|at| self.calls[*at].may_go_on(fragment))),
        };
        candidate.filter(|at| !fragment.starts_after(&self.calls[*at], self.list))
    }

    /// Announces a call, once, and returns its number.
    fn announce(&mut self, at: usize, response_id: &str, out: &mut Vec<DecodedItem>) -> u64 {
        let call = &mut self.calls[at];
        if let Some(number) = call.number {
            return number;
        }
        let number = self.ids.len() as u64;
        let id = unique_call_id(&call.id, &self.ids, response_id);
        call.number = Some(number);
        if call.id.is_empty() {
            call.is_id_derived = true;
            id.clone_into(&mut call.id);
        }
        out.push(DecodedItem::ToolCall { index: number, id: id.clone(), name: call.name.clone() });
        self.ids.push(id);
        number
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Formats every call as `id name arguments`, and a call without a name as `- id arguments`. A list is the whole
    /// `delta.tool_calls` of one chunk.
    fn calls(fragments: &[Value]) -> Vec<String> {
        let mut calls = ChatToolCalls::default();
        let mut items = Vec::new();
        for fragment in fragments {
            calls.begin_list();
            for element in fragment.as_array().map_or(std::slice::from_ref(fragment), Vec::as_slice) {
                let more = calls.push_fragment(element, false, "r1", &mut items);
                items.extend(more.map(|more| DecodedItem::ToolArguments { index: more.number, text: more.text }));
            }
        }
        calls.announce_all("r1", &mut items);
        calls.drop_nameless(&mut items);
        let mut found: Vec<String> = Vec::new();
        for item in items {
            match item {
                DecodedItem::ToolCall { id, name, .. } => found.push(format!("{id} {name} ")),
                DecodedItem::ToolArguments { index, text } => found[usize::try_from(index).unwrap()].push_str(&text),
                DecodedItem::Opaque(map) => {
                    assert_eq!(map["type"], "x:nameless_call");
                    found.push(format!("- {} {}", map["value"]["id"].as_str().unwrap(), map["value"]["arguments"]));
                }
                other => panic!("{other:?}"),
            }
        }
        found
    }

    #[test]
    fn fragments_find_their_call_despite_missing_fields() {
        let whole = |id: &str, args: &str| json!({"id": id, "function": {"name": "f", "arguments": args}});
        let part = |index: u64, args: &str| json!({"index": index, "function": {"arguments": args}});
        let start =
            |index: u64, id: &str| json!({"index": index, "id": id, "function": {"name": "f", "arguments": ""}});
        for (case, fragments, expected) in [
            ("by index", vec![start(0, "a"), part(0, "{"), part(0, "}")], vec!["a f {}"]),
            ("from index one", vec![start(1, "a"), part(1, "{}")], vec!["a f {}"]),
            (
                "interleaved",
                vec![start(0, "a"), start(1, "b"), part(0, "{"), part(1, "["), part(0, "}"), part(1, "]")],
                vec!["a f {}", "b f []"],
            ),
            (
                "no index",
                vec![whole("a", "{"), json!({"function": {"arguments": "}"}}), whole("b", "[]")],
                vec!["a f {}", "b f []"],
            ),
            (
                "one index for all",
                vec![
                    json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}),
                    json!({"index": 0, "id": "b", "function": {"name": "g", "arguments": "[]"}}),
                ],
                vec!["a f {}", "b g []"],
            ),
            ("no id", vec![json!({"index": 0, "function": {"name": "f", "arguments": "{}"}})], vec!["call-r1-0 f {}"]),
            (
                "an id twice",
                vec![start(0, "a"), json!({"index": 1, "id": "a", "function": {"name": "g", "arguments": "{}"}})],
                vec!["a f ", "a-1 g {}"],
            ),
            (
                "a name in pieces",
                vec![
                    json!({"index": 0, "id": "a", "function": {"name": "get_"}}),
                    json!({"index": 0, "function": {"name": "time", "arguments": "{}"}}),
                ],
                vec!["a get_time {}"],
            ),
            (
                "a name repeated",
                vec![start(0, "a"), json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}})],
                vec!["a f {}"],
            ),
            (
                "an object",
                vec![json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": {"x": 1}}})],
                vec!["a f {\"x\":1}"],
            ),
            ("nothing", vec![json!({}), json!(null), json!({"index": 3})], vec![]),
            ("for an unknown index", vec![part(7, "{}")], vec![r#"-  "{}""#]),
        ] {
            assert_eq!(calls(&fragments), expected, "{case}");
        }
    }
    fn fragment(index: Value, id: Value, name: Value, arguments: &str) -> Value {
        json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
    }

    #[test]
    fn name_after_complete_arguments_starts_new_call() {
        let null = Value::Null;
        let at = |index: Value, name: &str, args: &str| fragment(index, Value::Null, json!(name), args);
        let path = |n: u64| format!("{{\"path\":\"p{n}\"}}");
        let (p0, p1, p2) = (path(0), path(1), path(2));
        let expected =
            [format!("call-r1-0 read {p0}"), format!("call-r1-1 write {p1}"), format!("call-r1-2 read {p2}")];
        for index in [json!(0), null.clone()] {
            for id in [null.clone(), json!(""), json!(" ")] {
                let whole = |name: &str, args: &str| fragment(index.clone(), id.clone(), json!(name), args);
                let apart = [whole("read", &p0), whole("write", &p1), whole("read", &p2)];
                assert_eq!(calls(&apart), expected, "{index} {id}");
                assert_eq!(calls(&[Value::from(apart.to_vec())]), expected, "{index} {id}, in one list");
            }
        }
        let same_id = |args: &str| fragment(json!(0), json!("x"), json!("f"), args);
        for (case, fragments, expected) in [
            (
                "the same call twice",
                vec![at(json!(0), "f", "{}"), at(json!(0), "f", "{}")],
                vec!["call-r1-0 f {}", "call-r1-1 f {}"],
            ),
            (
                "the second in pieces",
                vec![
                    at(json!(0), "f", "{\"a\":"),
                    at(json!(0), "", "\"}\"}"),
                    at(json!(0), "g", ""),
                    at(json!(0), "", "{}"),
                ],
                vec!["call-r1-0 f {\"a\":\"}\"}", "call-r1-1 g {}"],
            ),
            ("one id for two calls", vec![same_id("{}"), same_id("{\"a\":1}")], vec!["x f {}", "x-1 f {\"a\":1}"]),
            ("id and name repeated at the end", vec![same_id("{"), same_id("}"), same_id("")], vec!["x f {}"]),
            (
                "no arguments in one list",
                vec![json!([at(null.clone(), "f", ""), at(null.clone(), "g", "")])],
                vec!["call-r1-0 f ", "call-r1-1 g "],
            ),
            (
                "a call that was cut before the next",
                vec![at(json!(0), "f", "{\"a\":"), at(json!(0), "g", "{}")],
                vec!["call-r1-0 f {\"a\":", "call-r1-1 g {}"],
            ),
            (
                "repeated names in lists",
                vec![
                    json!([at(json!(0), "f", ""), at(json!(1), "g", "")]),
                    json!([at(json!(0), "f", "{"), at(json!(1), "g", "[")]),
                    json!([at(json!(0), "f", "}"), at(json!(1), "g", "]")]),
                ],
                vec!["call-r1-0 f {}", "call-r1-1 g []"],
            ),
        ] {
            assert_eq!(calls(&fragments), expected, "{case}");
        }
    }

    #[test]
    fn other_complete_name_starts_new_call_before_any_arguments() {
        let typed = |name: &str, arguments: Value| json!({"index": 0, "type": "function", "function": {"name": name, "arguments": arguments}});
        let bare = |name: &str| json!({"index": 0, "type": "function", "function": {"name": name}});
        let two = vec!["call-r1-0 f ", "call-r1-1 g "];
        for (case, fragments, expected) in [
            ("empty arguments", vec![typed("f", json!("")), typed("g", json!(""))], two.clone()),
            ("null arguments", vec![typed("f", Value::Null), typed("g", Value::Null)], two.clone()),
            ("types alone", vec![bare("f"), bare("g")], two.clone()),
            (
                "arguments of the second",
                vec![typed("f", json!("")), typed("g", json!("{}"))],
                vec!["call-r1-0 f ", "call-r1-1 g {}"],
            ),
            (
                "without indexes",
                vec![
                    json!({"function": {"name": "f", "arguments": ""}}),
                    json!({"function": {"name": "g", "arguments": ""}}),
                ],
                two,
            ),
            (
                "a name in pieces",
                vec![
                    json!({"index": 0, "type": "function", "function": {"name": "get_"}}),
                    json!({"index": 0, "function": {"name": "time", "arguments": "{}"}}),
                ],
                vec!["call-r1-0 get_time {}"],
            ),
            (
                "a name in pieces with an id",
                vec![
                    json!({"index": 0, "id": "a", "type": "function", "function": {"name": "get_", "arguments": ""}}),
                    json!({"index": 0, "id": "a", "type": "function", "function": {"name": "time", "arguments": "{}"}}),
                ],
                vec!["a get_time {}"],
            ),
        ] {
            assert_eq!(calls(&fragments), expected, "{case}");
        }
    }

    #[test]
    fn bracket_inside_arguments_continues_call() {
        for index in [json!(0), Value::Null] {
            for value in ["{\"y\":1}", "[1]"] {
                let part = |id: &str, args: &str| fragment(index.clone(), json!(id), json!("f"), args);
                let whole = format!("a f {{\"x\":{value}}}");
                assert_eq!(calls(&[part("a", "{\"x\":"), part("b", value), part("c", "}")]), [whole], "{index}");
                let in_text = [part("a", "{\"x\":\""), part("b", "{z"), part("c", "\"}")];
                assert_eq!(calls(&in_text), ["a f {\"x\":\"{z\"}"], "{index} in a text");
                let other = [part("a", "{\"x\":1"), part("b", "{}")];
                assert_eq!(calls(&other), ["a f {\"x\":1", "b f {}"], "{index}: a value has no place there");
            }
        }
    }

    #[test]
    fn id_after_announcement_goes_back_unless_another_call_has_it() {
        let part = |id: Value, name: &str, args: &str| fragment(json!(0), id, json!(name), args);
        let null = Value::Null;
        for (case, fragments, expected) in [
            ("late", vec![part(null.clone(), "f", "{"), part(json!("a"), "", "}")], vec!["a"]),
            ("late with the name", vec![part(null.clone(), "f", "{"), part(json!("a"), "f", "}")], vec!["a"]),
            (
                "the first one counts",
                vec![part(null.clone(), "f", "{"), part(json!("a"), "", "}"), part(json!("b"), "", "")],
                vec!["a"],
            ),
            ("never", vec![part(null.clone(), "f", "{}")], vec!["call-r1-0"]),
            ("in time", vec![part(json!("a"), "f", "{"), part(json!("b"), "", "}")], vec!["a"]),
            (
                "that of another call",
                vec![part(null.clone(), "f", "{"), part(json!("a"), "", "}"), part(json!("a"), "g", "{}")],
                vec!["call-r1-0", "a"],
            ),
        ] {
            let mut calls = ChatToolCalls::default();
            let mut items = Vec::new();
            for fragment in &fragments {
                calls.begin_list();
                calls.push_fragment(fragment, false, "r1", &mut items);
            }
            calls.announce_all("r1", &mut items);
            let sent: Vec<String> = calls.into_sent_parts().into_iter().map(|(id, _)| id).collect();
            assert_eq!(sent, expected, "{case}");
        }
    }

    #[test]
    fn fragment_without_name_continues_call_whatever_its_id() {
        for index in [json!(0), Value::Null] {
            for blank in [json!(""), Value::Null, json!("  ")] {
                let start = |args: &str| fragment(index.clone(), json!("a"), json!("f"), args);
                let more = |id: Value, args: &str| fragment(index.clone(), id, blank.clone(), args);
                let by_fragment =
                    [start(""), more(json!("b"), "{\"c\":"), more(json!("c"), "1}"), more(json!("d"), "")];
                assert_eq!(calls(&by_fragment), ["a f {\"c\":1}"], "an id per fragment, {index} {blank}");
                for id in [json!(" "), json!(""), Value::Null, json!("\t\n")] {
                    let blank_id = [start("{\"c\""), more(id.clone(), ":1}")];
                    assert_eq!(calls(&blank_id), ["a f {\"c\":1}"], "a blank id, {index} {blank} {id}");
                }
            }
        }
        let one_index = |id: &str, name: &str, args: &str| fragment(json!(0), json!(id), json!(name), args);
        let interleaved =
            [one_index("a", "f", ""), one_index("b", "g", ""), one_index("a", "", "{}"), one_index("b", "", "[]")];
        assert_eq!(calls(&interleaved), ["a f {}", "b g []"], "known ids of one index");
        let counted = [one_index("a", "f", "{"), fragment(json!(1), json!("b"), json!(""), "}")];
        assert_eq!(calls(&counted), ["a f {}"], "an index per fragment");
        let repeated = [one_index("a", "f", "{\"b\":"), one_index("c", "f", "1}")];
        assert_eq!(calls(&repeated), ["a f {\"b\":1}"], "an id per fragment with the name");
    }

    #[test]
    fn late_id_and_late_name_belong_to_call() {
        for index in [json!(0), Value::Null] {
            let part = |id: Value, name: &str, args: &str| fragment(index.clone(), id, json!(name), args);
            let id = || json!("a");
            let null = Value::Null;
            for (case, fragments, expected) in [
                ("with the arguments", vec![part(null.clone(), "f", ""), part(id(), "", "{}")], vec!["a f {}"]),
                ("with the name again", vec![part(json!(" "), "f", ""), part(id(), "f", "{}")], vec!["a f {}"]),
                (
                    "alone",
                    vec![part(null.clone(), "f", ""), part(id(), "", ""), part(null.clone(), "", "{}")],
                    vec!["a f {}"],
                ),
                (
                    "after the arguments",
                    vec![part(null.clone(), "f", "{"), part(id(), "", "}")],
                    vec!["call-r1-0 f {}"],
                ),
                (
                    "the name after id and arguments",
                    vec![part(id(), "", "{"), part(null.clone(), "f", "}")],
                    vec!["a f {}"],
                ),
                ("the name after everything", vec![part(id(), " ", "{}"), part(null.clone(), "f", "")], vec!["a f {}"]),
                ("no name", vec![part(id(), " ", "{\"x\":"), part(null.clone(), "", "1}")], vec![r#"- a "{\"x\":1}""#]),
                ("no name and no arguments", vec![part(id(), "", "")], vec![]),
                (
                    "a nameless call before a call",
                    vec![part(id(), "", "{}"), part(json!("b"), "g", "{}")],
                    vec!["b g {}", r#"- a "{}""#],
                ),
            ] {
                assert_eq!(calls(&fragments), expected, "{case} {index}");
            }
        }
    }
}

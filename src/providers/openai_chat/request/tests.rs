//! Tests of request bodies built from a path, in raw and text mode.

use serde_json::json;

use super::*;
use crate::history::fixtures::{self, block, tool_use_block};
use turnleaf_domain::tools::tool::ToolSpec;
use turnleaf_domain::{Block, Capabilities, Content, ModelParams, Thinking};

pub(crate) fn turn(role: Role, blocks: Vec<Block>, raw: &[&str]) -> HistoryTurn {
    fixtures::turn(role, blocks, &raw.iter().map(|raw| (*raw).to_owned()).collect::<Vec<_>>())
}

fn user(text: &str) -> HistoryTurn {
    turn(Role::User, vec![block(1, Content::text(text), None)], &[])
}

pub fn request(model: &str, history: Vec<HistoryTurn>) -> ChatRequest {
    ChatRequest {
        thinking: Thinking::Medium,
        is_thinking_mode: true,
        ..ChatRequest::new(model, history, Capabilities::default())
    }
}

fn body_of(dialect: &str, request: &ChatRequest) -> Value {
    let dialect = Dialect::from_name(dialect).unwrap();
    let request = ChatRequest { capabilities: models::capabilities(dialect, &request.model), ..request.clone() };
    serde_json::from_slice(&body(dialect, &request)).unwrap()
}

fn messages_of(dialect: &str, history: Vec<HistoryTurn>) -> Value {
    body_of(dialect, &request("some-model", history))["messages"].clone()
}

/// Returns a response that thinks, calls `f` with this id and stops.
fn calling(id: &str, arguments: &str) -> String {
    let call = json!([{"index": 0, "id": id, "function": {"name": "f", "arguments": arguments}}]);
    [
        json!({"choices": [{"index": 0, "delta": {"reasoning_content": "why"}}]}),
        json!({"choices": [{"index": 0, "delta": {"tool_calls": call}, "finish_reason": "tool_calls"}]}),
    ]
    .map(|chunk| format!("data: {chunk}\n\n"))
    .concat()
}

fn assistant_message(text: &str, finish: Value) -> String {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]});
    format!("data: {chunk}\n\n")
}

fn result_block(id: u128, call: u128, result: Value) -> Block {
    fixtures::result_block(id, call, result, false)
}

#[test]
fn plain_request_has_exact_bytes() {
    let mut plain = request("gpt-4o", vec![user("Hi \"you\"")]);
    plain.system = Some("Be kind.".into());
    plain.params.temperature = Some(0.5);
    plain.params.max_tokens = Some(9);
    let expected = concat!(
        r#"{"model":"gpt-4o","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Hi \"you\""}],"#,
        r#""stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":9,"temperature":0.5}"#
    );
    assert_eq!(body(Dialect::from_name("openai").unwrap(), &plain), expected);
    assert_eq!(
        body(Dialect::from_name("openai").unwrap(), &plain),
        body(Dialect::from_name("openai").unwrap(), &plain)
    );
}

#[test]
fn reasoning_models_get_instructions_as_developer_role() {
    let mut chat_request = request("o3", vec![user("Hi")]);
    chat_request.system = Some("Be kind.".into());
    for (model, role) in [("o3", "developer"), ("gpt-5.2", "developer"), ("gpt-4o", "system"), ("unheard-of", "system")]
    {
        chat_request.model = model.into();
        assert_eq!(body_of("openai", &chat_request)["messages"][0]["role"], role, "{model}");
    }
    chat_request.model = "o1-mini".into();
    assert_eq!(body_of("openai", &chat_request)["messages"], json!([{"role": "user", "content": "Be kind.\n\nHi"}]));
}

#[test]
fn tool_loop_with_repeated_ids_is_sent_back_step_by_step() {
    let blocks = vec![
        tool_use_block(10),
        result_block(11, 10, json!("first")),
        tool_use_block(12),
        result_block(13, 12, json!({"n": 2})),
    ];
    let raw = [calling("same", "{\"a\":1}"), calling("same", ""), assistant_message("Done.", json!("stop"))];
    let raw: Vec<&str> = raw.iter().map(String::as_str).collect();
    let history = vec![user("Go"), turn(Role::Assistant, blocks, &raw), user("More")];
    let call = |arguments: &str| json!([{"id": "same", "type": "function", "function": {"name": "f", "arguments": arguments}}]);
    let tool = |content: &str| json!({"role": "tool", "tool_call_id": "same", "content": content});
    assert_eq!(
        messages_of("openai", history.clone()),
        json!([
            {"role": "user", "content": "Go"},
            {"role": "assistant", "content": null, "tool_calls": call("{\"a\":1}")},
            tool("first"),
            {"role": "assistant", "content": null, "tool_calls": call("{}")},
            tool("{\"n\":2}"),
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "More"},
        ])
    );
    let deepseek = messages_of("deepseek", history);
    assert_eq!(deepseek[1]["reasoning_content"], "why");
    assert_eq!(deepseek[5]["reasoning_content"], "", "every message of a turn that called tools has the key");
}

#[test]
fn longer_history_starts_with_same_messages() {
    let answer = || turn(Role::Assistant, Vec::new(), &[&assistant_message("Yes.", json!("stop"))]);
    let short = messages_of("ollama", vec![user("One")]);
    let long = messages_of("ollama", vec![user("One"), answer(), user("Two")]);
    assert_eq!(long.as_array().unwrap()[..1], short.as_array().unwrap()[..]);
}

#[test]
fn unanswered_call_gets_result_and_truncated_one_is_dropped() {
    let unanswered = calling("a", "{}");
    let sent = messages_of("openai", vec![user("Go"), turn(Role::Assistant, vec![tool_use_block(10)], &[&unanswered])]);
    assert_eq!(sent[2], json!({"role": "tool", "tool_call_id": "a", "content": UNANSWERED}));
    let cut = calling("a", "{\"x\":");
    let sent = messages_of("openai", vec![user("Go"), turn(Role::Assistant, vec![tool_use_block(10)], &[&cut])]);
    assert_eq!(sent, json!([{"role": "user", "content": "Go"}]));
    let answered = vec![tool_use_block(10), result_block(11, 10, json!("invalid arguments"))];
    let sent = messages_of("openai", vec![user("Go"), turn(Role::Assistant, answered, &[&cut])]);
    assert_eq!(sent[1]["tool_calls"][0]["function"]["arguments"], "{}");
    assert_eq!(sent[2]["content"], "invalid arguments");
}

#[test]
fn cut_off_reply_is_inserted_between_tool_and_user_message() {
    let unanswered = calling("a", "{}");
    let cut_off = vec![user("Go"), turn(Role::Assistant, vec![tool_use_block(10)], &[&unanswered]), user("And?")];
    let roles = |dialect: &str| -> Vec<String> {
        let sent = messages_of(dialect, cut_off.clone());
        sent.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(roles("mistral"), ["user", "assistant", "tool", "assistant", "user"]);
    assert_eq!(messages_of("mistral", cut_off.clone())[3]["content"], CUT_OFF);
    assert_eq!(roles("openai"), ["user", "assistant", "tool", "user"]);
}

#[test]
fn canonical_turns_are_sent_as_plain_text() {
    let blocks = vec![
        block(1, Content::thinking("secret thoughts"), None),
        tool_use_block(2),
        result_block(3, 2, json!("result")),
        block(4, Content::text("Said."), None),
        block(5, Content::Text { text: "Oops".into(), is_error: true }, None),
    ];
    let sent = messages_of("deepseek", vec![user("Go"), turn(Role::Assistant, blocks, &[])]);
    assert_eq!(sent[1], json!({"role": "assistant", "content": "Said."}));
}

#[test]
fn interrupted_turn_is_sent_back_with_whole_steps_and_rest_of_last_step() {
    let cut = |delta: Value| format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}));
    let thinking = || cut(json!({"reasoning_content": "hm"}));
    let call = |arguments: &str| {
        thinking()
            + &cut(json!({"tool_calls": [{"index": 0, "id": "b", "function": {"name": "f", "arguments": arguments}}]}))
    };
    let blocks = vec![
        tool_use_block(10),
        result_block(11, 10, json!("first")),
        tool_use_block(12),
        result_block(13, 12, json!("stopped")),
    ];
    let step = calling("a", "{}");
    let echoed = |mut message: Value, reasoning: &str| {
        message["reasoning_content"] = json!(reasoning);
        message
    };
    let made = |id: &str| json!({"role": "assistant", "content": "", "tool_calls": [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    let tool = |id: &str, content: &str| json!({"role": "tool", "tool_call_id": id, "content": content});
    let more = json!({"role": "user", "content": "More"});
    for (case, last, behind) in [
        (
            "in a text",
            thinking() + &assistant_message("It is", Value::Null),
            vec![echoed(json!({"role": "assistant", "content": "It is"}), "hm"), more.clone()],
        ),
        ("in reasoning", thinking(), vec![more.clone()]),
        ("in a call", call("{\"a\":"), vec![more.clone()]),
        ("before the arguments of a call", call(""), vec![more.clone()]),
        ("behind a whole call", call("{}"), vec![echoed(made("b"), "hm"), tool("b", "stopped"), more.clone()]),
        ("before anything came", String::new(), vec![more.clone()]),
    ] {
        let reply = turn(Role::Assistant, blocks.clone(), &[&step, &last]);
        let sent = messages_of("deepseek", vec![user("Go"), reply, user("More")]);
        let before = [json!({"role": "user", "content": "Go"}), echoed(made("a"), "why"), tool("a", "first")];
        assert_eq!(sent, Value::Array([&before[..], &behind].concat()), "{case}");
    }
    // If a server only shows its reasoning, none goes back.
    let reply = turn(Role::Assistant, Vec::new(), &[&(thinking() + &assistant_message("It is", Value::Null))]);
    assert_eq!(messages_of("openai", vec![reply])[0], json!({"role": "assistant", "content": "It is"}));
}

#[test]
fn truncated_encrypted_reasoning_is_omitted() {
    let detail = |detail: Value| json!({"choices": [{"index": 0, "delta": {"reasoning_details": [detail]}}]});
    let sealed = json!({"type": "reasoning.encrypted", "index": 0, "data": "d"});
    let open = json!({"type": "reasoning.text", "index": 1, "text": "why"});
    let events = [detail(sealed.clone()), detail(open.clone())].map(|chunk| format!("data: {chunk}\n\n")).concat();
    for (finish, expected) in [(json!("stop"), json!([sealed, open])), (Value::Null, json!([sealed]))] {
        let raw = events.clone() + &assistant_message("So", finish);
        let sent = messages_of("openrouter", vec![turn(Role::Assistant, Vec::new(), &[&raw])]);
        assert_eq!(sent[0]["reasoning_details"], expected);
    }
}

#[test]
fn reasoning_is_echoed_on_request_and_omitted_after_refusal() {
    let raw = [calling("a", "{}"), assistant_message("Done.", json!("stop"))];
    let raw: Vec<&str> = raw.iter().map(String::as_str).collect();
    let blocks = vec![tool_use_block(10), result_block(11, 10, json!("first"))];
    let mut chat_request = request("m", vec![user("Go"), turn(Role::Assistant, blocks, &raw), user("More")]);
    let reasoning = |dialect: &str, chat_request: &ChatRequest| {
        let sent = body_of(dialect, chat_request)["messages"].clone();
        [1, 3].map(|at| sent[at].get("reasoning_content").cloned())
    };
    assert_eq!(reasoning("generic", &chat_request), [Some(json!("why")), None]);
    assert_eq!(reasoning("groq", &chat_request), [None, None]);
    chat_request.reasoning_members = ReasoningMembers::Required;
    assert_eq!(reasoning("generic", &chat_request), [Some(json!("why")), Some(json!(""))]);
    chat_request.reasoning_members = ReasoningMembers::Refused;
    for dialect in ["generic", "vllm", "deepseek", "openrouter", "mistral"] {
        assert_eq!(reasoning(dialect, &chat_request), [None, None], "{dialect}");
    }
    chat_request.reasoning_members = ReasoningMembers::Unknown;
    chat_request.history[1].leaves_out_reasoning = true;
    assert_eq!(reasoning("deepseek", &chat_request), [None, None]);
}

/// Returns a response that reasons in these members, then calls `f` or says `So.`.
fn reasoning_in(members: &[Value], calls: bool) -> String {
    let end = if calls {
        json!({"tool_calls": [{"index": 0, "id": "a", "extra_content": {"google": {"thought_signature": "s"}},
            "function": {"name": "f", "arguments": "{}"}}]})
    } else {
        json!({"content": "So."})
    };
    let chunk = |delta: &Value| format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}));
    let finish = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    members.iter().map(chunk).collect::<String>() + &chunk(&end) + &format!("data: {finish}\n\n")
}

#[test]
fn reasoning_of_tool_loop_goes_back_in_members_it_came_in() {
    let detail = |text: &str| json!({"type": "reasoning.text", "id": "r", "index": 0, "text": text});
    let sealed = json!({"type": "reasoning.encrypted", "index": 1, "data": "d"});
    for (what, came, sent) in [
        // DeepSeek, Kimi, GLM, Qwen, SGLang, llama.cpp.
        (
            "reasoning_content",
            vec![json!({"reasoning_content": "Let "}), json!({"reasoning_content": "me."})],
            json!({"reasoning_content": "Let me."}),
        ),
        // vLLM, Cerebras, Together, LM Studio.
        ("reasoning", vec![json!({"reasoning": "Let me."})], json!({"reasoning": "Let me."})),
        ("reasoning_text", vec![json!({"reasoning_text": "Let me."})], json!({"reasoning_text": "Let me."})),
        // MiniMax, and gateways in front of others.
        (
            "reasoning_details",
            vec![
                json!({"reasoning_details": [detail("Let ")]}),
                json!({"reasoning_details": [detail("me.")]}),
                json!({"reasoning_details": [sealed.clone()]}),
            ],
            json!({"reasoning_details": [detail("Let me."), sealed]}),
        ),
        (
            "both with one text",
            vec![
                json!({"reasoning": "Let ", "reasoning_details": [detail("Let ")]}),
                json!({"reasoning": "me.", "reasoning_details": [detail("me.")]}),
            ],
            json!({"reasoning": "Let me.", "reasoning_details": [detail("Let me.")]}),
        ),
        ("none", vec![], json!({})),
    ] {
        let blocks = vec![tool_use_block(10), result_block(11, 10, json!("first"))];
        let raw = [reasoning_in(&came, true), reasoning_in(&came, false)];
        let raw: Vec<&str> = raw.iter().map(String::as_str).collect();
        let in_loop = turn(Role::Assistant, blocks.clone(), &raw[..1]);
        let whole = turn(Role::Assistant, blocks, &raw);
        let plain = turn(Role::Assistant, Vec::new(), &raw[1..]);
        let members = |message: &Value| -> Value {
            let known = ["role", "content", "tool_calls"];
            message
                .as_object()
                .unwrap()
                .iter()
                .filter(|(name, _)| !known.contains(&name.as_str()))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect::<Map<_, _>>()
                .into()
        };
        for dialect in ["generic", "lmstudio", "qwen", "vllm"] {
            let during = messages_of(dialect, vec![user("Go"), in_loop.clone()]);
            assert_eq!(members(&during[1]), sent, "{what} {dialect}");
            let later = messages_of(dialect, vec![user("Go"), whole.clone(), user("More"), plain.clone(), user("!")]);
            assert_eq!([&later[1], &later[2]], [&during[1], &during[2]], "{what} {dialect}: the prefix stays");
            assert_eq!(members(&later[3]), sent, "{what} {dialect}: the end of the loop");
            let expected = if dialect == "vllm" { sent.clone() } else { json!({}) };
            assert_eq!(members(&later[5]), expected, "{what} {dialect}: a reply without tools");
        }
        let mut sent_request = request("m", vec![user("Go"), in_loop.clone()]);
        sent_request.reasoning_members = ReasoningMembers::Refused;
        let refused = body_of("generic", &sent_request)["messages"].clone();
        assert_eq!(members(&refused[1]), json!({}), "{what}");
        assert_eq!(refused[1]["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "s", "{what}");
    }
}

#[test]
fn reasoning_inside_text_goes_back_inside_text() {
    let text = "<think>Let me.</think>\n\nI look.";
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": text, "tool_calls":
        [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}]});
    let raw = format!("data: {chunk}\n\n");
    let loops = turn(Role::Assistant, vec![tool_use_block(10), result_block(11, 10, json!(1))], &[&raw]);
    let mut sent_request = request("MiniMax-M2", vec![user("Go"), loops]);
    for members in [ReasoningMembers::Unknown, ReasoningMembers::Refused] {
        sent_request.reasoning_members = members;
        let sent = &body_of("generic", &sent_request)["messages"][1];
        assert_eq!((&sent["content"], sent.get("reasoning_content")), (&json!(text), None), "{members:?}");
    }
}

#[test]
fn turn_without_text_is_skipped_and_neighbours_merge() {
    let empty = turn(Role::Assistant, vec![block(1, Content::thinking("hm"), None)], &[]);
    let sent = messages_of("generic", vec![user("One"), empty, user("Two")]);
    assert_eq!(sent, json!([{"role": "user", "content": "One\n\nTwo"}]));
}

#[test]
fn tools_and_parameters_use_dialect_keys() {
    let mut chat_request = request("m", vec![user("Hi")]);
    chat_request.params =
        ModelParams { top_k: Some(5), top_p: Some(0.5), max_tokens: Some(9), ..ModelParams::default() };
    chat_request.params.stop_sequences = vec!["x".into()];
    chat_request.tools =
        vec![ToolSpec { name: "f".into(), description: "d".into(), parameters: json!({"type": "object"}) }];
    let vllm = body_of("vllm", &chat_request);
    assert_eq!(
        [&vllm["top_k"], &vllm["top_p"], &vllm["max_tokens"], &vllm["stop"]],
        [&json!(5), &json!(0.5), &json!(9), &json!(["x"])]
    );
    let mistral = body_of("mistral", &chat_request);
    assert_eq!(mistral.get("stream_options"), None);
    assert_eq!(mistral["tools"][0]["function"]["name"], "f");
}

#[test]
fn refusal_is_sent_back_under_its_key_only_if_supported() {
    let chunk = json!({"choices": [{"index": 0, "delta": {"refusal": "No."}, "finish_reason": "stop"}]});
    let raw = format!("data: {chunk}\n\n");
    let history = || vec![user("Go"), turn(Role::Assistant, Vec::new(), &[&raw])];
    assert_eq!(messages_of("openai", history())[1], json!({"role": "assistant", "content": null, "refusal": "No."}));
    assert_eq!(messages_of("generic", history())[1], json!({"role": "assistant", "content": "No."}));
}

#[test]
fn provider_search_is_requested_only_if_supported() {
    let mut chat_request = request("some-model", vec![user("Hi")]);
    chat_request.provider_tools = vec!["web_search".into(), "code_execution".into()];
    assert_eq!(body_of("openrouter", &chat_request)["tools"], json!([{"type": "openrouter:web_search"}]));
    assert_eq!(body_of("openai", &chat_request)["tools"], Value::Null);
}

#[test]
fn cached_reply_message_equals_fresh_one() {
    let thought = [
        json!({"choices": [{"index": 0, "delta": {"reasoning_content": "why"}}]}),
        json!({"choices": [{"index": 0, "delta": {"content": "Yes \"\\ 叶"}, "finish_reason": "stop"}]}),
    ];
    let thought = thought.map(|chunk| format!("data: {chunk}\n\n")).concat();
    let history = || {
        let calls = [tool_use_block(2)];
        vec![
            user("Is it?"),
            turn(Role::Assistant, Vec::new(), &[&thought]),
            user("And then?"),
            turn(Role::Assistant, calls.into(), &[&calling("c", "{}"), &assistant_message("Done", json!("stop"))]),
            user("Go on"),
        ]
    };
    let mut chat_request = request("some-model", history());
    for dialect in
        ["openai", "deepseek", "openrouter", "generic", "openai"].map(|name| Dialect::from_name(name).unwrap())
    {
        let (unknown, required, refused) =
            (ReasoningMembers::Unknown, ReasoningMembers::Required, ReasoningMembers::Refused);
        for (members, leaves_out) in
            [(unknown, false), (required, false), (refused, false), (unknown, true), (unknown, false)]
        {
            let mut anew = request("some-model", history());
            for request in [&mut chat_request, &mut anew] {
                request.reasoning_members = members;
                request.history.iter_mut().for_each(|turn| turn.leaves_out_reasoning = leaves_out);
            }
            let [first, again, fresh] = [&chat_request, &chat_request, &anew].map(|request| body(dialect, request));
            assert_eq!((&first, &again), (&fresh, &fresh), "{}", dialect.name);
            let values = messages(dialect, &chat_request, false).into_iter().filter_map(Message::into_value);
            let written: Value = serde_json::from_slice(&first).unwrap();
            assert_eq!(written["messages"], values.collect::<Value>(), "{}", dialect.name);
            assert!(String::from_utf8(first.to_vec()).unwrap().find("messages") < Some(40), "in its place");
        }
    }
}

#[test]
fn beginning_of_reply_is_left_open_in_the_form_of_the_server() {
    let continued = |dialect: &str| {
        let history = vec![user("Go"), turn(Role::Assistant, vec![block(2, Content::text("Half of"), None)], &[])];
        body_of(dialect, &ChatRequest { is_continuation: true, ..request("some-model", history) })
    };
    for (dialect, member) in [
        ("llamacpp", None),
        ("groq", None),
        ("vllm", None),
        ("mistral", Some("prefix")),
        ("moonshot", Some("partial")),
        ("qwen", Some("partial")),
    ] {
        let mut last = json!({"role": "assistant", "content": "Half of"});
        if let Some(name) = member {
            last[name] = json!(true);
        }
        assert_eq!(continued(dialect)["messages"], json!([{"role": "user", "content": "Go"}, last]), "{dialect}");
        assert_eq!(continued(dialect)["continue_final_message"] == true, dialect == "vllm", "{dialect}");
        assert!(models::capabilities(Dialect::from_name(dialect).unwrap(), "some-model").continues_text, "{dialect}");
    }
    assert_eq!(continued("vllm")["add_generation_prompt"], false);
    for dialect in ["openai", "ollama", "openrouter", "deepseek", "lmstudio", "xai", "zai", "demo", "generic"] {
        assert!(!models::capabilities(Dialect::from_name(dialect).unwrap(), "some-model").continues_text, "{dialect}");
    }
}

#[test]
fn steps_of_continued_reply_join_its_beginning() {
    let begun = turn(Role::Assistant, vec![block(2, Content::text("Half of"), None)], &[]);
    let with_text = format!("{}{}", assistant_message(" it", Value::Null), calling("a", "{}"));
    for (raw, content) in [(calling("a", "{}"), "Half of"), (with_text, "Half of it")] {
        let blocks = vec![tool_use_block(10), result_block(11, 10, json!("done"))];
        let steps = HistoryTurn { turn_id: begun.turn_id, ..turn(Role::Assistant, blocks, &[raw.as_str()]) };
        let sent = messages_of("mistral", vec![user("Go"), begun.clone(), steps]);
        let roles: Vec<&Value> = sent.as_array().unwrap().iter().map(|message| &message["role"]).collect();
        assert_eq!(roles, ["user", "assistant", "tool"], "{sent}");
        assert_eq!(sent[1]["tool_calls"][0]["id"], "a");
        let text = match &sent[1]["content"] {
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            content => content.as_str().unwrap().to_owned(),
        };
        assert_eq!(text, content, "{sent}");
    }
}

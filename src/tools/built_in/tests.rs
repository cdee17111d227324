//! Tests of the built-in tools: each returns its result and terminates.

use std::sync::Mutex;

use serde_json::json;

use super::*;
use crate::schema::{check_arguments, check_schema};
use turnleaf_convert::PlainReader;
use turnleaf_domain::{BlockId, ChatId, TurnId, UserId};

struct FakeLibrary(Mutex<Vec<(String, usize)>>);

impl ToolLibrary for FakeLibrary {
    fn search<'a>(&'a self, _: &'a ToolCaller, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Value, String>> {
        self.0.lock().unwrap().push((query.to_owned(), limit));
        let found = if query == "nothing" { Err("The search failed.".into()) } else { Ok(json!({"found": []})) };
        Box::pin(std::future::ready(found))
    }

    fn may_fetch<'a>(&'a self, _: &'a ToolCaller, _: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(std::future::ready(false))
    }

    fn search_engine(&self, _: &ToolCaller) -> Option<SearchEngine> {
        None
    }
}

fn caller() -> ToolCaller {
    let nil = uuid::Uuid::nil();
    ToolCaller {
        owner: UserId::from_uuid(nil),
        chat: ChatId::from_uuid(nil),
        turn: TurnId::from_uuid(nil),
        block: BlockId::from_uuid(nil),
    }
}

fn tools(library: Arc<FakeLibrary>) -> BuiltInTools {
    let (reader, fetcher, http) = (Arc::new(PlainReader), Fetcher::with_system_resolver(), HttpClient::default());
    BuiltInTools { library, reader, fetcher, http }
}

async fn run_tool(tool: &str, arguments: Value) -> CallResult {
    tools(Arc::new(FakeLibrary(Mutex::default()))).run(tool, arguments, caller()).unwrap().result.await
}

#[test]
fn every_tool_has_valid_name_and_schema() {
    let all = describe_all();
    let names: Vec<&str> = all.iter().map(|tool| tool.tool.as_str()).collect();
    assert_eq!(names, [TIME, CALCULATOR, PAGE_TOOL, WEB_SEARCH_TOOL, SEARCH]);
    for tool in &all {
        assert_eq!(check_schema(&tool.schema), Ok(()), "{}", tool.tool);
        assert_eq!(tool.to_offered_tool(None).spec.name, tool.tool);
        let reaches_outside = [PAGE_TOOL, WEB_SEARCH_TOOL].contains(&tool.tool.as_str());
        assert_eq!(tool.is_harmless, !reaches_outside, "{}", tool.tool);
        assert!(check_arguments(&tool.schema, &json!({"odd": 1})).is_err(), "{}", tool.tool);
    }
    assert!(tools(Arc::new(FakeLibrary(Mutex::default()))).run("rm", json!({}), caller()).is_none());
    let time = &all[0].schema;
    assert_eq!(check_arguments(time, &json!({"utc_offset": "+05:30"})), Ok(()));
    assert!(check_arguments(time, &json!({"utc_offset": "Berlin"})).is_err());
}

#[tokio::test]
async fn calculator_gives_exact_values_and_reports_errors() {
    for (expression, value) in [
        ("1 + 1", "2"),
        ("2^100", "1267650600228229401496703205376"),
        ("0.1 + 0.2", "0.3"),
        ("5 km/h to m/s", "approx. 1.3888888889 m / s"),
        ("(((1)))", "1"),
    ] {
        let outcome = run_tool(CALCULATOR, json!({"expression": expression})).await;
        assert_eq!((outcome.outcome, outcome.result.as_str().unwrap()), (CallOutcome::Done, value), "{expression}");
    }
    for wrong in ["1 +", "roll d6", "nosuchname", "1/0", "", "now"] {
        let outcome = run_tool(CALCULATOR, json!({"expression": wrong})).await;
        assert!(outcome.outcome == CallOutcome::Failed, "{wrong:?}: {outcome:?}");
    }
}

#[tokio::test]
async fn calculator_ends_for_any_input() {
    let brackets = format!("{}1{}", "(".repeat(499), ")".repeat(499));
    let signs = format!("{}1", "-".repeat(999));
    let functions = format!("{}1", "sin ".repeat(249));
    let powers = format!("{}2", "2^".repeat(499));
    for expression in
        ["10^10^10", "(10^1000)!", "3^(7^(11^13))", &brackets, &signs, &functions, &powers, "1e1000000000"]
    {
        let outcome = run_tool(CALCULATOR, json!({"expression": expression})).await;
        assert!(outcome.result.as_str().is_some_and(|text| !text.is_empty()), "{expression}");
    }
    let long = run_tool(CALCULATOR, json!({"expression": "1".repeat(2_000)})).await;
    assert_eq!(long.outcome, CallOutcome::Failed);
}

#[tokio::test]
async fn time_and_search_results_are_structured() {
    let time = run_tool(TIME, json!({"utc_offset": "+02:00"})).await;
    assert!(time.result["utc"].as_str().unwrap().ends_with('Z'));
    assert!(time.result["asked"]["time"].as_str().unwrap().ends_with("+02:00"));

    let shelf = Arc::new(FakeLibrary(Mutex::default()));
    for arguments in
        [json!({"query": "leaf"}), json!({"query": "leaf", "limit": 3}), json!({"query": "leaf", "limit": 900})]
    {
        let found = tools(shelf.clone()).run(SEARCH, arguments, caller()).unwrap().result.await;
        assert_eq!((found.outcome, found.result), (CallOutcome::Done, json!({"found": []})));
    }
    let limits: Vec<usize> = shelf.0.lock().unwrap().iter().map(|(_, limit)| *limit).collect();
    assert_eq!(limits, [20, 3, 20]);
    assert_eq!(run_tool(SEARCH, json!({"query": "nothing"})).await.outcome, CallOutcome::Failed);
}

#[tokio::test]
async fn forbidden_page_is_reported_to_model() {
    let refused = run_tool(PAGE_TOOL, json!({"url": "http://169.254.169.254/latest"})).await;
    assert_eq!(refused.outcome, CallOutcome::Failed);
    assert!(refused.result.as_str().unwrap().starts_with("blocked_address"));
}

#[tokio::test]
async fn web_search_without_engine_names_the_setting() {
    let refused = run_tool(WEB_SEARCH_TOOL, json!({"query": "leaves"})).await;
    assert_eq!(refused.outcome, CallOutcome::Unavailable);
    assert_eq!(refused.result, "No search engine is set up. Choose one in Settings › Tools.");
    let schema = describe_all().into_iter().find(|tool| tool.tool == WEB_SEARCH_TOOL).unwrap().schema;
    for (arguments, is_valid) in [
        (json!({"query": "a", "limit": 10, "since": "week"}), true),
        (json!({"query": ""}), false),
        (json!({"query": "a".repeat(limits::WEB_SEARCH_CHARS + 1)}), false),
        (json!({"query": "a", "limit": 11}), false),
        (json!({"query": "a", "since": "decade"}), false),
        (json!({}), false),
    ] {
        assert_eq!(check_arguments(&schema, &arguments).is_ok(), is_valid, "{arguments}");
    }
}

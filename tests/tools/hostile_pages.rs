//! Hostile web pages, each through the real tool: another process parses the page, this process survives and stays
//! small, and the model gets a text or a reason within a bounded time.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use turnleaf::domain::limits;
use turnleaf_convert::Converter;
use turnleaf_platform::search_engine::SearchEngine;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::page_fetcher::{Fetcher, NameResolver};
use turnleaf_tools::built_in::{BuiltInTools, ToolLibrary};
use turnleaf_tools::toolbox::{CallOutcome, CallResult, ToolCaller};

use crate::mcp_fixtures::test_caller;

const REFUSED: &str = "The page was fetched but is too large or too deeply nested to read.";
/// The time limit of a page, plus a margin for a slow machine.
const BOUND: Duration = Duration::from_secs(limits::CONVERT_TIME.as_secs() + 30);

struct NoChats;

impl ToolLibrary for NoChats {
    fn search<'a>(&'a self, _: &'a ToolCaller, _: &'a str, _: usize) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(std::future::ready(Ok(json!({}))))
    }

    fn may_fetch<'a>(&'a self, _: &'a ToolCaller, _: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(std::future::ready(false))
    }

    fn search_engine(&self, _: &ToolCaller) -> Option<SearchEngine> {
        None
    }
}

/// A resolver that gives every name a public address, and routes it to one server of this machine.
struct LocalResolver(SocketAddr);

impl NameResolver for LocalResolver {
    fn lookup_addresses(&self, _: &str) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        Box::pin(async { Ok(vec![SocketAddr::from(([93, 184, 216, 34], 0))]) })
    }

    fn route(&self, _: SocketAddr) -> SocketAddr {
        self.0
    }
}

/// Returns tools that browse an internet of these pages: `http://pages.test/0` is the first.
async fn tools(pages: Vec<String>) -> BuiltInTools {
    let pages = Arc::new(pages);
    let page = move |Path(number): Path<usize>| {
        let pages = pages.clone();
        async move { ([(CONTENT_TYPE, "text/html; charset=utf-8")], pages[number].clone()) }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/{number}", get(page))).await });
    BuiltInTools {
        library: Arc::new(NoChats),
        reader: Arc::new(Converter::new(PathBuf::from(env!("CARGO_BIN_EXE_turnleaf")))),
        fetcher: Fetcher::new(Arc::new(LocalResolver(address))),
        http: HttpClient::default(),
    }
}

async fn fetch_page(tools: &BuiltInTools, number: usize) -> CallResult {
    let arguments = json!({ "url": format!("http://pages.test/{number}") });
    tools.run("fetch_page", arguments, test_caller()).unwrap().result.await
}

fn text(outcome: &CallResult) -> &str {
    outcome.result.as_str().unwrap()
}

/// Returns the peak memory of this process, in bytes.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() << 10
}

/// The expected result of reading a page.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Expected {
    /// The whole page is read: `here` is in the text.
    Read,
    /// The page is within the limits on one machine and outside them on another.
    Either,
    Refused,
}

fn nested(tags: &str, count: usize) -> String {
    format!("<!--><title>T</title>{}here", tags.repeat(count))
}

fn hostile_pages() -> Vec<(&'static str, String, Expected)> {
    use Expected::{Either, Read, Refused};
    let numbered = |count: usize, tag: &dyn Fn(usize) -> String| (0..count).map(tag).collect::<String>();
    vec![
        ("quotes behind a comment", nested("<blockquote>", 10_000), Read),
        ("20,000 divisions", nested("<div>", 20_000), Read),
        ("40,000 divisions", nested("<div>", 40_000), Read),
        ("lists", nested("<ul><li>", 20_000), Read),
        ("ordered lists", nested("<ol><li>", 20_000), Read),
        ("lists of definitions", nested("<dl><dd>", 20_000), Read),
        ("bold", nested("<b>", 60_000), Read),
        ("links", nested("<a href=/x>", 60_000), Read),
        ("fonts", nested("<font size=1>", 60_000), Read),
        ("tables", nested("<table><tr><td>", 15_000), Read),
        ("tables without rows", nested("<table>", 60_000), Read),
        ("SVG", nested("<svg>", 60_000), Either),
        ("groups in SVG", format!("<svg>{}</svg><p>here", "<g>".repeat(60_000)), Either),
        ("scripts in SVG", nested("<svg><script>", 30_000), Either),
        ("MathML", nested("<math>", 60_000), Read),
        ("HTML in MathML", nested("<math><mi>", 30_000), Read),
        ("templates", nested("<template>", 60_000), Either),
        ("objects", nested("<object>", 60_000), Read),
        ("buttons", nested("<button>", 60_000), Read),
        ("ruby", nested("<ruby><rt>", 30_000), Read),
        ("selections", nested("<select><option>", 30_000), Either),
        ("framesets", nested("<frameset>", 60_000), Either),
        ("forms in tables", nested("<table><form>", 30_000), Read),
        ("custom elements", nested("<x-y>", 60_000), Read),
        ("every element another", numbered(30_000, &|n| format!("<x{n}>")) + "here", Read),
        ("adoption of blocks", nested("<b><div>", 20_000), Read),
        ("misnested ends", format!("{}here", "<b><i><u><p></b></i>".repeat(10_000)), Either),
        ("links in links", format!("{}here", "<a href=x><div><a href=y></div>".repeat(10_000)), Either),
        (
            "formatting that is opened again",
            "<p>".to_owned() + &numbered(400, &|n| format!("<b id={n}>")) + &"<p>x".repeat(20_000),
            Refused,
        ),
        ("formatting in tables", format!("{}here", "<table><b><tr><i>".repeat(10_000)), Either),
        ("ends without begins", format!("{}<p>here", "</p></b></table></svg>".repeat(100_000)), Either),
        (
            "deep, closed and deep again",
            format!("{}<p>here", ("<div>".repeat(2_000) + &"</div>".repeat(2_000)).repeat(5)),
            Read,
        ),
        ("an attribute of 1 MB", format!("<p title='{}'>here", "x".repeat(1 << 20)), Read),
        ("attributes of 1 MB", format!("<p {}>here", numbered(150_000, &|n| format!(" a{n}"))), Either),
        (
            "elements with an attribute of 100 kB",
            format!("<p title='{}'>here</p>", "x".repeat(100_000)).repeat(40),
            Read,
        ),
        ("an unterminated comment", format!("<p>here</p><!--{}", "<div>".repeat(200_000)), Read),
        ("unterminated comments", format!("<p>here</p>{}", "<!--".repeat(200_000)), Read),
        ("an unterminated attribute", format!("<p>here</p><p title='{}", "<div>".repeat(200_000)), Read),
        ("an unterminated script", format!("<p>here</p><script>{}", "<div>".repeat(200_000)), Read),
        ("an unterminated title", format!("<p>here</p><title>{}", "<div>".repeat(200_000)), Either),
        ("an unterminated tag", format!("<p>here</p>{}", "<".repeat(1 << 20)), Read),
        ("CDATA", format!("<p>here</p><svg>{}", "<![CDATA[".repeat(100_000)), Either),
        ("references", format!("<p>here{}", "&CounterClockwiseContourIntegral;&#x1F600;".repeat(50_000)), Read),
        ("plain text", format!("<p>here</p><plaintext>{}", "<div>".repeat(200_000)), Read),
        ("five megabytes of elements", "<b>".repeat(limits::FETCH_BYTES / 3), Either),
        ("five megabytes of empty elements", "<br>".repeat(limits::FETCH_BYTES / 4), Refused),
        ("wide", format!("{}<p>here", "<p>word <b>word</b></p>".repeat(60_000)), Read),
        ("cells", format!("<table>{}</table><p>here", "<tr><td>1<td>2".repeat(20_000)), Either),
        ("a row", format!("<table><tr>{}</table><p>here", "<td>1".repeat(45_000)), Either),
        ("quotes with many lines", nested("<blockquote>", 500) + &"<p>x".repeat(40_000), Either),
        ("lists with many lines", nested("<ul><li>", 250) + &"<p>x".repeat(5_000), Either),
        ("line breaks in depth", nested("<div>", 500) + &"<br>".repeat(45_000), Read),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_pages_end_within_limits_and_process_survives() {
    let hostile = hostile_pages();
    let tools = tools(hostile.iter().map(|(_, html, _)| html.clone()).collect()).await;
    let before = peak_memory();
    let judged = futures::stream::iter(hostile.iter().enumerate()).map(|(number, (name, _, expected))| {
        let tools = &tools;
        async move {
            let since = Instant::now();
            let Ok(outcome) = tokio::time::timeout(BOUND, fetch_page(tools, number)).await else {
                return Some(format!("{name}: it took longer than {BOUND:?}"));
            };
            let is_refused = outcome.outcome == CallOutcome::Failed && text(&outcome) == REFUSED;
            let fits = match expected {
                Expected::Read => outcome.outcome == CallOutcome::Done && text(&outcome).contains("here"),
                Expected::Either => is_refused || outcome.outcome == CallOutcome::Done,
                Expected::Refused => is_refused,
            };
            let begin: String = text(&outcome).chars().take(200).collect();
            (!fits).then(|| format!("{name}: {:?} {begin:?} after {:?}", outcome.outcome, since.elapsed()))
        }
    });
    let wrong: Vec<String> =
        judged.buffer_unordered(limits::CONVERTS_AT_ONCE).filter_map(std::future::ready).collect().await;
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(peak_memory() - before < 256 << 20, "{} MiB", (peak_memory() - before) >> 20);
}

#[tokio::test]
async fn page_is_reduced_to_title_and_main_text() {
    let paragraph =
        "The leaves turn in autumn, and the garden is full of colour, until the wind takes them. ".repeat(8);
    let html = format!(
        "<html><head><title>Leaves</title><style>p {{ color: red }}</style></head><body><nav><a href=/x>Menu</a></nav>\
         <article><h1>Leaves</h1><p>{paragraph}</p><p>{paragraph} <a href=\"/more\">More</a></p>\
         <script>alert(1)</script></article><footer>Imprint</footer></body></html>"
    );
    let outcome = fetch_page(&tools(vec![html]).await, 0).await;
    assert_eq!(outcome.outcome, CallOutcome::Done);
    let page_text = text(&outcome);
    assert!(page_text.starts_with("# Leaves\nhttp://pages.test/0\n\n"), "{page_text}");
    assert!(
        page_text.contains("The leaves turn in autumn") && page_text.contains("(http://pages.test/more)"),
        "{page_text}"
    );
    assert!(
        !page_text.contains("alert") && !page_text.contains("color: red") && !page_text.contains("<p>"),
        "{page_text}"
    );
}

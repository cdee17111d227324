//! A toolbox with scripted tools: the test fixes the result, the moment and the approval of each. It counts runs and
//! cancellations, and it survives a restart of the server under test.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::{Notify, watch};
use turnleaf::domain::UserId;
use turnleaf::domain::tools::approval::ToolApprovalPolicy;
use turnleaf::domain::tools::elicitation::{ElicitationAnswer, ElicitationRequest};
use turnleaf::domain::tools::tool::{OfferedTool, ToolChoice, ToolOrigin, ToolProgress, ToolSpec};
use turnleaf::domain::tools::tool_output::AppView;
use turnleaf_store::Db;
use turnleaf_store::tools::tool_policies;
use turnleaf_tools::question::question_channel;
use turnleaf_tools::result::{ResultPart, ResultView, build_result, text_result};
use turnleaf_tools::toolbox::{
    CallOutcome, CallResult, GateDecision, NewBlob, RunningCall, ToolCall, ToolDescription, Toolbox,
};

/// The name of the tool server that all tools belong to.
pub const SERVER: &str = "lab";

/// The scripted behaviour of a tool.
#[derive(Debug, Clone)]
pub enum ToolBehavior {
    /// Returns its arguments.
    Echo,
    Returns(Value),
    Fails,
    /// Returns the value once the test notifies it.
    ReturnsOnNotify(Arc<Notify>, Value),
    Hangs,
    /// Reports this progress, then waits for the test.
    Progress(&'static str, Arc<Notify>),
    /// The tool was offered and is no longer available.
    Missing,
    /// Returns bytes as a new blob that has no row yet.
    ReturnsBlob(&'static [u8]),
    /// Returns a sentence with this page of its server, which is told its own result.
    ReturnsView(&'static str),
    /// Gives this page of its server and never ends.
    HangsWithView(&'static str),
    /// Asks the user this, and returns how the question was answered.
    Asks(ElicitationRequest),
    /// Fails at once, because the user has to open the page of this request first.
    RequiresPage(ElicitationRequest),
    /// Returns this text and these images.
    ReturnsImages(&'static str, &'static [&'static [u8]]),
    /// Fails with this text and these images.
    FailsWithImages(&'static str, &'static [&'static [u8]]),
}

struct FakeTool {
    does: ToolBehavior,
    asks: bool,
    description: String,
    schema: Value,
}

#[derive(Default)]
struct Inner {
    tools: Mutex<Vec<(String, FakeTool)>>,
    /// Full names of tools that cannot be offered.
    unusable: Mutex<Vec<String>>,
    runs: Mutex<HashMap<String, usize>>,
    at_once: Mutex<(usize, usize)>,
    let_go: Mutex<usize>,
    changed: Notify,
    db: Mutex<Option<Db>>,
    /// When set, the gate never answers for calls that a person has allowed.
    holds: Mutex<bool>,
}

/// A toolbox of scripted tools.
#[derive(Clone, Default)]
pub struct FakeToolbox(Arc<Inner>);

impl FakeToolbox {
    /// Adds a tool that runs without approval.
    pub fn with_tool(self, name: &str, does: ToolBehavior) -> Self {
        self.add_tool(name, does, false)
    }

    /// Adds a tool that is listed and cannot be offered.
    pub fn with_unusable_tool(self, name: &str) -> Self {
        lock(&self.0.unusable).push(format!("{SERVER}/{name}"));
        self
    }

    /// Adds a tool that needs approval.
    pub fn with_asking_tool(self, name: &str, does: ToolBehavior) -> Self {
        self.add_tool(name, does, true)
    }

    fn add_tool(self, name: &str, does: ToolBehavior, asks: bool) -> Self {
        let (description, schema) = (format!("Does {name}."), json!({ "type": "object" }));
        lock(&self.0.tools).push((name.to_owned(), FakeTool { does, asks, description, schema }));
        self
    }

    /// Adds a tool that a server describes in these words and with this schema. It returns its arguments.
    pub fn with_described_tool(self, name: &str, description: &str, schema: Value) -> Self {
        let tool = FakeTool { does: ToolBehavior::Echo, asks: false, description: description.to_owned(), schema };
        lock(&self.0.tools).push((name.to_owned(), tool));
        self
    }

    /// Reads lasting grants from this database.
    pub fn use_grants_of(&self, db: &Db) {
        *lock(&self.0.db) = Some(db.clone());
    }

    /// Sets whether the gate never answers for calls that a person has allowed.
    pub fn hold_allowed_calls(&self, holds: bool) {
        *lock(&self.0.holds) = holds;
    }

    /// Changes the description of a tool, so that existing grants no longer match it.
    pub fn change_tool(&self, name: &str) {
        for (_, known) in lock(&self.0.tools).iter_mut().filter(|(known, _)| known == name) {
            known.description.push_str(" Otherwise.");
        }
    }

    /// Returns how often a tool was run.
    pub fn run_count(&self, name: &str) -> usize {
        lock(&self.0.runs).get(name).copied().unwrap_or_default()
    }

    /// Returns the largest number of concurrent runs so far.
    pub fn max_concurrent_runs(&self) -> usize {
        lock(&self.0.at_once).1
    }

    /// Returns how many runs were dropped before they finished.
    pub fn cancelled_count(&self) -> usize {
        *lock(&self.0.let_go)
    }

    /// Waits until a tool was run this often.
    pub async fn wait_for_runs(&self, name: &str, count: usize) {
        self.wait_until(|lab| lab.run_count(name) >= count).await;
    }

    pub async fn wait_for_cancellations(&self, count: usize) {
        self.wait_until(|lab| lab.cancelled_count() >= count).await;
    }

    async fn wait_until(&self, is_so: impl Fn(&Self) -> bool) {
        loop {
            let changed = self.0.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if is_so(self) {
                return;
            }
            changed.await;
        }
    }

    /// Returns the tools offered to a model: those of this toolbox as `lab__name`, and `client_tool`, which the
    /// client runs.
    pub fn offered_tools(&self) -> Vec<OfferedTool> {
        let of_ours = lock(&self.0.tools)
            .iter()
            .map(|(name, known)| described(name, known).to_offered_tool(Some((SERVER, "The lab"))))
            .collect();
        let client = OfferedTool {
            spec: ToolSpec {
                name: "client_tool".into(),
                description: "The client runs it.".into(),
                parameters: json!({ "type": "object" }),
            },
            origin: Some(ToolOrigin::Client),
            called: None,
            is_found: false,
        };
        [of_ours, vec![client]].concat()
    }
}

fn described(name: &str, known: &FakeTool) -> ToolDescription {
    let tool = ToolDescription::new(name, known.description.clone(), known.schema.clone());
    ToolDescription { title: format!("The {name}"), ..tool }
}

fn new_blob(mime: &str, bytes: Bytes) -> NewBlob {
    let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    NewBlob { sha256, mime: mime.into(), bytes }
}

fn result_with_images(outcome: CallOutcome, text: &str, images: &[&'static [u8]]) -> CallResult {
    let image = |bytes: &&'static [u8]| ResultPart::Image { mime: "image/x".into(), bytes: Bytes::from_static(bytes) };
    build_result(
        outcome,
        std::iter::once(ResultPart::Text(text.into())).chain(images.iter().map(image)).collect(),
        None,
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a running call, and on drop whether it was cancelled before it finished.
struct CallGuard {
    lab: FakeToolbox,
    is_over: bool,
}

impl CallGuard {
    fn new(lab: FakeToolbox, name: &str) -> Self {
        *lock(&lab.0.runs).entry(name.to_owned()).or_default() += 1;
        let mut at_once = lock(&lab.0.at_once);
        at_once.0 += 1;
        at_once.1 = at_once.1.max(at_once.0);
        drop(at_once);
        lab.0.changed.notify_waiters();
        Self { lab, is_over: false }
    }

    fn finish(&mut self) {
        self.is_over = true;
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        lock(&self.lab.0.at_once).0 -= 1;
        *lock(&self.lab.0.let_go) += usize::from(!self.is_over);
        self.lab.0.changed.notify_waiters();
    }
}

impl Toolbox for FakeToolbox {
    fn gate<'a>(&'a self, call: &'a ToolCall, granted: Option<&'a str>) -> BoxFuture<'a, GateDecision> {
        async move {
            let ToolOrigin::Server { tool, .. } = &call.origin else {
                return GateDecision::Refuse("not of this lab".into());
            };
            let holds = granted.is_some() && *lock(&self.0.holds);
            if holds {
                return std::future::pending().await;
            }
            let question = lock(&self.0.tools).iter().find(|(name, _)| name == tool).and_then(|(name, known)| {
                let described = described(name, known);
                if matches!(known.does, ToolBehavior::Missing) {
                    return None;
                }
                Some((known.asks, described.approval_request(SERVER, &call.arguments, None)))
            });
            let Some((asks, mut ask)) = question else {
                return GateDecision::Refuse("it is not in the lab any more".into());
            };
            if !asks || granted == Some(ask.hash.as_str()) {
                return GateDecision::Run;
            }
            let db = lock(&self.0.db).clone();
            if let Some(db) = db {
                let caller = call.caller;
                let policies =
                    tool_policies::list_for_tool(&db, caller.owner, caller.chat, SERVER, tool).await.unwrap();
                let allows = |hash: &Option<String>| hash.as_ref().is_none_or(|hash| *hash == ask.schema_hash);
                if policies
                    .iter()
                    .any(|policies| policies.policy == ToolApprovalPolicy::Allow && allows(&policies.schema_hash))
                {
                    return GateDecision::Run;
                }
            }
            ask.note = granted.map(|_| "The tool has changed.".to_owned());
            GateDecision::Ask(ask)
        }
        .boxed()
    }

    fn run(&self, call: ToolCall) -> RunningCall {
        let ToolOrigin::Server { tool, .. } = &call.origin else { panic!("{call:?}") };
        let does = lock(&self.0.tools).iter().find(|(name, _)| name == tool).map(|(_, known)| known.does.clone());
        let mut touched = CallGuard::new(self.clone(), tool);
        let gives = |result: Value| CallResult {
            outcome: CallOutcome::Done,
            result,
            metadata: Default::default(),
            blobs: Vec::new(),
            sources: Vec::new(),
        };
        let (questions, asked) = question_channel();
        let progress = watch::Sender::new(None);
        let updates = progress.subscribe();
        let arguments = call.arguments;
        let view = match &does {
            Some(ToolBehavior::HangsWithView(page)) => Some(ResultView {
                tool: tool.clone(),
                uri: "ui://lab/page".into(),
                page: Some(Bytes::from_static(page.as_bytes())),
                answer: None,
            }),
            _ => None,
        };
        let running = async move {
            let given = match does.unwrap() {
                ToolBehavior::Echo => gives(arguments),
                ToolBehavior::Returns(value) => gives(value),
                ToolBehavior::Fails => text_result(CallOutcome::Failed, "it broke"),
                ToolBehavior::ReturnsOnNotify(gate, value) => {
                    gate.notified().await;
                    gives(value)
                }
                ToolBehavior::Hangs | ToolBehavior::HangsWithView(_) => std::future::pending().await,
                ToolBehavior::Progress(line, gate) => {
                    progress.send_replace(Some(ToolProgress { percent: Some(30), ..ToolProgress::from_line(line) }));
                    gate.notified().await;
                    gives(json!("far enough"))
                }
                ToolBehavior::Asks(request) => match questions.ask(request).await {
                    ElicitationAnswer::Accept(content) => gives(Value::Object(content)),
                    answer => gives(json!(answer.outcome())),
                },
                ToolBehavior::RequiresPage(request) => {
                    questions.require(request);
                    text_result(CallOutcome::Failed, "The user must open a page.")
                }
                ToolBehavior::Missing => panic!("it is not there"),
                ToolBehavior::ReturnsImages(words, images) => result_with_images(CallOutcome::Done, words, images),
                ToolBehavior::FailsWithImages(words, images) => result_with_images(CallOutcome::Failed, words, images),
                ToolBehavior::ReturnsBlob(bytes) => {
                    let blob = new_blob("text/plain", bytes.into());
                    CallResult { blobs: vec![blob.clone(), blob], ..gives(json!("as a file")) }
                }
                ToolBehavior::ReturnsView(page) => {
                    let answer = json!({ "content": [], "structuredContent": { "told": "to the page" } });
                    let page = new_blob("text/html", page.into());
                    let answer = new_blob("application/json", answer.to_string().into());
                    let (page_blob, answer_blob) = (Some(page.sha256.as_str()), Some(answer.sha256.as_str()));
                    let view =
                        AppView { uri: "ui://lab/page", tool: Some("show"), page: page_blob, answer: answer_blob };
                    let metadata = [(AppView::KEY.to_owned(), view.to_value())].into_iter().collect();
                    CallResult { metadata, blobs: vec![page, answer], ..gives(json!("told to the model")) }
                }
            };
            touched.finish();
            given
        };
        let view = Some(watch::Sender::new(view).subscribe());
        RunningCall { questions: Some(asked), view, ..RunningCall::new(running.boxed(), updates) }
    }

    fn is_open_to_views<'a>(&'a self, _: UserId, _: &'a ToolOrigin) -> BoxFuture<'a, bool> {
        std::future::ready(true).boxed()
    }

    fn offered_tools<'a>(&'a self, _: UserId, _: &'a ToolChoice) -> BoxFuture<'a, Vec<OfferedTool>> {
        std::future::ready(self.offered_tools()).boxed()
    }

    fn unusable_tools(&self, _: UserId) -> Vec<String> {
        lock(&self.0.unusable).clone()
    }

    fn shut_down(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}

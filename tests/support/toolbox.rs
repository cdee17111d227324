//! Tools of which everything is decided beforehand: what each gives and when, whether it asks. It counts what was run
//! and what was let go, and lives on when a server of it goes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use turnleaf::domain::UserId;
use turnleaf::domain::approval::Policy;
use turnleaf::domain::tool::{OfferedTool, ToolChoice, ToolOrigin, ToolProgress, ToolSpec};
use turnleaf_store::{Db, tool_policies};
use turnleaf_tools::result::{Part, outcome, said};
use turnleaf_tools::toolbox::{Described, Fate, Gate, NewBlob, Outcome, Running, ToolCall, Toolbox};

/// The server that all of them are on.
pub const SERVER: &str = "lab";

/// What a tool does.
#[derive(Debug, Clone)]
pub enum Does {
    /// Gives its arguments back.
    Echo,
    Gives(Value),
    Fails,
    /// Gives this once the test says so.
    Waits(Arc<Notify>, Value),
    Hangs,
    /// Says how far it is, then waits for the test.
    Progress(&'static str, Arc<Notify>),
    /// Was offered, and is not there any more.
    Gone,
    /// Gives bytes that stand in no row.
    Blob(&'static [u8]),
    /// Gives these words and these images.
    Shows(&'static str, &'static [&'static [u8]]),
}

struct Known {
    does: Does,
    asks: bool,
    description: String,
}

#[derive(Default)]
struct Inner {
    tools: Mutex<Vec<(String, Known)>>,
    runs: Mutex<HashMap<String, usize>>,
    at_once: Mutex<(usize, usize)>,
    let_go: Mutex<usize>,
    changed: Notify,
    db: Mutex<Option<Db>>,
    /// Nothing that a person allowed gets any further.
    holds: Mutex<bool>,
}

/// The tools.
#[derive(Clone, Default)]
pub struct Lab(Arc<Inner>);

impl Lab {
    /// A tool that runs without asking.
    pub fn with(self, name: &str, does: Does) -> Self {
        self.add(name, does, false)
    }

    /// A tool that asks.
    pub fn asking(self, name: &str, does: Does) -> Self {
        self.add(name, does, true)
    }

    fn add(self, name: &str, does: Does, asks: bool) -> Self {
        lock(&self.0.tools).push((name.to_owned(), Known { does, asks, description: format!("Does {name}.") }));
        self
    }

    /// Lasting answers are read from here.
    pub fn reads(&self, db: &Db) {
        *lock(&self.0.db) = Some(db.clone());
    }

    /// Whether the gate never comes back to what a person allowed.
    pub fn hold_what_is_allowed(&self, holds: bool) {
        *lock(&self.0.holds) = holds;
    }

    /// The tool is another one from now on.
    pub fn change(&self, name: &str) {
        for (_, known) in lock(&self.0.tools).iter_mut().filter(|(known, _)| known == name) {
            known.description.push_str(" Otherwise.");
        }
    }

    /// How often a tool was touched.
    pub fn runs(&self, name: &str) -> usize {
        lock(&self.0.runs).get(name).copied().unwrap_or_default()
    }

    /// How many ran at once at most.
    pub fn most_at_once(&self) -> usize {
        lock(&self.0.at_once).1
    }

    /// How many were let go before they were over.
    pub fn let_go(&self) -> usize {
        *lock(&self.0.let_go)
    }

    /// Waits until a tool was touched so often.
    pub async fn until_runs(&self, name: &str, count: usize) {
        self.until(|lab| lab.runs(name) >= count).await;
    }

    pub async fn until_let_go(&self, count: usize) {
        self.until(|lab| lab.let_go() >= count).await;
    }

    async fn until(&self, is_so: impl Fn(&Self) -> bool) {
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

    /// What a model is told that there is: the tools as `lab__name`, and `client_tool`, which the client runs.
    pub fn offer(&self) -> Vec<OfferedTool> {
        let of_ours = lock(&self.0.tools)
            .iter()
            .map(|(name, known)| described(name, known).offered(Some((SERVER, "The lab"))))
            .collect();
        let client = OfferedTool {
            spec: ToolSpec {
                name: "client_tool".into(),
                description: "The client runs it.".into(),
                parameters: json!({ "type": "object" }),
            },
            origin: Some(ToolOrigin::Client),
            called: None,
        };
        [of_ours, vec![client]].concat()
    }
}

fn described(name: &str, known: &Known) -> Described {
    Described {
        tool: name.to_owned(),
        title: format!("The {name}"),
        description: known.description.clone(),
        schema: json!({ "type": "object" }),
        is_harmless: false,
        hints: Vec::new(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a call that runs, and that it was let go before it was over.
struct Touched {
    lab: Lab,
    is_over: bool,
}

impl Touched {
    fn new(lab: Lab, name: &str) -> Self {
        *lock(&lab.0.runs).entry(name.to_owned()).or_default() += 1;
        let mut at_once = lock(&lab.0.at_once);
        at_once.0 += 1;
        at_once.1 = at_once.1.max(at_once.0);
        drop(at_once);
        lab.0.changed.notify_waiters();
        Self { lab, is_over: false }
    }

    fn over(&mut self) {
        self.is_over = true;
    }
}

impl Drop for Touched {
    fn drop(&mut self) {
        lock(&self.lab.0.at_once).0 -= 1;
        *lock(&self.lab.0.let_go) += usize::from(!self.is_over);
        self.lab.0.changed.notify_waiters();
    }
}

impl Toolbox for Lab {
    fn gate<'a>(&'a self, call: &'a ToolCall, granted: Option<&'a str>) -> BoxFuture<'a, Gate> {
        async move {
            let ToolOrigin::Server { tool, .. } = &call.origin else { return Gate::Refuse("not of this lab".into()) };
            let holds = granted.is_some() && *lock(&self.0.holds);
            if holds {
                return std::future::pending().await;
            }
            let asked = lock(&self.0.tools).iter().find(|(name, _)| name == tool).and_then(|(name, known)| {
                let described = described(name, known);
                if matches!(known.does, Does::Gone) {
                    return None;
                }
                Some((known.asks, described.ask(SERVER, &call.arguments, None)))
            });
            let Some((asks, mut ask)) = asked else { return Gate::Refuse("it is not in the lab any more".into()) };
            if !asks || granted == Some(ask.hash.as_str()) {
                return Gate::Run;
            }
            let db = lock(&self.0.db).clone();
            if let Some(db) = db {
                let caller = call.caller;
                let said = tool_policies::of(&db, caller.owner, caller.chat, SERVER, tool).await.unwrap();
                let allows = |hash: &Option<String>| hash.as_ref().is_none_or(|hash| *hash == ask.schema_hash);
                if said.iter().any(|said| said.policy == Policy::Allow && allows(&said.schema_hash)) {
                    return Gate::Run;
                }
            }
            ask.note = granted.map(|_| "The tool has changed.".to_owned());
            Gate::Ask(ask)
        }
        .boxed()
    }

    fn run(&self, call: ToolCall) -> Running {
        let ToolOrigin::Server { tool, .. } = &call.origin else { panic!("{call:?}") };
        let does = lock(&self.0.tools).iter().find(|(name, _)| name == tool).map(|(_, known)| known.does.clone());
        let mut touched = Touched::new(self.clone(), tool);
        let gives =
            |result: Value| Outcome { fate: Fate::Done, result, metadata: Default::default(), blobs: Vec::new() };
        let progress = watch::Sender::new(None);
        let told = progress.subscribe();
        let arguments = call.arguments;
        let running = async move {
            let given = match does.unwrap() {
                Does::Echo => gives(arguments),
                Does::Gives(value) => gives(value),
                Does::Fails => said(Fate::Failed, "it broke"),
                Does::Waits(gate, value) => {
                    gate.notified().await;
                    gives(value)
                }
                Does::Hangs => std::future::pending().await,
                Does::Progress(line, gate) => {
                    progress.send_replace(Some(ToolProgress { percent: Some(30), ..ToolProgress::line(line) }));
                    gate.notified().await;
                    gives(json!("far enough"))
                }
                Does::Gone => panic!("it is not there"),
                Does::Shows(words, images) => {
                    let image = |bytes: &&'static [u8]| Part::Image {
                        mime: "image/x".into(),
                        bytes: Bytes::from_static(bytes),
                    };
                    let parts = std::iter::once(Part::Text(words.into())).chain(images.iter().map(image)).collect();
                    outcome(Fate::Done, parts, None)
                }
                Does::Blob(bytes) => {
                    use sha2::{Digest, Sha256};
                    let sha256: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
                    let blob = NewBlob { sha256, mime: "text/plain".into(), bytes: bytes.into() };
                    Outcome { blobs: vec![blob.clone(), blob], ..gives(json!("as a file")) }
                }
            };
            touched.over();
            given
        };
        Running { outcome: running.boxed(), progress: told }
    }

    fn offered<'a>(&'a self, _: UserId, _: &'a ToolChoice) -> BoxFuture<'a, Vec<OfferedTool>> {
        std::future::ready(self.offer()).boxed()
    }

    fn shut_down(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}

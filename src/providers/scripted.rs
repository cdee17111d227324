//! A provider of which every byte is decided beforehand, for tests of what uses providers: replies are lists of steps,
//! and what was asked and when the reader let go can be looked at afterwards. Not for people: that is `demo`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use serde_json::Value;
use tokio::sync::Notify;

use crate::openai_chat::{ChatDecoder, Dialect, repair, request};
use crate::provider::{ChatRequest, Decoder, Provider, Refused, Reply, ToolOutcome};
use crate::redact::Secrets;
use turnleaf_domain::provider::Reasoning;
use turnleaf_domain::repair::Repair;
use turnleaf_domain::tool::{OfferedTool, ToolSpec};
use turnleaf_domain::{Capabilities, Failure, Thinking};

/// What happens next in a body.
#[derive(Debug, Clone)]
pub enum Step {
    Bytes(Bytes),
    /// Waits on the runtime's clock, which tests may pause.
    Wait(Duration),
    /// Waits until the test says so.
    Until(Arc<Notify>),
    /// The connection breaks with this.
    Fail(Failure),
    /// Nothing more ever comes.
    Hang,
}

impl Step {
    /// One event of a stream with this JSON.
    pub fn event(data: &Value) -> Self {
        Self::Bytes(format!("data: {data}\n\n").into())
    }
}

/// How one request is answered.
#[derive(Debug, Clone)]
pub enum Answer {
    Stream(Vec<Step>),
    Refuse(Refused),
    /// Not even headers come.
    Silence,
}

/// What happened so far.
#[derive(Debug, Default)]
pub struct Log {
    requests: Mutex<Vec<Bytes>>,
    let_go: Mutex<usize>,
    changed: Notify,
}

impl Log {
    /// The request bodies, in order.
    pub fn requests(&self) -> Vec<Bytes> {
        lock(&self.requests).clone()
    }

    /// How many bodies were read to their end or dropped.
    pub fn let_go(&self) -> usize {
        *lock(&self.let_go)
    }

    /// Waits until this many requests have come.
    pub async fn until_requests(&self, count: usize) {
        self.until(|log| log.requests().len() >= count).await;
    }

    /// Waits until this many bodies were let go.
    pub async fn until_let_go(&self, count: usize) {
        self.until(|log| log.let_go() >= count).await;
    }

    async fn until(&self, is_so: impl Fn(&Self) -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if is_so(self) {
                return;
            }
            changed.await;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes in the log that a body is gone.
struct Body(Arc<Log>);

impl Drop for Body {
    fn drop(&mut self) {
        *lock(&self.0.let_go) += 1;
        self.0.changed.notify_waiters();
    }
}

type Tool = Arc<dyn Fn(&str, &Value) -> Option<ToolOutcome> + Send + Sync>;

/// The provider. It speaks the generic dialect of chat completions, or whatever [`Scripted::like`] says.
#[derive(Clone)]
pub struct Scripted {
    id: String,
    /// Whose requests it gets and whose replies it gives.
    speaks: Option<Arc<dyn Provider>>,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    log: Arc<Log>,
    tools: Vec<ToolSpec>,
    own_tools: Vec<OfferedTool>,
    capabilities: Capabilities,
    tool: Tool,
}

impl Scripted {
    /// Answers the first request with the first answer and so on; when they run out, with silence.
    pub fn new(id: &str, answers: impl IntoIterator<Item = Answer>) -> Self {
        Self {
            id: id.to_owned(),
            speaks: None,
            answers: Arc::new(Mutex::new(answers.into_iter().collect())),
            log: Arc::default(),
            tools: Vec::new(),
            own_tools: Vec::new(),
            capabilities: Capabilities::default().thinking(Reasoning::Optional, &Thinking::LEVELS),
            tool: Arc::new(|_, _| None),
        }
    }

    /// Has its requests built, its replies read and its refusals judged by this provider, which sends nothing.
    pub fn like(mut self, other: impl Provider + 'static) -> Self {
        self.speaks = Some(Arc::new(other));
        self
    }

    /// Brings tools along, all run by one function.
    pub fn with_tools(
        mut self,
        tools: Vec<ToolSpec>,
        run: impl Fn(&str, &Value) -> Option<ToolOutcome> + Send + Sync + 'static,
    ) -> Self {
        self.tools = tools;
        self.tool = Arc::new(run);
        self
    }

    /// Its models can be offered these tools, which it runs inside of its responses.
    pub fn with_own_tools(mut self, names: &[&str]) -> Self {
        self.own_tools = names.iter().map(|name| OfferedTool::run_by_provider(name)).collect();
        self
    }

    /// Every one of its models takes this, and no more.
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Adds an answer at the end.
    pub fn then(&self, answer: Answer) {
        lock(&self.answers).push_back(answer);
    }

    pub fn log(&self) -> Arc<Log> {
        Arc::clone(&self.log)
    }

    fn dialect() -> &'static Dialect {
        Dialect::of_endpoint("generic", "")
    }
}

impl Provider for Scripted {
    fn id(&self) -> &str {
        &self.id
    }

    fn api(&self) -> &'static str {
        self.speaks.as_ref().map_or("openai_chat", |speaks| speaks.api())
    }

    fn name(&self) -> &str {
        "Scripted"
    }

    fn capabilities(&self, _model: &str) -> Capabilities {
        self.capabilities.clone()
    }

    fn tools(&self) -> Vec<ToolSpec> {
        self.tools.clone()
    }

    fn own_tools(&self, _model: &str) -> Vec<OfferedTool> {
        self.own_tools.clone()
    }

    fn keeps_responses(&self) -> bool {
        self.speaks.as_ref().is_some_and(|other| other.keeps_responses())
    }

    fn shows_results(&self, model: &str) -> bool {
        self.speaks.as_ref().is_some_and(|other| other.shows_results(model))
    }

    fn build(&self, request: &ChatRequest) -> Bytes {
        match &self.speaks {
            Some(other) => other.build(request),
            None => request::body(Self::dialect(), request),
        }
    }

    fn repair(&self, refused: &Refused, request: &ChatRequest) -> Option<Repair> {
        match &self.speaks {
            Some(other) => other.repair(refused, request),
            None => repair::repair(Self::dialect(), refused, request),
        }
    }

    fn send(&self, _model: &str, body: Bytes) -> BoxFuture<'static, Result<Reply, Refused>> {
        let answer = lock(&self.answers).pop_front().unwrap_or(Answer::Silence);
        lock(&self.log.requests).push(body);
        self.log.changed.notify_waiters();
        let guard = Body(self.log());
        async move {
            match answer {
                Answer::Stream(steps) => {
                    let body = stream::unfold((steps.into_iter(), guard), |(mut steps, guard)| async move {
                        let piece = next(&mut steps).await?;
                        Some((piece, (steps, guard)))
                    });
                    Ok(Reply { status: 200, headers: Vec::new(), body: body.boxed() })
                }
                Answer::Refuse(refused) => Err(refused),
                Answer::Silence => {
                    let _kept = guard;
                    std::future::pending().await
                }
            }
        }
        .boxed()
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        match &self.speaks {
            Some(other) => other.decoder(),
            None => Box::new(ChatDecoder::of(Self::dialect(), self.name(), Secrets::default())),
        }
    }

    fn run_tool(&self, name: &str, arguments: &Value) -> Option<BoxFuture<'static, ToolOutcome>> {
        let outcome = (self.tool)(name, arguments)?;
        Some(std::future::ready(outcome).boxed())
    }
}

async fn next(steps: &mut std::vec::IntoIter<Step>) -> Option<Result<Bytes, Failure>> {
    loop {
        match steps.next()? {
            Step::Bytes(bytes) => return Some(Ok(bytes)),
            Step::Fail(failure) => return Some(Err(failure)),
            Step::Wait(time) => tokio::time::sleep(time).await,
            Step::Until(signal) => signal.notified().await,
            Step::Hang => std::future::pending().await,
        }
    }
}

//! Test double for providers: replies are lists of steps, and tests can inspect the requests and when the reader
//! released a body. The provider for demonstrations is `demo`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use serde_json::Value;
use tokio::sync::Notify;

use crate::openai_chat::{ChatDecoder, Dialect, repair, request};
use crate::provider::{ChatRequest, Decoder, Provider, ProviderError, ProviderReply, ToolOutcome};
use crate::redaction::SecretSet;
use turnleaf_domain::providers::provider::ReasoningSupport;
use turnleaf_domain::providers::repair::RequestRepair;
use turnleaf_domain::tools::tool::{OfferedTool, ToolSpec};
use turnleaf_domain::{Capabilities, Failure, Thinking};

/// One step of a response body.
#[derive(Debug, Clone)]
pub enum ScriptedStep {
    Bytes(Bytes),
    /// Waits on the runtime's clock, which tests may pause.
    Wait(Duration),
    /// Waits until the test sends the signal.
    WaitForSignal(Arc<Notify>),
    /// The connection breaks with this failure.
    Fail(Failure),
    /// Sends nothing more and keeps the connection open.
    Hang,
}

impl ScriptedStep {
    /// Returns one SSE event with this JSON.
    pub fn event(data: &Value) -> Self {
        Self::Bytes(format!("data: {data}\n\n").into())
    }
}

/// The answer to one request.
#[derive(Debug, Clone)]
pub enum ScriptedAnswer {
    Stream(Vec<ScriptedStep>),
    Refuse(ProviderError),
    /// Sends nothing, not even headers.
    Silence,
}

/// The log of requests and released bodies.
#[derive(Debug, Default)]
pub struct RequestLog {
    requests: Mutex<Vec<Bytes>>,
    let_go: Mutex<usize>,
    changed: Notify,
}

impl RequestLog {
    /// Returns the request bodies in order.
    pub fn requests(&self) -> Vec<Bytes> {
        lock(&self.requests).clone()
    }

    /// Returns the number of bodies that were read to their end or dropped.
    pub fn released_bodies(&self) -> usize {
        *lock(&self.let_go)
    }

    /// Waits until this many requests have arrived.
    pub async fn wait_for_requests(&self, count: usize) {
        self.wait_until(|log| log.requests().len() >= count).await;
    }

    /// Waits until this many bodies were released.
    pub async fn wait_for_released_bodies(&self, count: usize) {
        self.wait_until(|log| log.released_bodies() >= count).await;
    }

    async fn wait_until(&self, is_so: impl Fn(&Self) -> bool) {
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

/// Records in the log that a body was released.
struct ReleaseGuard(Arc<RequestLog>);

impl Drop for ReleaseGuard {
    fn drop(&mut self) {
        *lock(&self.0.let_go) += 1;
        self.0.changed.notify_waiters();
    }
}

type ToolFunction = Arc<dyn Fn(&str, &Value) -> Option<ToolOutcome> + Send + Sync>;

/// The scripted provider. It speaks the generic dialect of chat completions, or the protocol of
/// [`ScriptedProvider::with_protocol_of`].
#[derive(Clone)]
pub struct ScriptedProvider {
    id: String,
    /// The provider whose protocol it uses.
    speaks: Option<Arc<dyn Provider>>,
    answers: Arc<Mutex<VecDeque<ScriptedAnswer>>>,
    log: Arc<RequestLog>,
    tools: Vec<ToolSpec>,
    own_tools: Vec<OfferedTool>,
    capabilities: Capabilities,
    tool: ToolFunction,
}

impl ScriptedProvider {
    /// Creates a provider that answers the requests in this order, and later ones with silence.
    pub fn new(id: &str, answers: impl IntoIterator<Item = ScriptedAnswer>) -> Self {
        Self {
            id: id.to_owned(),
            speaks: None,
            answers: Arc::new(Mutex::new(answers.into_iter().collect())),
            log: Arc::default(),
            tools: Vec::new(),
            own_tools: Vec::new(),
            capabilities: Capabilities::default().with_thinking(ReasoningSupport::Optional, &Thinking::LEVELS),
            tool: Arc::new(|_, _| None),
        }
    }

    /// Delegates building requests, decoding replies and choosing repairs to another provider, which sends nothing.
    pub fn with_protocol_of(mut self, other: impl Provider + 'static) -> Self {
        self.speaks = Some(Arc::new(other));
        self
    }

    /// Adds tools that are all run by one function.
    pub fn with_tools(
        mut self,
        tools: Vec<ToolSpec>,
        run: impl Fn(&str, &Value) -> Option<ToolOutcome> + Send + Sync + 'static,
    ) -> Self {
        self.tools = tools;
        self.tool = Arc::new(run);
        self
    }

    /// Offers these provider tools for all models.
    pub fn with_provider_tools(mut self, names: &[&str]) -> Self {
        self.own_tools = names.iter().map(|name| OfferedTool::provider_tool(name)).collect();
        self
    }

    /// Sets the capabilities of all models.
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Appends an answer.
    pub fn push_answer(&self, answer: ScriptedAnswer) {
        lock(&self.answers).push_back(answer);
    }

    pub fn log(&self) -> Arc<RequestLog> {
        Arc::clone(&self.log)
    }

    fn dialect() -> &'static Dialect {
        Dialect::for_endpoint("generic", "")
    }
}

impl Provider for ScriptedProvider {
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

    fn provider_tools(&self, _model: &str) -> Vec<OfferedTool> {
        self.own_tools.clone()
    }

    fn keeps_responses(&self) -> bool {
        self.speaks.as_ref().is_some_and(|other| other.keeps_responses())
    }

    fn accepts_tool_result_images(&self, model: &str) -> bool {
        self.speaks.as_ref().is_some_and(|other| other.accepts_tool_result_images(model))
    }

    fn build(&self, request: &ChatRequest) -> Bytes {
        match &self.speaks {
            Some(other) => other.build(request),
            None => request::body(Self::dialect(), request),
        }
    }

    fn repair(&self, refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
        match &self.speaks {
            Some(other) => other.repair(refused, request),
            None => repair::repair(Self::dialect(), refused, request),
        }
    }

    fn send(&self, _model: &str, body: Bytes) -> BoxFuture<'static, Result<ProviderReply, ProviderError>> {
        let answer = lock(&self.answers).pop_front().unwrap_or(ScriptedAnswer::Silence);
        lock(&self.log.requests).push(body);
        self.log.changed.notify_waiters();
        let guard = ReleaseGuard(self.log());
        async move {
            match answer {
                ScriptedAnswer::Stream(steps) => {
                    let body = stream::unfold((steps.into_iter(), guard), |(mut steps, guard)| async move {
                        let piece = next(&mut steps).await?;
                        Some((piece, (steps, guard)))
                    });
                    Ok(ProviderReply { status: 200, headers: Vec::new(), body: body.boxed() })
                }
                ScriptedAnswer::Refuse(refused) => Err(refused),
                ScriptedAnswer::Silence => {
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
            None => Box::new(ChatDecoder::for_provider(Self::dialect(), self.name(), SecretSet::default())),
        }
    }

    fn run_tool(&self, name: &str, arguments: &Value) -> Option<BoxFuture<'static, ToolOutcome>> {
        let outcome = (self.tool)(name, arguments)?;
        Some(std::future::ready(outcome).boxed())
    }
}

async fn next(steps: &mut std::vec::IntoIter<ScriptedStep>) -> Option<Result<Bytes, Failure>> {
    loop {
        match steps.next()? {
            ScriptedStep::Bytes(bytes) => return Some(Ok(bytes)),
            ScriptedStep::Fail(failure) => return Some(Err(failure)),
            ScriptedStep::Wait(time) => tokio::time::sleep(time).await,
            ScriptedStep::WaitForSignal(signal) => signal.notified().await,
            ScriptedStep::Hang => std::future::pending().await,
        }
    }
}

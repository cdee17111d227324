//! Demo provider: a scripted model without network or API key, so that a new installation has something to chat with.
//! It behaves like any other provider, from the request bytes to the stream; only the replies are scripted, and its
//! name says so. The test double is `scripted`.

use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use serde_json::Value;

use crate::demo::script::DemoRequest;
use crate::openai_chat::{ChatDecoder, Dialect, request};
use crate::provider::{ChatRequest, Decoder, Provider, ProviderError, ProviderReply, ToolOutcome};
use crate::redaction::SecretSet;
use turnleaf_domain::providers::provider::ReasoningSupport;
use turnleaf_domain::tools::tool::ToolSpec;
use turnleaf_domain::{Capabilities, Failure, FailureKind, Thinking};

pub mod script;
pub mod tools;
pub mod wire;

/// The provider id of the demo.
pub const ID: &str = "demo";
const NAME: &str = "Demo (offline, scripted)";
/// Simulated delays: the run time of a tool, and the time to the first token.
const TOOL_TIME: Duration = Duration::from_millis(400);
const FIRST_WORD: Duration = Duration::from_millis(250);

/// A script, offered as a model.
#[derive(Debug)]
pub struct DemoScript {
    pub name: &'static str,
    pub description: &'static str,
    pub reasoning: ReasoningSupport,
}

/// The scripts; the first is the default.
pub const MODELS: [DemoScript; 8] = [
    DemoScript {
        name: "tour",
        description: "Reasons, uses a tool, reasons again, and explains Turnleaf",
        reasoning: ReasoningSupport::Optional,
    },
    DemoScript {
        name: "reasoning",
        description: "Several reasoning blocks between text and tools",
        reasoning: ReasoningSupport::Always,
    },
    DemoScript {
        name: "plain",
        description: "A short reply without reasoning or tools",
        reasoning: ReasoningSupport::Never,
    },
    DemoScript {
        name: "parallel-tools",
        description: "Several tool calls in one step",
        reasoning: ReasoningSupport::Optional,
    },
    DemoScript { name: "markdown", description: "A long formatted reply", reasoning: ReasoningSupport::Never },
    DemoScript { name: "error", description: "Fails halfway through its reply", reasoning: ReasoningSupport::Never },
    DemoScript {
        name: "slow",
        description: "Writes for a minute: try stopping or reloading",
        reasoning: ReasoningSupport::Never,
    },
    DemoScript {
        name: "picture",
        description: "Describes your images and draws one",
        reasoning: ReasoningSupport::Never,
    },
];

/// Returns the one-line description of a script.
pub fn description(model: &str) -> Option<String> {
    MODELS.iter().find(|script| script.name == model).map(|script| script.description.to_owned())
}

/// The scripted provider.
#[derive(Debug, Clone, Copy)]
pub struct DemoProvider {
    pace: f64,
}

impl DemoProvider {
    /// Creates the provider. `pace` scales all pauses: 1 is the normal speed, 0 disables them.
    pub fn new(pace: f64) -> Self {
        Self { pace }
    }

    fn dialect() -> &'static Dialect {
        Dialect::for_endpoint(ID, "")
    }
}

impl Provider for DemoProvider {
    fn id(&self) -> &str {
        ID
    }

    fn api(&self) -> &'static str {
        ID
    }

    fn name(&self) -> &str {
        NAME
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        let script = MODELS.iter().find(|script| script.name == model);
        let levels: &[Thinking] = match script.map(|script| script.reasoning) {
            Some(ReasoningSupport::Never) => &[],
            Some(ReasoningSupport::Always) => &Thinking::LEVELS[1..],
            Some(ReasoningSupport::Optional) | None => &Thinking::LEVELS,
        };
        let known = Capabilities { images: Some(true), ..Capabilities::default() };
        known.with_thinking(script.map_or(ReasoningSupport::Optional, |script| script.reasoning), levels)
    }

    fn tools(&self) -> Vec<ToolSpec> {
        tools::specs()
    }

    fn build(&self, request: &ChatRequest) -> Bytes {
        request::body(Self::dialect(), request)
    }

    fn send(&self, _model: &str, body: Bytes) -> BoxFuture<'static, Result<ProviderReply, ProviderError>> {
        let pace = self.pace;
        async move {
            let refused =
                |kind, detail: &str| ProviderError::without_response(Failure::new(kind, NAME).with_detail(detail));
            let request = serde_json::from_slice::<Value>(&body).ok().and_then(|body| DemoRequest::from_body(&body));
            let request = request
                .ok_or_else(|| refused(FailureKind::ProviderRefusedRequest, "The request contains no message."))?;
            let script_pieces = script::reply(&request)
                .ok_or_else(|| refused(FailureKind::ModelNotFound, "There is no script with this name."))?;
            pause(FIRST_WORD, pace).await;
            let pieces = stream::iter(wire::timed_chunks(&request, script_pieces)).then(move |piece| async move {
                pause(piece.after, pace).await;
                Ok(piece.bytes)
            });
            let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
            Ok(ProviderReply { status: 200, headers, body: pieces.boxed() })
        }
        .boxed()
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ChatDecoder::for_provider(Self::dialect(), NAME, SecretSet::default()))
    }

    fn run_tool(&self, name: &str, arguments: &Value) -> Option<BoxFuture<'static, ToolOutcome>> {
        let outcome = tools::run(name, arguments)?;
        let pace = self.pace;
        Some(
            async move {
                pause(TOOL_TIME, pace).await;
                outcome
            }
            .boxed(),
        )
    }
}

async fn pause(time: Duration, pace: f64) {
    let time = time.mul_f64(pace.max(0.0));
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

#[cfg(test)]
mod tests;

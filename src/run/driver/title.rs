//! Requests for titles: the context of a reply at the end of a path, with one instruction behind it. Such a request is
//! sent once; it belongs to no turn and writes no events.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures::StreamExt;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::conclusion::price;
use super::run::{HaltReason, TurnRun};
use super::spending_estimate::{REPLY_TOKENS, estimate_spending, tokens_of_bytes};
use crate::budgets::BudgetReservation;
use crate::live_turns::LiveTurn;
use crate::provider_access::{may_use, refused_call_failure};
use crate::supervisor::{RunJob, Supervisor};
use turnleaf_domain::chats::chat::clean_suggested_title;
use turnleaf_domain::{
    Author, Block, Content, Failure, FailureKind, GenerationId, ModelLock, Role, TitleRequestId, TurnId, Usage, UserId,
    limits,
};
use turnleaf_platform::ids;
use turnleaf_providers::pictures;
use turnleaf_providers::prices::BillableCall;
use turnleaf_providers::provider::{ChatRequest, DecodeOutcome, DecodedItem, Decoder, HistoryTurn, Provider};
use turnleaf_providers::registry::{ProviderScope, ScopedProvider};
use turnleaf_providers::reply_ending::{ReplyContents, ReplyEnding, reply_ending};
use turnleaf_store::chats::title_requests::{self, NewTitleRequest};
use turnleaf_store::turns::generations::{GenerationEnd, GenerationStatus};
use turnleaf_store::{Db, StoreError};

/// The instruction behind the path.
const INSTRUCTION: &str = "Suggest a title for this conversation, in its language: at most six words that tell it apart \
    from others. Answer with the title alone, without quotation marks and without Markdown. Do not call tools.";

/// The pause before the end is stored again while the database is busy.
const TRY_AGAIN: Duration = Duration::from_millis(200);

/// A request that is built and not sent yet.
pub struct PreparedTitleRequest {
    owner: UserId,
    provider: Arc<dyn Provider>,
    /// The scope that the provider belongs to.
    scope: ProviderScope,
    lock: ModelLock,
    /// The body as it is stored, with names in the place of image bytes.
    body: Bytes,
    /// The body as it is sent.
    wire: Bytes,
    manifest: Bytes,
}

impl PreparedTitleRequest {
    /// Returns the row of the request.
    pub fn new_row(&self, id: TitleRequestId, reply: TurnId, started_at: DateTime<Utc>) -> NewTitleRequest {
        NewTitleRequest {
            id,
            turn_id: reply,
            provider: self.lock.provider.clone(),
            api: self.provider.api().to_owned(),
            model_requested: self.lock.model.clone(),
            body: self.body.clone(),
            manifest: self.manifest.clone(),
            started_at,
        }
    }

    /// Returns the size of the stored data before compression, in bytes.
    pub fn stored_bytes(&self) -> u64 {
        (self.body.len() + self.manifest.len()) as u64
    }
}

/// A stored request that is sent.
pub(crate) struct TitleJob {
    pub owner: UserId,
    pub id: TitleRequestId,
    pub request: PreparedTitleRequest,
    /// Cancelled when nobody needs the title any longer.
    pub stop: CancellationToken,
    /// The reservation in the budgets of the owner, until the end is stored.
    pub budget: Option<Arc<BudgetReservation>>,
}

/// Builds the request. The turn of the job is not stored: it stands for the reply that would follow.
///
/// # Errors
/// The provider is gone, or the context could not be read.
pub(crate) async fn prepare(supervisor: &Supervisor, job: RunJob) -> Result<PreparedTitleRequest, Failure> {
    let (owner, lock) = (job.owner, job.lock.clone());
    let found = supervisor.usable_provider(owner, &lock);
    let found = found.ok_or_else(|| supervisor.unusable_provider_failure(owner, &lock))?;
    let ScopedProvider { scope, provider } = found.clone();
    let live = Arc::new(LiveTurn::new(job.owner, job.turn.clone()));
    let (turn, now) = (job.turn.id, supervisor.clock().now());
    let built = TurnRun::new(supervisor, &live, job, found).next_request().await;
    let (mut request, manifest) = built.map_err(|halt| match halt {
        HaltReason::Failed(failure) => failure,
        HaltReason::Interrupted(_) | HaltReason::LeftWaiting => Failure::new(FailureKind::Internal, ""),
    })?;
    without_tools(&mut request);
    request.history.push(instruction_turn(turn, now));
    let body = provider.build(&request);
    let wire = pictures::insert_image_bytes(&body, &request);
    let manifest: Bytes = serde_json::to_vec(&manifest).unwrap_or_default().into();
    Ok(PreparedTitleRequest { owner, provider, scope, lock, body, wire, manifest })
}

/// Removes the tools. Their descriptions stay if earlier replies go back with calls, which some providers refuse
/// otherwise; a call in the response is not run.
fn without_tools(request: &mut ChatRequest) {
    request.provider_tools.clear();
    let has_call =
        |turn: &HistoryTurn| turn.blocks.iter().any(|block| matches!(block.content, Content::ToolUse { .. }));
    if !request.history.iter().any(|turn| !turn.raw.is_empty() && has_call(turn)) {
        request.tools.clear();
    }
}

fn instruction_turn(turn_id: TurnId, now: DateTime<Utc>) -> HistoryTurn {
    let block = Block::new(ids::mint(), (0, 0), Author::User, Content::text(INSTRUCTION), now);
    HistoryTurn::new(turn_id, Role::User, vec![block])
}

/// The reason why a request ended without a complete response.
enum TitleHalt {
    Stopped,
    Failed(Failure),
}

/// The part of a response that has arrived.
#[derive(Default)]
struct TitleResponse {
    raw: Vec<u8>,
    text: String,
    contents: ReplyContents,
    usage: Usage,
    reported_micros: Option<u64>,
    /// The provider refused the request, or could not be reached.
    is_refused: bool,
    model: Option<String>,
    stop_reason: Option<String>,
    first_token_at: Option<DateTime<Utc>>,
}

impl TitleResponse {
    fn apply(&mut self, items: &mut Vec<DecodedItem>, now: DateTime<Utc>) {
        for item in items.drain(..) {
            self.contents.note(&item);
            match item {
                DecodedItem::Text(text) => self.text.push_str(&text),
                DecodedItem::TextReplaced(text) => self.text = text,
                DecodedItem::Model(model) => self.model = Some(model),
                DecodedItem::Usage(usage) => self.usage = usage,
                DecodedItem::Cost(micros) => self.reported_micros = Some(micros),
                DecodedItem::StopReason(reason) => self.stop_reason = Some(reason),
                _ => {}
            }
        }
        if self.first_token_at.is_none() && !self.contents.is_empty() {
            self.first_token_at = Some(now);
        }
    }
}

/// Sends a stored request, and stores its end.
pub(crate) async fn run(supervisor: &Supervisor, job: TitleJob) {
    let TitleJob { owner, id, request, stop, budget } = job;
    if let Some(reserved) = &budget {
        let call = billable_call(&request, &TitleResponse::default(), false, supervisor.clock().now());
        let tokens = (tokens_of_bytes(request.body.len() as u64), REPLY_TOKENS);
        reserved.set_amount(estimate_spending(supervisor, call, tokens).await);
    }
    // Decided once, because the setting may change while the response arrives.
    let keeps_raw = supervisor.stores_raw();
    let mut response = TitleResponse::default();
    let mut decoder = request.provider.decoder();
    decoder.note_requested_model(&request.lock.model);
    let received = receive_in_time(supervisor, &request, decoder.as_mut(), &mut response, &stop).await;
    let (mut items, now) = (Vec::new(), supervisor.clock().now());
    // The decoder is finished in every case, so that buffered items and usage are not lost.
    let mut outcome = decoder.finish(&mut items);
    response.apply(&mut items, now);
    outcome.stop_reason = outcome.stop_reason.or(response.stop_reason.take());
    let title = match received {
        // A response that is complete stays complete, however its connection ended.
        Err(halt) if !outcome.complete => Err(halt),
        _ => suggested_title(&outcome, &response, request.provider.name()),
    };
    let (status, error) = match &title {
        Ok(_) => (GenerationStatus::Complete, None),
        Err(TitleHalt::Stopped) => (GenerationStatus::Cancelled, None),
        Err(TitleHalt::Failed(failure)) => (GenerationStatus::Error, Some(failure.clone())),
    };
    let is_cut_off = !outcome.complete && !response.contents.is_empty();
    let is_reported = response.usage.input_tokens.is_some() && response.usage.output_tokens.is_some();
    let is_estimated = budget.is_some() && !response.is_refused && (is_cut_off || !is_reported);
    let estimate = match is_estimated {
        true => {
            let tokens = [request.body.len(), response.text.len()].map(|bytes| tokens_of_bytes(bytes as u64));
            let call = billable_call(&request, &response, false, now);
            Some(estimate_spending(supervisor, call, tokens.into()).await)
        }
        false => None,
    };
    let end = GenerationEnd {
        id: GenerationId::from(id.uuid()),
        status,
        raw_complete: outcome.complete,
        charge: price(supervisor, billable_call(&request, &response, is_cut_off, now)).await,
        model_returned: response.model,
        stop_reason: outcome.stop_reason,
        usage: response.usage,
        error,
        first_token_at: response.first_token_at,
        ended_at: now,
        estimate,
        body: keeps_raw.then(|| response.raw.into()),
    };
    store_end(supervisor, owner, &end, title.ok().as_deref()).await;
    drop(budget);
}

/// Receives the response until it ends, somebody stops it, the server shuts down, or the time is over.
async fn receive_in_time(
    supervisor: &Supervisor,
    request: &PreparedTitleRequest,
    decoder: &mut dyn Decoder,
    response: &mut TitleResponse,
    stop: &CancellationToken,
) -> Result<(), TitleHalt> {
    let failed = |kind| TitleHalt::Failed(Failure::new(kind, request.provider.name()));
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(TitleHalt::Stopped),
        () = supervisor.wait_for_closing() => Err(failed(FailureKind::ServerRestarted)),
        received = timeout(limits::TITLE_TIME, receive(supervisor, request, decoder, response)) => match received {
            Ok(received) => received.map_err(TitleHalt::Failed),
            Err(_) => Err(failed(FailureKind::LimitTime)),
        },
    }
}

/// Returns the title in a response.
fn suggested_title(outcome: &DecodeOutcome, response: &TitleResponse, provider: &str) -> Result<String, TitleHalt> {
    match reply_ending(outcome, response.contents, provider) {
        ReplyEnding::Failed(failure) => Err(TitleHalt::Failed(failure)),
        ReplyEnding::Calls | ReplyEnding::Paused(_) | ReplyEnding::Finished(_) => clean_suggested_title(&response.text)
            .ok_or_else(|| TitleHalt::Failed(Failure::new(FailureKind::NoTitle, provider))),
    }
}

fn billable_call(
    request: &PreparedTitleRequest,
    response: &TitleResponse,
    is_cut_off: bool,
    at: DateTime<Utc>,
) -> BillableCall {
    BillableCall {
        provider: request.lock.provider.clone(),
        base_url: request.provider.base_url().map(str::to_owned),
        model_requested: request.lock.model.clone(),
        model_returned: response.model.clone(),
        usage: response.usage,
        reported_micros: response.reported_micros,
        is_refused: response.is_refused,
        is_cut_off,
        at,
    }
}

/// Sends the request and reads the response to its end.
///
/// # Errors
/// The provider may not be used or refused the request, the connection broke, or the response is too large.
async fn receive(
    supervisor: &Supervisor,
    request: &PreparedTitleRequest,
    decoder: &mut dyn Decoder,
    response: &mut TitleResponse,
) -> Result<(), Failure> {
    if !may_use(supervisor.registry(), request.owner, request.scope, &request.lock) {
        response.is_refused = true;
        return Err(refused_call_failure(Some(request.scope), &request.lock));
    }
    let sent = request.provider.send(&request.lock.model, request.wire.clone()).await;
    let mut body = sent
        .map_err(|refused| {
            response.is_refused = refused.is_free();
            response.raw.extend_from_slice(&refused.body);
            refused.failure
        })?
        .body;
    let mut items = Vec::new();
    loop {
        let next = match decoder.is_over() {
            // Only late usage can follow.
            true => timeout(limits::LATE_USAGE, body.next()).await.unwrap_or(None),
            false => body.next().await,
        };
        let Some(bytes) = next.transpose()? else { return Ok(()) };
        if response.raw.len() + bytes.len() > limits::TITLE_RESPONSE_BYTES {
            return Err(Failure::new(FailureKind::LimitOutput, request.provider.name()));
        }
        response.raw.extend_from_slice(&bytes);
        decoder.feed(&bytes, &mut items);
        response.apply(&mut items, supervisor.clock().now());
    }
}

/// Ends a stored request that nothing drives as stopped. One that has an end keeps it.
pub(crate) async fn stop_orphan(supervisor: &Supervisor, owner: UserId, id: TitleRequestId) -> Result<(), StoreError> {
    let end = GenerationEnd {
        id: GenerationId::from(id.uuid()),
        status: GenerationStatus::Cancelled,
        raw_complete: false,
        model_returned: None,
        stop_reason: None,
        usage: Usage::default(),
        charge: None,
        error: None,
        first_token_at: None,
        ended_at: supervisor.clock().now(),
        estimate: None,
        body: None,
    };
    try_store_end(supervisor.db(), owner, &end, None).await
}

/// Stores the end of a request, with retries while the database is busy, as for the end of a reply.
async fn store_end(supervisor: &Supervisor, owner: UserId, end: &GenerationEnd, title: Option<&str>) {
    let began = Instant::now();
    while let Err(error) = try_store_end(supervisor.db(), owner, end, title).await {
        if !error.is_busy() || began.elapsed() > supervisor.timeouts().database {
            tracing::error!(request = %end.id, %error, "the end of a request for a title could not be stored");
            return;
        }
        sleep(TRY_AGAIN).await;
    }
}

async fn try_store_end(db: &Db, owner: UserId, end: &GenerationEnd, title: Option<&str>) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    db.fence(&mut tx).await?;
    title_requests::finish(&mut tx, owner, end, title).await?;
    tx.commit().await
}

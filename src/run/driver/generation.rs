//! One provider call: request stored, sent, tried again while nothing has come, its bytes kept and turned into events
//! until it ends.

pub(super) mod progress;
mod taking;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use tokio::time::{Instant, sleep_until, timeout_at};

use self::progress::Progress;
use super::attempts::Tried;
use super::run::{Halt, Next, Run};
use crate::journal::Batch;
use crate::pace::Pace;
use turnleaf_domain::alike::is_short;
use turnleaf_domain::context::RequestManifest;
use turnleaf_domain::{Event, Failure, FailureKind, GenerationId, Usage, limits};
use turnleaf_platform::ids;
use turnleaf_providers::builder::{BlockBuilder, Place};
use turnleaf_providers::pictures;
use turnleaf_providers::provider::{Decoder, Outcome, Refused, Reply};
use turnleaf_store::generations::requests::{Base, StoredRequest};
use turnleaf_store::generations::{NewGeneration, RawKind};

impl Run<'_> {
    /// Makes one call of the provider, or two where the first is refused and can be repaired; gives what it asks
    /// for.
    pub(super) async fn generation(&mut self) -> Result<Next, Halt> {
        loop {
            let (request, manifest) = self.request().await?;
            let body = self.provider.build(&request);
            if self.paused_at.as_ref() == Some(&body) {
                return Ok(Next::Over);
            }
            let mut progress = self.begin(&body, &manifest).await?;
            let wire = pictures::on_the_wire(&body, &request);
            let tried = self.attempts(&request, &wire, &mut progress).await;
            if progress.has_content {
                self.keep_repair().await;
            }
            let outcome = match tried {
                Ok(Tried::Repairable(failure)) => {
                    self.refused(progress, failure).await?;
                    continue;
                }
                Ok(Tried::Ended(outcome)) => Ok(outcome),
                Err(halt) => Err(halt),
            };
            let next = self.conclude(progress, outcome).await?;
            self.paused_at = matches!(next, Next::GoesOn).then_some(body);
            return Ok(next);
        }
    }

    /// Stores the request before it is sent.
    async fn begin(&mut self, body: &Bytes, manifest: &RequestManifest) -> Result<Progress, Halt> {
        let id: GenerationId = ids::mint();
        let step = self.step;
        self.step += 1;
        let now = self.supervisor.clock().now();
        let request = self.as_stored(step, body, manifest).await;
        self.recorder.push(Event::GenerationStart {
            generation_id: id,
            step,
            provider: self.job.lock.provider.clone(),
            model: self.job.lock.model.clone(),
        });
        self.announce_repair();
        let generation = NewGeneration {
            id,
            turn_id: self.job.turn.id,
            step,
            provider: self.job.lock.provider.clone(),
            api: self.provider.api().to_owned(),
            model_requested: self.job.lock.model.clone(),
            request,
            raw_kind: if self.supervisor.stores_raw() { RawKind::SseEvents } else { RawKind::None },
            started_at: now,
        };
        self.recorder.flush(Batch { generation: Some(generation), ..Batch::default() }).await?;
        if self.supervisor.stores_raw() {
            self.recorder.begin_raw(id);
            self.generations.push(id);
        }
        Ok(self.progress(id))
    }

    /// The request as it is stored: after an earlier one of its path, if that can be read.
    async fn as_stored(&mut self, step: u32, body: &Bytes, manifest: &RequestManifest) -> StoredRequest {
        let manifest: Bytes = serde_json::to_vec(manifest).unwrap_or_default().into();
        let earlier = match self.earlier.take().filter(|(of, _)| *of == step) {
            _ if is_short(body.len() + manifest.len()) => None,
            Some((_, earlier)) => earlier,
            None => self.earlier_request(step).await,
        };
        match earlier {
            Some(base) => StoredRequest::after(&base, body.clone(), manifest),
            None => StoredRequest::whole(body.clone(), manifest),
        }
    }

    /// The request that the one of this step may be stored after.
    pub(super) async fn earlier_request(&self, step: u32) -> Option<Arc<Base>> {
        let (turn, lock) = (self.job.turn.id, &self.job.lock);
        let earlier = self.supervisor.bases().before(self.supervisor.db(), (turn, step, &lock.provider, &lock.model));
        earlier.await.unwrap_or_else(|error| {
            tracing::warn!(%turn, %error, "an earlier request could not be read: this one is stored whole");
            None
        })
    }

    fn progress(&self, id: GenerationId) -> Progress {
        let turn = self.recorder.turn();
        let place = Place { turn_ord: turn.ord, next_seq: turn.next_block_seq(), generation_id: id };
        let clock = self.supervisor.clock().clone();
        Progress {
            id,
            began: Instant::now(),
            builder: BlockBuilder::new(place, move || (ids::mint(), clock.now())).going_on(&turn.blocks),
            raw: Vec::new(),
            usage: Usage::default(),
            reported_micros: None,
            is_refused: false,
            model: None,
            stop_reason: None,
            response_id: None,
            first_token_at: None,
            has_content: false,
            said: 0,
        }
    }

    /// One attempt: what it ended with, or that nothing began.
    pub(super) async fn attempt(
        &mut self,
        body: Bytes,
        progress: &mut Progress,
    ) -> Result<Result<Outcome, Refused>, Halt> {
        let asked = Instant::now();
        let first_byte = (asked + self.patience().first_byte).min(self.deadline);
        let sent = tokio::select! {
            biased;
            why = self.live.interrupted() => return Err(Halt::Interrupted(why)),
            sent = timeout_at(first_byte, self.provider.send(&self.job.lock.model, body)) => sent,
        };
        match sent {
            Err(_) => Err(self.silence(asked).into()),
            Ok(Err(refused)) => Ok(Err(refused)),
            Ok(Ok(reply)) => self.stream(reply, progress, first_byte).await.map(Ok),
        }
    }

    /// The clocks for this provider and model.
    pub(super) fn patience(&self) -> Pace {
        let of_provider = self.supervisor.registry().patience(&self.job.lock.provider);
        self.supervisor.pace().of(of_provider).with(&self.job.capabilities, self.job.settled.is_thinking_mode)
    }

    async fn stream(&mut self, reply: Reply, progress: &mut Progress, first_byte: Instant) -> Result<Outcome, Halt> {
        let mut decoder = self.provider.decoder();
        let end = self.read(reply, decoder.as_mut(), progress, first_byte).await;
        // What was held back and the usage come now, also of a body that was given up.
        let mut items = Vec::new();
        let outcome = decoder.finish(&mut items);
        self.take(&mut items, progress)?;
        match end {
            // Nor has a server that says no more, or keeps the connection open.
            Err(Halt::Failed(failure)) if outcome.complete && failure.kind == FailureKind::ProviderStalled => {
                Ok(outcome)
            }
            Err(halt) => Err(halt),
            // A connection that breaks after the last word has broken nothing.
            Ok(Some(failure)) if !outcome.complete => {
                Ok(Outcome { complete: false, stop_reason: outcome.stop_reason, failure: Some(failure) })
            }
            Ok(_) => Ok(outcome),
        }
    }

    /// Reads the body to its end; gives what it broke with.
    async fn read(
        &mut self,
        reply: Reply,
        decoder: &mut dyn Decoder,
        progress: &mut Progress,
        first_byte: Instant,
    ) -> Result<Option<Failure>, Halt> {
        let pace = self.patience();
        let mut body = reply.body;
        let mut items = Vec::new();
        // What is said of a silence is how long it was, and not how long it might have been.
        let (mut bytes_at, mut progress_at) = (Instant::now(), Instant::now());
        let mut bytes_by = first_byte;
        let mut progress_by = Instant::now() + pace.idle_progress.max(pace.first_byte);
        loop {
            let frame = self.recorder.deadline();
            let given_up = bytes_by.min(progress_by).min(self.deadline);
            let chunk = tokio::select! {
                biased;
                why = self.live.interrupted() => return Err(Halt::Interrupted(why)),
                chunk = body.next() => chunk,
                () = sleep_until(frame.unwrap_or(given_up)), if frame.is_some() => {
                    let stored = self.store().await?;
                    (bytes_by, progress_by) = (bytes_by + stored, progress_by + stored);
                    continue;
                }
                () = sleep_until(given_up) => {
                    if decoder.is_over() {
                        return Ok(None);
                    }
                    return Err(match given_up {
                        _ if given_up == self.deadline => self.failure(FailureKind::LimitTime),
                        _ if given_up == bytes_by => self.silence(bytes_at),
                        _ => self.silence(progress_at),
                    }
                    .into());
                }
            };
            let bytes = match chunk {
                None => return Ok(None),
                Some(Err(failure)) => return Ok(Some(failure)),
                Some(Ok(bytes)) => bytes,
            };
            bytes_at = Instant::now();
            self.keep(&bytes, progress)?;
            let was_over = decoder.is_over();
            decoder.feed(&bytes, &mut items);
            // A server that keeps the connection after its last word is not waited for, but for a late usage; what else
            // it sends then does not prolong the wait.
            bytes_by = match decoder.is_over() {
                false => Instant::now() + pace.idle_bytes,
                true if was_over && items.is_empty() => bytes_by,
                true => Instant::now() + limits::LATE_USAGE,
            };
            if !items.is_empty() {
                progress_at = Instant::now();
                progress_by = progress_at + pace.idle_progress;
                self.take(&mut items, progress)?;
                let stored = self.store().await?;
                (bytes_by, progress_by) = (bytes_by + stored, progress_by + stored);
            }
        }
    }

    /// The provider has said nothing since then, and is not waited for any more.
    fn silence(&self, since: Instant) -> Failure {
        Failure::silent_for(since.elapsed().as_secs(), self.provider.name())
    }

    /// Stores what came. Gives how long that took: nobody was silent while we did not listen.
    async fn store(&mut self) -> Result<Duration, Halt> {
        let began = Instant::now();
        self.recorder.settle().await?;
        Ok(began.elapsed())
    }

    pub(super) fn failure(&self, kind: FailureKind) -> Failure {
        Failure::new(kind, self.provider.name())
    }
}

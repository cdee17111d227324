//! The recorder: turns the facts of one run into numbered, stored, published events. Deltas are published at once
//! after a quiet period and coalesced per frame otherwise; structure is committed before it is published.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use tokio::time::Instant;

use crate::ending::TurnEnding;
use crate::journal::{EventLine, Journal, JournalBatch};
use crate::live_turns::LiveTurn;
use crate::supervisor::Supervisor;
use turnleaf_domain::turns::{coalesce, fold};
use turnleaf_domain::{Block, BlockId, Content, Event, Failure, GenerationId, Turn, TurnStatus, limits};
use turnleaf_store::turns::TurnProgress;
use turnleaf_tools::toolbox::NewBlob;

/// The bytes of the running generation that the journal does not have yet.
struct RawTail {
    generation: GenerationId,
    /// The number of response bytes that the journal has.
    offset: u64,
    waiting: BytesMut,
    /// The time of the first of the waiting bytes.
    since: Option<Instant>,
}

impl RawTail {
    fn new(generation: GenerationId) -> Self {
        Self { generation, offset: 0, waiting: BytesMut::new(), since: None }
    }

    fn push(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.since.get_or_insert_with(Instant::now);
            self.waiting.extend_from_slice(bytes);
        }
    }

    /// Returns the time at which the waiting bytes must be stored.
    fn deadline(&self) -> Option<Instant> {
        self.since.map(|since| since + limits::RAW_EVERY)
    }

    /// Returns whether the waiting bytes must be stored now. A row costs more than its bytes, so they are stored in
    /// few pieces.
    fn is_due(&self) -> bool {
        self.waiting.len() >= limits::RAW_PIECE_BYTES
            || self.deadline().is_some_and(|deadline| deadline <= Instant::now())
    }

    /// Takes the waiting bytes, with their offset in the response.
    fn take(&mut self) -> (GenerationId, u64, Bytes) {
        self.since = None;
        let bytes = self.waiting.split().freeze();
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        (self.generation, offset, bytes)
    }
}

/// The recorder of one run.
pub struct Recorder {
    live: Arc<LiveTurn>,
    journal: Journal,
    /// The turn with everything that was recorded, published or not.
    turn: Turn,
    /// Events without a number; deltas may still be coalesced into them.
    pending: Vec<Event>,
    /// Events that are numbered and applied, but not stored.
    ready: Vec<(Event, EventLine)>,
    structural: bool,
    last_frame: Option<Instant>,
    raw: Option<RawTail>,
    /// Bytes of results that are not stored yet.
    blobs: Vec<(BlockId, NewBlob)>,
    /// The first reasoning of the turn turns the thinking mode of its exchange on.
    is_thinking_undecided: bool,
}

impl Recorder {
    pub fn new(live: Arc<LiveTurn>, journal: Journal) -> Self {
        let turn = live.turn();
        Self {
            live,
            journal,
            turn,
            pending: Vec::new(),
            ready: Vec::new(),
            structural: false,
            last_frame: None,
            raw: None,
            blobs: Vec::new(),
            is_thinking_undecided: false,
        }
    }

    /// Stores the thinking mode of the exchange with the first reasoning, unless it is decided.
    pub fn decide_thinking(mut self, is_undecided: bool) -> Self {
        self.is_thinking_undecided = is_undecided;
        self
    }

    /// Returns the turn as of the last flush; pending events are not in it.
    pub fn turn(&self) -> &Turn {
        &self.turn
    }

    /// Returns the status of the turn including pending events.
    pub fn status(&self) -> TurnStatus {
        let noted = self.pending.iter().rev().find_map(|event| match event {
            Event::TurnStatus { status, .. } => Some(*status),
            _ => None,
        });
        noted.unwrap_or(self.turn.status)
    }

    /// Records an event. It is stored and published with the next [`Self::flush`].
    pub fn push(&mut self, mut event: Event) {
        event.enforce_bounds();
        self.structural |= !event.is_delta();
        coalesce::push_coalesced(&mut self.pending, event);
    }

    pub fn extend(&mut self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            self.push(event);
        }
    }

    /// Records the bytes that this block references. They are stored together with the block.
    pub fn push_blobs(&mut self, block: BlockId, blobs: Vec<NewBlob>) {
        self.blobs.extend(blobs.into_iter().map(|blob| (block, blob)));
    }

    /// Directs the bytes of [`Self::push_raw`] to this generation; without one they are not kept.
    pub fn start_raw(&mut self, generation: Option<GenerationId>) {
        self.raw = generation.map(RawTail::new);
    }

    /// Records bytes as the provider sent them; they are stored with the events they led to.
    pub fn push_raw(&mut self, bytes: &[u8]) {
        if let Some(raw) = &mut self.raw {
            raw.push(bytes);
        }
    }

    /// Returns the time at which pending deltas must be published or raw bytes stored; `None` when nothing is pending.
    pub fn flush_deadline(&self) -> Option<Instant> {
        let frame = || self.last_frame.map_or_else(Instant::now, |last| last + limits::FRAME_EVERY);
        let frame = (!self.pending.is_empty()).then(frame);
        let raw = self.raw.as_ref().and_then(RawTail::deadline);
        frame.into_iter().chain(raw).min()
    }

    /// Flushes if something must not wait: a structural change, deltas whose frame is due, or raw bytes.
    pub async fn flush_if_due(&mut self) -> Result<(), Failure> {
        let is_due = |deadline: Instant| deadline <= Instant::now();
        if self.structural
            || self.flush_deadline().is_some_and(is_due)
            || self.raw.as_ref().is_some_and(RawTail::is_due)
        {
            self.flush(JournalBatch::default()).await?;
        }
        Ok(())
    }

    /// Publishes pending deltas, which are stored soon, and stores raw bytes that are due.
    async fn flush_deltas(&mut self) -> Result<(), Failure> {
        self.apply_pending();
        let events = std::mem::take(&mut self.ready);
        self.last_frame = Some(Instant::now());
        let raw: Vec<_> = self.take_raw(false).into_iter().collect();
        if !events.is_empty() {
            self.live.publish_deltas(&events);
            self.journal.append_deltas(&self.live).await?;
        }
        if !raw.is_empty() {
            self.journal.append(&self.live, JournalBatch { raw, ..JournalBatch::default() }).await?;
        }
        Ok(())
    }

    /// Takes the raw bytes if they are due or `is_last`.
    fn take_raw(&mut self, is_last: bool) -> Option<(GenerationId, u64, Bytes)> {
        let raw = self.raw.as_mut().filter(|raw| !raw.waiting.is_empty())?;
        (is_last || raw.is_due()).then(|| raw.take())
    }

    /// Stores and publishes everything pending, together with `batch`.
    pub async fn flush(&mut self, batch: JournalBatch) -> Result<(), Failure> {
        if !self.structural && self.ready.is_empty() && !batch.must_be_stored_first() {
            return self.flush_deltas().await;
        }
        let ends_generation = batch.generation_end.is_some();
        let (events, batch) = self.take(batch, ends_generation);
        let (raw, blobs) = (batch.raw.clone(), batch.blobs.clone());
        let is_decided = batch.turns_thinking_on.is_some();
        if let Err(unstored) = self.journal.commit(&self.live, batch).await {
            // The ending stores and publishes them.
            self.ready = events;
            self.blobs = blobs;
            self.put_back(raw);
            return Err(unstored.failure);
        }
        self.is_thinking_undecided &= !is_decided;
        self.live.publish(&events, true);
        Ok(())
    }

    /// Stores the ending, with retries for as long as the database is unavailable, because a turn must not stay
    /// unfinished. What cannot be stored at once is published meanwhile. If the database refuses the run's data, the
    /// turn ends without it.
    pub async fn flush_ending(&mut self, ending: impl Fn(&Turn) -> JournalBatch, supervisor: &Supervisor) {
        let (events, batch) = self.take(JournalBatch::default(), true);
        let complete = |mut batch: JournalBatch, turn: &Turn| {
            let end = ending(turn);
            (batch.ending, batch.generation_end, batch.provider_state) =
                (end.ending, end.generation_end, end.provider_state);
            batch
        };
        let (mut lines, blocks, mut raw, blobs) = (batch.lines, batch.blocks, batch.raw, batch.blobs);
        let turns_thinking_on = batch.turns_thinking_on;
        let mut pause = limits::BACKOFF_FIRST;
        let mut shown = false;
        loop {
            // Deltas that could not be stored before are stored with the ending.
            for batch in self.live.take_returned_batches() {
                lines.extend(batch.lines);
                raw.extend(batch.raw);
            }
            lines.sort_by_key(|line| line.seq);
            raw.sort_by_key(|(_, offset, _)| *offset);
            let (lines, blocks, raw, blobs) = (lines.clone(), blocks.clone(), raw.clone(), blobs.clone());
            let batch = JournalBatch { lines, blocks, raw, blobs, turns_thinking_on, ..JournalBatch::default() };
            match self.journal.commit(&self.live, complete(batch, &self.turn)).await {
                Ok(()) => break,
                Err(unstored) if unstored.is_taken => {
                    tracing::error!(turn = %self.turn.id, "the turn was already ended elsewhere");
                    // Rows with wrong positions look like those of another writer; then the turn has not ended yet
                    // and is ended here.
                    if let Err(error) =
                        supervisor.end_stored_turn(&self.live, &TurnEnding::Failed(unstored.failure)).await
                    {
                        tracing::error!(turn = %self.turn.id, %error, "its end could not be published");
                    }
                    return;
                }
                Err(unstored) if unstored.is_refused => {
                    // The turn ends as failed whatever its own ending was, because a part of what was shown is
                    // missing.
                    match supervisor.end_stored_turn(&self.live, &TurnEnding::Failed(unstored.failure)).await {
                        Ok(()) => {
                            tracing::error!(turn = %self.turn.id, "a turn ends without the parts the database rejects");
                            return;
                        }
                        Err(error) => tracing::error!(turn = %self.turn.id, %error, "the end of a turn is waiting for \
                            the database"),
                    }
                }
                Err(unstored) => {
                    let code = unstored.failure.kind.as_str();
                    tracing::error!(turn = %self.turn.id, code, "the end of a turn is waiting for disk space")
                }
            }
            if !shown {
                self.live.publish(&events, false);
                shown = true;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(limits::RETRY_AFTER_MAX);
        }
        if shown {
            self.live.mark_committed(self.turn.last_event_seq);
        } else {
            self.live.publish(&events, true);
        }
    }

    /// Takes back bytes that were not stored, in front of those recorded since.
    fn put_back(&mut self, pieces: Vec<(GenerationId, u64, Bytes)>) {
        let Some(raw) = &mut self.raw else { return };
        let mut waiting = BytesMut::new();
        for (_, offset, bytes) in pieces.into_iter().filter(|(generation, ..)| *generation == raw.generation) {
            raw.offset = raw.offset.min(offset);
            waiting.extend_from_slice(&bytes);
        }
        waiting.extend_from_slice(&raw.waiting);
        raw.since = raw.since.or_else(|| (!waiting.is_empty()).then(Instant::now));
        raw.waiting = waiting;
    }

    /// Numbers and applies pending events, so that `turn` includes them; the next flush stores them.
    pub fn apply_pending(&mut self) {
        let first = self.turn.last_event_seq + 1;
        for (event, seq) in std::mem::take(&mut self.pending).into_iter().zip(first..) {
            if let fold::ApplyOutcome::Impossible(reason) = fold::apply(&mut self.turn, seq, &event) {
                tracing::error!(turn = %self.turn.id, seq, reason, "a run recorded an invalid event");
            }
            self.ready.push(EventLine::from_event(event, seq));
        }
    }

    /// Takes everything pending; the raw bytes if they are due or `is_last`.
    fn take(&mut self, mut batch: JournalBatch, is_last: bool) -> (Vec<(Event, EventLine)>, JournalBatch) {
        self.apply_pending();
        let events = std::mem::take(&mut self.ready);
        // Deltas are in the journal only, until their block ends.
        let changes = events.iter().filter(|(event, _)| !event.is_delta());
        let touched: Vec<BlockId> = changes.filter_map(|(event, _)| event.block_id()).collect();
        batch.blocks =
            self.turn.blocks.iter().filter(|block| touched.contains(&block.id)).cloned().collect::<Vec<Block>>();
        let is_thinking = |block: &Block| matches!(block.content, Content::Thinking { .. });
        if self.is_thinking_undecided && batch.blocks.iter().any(is_thinking) {
            batch.turns_thinking_on = Some(self.turn.exchange_id);
        }
        batch.lines = events.iter().map(|(_, line)| line.clone()).collect();
        batch.blobs = std::mem::take(&mut self.blobs);
        // Raw bytes are stored with the structure they led to, so that a crash leaves no block without its source.
        batch.raw.extend(self.take_raw(is_last || self.structural));
        if self.structural && !self.turn.status.is_terminal() {
            batch.progress = Some(progress_of(&self.turn));
        }
        self.structural = false;
        self.last_frame = Some(Instant::now());
        (events, batch)
    }
}

fn progress_of(turn: &Turn) -> TurnProgress {
    TurnProgress {
        turn_id: turn.id,
        status: turn.status,
        last_event_seq: turn.last_event_seq,
        provider_used: turn.provider_used.clone(),
        model_used: turn.model_used.clone(),
        started_at: turn.started_at,
    }
}

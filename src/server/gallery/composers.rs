//! The composer in each of its states. A page has one composer, so each state has a gallery page of its own.

use leptos::prelude::*;

use crate::api::view::{DraftView, QueueView, QueuedMessageView};
use crate::domain::documents::attachment::{Attachment, AttachmentCard, ReferenceStatus as Named};
use crate::domain::providers::provider::{Model, ReasoningSupport};
use crate::domain::{Content, ModelLock, Thinking, TurnId, fixtures};
use crate::ui::composer::Composer;
use crate::ui::composer::attachment_queue::AttachmentQueue;
use crate::ui::composer::paste::AttachedPaste;
use crate::ui::composer::queue_list::QueueList;
use crate::ui::composer::state::{ComposerListeners, ComposerPhase, ComposerState, FollowedPath};
use crate::ui::erased::view;
use crate::ui::messages::attachments::{pasted, send_failed};

/// A state of the composer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComposerSample {
    Empty,
    Written,
    /// A reply is being written.
    ReplyRunning,
    WithFiles,
    /// The conversation fills the model's context.
    ContextFull,
    /// The chat's model is no longer available.
    ModelUnavailable,
    /// A message is being sent.
    Sending,
    /// A reply is being stopped.
    Stopping,
    /// Files being uploaded: one in progress, one waiting, one lost, one failed, one whose encoding must be chosen.
    UploadingFiles,
    /// A long text and an API key were pasted into a full-height box; the context is nearly full.
    Pasted,
    /// The message was refused, its draft is not saved, and another tab has a newer draft.
    Refused,
    /// Another model is selected, for a branch of its own.
    ChangingModel,
}

impl ComposerSample {
    pub const ALL: [Self; 12] = [
        Self::Empty,
        Self::Written,
        Self::ReplyRunning,
        Self::WithFiles,
        Self::ContextFull,
        Self::ModelUnavailable,
        Self::Sending,
        Self::Stopping,
        Self::UploadingFiles,
        Self::Pasted,
        Self::Refused,
        Self::ChangingModel,
    ];

    /// Returns the last segment of its page's address.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "composer-empty",
            Self::Written => "composer-written",
            Self::ReplyRunning => "composer-answering",
            Self::WithFiles => "composer-files",
            Self::ContextFull => "composer-full",
            Self::ModelUnavailable => "composer-gone",
            Self::Sending => "composer-sending",
            Self::Stopping => "composer-stopping",
            Self::UploadingFiles => "composer-arriving",
            Self::Pasted => "composer-pasted",
            Self::Refused => "composer-refused",
            Self::ChangingModel => "composer-leaving",
        }
    }
}

/// Returns the scripted model as the menu shows it.
pub fn demo_model() -> Model {
    Model {
        lock: fixtures::lock(),
        provider_name: "Demo".into(),
        name: "Demo (scripted)".into(),
        description: None,
        reasoning: ReasoningSupport::Optional,
        thinking_levels: vec![Thinking::Off, Thinking::Low, Thinking::High],
        context_tokens: Some(100_000),
        output_tokens: None,
        images: None,
        tools: None,
        input_price: None,
        output_price: None,
        is_demo: true,
        is_default: true,
        used: None,
    }
}

/// Two queued messages, of which the first was refused.
fn queue() -> QueueView {
    let message = |n: u64, text: &str, attached: u64, refusal: Option<&str>| QueuedMessageView {
        id: fixtures::turn_id(n).uuid().into(),
        rev: n,
        text: text.into(),
        attached,
        refusal: refusal.map(str::to_owned),
    };
    let refused =
        message(7, "And what do the notes say about that?", 1, Some("something attached to it no longer exists"));
    QueueView { rev: 1, messages: vec![refused, message(8, "Now as a table, please.", 0, None)], is_paused: true }
}

/// Renders the composer.
pub fn draw(sample: ComposerSample) -> AnyView {
    let nothing = Callback::new(|()| ());
    let listeners = ComposerListeners {
        on_sending: Callback::new(|_| ()),
        on_failed: nothing,
        on_started: Callback::new(|_| ()),
        on_stopped: Callback::new(|_| ()),
    };
    let draft = draft(sample);
    let lock = match sample {
        ComposerSample::Empty => None,
        ComposerSample::ModelUnavailable => Some(ModelLock::new("openai", "gone-model")),
        _ => Some(fixtures::lock()),
    };
    let running: Option<TurnId> =
        matches!(sample, ComposerSample::ReplyRunning | ComposerSample::Stopping).then(|| fixtures::turn_id(2));
    let used = match sample {
        ComposerSample::ContextFull => Some(102_000),
        ComposerSample::Written => Some(72_000),
        ComposerSample::Pasted => Some(92_000),
        _ => None,
    };
    let gone = lock.clone().filter(|_| sample == ComposerSample::ModelUnavailable);
    let queue = if sample == ComposerSample::ReplyRunning { queue() } else { QueueView::default() };
    let path = FollowedPath {
        lock: lock.into(),
        queue: RwSignal::new(queue),
        running: running.into(),
        context_used: used.into(),
        gone_model: gone.into(),
        ..FollowedPath::default()
    };
    let composer = view! {
        <Composer
            chat_id=None
            draft=draft.clone()
            draft_elsewhere=RwSignal::new(draft)
            models=RwSignal::new(vec![demo_model(), other_model()])
            form_request_id=String::new()
            path
            stop_requested=RwSignal::new(false)
            listeners
            tools_on=Some(3)
            above=Some(view! { <QueueList queue=path.queue poll=None/> })
        />
    };
    // The view is rendered lazily, so its state can still be changed here.
    if let Some(state) = use_context::<ComposerState>() {
        apply_sample(state, sample);
    }
    composer
}

/// Returns a second model, so that there is a choice.
fn other_model() -> Model {
    Model {
        lock: ModelLock::new("openai", "other-model"),
        name: "Other model".into(),
        is_default: false,
        ..demo_model()
    }
}

/// Brings the composer into the state that typing, pasting and waiting would reach.
fn apply_sample(state: ComposerState, sample: ComposerSample) {
    match sample {
        ComposerSample::Sending => state.phase.set(ComposerPhase::Sending),
        ComposerSample::Stopping => state.phase.set(ComposerPhase::Stopping),
        ComposerSample::UploadingFiles => state.attaching.queue.update(queue_sample_files),
        ComposerSample::Pasted => {
            let text = "leaf ".repeat(3_000);
            let name = pasted().to_owned();
            let id = state.attaching.queue.try_update(|queue| queue.add(name, text.len() as u64)).unwrap_or_default();
            state.pasting.attached.set(Some(AttachedPaste { id, text }));
            state.pasting.has_key.set(true);
            state.is_long.set(true);
            state.is_tall.set(true);
        }
        ComposerSample::Refused => {
            state.problem.set(Some(send_failed().to_owned()));
            state.draft.is_unsaved.set(true);
            state.draft.conflicting.set(Some(DraftView { text: "Newer".into(), ..DraftView::default() }));
        }
        ComposerSample::ChangingModel => state.choice.set(Some(other_model().lock)),
        _ => {}
    }
}

/// The server's message about a file whose encoding it cannot detect.
const ENCODING: &str = "Which encoding is this text in?";

/// Queues files in every state of an upload.
fn queue_sample_files(queue: &mut AttachmentQueue) {
    let [lost, failed, old, sending] =
        ["maple.md", "oak.pdf", "old.txt", "trees.csv"].map(|name| queue.add(name.to_owned(), 2_400_000));
    queue.start_next();
    queue.record_loss(lost, false);
    queue.fail(failed, send_failed().to_owned(), true);
    queue.ask_encoding(old, ENCODING.to_owned(), vec!["windows-1252".into(), "GB18030".into()]);
    queue.start_next();
    queue.record_progress(sending, 900_000);
    queue.add("leaves.md".to_owned(), 12_000);
}

/// Returns an attached document, or these lines of one.
pub(super) fn sample_attachment(title: &str, lines: Option<(u64, u64)>) -> Attachment {
    let ref_id = fixtures::uuid(0xd0c).to_string();
    let content = match lines {
        None => Content::Reference { ref_id, ref_type: "document".into(), version_timestamp: None },
        Some(_) => Content::PartialReference {
            ref_id,
            ref_type: "document".into(),
            version_timestamp: None,
            selection_start: 0,
            selection_end: 120,
        },
    };
    Attachment {
        content,
        card: AttachmentCard { title: title.into(), lines, tokens: 1_240, ..AttachmentCard::default() },
    }
}

fn draft(sample: ComposerSample) -> DraftView {
    let text = match sample {
        ComposerSample::Written
        | ComposerSample::ContextFull
        | ComposerSample::Refused
        | ComposerSample::ChangingModel => "How do leaves grow?\n\nAnd why do they fall?",
        ComposerSample::WithFiles | ComposerSample::UploadingFiles => "Compare these.",
        _ => "",
    };
    let attachments = match sample {
        ComposerSample::WithFiles => vec![
            sample_attachment("Field notes.md", None),
            sample_attachment("A file name too long for any chip.csv", Some((10, 42))),
            sample_attachment("Gone.md", None),
        ],
        _ => Vec::new(),
    };
    let standings = if attachments.is_empty() { Vec::new() } else { vec![(1, Named::Older), (2, Named::Deleted)] };
    DraftView { text: text.into(), attachments, named: standings, ..DraftView::default() }
}

//! The composer in each of its states. A page has one composer, so each state has a page of the gallery.

use leptos::prelude::*;

use crate::api::view::DraftView;
use crate::domain::attachment::{Attachment, Card, Standing as Named};
use crate::domain::provider::{Model, Reasoning};
use crate::domain::{Content, Lock, Thinking, TurnId, sample};
use crate::ui::composer::Composer;
use crate::ui::composer::queue::Queue;
use crate::ui::composer::state::{ComposerState, FollowedPath, Listeners, Phase};
use crate::ui::erased::view;
use crate::ui::words::attaching::send_failed;

/// How the composer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Empty,
    Written,
    /// A reply is being written.
    Answering,
    Files,
    /// The conversation fills the model's context.
    Full,
    /// The chat's model cannot be used any more.
    Gone,
    /// A message is on its way.
    Sending,
    /// A reply is asked to stop.
    Stopping,
    /// Files on their way: one is being sent, one waits, one is lost, one failed, of one the encoding is asked.
    Arriving,
    /// A long text and a key were pasted, into a box as high as the page; the context is nearly full.
    Pasted,
    /// The message was refused, its draft is not saved, and another tab has a newer one.
    Refused,
    /// Another model is chosen, for a branch of its own.
    Leaving,
}

impl Standing {
    pub const ALL: [Self; 12] = [
        Self::Empty,
        Self::Written,
        Self::Answering,
        Self::Files,
        Self::Full,
        Self::Gone,
        Self::Sending,
        Self::Stopping,
        Self::Arriving,
        Self::Pasted,
        Self::Refused,
        Self::Leaving,
    ];

    /// The last part of its page's address.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "composer-empty",
            Self::Written => "composer-written",
            Self::Answering => "composer-answering",
            Self::Files => "composer-files",
            Self::Full => "composer-full",
            Self::Gone => "composer-gone",
            Self::Sending => "composer-sending",
            Self::Stopping => "composer-stopping",
            Self::Arriving => "composer-arriving",
            Self::Pasted => "composer-pasted",
            Self::Refused => "composer-refused",
            Self::Leaving => "composer-leaving",
        }
    }
}

/// The scripted model, as the menu has it.
pub fn demo() -> Model {
    Model {
        lock: sample::lock(),
        provider_name: "Demo".into(),
        name: "Demo (scripted)".into(),
        description: None,
        reasoning: Reasoning::Optional,
        thinking_levels: vec![Thinking::Off, Thinking::Low, Thinking::High],
        context_tokens: Some(100_000),
        output_tokens: None,
        is_demo: true,
        is_default: true,
        used: None,
    }
}

/// The composer.
pub fn draw(standing: Standing) -> AnyView {
    let nothing = Callback::new(|()| ());
    let listeners = Listeners {
        on_sending: Callback::new(|_| ()),
        on_failed: nothing,
        on_started: Callback::new(|_| ()),
        on_stopped: Callback::new(|_| ()),
    };
    let draft = draft(standing);
    let lock = match standing {
        Standing::Empty => None,
        Standing::Gone => Some(Lock::new("openai", "gone-model")),
        _ => Some(sample::lock()),
    };
    let running: Option<TurnId> =
        matches!(standing, Standing::Answering | Standing::Stopping).then(|| sample::turn_id(2));
    let used = match standing {
        Standing::Full => Some(102_000),
        Standing::Written => Some(72_000),
        Standing::Pasted => Some(92_000),
        _ => None,
    };
    let gone = lock.clone().filter(|_| standing == Standing::Gone);
    let path = FollowedPath {
        lock: lock.into(),
        running: running.into(),
        context_used: used.into(),
        gone: gone.into(),
        ..FollowedPath::default()
    };
    let composer = view! {
        <Composer
            chat_id=None
            draft=draft.clone()
            draft_elsewhere=RwSignal::new(draft)
            models=RwSignal::new(vec![demo(), other()])
            form_request_id=String::new()
            path
            stop_asked=RwSignal::new(false)
            listeners
            tools_on=Some(3)
        />
    };
    // It is drawn later, so it may stand otherwise until then.
    if let Some(state) = use_context::<ComposerState>() {
        stand(state, standing);
    }
    composer
}

/// A second model, so that there is a choice.
fn other() -> Model {
    Model { lock: Lock::new("openai", "other-model"), name: "Other model".into(), is_default: false, ..demo() }
}

/// Brings the composer where somebody who types, pastes and waits would bring it.
fn stand(state: ComposerState, standing: Standing) {
    match standing {
        Standing::Sending => state.phase.set(Phase::Sending),
        Standing::Stopping => state.phase.set(Phase::Stopping),
        Standing::Arriving => state.attaching.queue.update(arrive),
        Standing::Pasted => {
            state.pasting.offer.set(Some("leaf ".repeat(3_000)));
            state.pasting.has_key.set(true);
            state.is_long.set(true);
            state.is_tall.set(true);
        }
        Standing::Refused => {
            state.problem.set(Some(send_failed().to_owned()));
            state.draft.is_unsaved.set(true);
            state.draft.elsewhere.set(Some(DraftView { text: "Newer".into(), ..DraftView::default() }));
        }
        Standing::Leaving => state.choice.set(Some(other().lock)),
        _ => {}
    }
}

/// What the server says of a file whose encoding it cannot know.
const ENCODING: &str = "Which encoding is this text in?";

/// Files in every state on their way into the message.
fn arrive(queue: &mut Queue) {
    let [lost, failed, old, sending] =
        ["maple.md", "oak.pdf", "old.txt", "trees.csv"].map(|name| queue.add(name.to_owned(), 2_400_000));
    queue.start();
    queue.lose(lost, false);
    queue.fail(failed, send_failed().to_owned(), true);
    queue.ask_encoding(old, ENCODING.to_owned(), vec!["windows-1252".into(), "GB18030".into()]);
    queue.start();
    queue.sent(sending, 900_000);
    queue.add("leaves.md".to_owned(), 12_000);
}

/// A document that is attached, or these lines of one.
pub(super) fn named(title: &str, lines: Option<(u64, u64)>) -> Attachment {
    let ref_id = sample::uuid(0xd0c).to_string();
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
    Attachment { content, card: Card { title: title.into(), lines, tokens: 1_240, ..Card::default() } }
}

fn draft(standing: Standing) -> DraftView {
    let text = match standing {
        Standing::Written | Standing::Full | Standing::Refused | Standing::Leaving => {
            "How do leaves grow?\n\nAnd why do they fall?"
        }
        Standing::Files | Standing::Arriving => "Compare these.",
        _ => "",
    };
    let attachments = match standing {
        Standing::Files => vec![
            named("Field notes.md", None),
            named("A name that is longer than any chip should ever be.csv", Some((10, 42))),
            named("Gone.md", None),
        ],
        _ => Vec::new(),
    };
    let standings = if attachments.is_empty() { Vec::new() } else { vec![(1, Named::Older), (2, Named::Deleted)] };
    DraftView { text: text.into(), attachments, named: standings, ..DraftView::default() }
}

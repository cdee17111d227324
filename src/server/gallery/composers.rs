//! The composer in each of its states. A page has one composer, so each state has a page of the gallery.

use leptos::prelude::*;

use crate::api::view::DraftView;
use crate::domain::attachment::{Attachment, Card, Standing as Named};
use crate::domain::provider::{Model, Reasoning};
use crate::domain::{Content, Lock, Thinking, TurnId, sample};
use crate::ui::composer::Composer;
use crate::ui::composer::state::Listeners;
use crate::ui::erased::view;

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
}

impl Standing {
    pub const ALL: [Self; 6] = [Self::Empty, Self::Written, Self::Answering, Self::Files, Self::Full, Self::Gone];

    /// The last part of its page's address.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "composer-empty",
            Self::Written => "composer-written",
            Self::Answering => "composer-answering",
            Self::Files => "composer-files",
            Self::Full => "composer-full",
            Self::Gone => "composer-gone",
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
    let leaf: Option<TurnId> = None;
    let lock = match standing {
        Standing::Empty => None,
        Standing::Gone => Some(Lock::new("openai", "gone-model")),
        _ => Some(sample::lock()),
    };
    let running: Option<TurnId> = (standing == Standing::Answering).then(|| sample::turn_id(2));
    let used = match standing {
        Standing::Full => Some(102_000),
        Standing::Written => Some(72_000),
        _ => None,
    };
    let gone = lock.clone().filter(|_| standing == Standing::Gone);
    view! {
        <Composer
            chat_id=None
            draft=draft.clone()
            draft_elsewhere=RwSignal::new(draft)
            models=RwSignal::new(vec![demo()])
            form_request_id=String::new()
            lock=lock
            leaf=leaf
            running=running
            stop_asked=RwSignal::new(false)
            listeners
            context_used=used
            gone=gone
            tools_on=Some(3)
        />
    }
}

fn draft(standing: Standing) -> DraftView {
    let text = match standing {
        Standing::Written | Standing::Full => "How do leaves grow?\n\nAnd why do they fall?",
        Standing::Files => "Compare these.",
        _ => "",
    };
    let named = |title: &str, lines| {
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

//! One section of a reasoning panel: a disclosure with the section's title, once there are several. The newest one is
//! open (docs/reference/ux.md 6).

use leptos::prelude::*;
use uuid::Uuid;

use super::auto_disclosure::{follow_growth, toggle_listener};
use super::segment_view::SegmentBody;
use crate::domain::BlockId;
use crate::domain::segment::Segment;
use crate::ui::erased::{live_view, view};
use crate::ui::kit::Icon;
use crate::ui::standalone::standalone_context;
use crate::ui::state::{ChatState, TurnState};

/// Separator between the titles of a breadcrumb.
pub const TITLE_SEPARATOR: &str = " → ";

/// A piece of reasoning. One without a title, or alone, is no disclosure.
#[component]
pub fn ReasoningSection(
    state: ChatState,
    turn: TurnState,
    key: BlockId,
    segment: Segment,
    /// True if a newer section follows.
    is_older: Memo<bool>,
    /// True if the panel has several sections.
    has_several: Memo<bool>,
) -> impl IntoView {
    let title = Memo::new({
        let (turn, segment) = (turn.clone(), segment.clone());
        move |_| {
            let Segment::Think { blocks, .. } = &segment else { return String::new() };
            let of = blocks.first().and_then(|&at| state.block_at(&turn, at));
            let titles = of.and_then(|(of, block)| of.with_block(block.id, |block, _| block.reasoning_titles()));
            titles.unwrap_or_default().join(TITLE_SEPARATOR)
        }
    });
    let is_plain = Memo::new(move |_| !has_several.get() || title.with(String::is_empty));
    live_view(move || {
        let (turn, segment) = (turn.clone(), segment.clone());
        if is_plain.get() {
            view! { <SegmentBody state turn segment is_compact=true/> }.into_any()
        } else {
            view! { <TitledSection state turn key segment is_older title/> }.into_any()
        }
    })
}

#[component]
fn TitledSection(
    state: ChatState,
    turn: TurnState,
    key: BlockId,
    segment: Segment,
    is_older: Memo<bool>,
    title: Memo<String>,
) -> impl IntoView {
    let is_whole = standalone_context().is_some();
    let stays_open = Memo::new(move |_| is_whole || !is_older.get());
    let open = RwSignal::new(stays_open.get_untracked());
    let id = format!("section-{key}");
    // The panel remembers its own toggles under the key of its first block.
    let toggle_key = BlockId::from_uuid(Uuid::from_u128(key.as_u128() ^ 1));
    follow_growth(state, toggle_key, id.clone(), open, stays_open);
    let on_toggle = toggle_listener(state, toggle_key, id.clone(), open);
    view! {
        <details id=id class="reasoning-section" open=open on:toggle=on_toggle>
            <summary class="reasoning-section-title" dir="auto">
                <span>{title}</span>
                <Icon name="chevron-right"/>
            </summary>
            <SegmentBody state turn segment is_compact=true/>
        </details>
    }
}

//! The sections of a reasoning panel: each block of reasoning, and each heading in one, is a disclosure with its title,
//! once there are several. The newest one is open (docs/reference/ux.md 6).

use leptos::prelude::*;
use uuid::Uuid;

use super::auto_disclosure::{follow_growth, toggle_listener};
use super::segment_view::SegmentBody;
use super::shown_section::{ShownSection, shown_sections};
use super::text_block::TextBlock;
use crate::domain::blocks::segment::Segment;
use crate::domain::{Block, BlockId};
use crate::ui::erased::{keyed_rows, live_view, view};
use crate::ui::kit::Icon;
use crate::ui::standalone::standalone_context;
use crate::ui::state::{ChatState, TurnState};

/// Separator between the titles of a breadcrumb.
pub const TITLE_SEPARATOR: &str = " → ";

/// The form of a section.
#[derive(Debug, Clone, Copy, PartialEq)]
enum SectionForm {
    /// The whole text of the block, which has only this section.
    Whole,
    /// Its text without a disclosure.
    Plain,
    Titled,
}

/// The sections of a piece of reasoning. One without a title, or alone, is no disclosure.
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
    let place = match &segment {
        Segment::Think { blocks, .. } => blocks.first().and_then(|&at| state.block_at(&turn, at)),
        Segment::Tool { .. } | Segment::Text { .. } => None,
    };
    let Some((of, Block { id, .. })) = place else {
        return view! { <SegmentBody state turn segment is_compact=true/> }.into_any();
    };
    let sections = Memo::new({
        let of = of.clone();
        move |_| of.with_block(id, |block, _| shown_sections(block)).unwrap_or_default()
    });
    let count = Memo::new(move |_| sections.with(Vec::len));
    let has_several = Memo::new(move |_| has_several.get() || count.get() > 1);
    keyed_rows(
        move || (0..count.get()).collect(),
        |at| *at as u128,
        move |at| {
            let turn = of.clone();
            let is_older = Memo::new(move |_| is_older.get() || at + 1 < count.get());
            let section = Memo::new(move |before: Option<&ShownSection>| {
                let now = sections.with(|sections| sections.get(at).cloned());
                now.or_else(|| before.cloned()).unwrap_or_default()
            });
            let title = Memo::new(move |_| section.with(|section| section.title.clone()));
            let form = Memo::new(move |_| match title.with(String::is_empty) || !has_several.get() {
                true if count.get() > 1 => SectionForm::Plain,
                true => SectionForm::Whole,
                false => SectionForm::Titled,
            });
            live_view(move || {
                let turn = turn.clone();
                match form.get() {
                    SectionForm::Whole => view! { <TextBlock state turn block=id/> }.into_any(),
                    SectionForm::Plain => view! { <TextBlock state turn block=id section=Some(section)/> }.into_any(),
                    SectionForm::Titled => {
                        view! { <TitledSection state turn key at block=id section is_older/> }.into_any()
                    }
                }
            })
        },
    )
}

#[component]
fn TitledSection(
    state: ChatState,
    turn: TurnState,
    key: BlockId,
    /// Its place in the block.
    at: usize,
    block: BlockId,
    section: Memo<ShownSection>,
    is_older: Memo<bool>,
) -> impl IntoView {
    let title = Memo::new(move |_| section.with(|section| section.title.clone()));
    let is_whole = standalone_context().is_some();
    let stays_open = Memo::new(move |_| is_whole || !is_older.get());
    let open = RwSignal::new(stays_open.get_untracked());
    let id = if at == 0 { format!("section-{key}") } else { format!("section-{key}-{at}") };
    // The panel remembers its own toggles under the key of its first block.
    let toggle_key = BlockId::from_uuid(Uuid::from_u128(key.as_u128() ^ (at as u128 + 1)));
    follow_growth(state, toggle_key, id.clone(), open, stays_open);
    let on_toggle = toggle_listener(state, toggle_key, id.clone(), open);
    view! {
        <details id=id class="reasoning-section" open=open on:toggle=on_toggle>
            <summary class="reasoning-section-title" dir="auto">
                <span>{title}</span>
                <Icon name="chevron-right"/>
            </summary>
            <TextBlock state turn block section=Some(section)/>
        </details>
    }
}

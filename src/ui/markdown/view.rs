//! The component that puts rendered text into the page. This is the only file that sets HTML: it takes
//! [`Markup`](super::Markup), which only this module's writer can create.

use leptos::prelude::*;

use crate::browser::{document, scroll};
use crate::ui::erased::{effect, keyed_rows, view};

use super::incremental_render::{self, GROUP_SIZE};
use super::part::MarkupPart;

/// The parts in the page, each with its key and the signal that updates it.
type ShownParts = Vec<(u64, ArcRwSignal<MarkupPart>)>;

/// Renders a text in parts. A part whose markup has not changed keeps its element, and with it the reader's selection
/// and scroll position in it; a part whose markup changes keeps its element, and with it the height that the browser
/// remembers. Large changes are spread over several frames, or made at once on a hidden page.
///
/// Hydration leaves the page as it is: the server may have rendered a part more richly than the browser's own first
/// value. Both sides must have the same number of parts, which [`render_with`](super::render_with) guarantees.
#[component]
pub fn MarkdownText(
    /// All parts, in order.
    #[prop(into)]
    parts: Signal<Vec<MarkupPart>>,
    /// The class for the style.
    #[prop(default = "md")]
    class: &'static str,
    /// True if its first parts, too, are spread over several frames, because nothing of it has been shown yet. Never
    /// true on hydration.
    #[prop(default = false)]
    is_fresh: bool,
) -> impl IntoView {
    let mut first = ShownParts::new();
    if !is_fresh {
        parts.with_untracked(|parts| update_shown(&mut first, parts, parts.len()));
    }
    let shown_parts = StoredValue::new(first);
    let count = RwSignal::new(shown_parts.with_value(Vec::len));
    let again = ArcTrigger::new();
    let wait = StoredValue::new(None::<scroll::FollowPause>);
    let is_requested = StoredValue::new(false);
    effect(move || {
        again.track();
        parts.track();
        // The next frame continues and includes the changes made in between.
        if is_requested.get_value() && !document::is_hidden() {
            return;
        }
        let is_whole = parts.with(|wanted| {
            let known =
                shown_parts.with_value(|shown_parts| shown_parts.iter().map(|(known, _)| *known).collect::<Vec<_>>());
            let until =
                if document::is_hidden() { wanted.len() } else { incremental_render::next_frame_parts(&known, wanted) };
            shown_parts.update_value(|shown_parts| update_shown(shown_parts, wanted, until));
            until == wanted.len()
        });
        let now = shown_parts.with_value(Vec::len);
        if now != count.get_untracked() {
            count.set(now);
        }
        if is_whole {
            wait.set_value(None);
        } else {
            wait.update_value(|wait| *wait = wait.take().or_else(scroll::pause_following));
            let again = again.clone();
            is_requested.set_value(true);
            request_animation_frame(move || {
                let _ = is_requested.try_set_value(false);
                again.notify();
            });
        }
    });
    let group = move |group: usize| {
        let before = group * GROUP_SIZE;
        let in_group = Memo::new(move |_| count.get().saturating_sub(before).min(GROUP_SIZE));
        let numbered = move || {
            let in_group = in_group.get();
            shown_parts.with_value(|shown_parts| {
                let parts = shown_parts.iter().skip(before).take(in_group);
                parts.map(|(_, part)| part.clone()).enumerate().collect::<Vec<_>>()
            })
        };
        let draw = |(_, part): (usize, ArcRwSignal<MarkupPart>)| {
            view! { <div class="part" inner_html=move || part.with(|part| part.markup().as_str().to_owned())></div> }
        };
        view! { <div class="parts">{keyed_rows(numbered, |(at, _)| *at as u128, draw)}</div> }
    };
    let groups = move || (0..count.get().div_ceil(GROUP_SIZE)).collect();
    view! { <div class=class>{keyed_rows(groups, |group| *group as u128, group)}</div> }
}

/// Updates the shown parts with the first `until` of the wanted ones; at the end, surplus parts are removed.
fn update_shown(shown_parts: &mut ShownParts, wanted: &[MarkupPart], until: usize) {
    for (at, part) in wanted.iter().enumerate().take(until) {
        match shown_parts.get_mut(at) {
            Some((known, _)) if *known == part.fingerprint() => {}
            Some((known, shown)) => {
                *known = part.fingerprint();
                shown.set(part.clone());
            }
            None => shown_parts.push((part.fingerprint(), ArcRwSignal::new(part.clone()))),
        }
    }
    if until == wanted.len() {
        shown_parts.truncate(until);
    }
}

/// Renders the parts for a page that never changes.
pub fn draw_static(parts: &[MarkupPart]) -> AnyView {
    let part = |part: &MarkupPart| view! { <div class="part" inner_html=part.markup().as_str().to_owned()></div> };
    let group = |parts: &[MarkupPart]| view! { <div class="parts">{parts.iter().map(part).collect_view()}</div> };
    view! { <div class="md">{parts.chunks(GROUP_SIZE).map(group).collect_view()}</div> }
}

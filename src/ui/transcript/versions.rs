//! The versions of a turn: the current one, arrows to its neighbours, and the list of all.

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::prelude::*;

use super::turn_heading::{TurnTime, article_id};
use crate::api::view::{TurnView, VersionView};
use crate::browser::{dialog, scroll};
use crate::domain::text::excerpt::first_words;
use crate::domain::{ChatId, TurnId};
use crate::ui::erased::{live_view, view};
use crate::ui::kit::link::{click_by_space, is_same_tab_click};
use crate::ui::kit::{Icon, Menu};
use crate::ui::messages::transcript as words;
use crate::ui::state::{ChatState, TurnState, version_number};

/// The arrows between versions and the list of them; nothing where there is only one. They are links, so that they
/// work without script, and the arrows have the role of buttons, because they change the current page.
#[component]
pub fn VersionSwitcher(state: ChatState, turn: TurnState) -> impl IntoView {
    let id = turn.id();
    let again = turn.clone();
    let versions = Memo::new(move |_| again.with(versions_now));
    // A memo keeps the view: news of a version takes away neither the focus nor an open list.
    let known =
        Memo::new(move |_| turn.with(|view| (view.turn.chat_id, view.siblings.clone(), !view.versions.is_empty())));
    live_view(move || {
        let (chat, siblings, has_rows) = known.get();
        let (number, count) = version_number(&siblings, id).filter(|(_, count)| *count > 1)?;
        let to = move |number: usize| {
            let to = *siblings.get(number.checked_sub(1)?)?;
            Some(VersionSwitch { state, chat, from: id, to, number, count, versions })
        };
        let (before, after) = (to(number - 1), to(number + 1));
        let rows = move || {
            let rows = versions.get().into_iter().zip(1..);
            rows.filter_map(|(version, number)| Some(version_row(to(number)?, version))).collect::<Vec<AnyView>>()
        };
        let runs = move || {
            let is_running = |version: &VersionView| version.turn_id != id && !version.status.is_terminal();
            versions.with(|versions| versions.iter().any(is_running)).then(|| view! {
                <span class="running-dot" role="img" aria-label=words::other_version_runs() title=words::other_version_runs()></span>
            })
        };
        Some(view! {
            <div class="versions" role="group" aria-label=words::versions()>
                <VersionLink from=id target=before direction=Direction::Previous/>
                {if has_rows {
                    view! {
                        <Menu
                            id=format!("turn-{id}-versions")
                            label=words::version_of(number, count)
                            class="bare version-number"
                        >
                            {live_view(rows)}
                        </Menu>
                    }
                } else {
                    view! { <span class="version-number">{words::version_of(number, count)}</span> }
                }}
                <VersionLink from=id target=after direction=Direction::Next/>
                {live_view(runs)}
            </div>
        })
    })
}

/// Returns the list as it was sent, with the current status of the version on screen, which may have ended meanwhile.
fn versions_now(view: &TurnView) -> Vec<VersionView> {
    let mut versions = view.versions.clone();
    if let Some(known) = versions.iter_mut().find(|version| version.turn_id == view.turn.id) {
        known.status = view.turn.status;
        known.model = view.turn.model_used.clone();
        if known.words.is_empty() && view.turn.status.is_terminal() {
            known.words = first_words(&view.turn.content_text(), 60);
        }
    }
    versions
}

/// The switch from the version on screen to another one.
#[derive(Clone, Copy)]
struct VersionSwitch {
    state: ChatState,
    chat: ChatId,
    from: TurnId,
    to: TurnId,
    number: usize,
    count: usize,
    versions: Memo<Vec<VersionView>>,
}

impl VersionSwitch {
    fn href(self) -> String {
        format!("/c/{}?at={}", self.chat, self.to)
    }

    /// Switches with the turn anchored on screen, and moves the focus to the same part of the other version. Opening
    /// another tab leaves this one as it is.
    fn switch(self, event: &MouseEvent, part: &str) {
        if is_same_tab_click(event) {
            scroll::anchor_replacement(
                &article_id(self.from),
                &article_id(self.to),
                &format!("turn-{}-{part}", self.to),
            );
            let is_it = |version: &&VersionView| version.turn_id == self.to;
            let followed_by = self.versions.with_untracked(|all| all.iter().find(is_it).map_or(0, |it| it.followed_by));
            self.state
                .announce_on_arrival(self.to, words::announcements::version(self.number, self.count, followed_by));
        }
    }
}

/// One row of the list.
fn version_row(target: VersionSwitch, version: VersionView) -> AnyView {
    let is_here = target.to == target.from;
    let on_click = move |event: MouseEvent| {
        dialog::close_popovers();
        if is_here {
            event.prevent_default();
        } else {
            target.switch(&event, "versions-button");
        }
    };
    let facts = [
        version.is_edited.then(|| words::edited().to_owned()),
        version.model,
        words::ending(version.status).map(str::to_owned),
        words::continues_with(version.followed_by),
    ];
    let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    view! {
        <a
            class="menu-row version-row"
            href=target.href()
            aria-current=is_here.then_some("true")
            data-noscroll=""
            prop:replace=true
            on:click=on_click
        >
            <span class="version-number">{words::version_of(target.number, target.count)}</span>
            <span class="version-said">
                <bdi class="version-words">{version.words}</bdi>
                <span class="version-facts">
                    <TurnTime at=version.at/>
                    {(!facts.is_empty()).then(|| format!(" · {facts}"))}
                </span>
            </span>
            {is_here.then(|| view! { <Icon name="check"/> })}
        </a>
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Previous,
    Next,
}

impl Direction {
    fn name(self) -> &'static str {
        match self {
            Self::Previous => words::previous_version(),
            Self::Next => words::next_version(),
        }
    }

    fn icon(self) -> &'static str {
        match self {
            Self::Previous => "chevron-left",
            Self::Next => "chevron-right",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Previous => "previous",
            Self::Next => "next",
        }
    }
}

/// One arrow. At the end it leads nowhere but stays focusable, so that the focus is not lost there.
#[component]
fn VersionLink(from: TurnId, target: Option<VersionSwitch>, direction: Direction) -> impl IntoView {
    let on_click = move |event: MouseEvent| match target {
        Some(target) => target.switch(&event, direction.word()),
        None => event.prevent_default(),
    };
    let on_keydown = move |event: KeyboardEvent| click_by_space(event);
    let name = match target {
        Some(target) => words::to_version(direction.name(), target.number, target.count),
        None => direction.name().to_owned(),
    };
    view! {
        <a
            id=format!("turn-{from}-{}", direction.word())
            class="button bare"
            role="button"
            data-version=direction.word()
            href=target.map(VersionSwitch::href)
            tabindex=target.is_none().then_some("0")
            aria-disabled=target.is_none().then_some("true")
            aria-label=name.clone()
            title=name
            data-noscroll=""
            prop:replace=true
            on:click=on_click
            on:keydown=on_keydown
        >
            <Icon name=direction.icon()/>
        </a>
    }
}

//! State of the path on screen: its turns, the window of the path that they are ([`window`]), the replies that are
//! being streamed, and the server's time. It neither renders nor requests anything: the page provides a callback for
//! that.

use std::collections::HashMap;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use leptos::prelude::*;

use crate::api::view::TurnView;
use crate::browser::{clock, history, local_store};
use crate::domain::id::is_imported;
use crate::domain::text::external_links::KnownHosts;
use crate::domain::turns::user_input_wait::pending_user_input;
use crate::domain::{BlockId, Content, Role, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::connection::PageConnection;
use crate::ui::page::RequestHost;

pub mod announcement_policy;
mod announcements;
mod follower;
mod optimistic_delete;
mod path_navigation;
mod reply_run;
mod reply_stream;
mod turn;
mod window;

use follower::ReplySubscription;
pub use path_navigation::{NavigationQuery, PathNavigation, ReaderPosition};
pub use reply_run::GrowingItem;
pub use turn::{FramesOutcome, TurnState};
pub use window::WindowLoading;

/// The key prefix and the lifetime of manually opened and closed disclosures in session storage.
const TOGGLED: &str = "turnleaf.open.";
const REMEMBERED: Duration = Duration::from_secs(12 * 60 * 60);
const OPEN: &str = "open";

/// The turns on screen, root first, the leaf of their path, and the followed replies. One for a chat's page; cheap to
/// copy.
#[derive(Clone, Copy)]
pub struct ChatState {
    /// The turns on screen: a window of the path.
    path: RwSignal<Vec<TurnState>>,
    /// The hosts to which links of the replies lead without confirmation.
    known_hosts: Memo<KnownHosts>,
    /// True if the path has turns before those.
    has_older: RwSignal<bool>,
    /// The path's last turn, where the window does not reach it.
    beyond: RwSignal<Option<TurnState>>,
    loading: RwSignal<WindowLoading>,
    /// The server's time, updated by the tick; none before the first tick, so that server and browser render the same
    /// at first.
    now: RwSignal<Option<DateTime<Utc>>>,
    /// The offset of the server's clock from this device's.
    skew: StoredValue<TimeDelta>,
    followed: StoredValue<HashMap<TurnId, ReplySubscription>>,
    /// Disclosures that the reader opened or closed; nothing else toggles them again.
    toggled: StoredValue<HashMap<BlockId, bool>>,
    /// The announcement for the arrival of a requested turn.
    on_arrival: StoredValue<Option<(TurnId, String)>>,
    /// The turns that are being deleted.
    hidden: StoredValue<Vec<HiddenTurns>>,
    /// Incremented whenever other turns are shown or requested: responses to older requests are obsolete.
    moves: StoredValue<u64>,
    /// The number of requests from here that start a reply and have no response yet.
    starts: StoredValue<u64>,
    /// Makes the page reload a turn and [`put_turn`](Self::put_turn) it.
    reload: Callback<TurnId>,
    connection: Option<PageConnection>,
    announcer: Option<Announcer>,
}

/// The screen before a turn was hidden with all that follow it.
#[derive(Clone)]
struct HiddenTurns {
    from: TurnId,
    path: Vec<TurnState>,
    beyond: Option<TurnState>,
    /// The move that hid them: after any other move the screen is another one.
    moves: u64,
}

impl ChatState {
    /// Creates the state of a page that shows these turns, a whole path. `reload` loads a turn from the server and
    /// puts it here; it is called when events of a followed reply are missing.
    pub fn new(turns: Vec<TurnView>, reload: Callback<TurnId>) -> Self {
        let path = RwSignal::new(turns.into_iter().map(TurnState::new).collect());
        let own = history::host().or_else(|| use_context().map(|RequestHost(host)| host));
        Self {
            path,
            known_hosts: Memo::new(move |_| path.with(|path| known_hosts(path, own.clone()))),
            has_older: RwSignal::new(false),
            beyond: RwSignal::new(None),
            loading: RwSignal::new(WindowLoading::default()),
            now: RwSignal::new(None),
            skew: StoredValue::new(TimeDelta::zero()),
            followed: StoredValue::new(HashMap::new()),
            toggled: StoredValue::new(HashMap::new()),
            on_arrival: StoredValue::new(None),
            hidden: StoredValue::new(Vec::new()),
            moves: StoredValue::new(0),
            starts: StoredValue::new(0),
            reload,
            connection: use_context(),
            announcer: use_context(),
        }
    }

    /// Returns the turns on screen, root first.
    pub fn turns(self) -> Vec<TurnState> {
        self.path.get()
    }

    /// Returns the hosts to which links of the replies on screen lead without confirmation: those in the person's
    /// messages on screen, and this server.
    pub fn known_hosts(self) -> Memo<KnownHosts> {
        self.known_hosts
    }

    /// Returns the state of a turn on screen.
    pub fn find(self, id: TurnId) -> Option<TurnState> {
        self.path.with(|path| path.iter().find(|turn| turn.id() == id).cloned())
    }

    /// Returns the path's last turn, on screen or not.
    pub fn leaf(self) -> Option<TurnState> {
        self.beyond.get().or_else(|| self.path.with(|path| path.last().cloned()))
    }

    /// Returns the path's last turn, untracked; none when the page is gone.
    pub fn leaf_id(self) -> Option<TurnId> {
        self.last_turn().map(|turn| turn.id())
    }

    /// Returns the running reply of the path, if there is one.
    pub fn running_reply(self) -> Option<TurnId> {
        self.known_turns().iter().rev().find(|turn| turn.is_running()).map(TurnState::id)
    }

    /// Returns whether a reply of the path waits for the person.
    pub fn needs_you(self) -> bool {
        self.known_turns().iter().any(|turn| turn.with(|view| pending_user_input(&view.turn).is_some()))
    }

    /// Returns the context tokens of the newest reply that reported them.
    pub fn context_used(self) -> Option<u64> {
        self.known_turns().iter().rev().find_map(|turn| turn.with(|view| view.turn.context_tokens))
    }

    /// Removes a deleted turn from the screen, with all that follow it. Returns the last remaining turn.
    pub fn remove_from(self, from: TurnId) -> Option<TurnId> {
        // The page may be gone by now.
        let mut path = self.path.try_get_untracked()?;
        if let Some(at) = path.iter().position(|turn| turn.id() == from) {
            path.truncate(at);
            // The path's end was deleted together with its ancestors.
            self.beyond.set(None);
        }
        let last = path.last().map(|turn| turn.id());
        self.path.set(path);
        self.start_move();
        self.drop_unseen();
        last
    }

    /// Takes one turn from the server: a turn on screen is updated, one that follows a turn on screen replaces what
    /// followed it. One that follows the path's end is shown with it, wherever the reader was. False when the turn
    /// has no place on this path.
    pub fn put_turn(self, view: TurnView) -> bool {
        if let Some(known) = self.find_if_alive(view.turn.id) {
            known.replace(view);
            return true;
        }
        let mut path = self.path.get_untracked();
        match view.turn.prev_turn_id {
            None => {
                path.clear();
                self.has_older.set(false);
            }
            Some(prev) => match path.iter().position(|turn| turn.id() == prev) {
                Some(at) => path.truncate(at + 1),
                None => match self.beyond.get_untracked().filter(|end| end.id() == prev) {
                    Some(end) => {
                        path = vec![end];
                        self.has_older.set(true);
                    }
                    None => return false,
                },
            },
        }
        let batch = path.last().map_or(0, TurnState::batch);
        path.push(TurnState::new(view).in_batch(batch));
        self.path.set(path);
        self.beyond.set(None);
        self.start_move();
        self.drop_unseen();
        true
    }

    /// Updates a turn on screen. A turn that is no longer on screen is ignored.
    pub fn refresh_turn(self, view: TurnView) {
        if let Some(known) = self.find_if_alive(view.turn.id) {
            known.replace(view);
        }
    }

    /// Returns the server's time, by the second, while a reply runs.
    pub fn server_time(self) -> Option<DateTime<Utc>> {
        self.now.get()
    }

    /// Updates the time. Called by the tick.
    pub fn tick(self) {
        let now = clock::current_time().map(|now| now + self.skew.get_value());
        self.now.set(now);
        self.check_followed();
    }

    /// Returns the state that the reader chose for this disclosure; none if it was not toggled manually.
    pub fn manual_toggle(self, block: BlockId) -> Option<bool> {
        let local = self.toggled.with_value(|toggled| toggled.get(&block).copied());
        local.or_else(|| Some(local_store::get_in_tab(&format!("{TOGGLED}{block}"))? == OPEN))
    }

    /// Stores a manual toggle of a disclosure, also for a later visit of the chat in this tab.
    pub fn remember_toggle(self, block: BlockId, is_open: bool) {
        local_store::purge_in_tab(TOGGLED, REMEMBERED);
        local_store::put_in_tab(&format!("{TOGGLED}{block}"), if is_open { OPEN } else { "" });
        self.toggled.update_value(|toggled| {
            toggled.insert(block, is_open);
        });
    }

    /// Makes a polite announcement.
    pub fn announce(self, text: impl Into<String>) {
        if let Some(announcer) = self.announcer {
            announcer.announce(text);
        }
    }

    /// Schedules an announcement for when the turn is shown, which is after the server's response.
    pub fn announce_on_arrival(self, turn: TurnId, text: String) {
        self.on_arrival.set_value(Some((turn, text)));
    }

    /// Makes the scheduled announcement if the requested turn is on screen; drops it if it could not be shown.
    pub fn announce_arrival(self, at: Option<TurnId>) {
        let announcement = self.on_arrival.try_update_value(Option::take).flatten();
        if let Some((_, text)) = announcement.filter(|(turn, _)| Some(*turn) == at) {
            self.announce(text);
        }
    }

    /// Returns the turns on screen and the path's end.
    fn known_turns(self) -> Vec<TurnState> {
        let mut turns = self.path.get();
        turns.extend(self.beyond.get());
        turns
    }

    /// Returns the path's last turn, untracked, if the page still exists.
    fn last_turn(self) -> Option<TurnState> {
        let beyond = self.beyond.try_get_untracked().flatten();
        beyond.or_else(|| self.path.try_with_untracked(|path| path.last().cloned()).flatten())
    }

    /// Returns the turn, if the page and the turn still exist; timers may call late.
    pub fn find_if_alive(self, id: TurnId) -> Option<TurnState> {
        let shown = self.path.try_with_untracked(|path| path.iter().find(|turn| turn.id() == id).cloned()).flatten();
        shown.or_else(|| self.last_turn().filter(|end| end.id() == id))
    }

    fn drop_unseen(self) {
        self.followed.update_value(|followed| followed.retain(|id, _| self.find_if_alive(*id).is_some()));
    }
}

/// Returns the hosts that the person named in messages among these turns. Attached files may come from a stranger and
/// do not count.
fn known_hosts(path: &[TurnState], own: Option<String>) -> KnownHosts {
    let mut known = KnownHosts::new(own);
    for turn in path.iter().filter(|turn| turn.role() == Role::User && !is_imported(turn.id().uuid())) {
        turn.with(|view| {
            for block in &view.turn.blocks {
                if let Content::Text { text, .. } = &block.content {
                    known.add_hosts_from(text);
                }
            }
        });
    }
    known
}

/// Returns the number of this version, from 1, and the number of versions.
pub fn version_number(siblings: &[TurnId], id: TurnId) -> Option<(usize, usize)> {
    let at = siblings.iter().position(|sibling| *sibling == id)?;
    Some((at + 1, siblings.len()))
}

/// Returns whether a turn is a reply, which can be streamed.
fn is_reply(role: Role) -> bool {
    role == Role::Assistant
}

#[cfg(test)]
mod tests;

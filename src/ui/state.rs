//! What the page knows of the path that is on screen: its turns, which stretch of it they are ([`window`]), which of them
//! are being written, and the server's time. Not for drawing, and not for asking the server: the page brings a callback for that.

use std::collections::HashMap;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use leptos::prelude::*;

use crate::api::view::TurnView;
use crate::browser::{clock, history, local_store};
use crate::domain::external_links::KnownHosts;
use crate::domain::id::is_imported;
use crate::domain::user_input_wait::pending_user_input;
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

/// Under which names a tab keeps what was opened and closed by hand, for how long, and what it says of what is open.
const TOGGLED: &str = "turnleaf.open.";
const REMEMBERED: Duration = Duration::from_secs(12 * 60 * 60);
const OPEN: &str = "open";

/// The turns on screen, root first, the end of their path, and the replies that are followed while they are written. One
/// for a chat's page; cheap to copy.
#[derive(Clone, Copy)]
pub struct ChatState {
    /// The turns on screen: a stretch of the path.
    path: RwSignal<Vec<TurnState>>,
    /// The hosts to which links of its replies lead at once.
    known_hosts: Memo<KnownHosts>,
    /// Whether the path has turns before those.
    has_older: RwSignal<bool>,
    /// The path's last turn, where those on screen do not reach it.
    beyond: RwSignal<Option<TurnState>>,
    loading: RwSignal<WindowLoading>,
    /// The server's time by the tick; nothing before the first, so that both sides draw the same at first.
    now: RwSignal<Option<DateTime<Utc>>>,
    /// How far the server's clock is ahead of this device's.
    skew: StoredValue<TimeDelta>,
    followed: StoredValue<HashMap<TurnId, ReplySubscription>>,
    /// What the reader opened or closed by hand; nothing else opens or closes it again.
    toggled: StoredValue<HashMap<BlockId, bool>>,
    /// What is to be said when a turn that was asked for is shown.
    on_arrival: StoredValue<Option<(TurnId, String)>>,
    /// What is being deleted.
    hidden: StoredValue<Vec<HiddenTurns>>,
    /// Rises whenever other turns are on screen, or are asked for: an answer to an older question comes too late.
    moves: StoredValue<u64>,
    /// Asks the page to load a turn anew and to [`put`](Self::put) it.
    reload: Callback<TurnId>,
    connection: Option<PageConnection>,
    announcer: Option<Announcer>,
}

/// What was on screen before a turn was hidden with all that follow it.
#[derive(Clone)]
struct HiddenTurns {
    from: TurnId,
    path: Vec<TurnState>,
    beyond: Option<TurnState>,
    /// The move to other turns that hid it: after any other the screen is another one.
    moves: u64,
}

impl ChatState {
    /// The state of a page that shows these turns, a whole path. `reload` loads a turn from the server and puts it here; it is called
    /// when events of a followed reply are missing.
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
            reload,
            connection: use_context(),
            announcer: use_context(),
        }
    }

    /// The turns on screen, root first.
    pub fn turns(self) -> Vec<TurnState> {
        self.path.get()
    }

    /// The hosts to which links of the replies on screen lead at once: those in the person's messages on screen, and
    /// this server.
    pub fn known_hosts(self) -> Memo<KnownHosts> {
        self.known_hosts
    }

    /// The state of a turn on screen.
    pub fn find(self, id: TurnId) -> Option<TurnState> {
        self.path.with(|path| path.iter().find(|turn| turn.id() == id).cloned())
    }

    /// The path's last turn, on screen or not.
    pub fn leaf(self) -> Option<TurnState> {
        self.beyond.get().or_else(|| self.path.with(|path| path.last().cloned()))
    }

    /// The path's last turn at this moment; nothing when the page is gone.
    pub fn leaf_id(self) -> Option<TurnId> {
        self.last_turn().map(|turn| turn.id())
    }

    /// The reply of the path that is being written, if one is.
    pub fn running_reply(self) -> Option<TurnId> {
        self.known_turns().iter().rev().find(|turn| turn.is_running()).map(TurnState::id)
    }

    /// Whether a reply of the path waits for the person.
    pub fn needs_you(self) -> bool {
        self.known_turns().iter().any(|turn| turn.with(|view| pending_user_input(&view.turn).is_some()))
    }

    /// How many tokens of context the newest reply that said so filled.
    pub fn context_used(self) -> Option<u64> {
        self.known_turns().iter().rev().find_map(|turn| turn.with(|view| view.turn.context_tokens))
    }

    /// Takes a turn that was deleted off the screen, with all that follow it. Gives the last that is left.
    pub fn remove_from(self, from: TurnId) -> Option<TurnId> {
        // The reader may have left meanwhile.
        let mut path = self.path.try_get_untracked()?;
        if let Some(at) = path.iter().position(|turn| turn.id() == from) {
            path.truncate(at);
            // The path's end was deleted with what led to it.
            self.beyond.set(None);
        }
        let last = path.last().map(|turn| turn.id());
        self.path.set(path);
        self.start_move();
        self.drop_unseen();
        last
    }

    /// Takes one turn from the server: a turn on screen is brought up to date, one that follows a turn on screen takes
    /// the place of what followed it. One that follows the path's end is shown with it, wherever the reader was. False
    /// when the turn has no place on this path.
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

    /// Brings a turn on screen up to date. A turn that is not on screen any more stays away.
    pub fn refresh_turn(self, view: TurnView) {
        if let Some(known) = self.find_if_alive(view.turn.id) {
            known.replace(view);
        }
    }

    /// The server's time, by the second, while something is being written.
    pub fn server_time(self) -> Option<DateTime<Utc>> {
        self.now.get()
    }

    /// Takes the time. Called by the tick.
    pub fn tick(self) {
        let now = clock::current_time().map(|now| now + self.skew.get_value());
        self.now.set(now);
        self.check_followed();
    }

    /// What the reader did with this disclosure by hand.
    pub fn manual_toggle(self, block: BlockId) -> Option<bool> {
        let here = self.toggled.with_value(|toggled| toggled.get(&block).copied());
        here.or_else(|| Some(local_store::get_in_tab(&format!("{TOGGLED}{block}"))? == OPEN))
    }

    /// Remembers what the reader did with this disclosure by hand, also for when they come back to the chat in this tab.
    pub fn remember_toggle(self, block: BlockId, is_open: bool) {
        local_store::purge_in_tab(TOGGLED, REMEMBERED);
        local_store::put_in_tab(&format!("{TOGGLED}{block}"), if is_open { OPEN } else { "" });
        self.toggled.update_value(|toggled| {
            toggled.insert(block, is_open);
        });
    }

    /// Says something politely to a screen reader.
    pub fn say(self, text: impl Into<String>) {
        if let Some(announcer) = self.announcer {
            announcer.say(text);
        }
    }

    /// Says this when the turn is shown; nothing is shown before the server has answered.
    pub fn say_on_arrival(self, turn: TurnId, text: String) {
        self.on_arrival.set_value(Some((turn, text)));
    }

    /// What the reader asked for is on screen, or could not be shown.
    pub fn announce_arrival(self, at: Option<TurnId>) {
        let said = self.on_arrival.try_update_value(Option::take).flatten();
        if let Some((_, text)) = said.filter(|(turn, _)| Some(*turn) == at) {
            self.say(text);
        }
    }

    /// The turns on screen and the path's end.
    fn known_turns(self) -> Vec<TurnState> {
        let mut turns = self.path.get();
        turns.extend(self.beyond.get());
        turns
    }

    /// The path's last turn at this moment, if the page is still there.
    fn last_turn(self) -> Option<TurnState> {
        let beyond = self.beyond.try_get_untracked().flatten();
        beyond.or_else(|| self.path.try_with_untracked(|path| path.last().cloned()).flatten())
    }

    /// The turn, if the page and it are still there; timers may ask late.
    pub fn find_if_alive(self, id: TurnId) -> Option<TurnState> {
        let shown = self.path.try_with_untracked(|path| path.iter().find(|turn| turn.id() == id).cloned()).flatten();
        shown.or_else(|| self.last_turn().filter(|end| end.id() == id))
    }

    fn drop_unseen(self) {
        self.followed.update_value(|followed| followed.retain(|id, _| self.find_if_alive(*id).is_some()));
    }
}

/// The hosts that the person named in messages among these turns. What came in with a file may be a stranger's.
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

/// How many versions a turn has and which of them this is, from 1.
pub fn version_number(siblings: &[TurnId], id: TurnId) -> Option<(usize, usize)> {
    let at = siblings.iter().position(|sibling| *sibling == id)?;
    Some((at + 1, siblings.len()))
}

/// Whether a turn is one that can be written.
fn is_reply(role: Role) -> bool {
    role == Role::Assistant
}

#[cfg(test)]
mod tests;

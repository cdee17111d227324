//! Following a running reply: its event stream, the batches in which frames are applied, and the recovery from a
//! stream that breaks, falls silent or has a gap.

use std::time::Duration;

use leptos::prelude::*;

use super::ChatState;
use super::follower::ReplySubscription;
use super::turn::FramesOutcome;
use crate::api::json;
use crate::browser::event_source::{self, SILENCE_MS, StreamEvent};
use crate::browser::{clock, document};
use crate::domain::turns::frame::{self, StreamFrame};
use crate::domain::{Event, TurnId};

/// The time that a stream may stay open after the reply's end, for markup that the server still sends.
const AFTERMATH: Duration = Duration::from_secs(5);
/// The maximum time that frames wait where no animation frame comes, because the page is hidden.
const UNSEEN: Duration = Duration::from_millis(250);
/// Throttling: frames that arrive within this time after a rendering, in milliseconds, are rendered one animation
/// frame later, so that every second one of a 60 Hz screen renders. More frequent rendering does not make the text
/// any smoother, and each costs a style, a layout and a paint.
const BETWEEN_MS: i64 = 30;
/// The backoff before a refused stream is reopened: doubling from the first to the last.
const RETRY_FIRST: Duration = Duration::from_secs(1);
const RETRY_LAST: Duration = Duration::from_secs(30);

impl ChatState {
    /// Follows every running reply of the path that is not followed yet. Call it from an effect: it runs again when
    /// the path or a turn's state changes. A reply requested on the previous page may have ended by now, and is
    /// announced.
    pub fn follow_running(self) {
        for turn in self.known_turns().into_iter().filter(|turn| super::is_reply(turn.role())) {
            let is_running = turn.is_running();
            let was_awaited = self.announcer.is_some_and(|announcer| announcer.take_expected_reply(turn.id()));
            if is_running {
                self.follow(turn.id());
            } else if was_awaited {
                self.announce_ended(&turn);
            }
        }
    }

    /// Follows a reply on screen until it has ended. Does nothing when it is followed already.
    pub fn follow(self, id: TurnId) {
        if self.followed.with_value(|followed| followed.contains_key(&id)) {
            return;
        }
        self.followed.update_value(|followed| {
            followed.insert(id, ReplySubscription::new(clock::now_ms()));
        });
        self.open_stream(id);
    }

    /// Reopens every lost stream now, without its backoff.
    pub fn reopen_streams_now(self) {
        let broken: Vec<TurnId> = self.followed.with_value(|followed| {
            followed.iter().filter(|(_, follower)| follower.failures > 0).map(|(id, _)| *id).collect()
        });
        for id in broken {
            self.open_stream(id);
        }
    }

    /// Opens the stream after the last known event of the turn, replacing one that may be open.
    fn open_stream(self, id: TurnId) {
        let Some(turn) = self.find_if_alive(id) else { return };
        let (after, is_over) = turn.with_untracked(|view| (view.turn.last_event_seq, view.turn.status.is_terminal()));
        if is_over {
            if let Some(connection) = self.connection {
                connection.stream_works();
            }
            return self.unfollow(id);
        }
        let url = format!("/api/turns/{id}/events?after={after}&markup=1");
        let names: Vec<&str> = Event::NAMES.into_iter().chain(frame::StreamSignal::NAMES).collect();
        let stream = event_source::open(&url, &names, move |news| self.on_stream_event(id, news));
        self.update_follower(id, |follower| {
            follower.pending.clear();
            follower.last_received_ms = clock::now_ms();
            follower.stream = stream;
        });
    }

    fn on_stream_event(self, id: TurnId, news: StreamEvent) {
        match news {
            StreamEvent::Opened => {
                self.update_follower(id, |follower| {
                    follower.failures = 0;
                    follower.lost_by = None;
                    follower.last_received_ms = clock::now_ms();
                });
                if let Some(connection) = self.connection {
                    connection.stream_works();
                }
            }
            StreamEvent::Message(text) => {
                let Ok(frame) = json::parse::<StreamFrame>(text.as_bytes()) else { return };
                let mut schedule = None;
                self.update_follower(id, |follower| {
                    follower.last_received_ms = clock::now_ms();
                    follower.pending.push(frame);
                    if !std::mem::replace(&mut follower.is_scheduled, true) {
                        follower.schedules = follower.schedules.wrapping_add(1);
                        schedule = Some(follower.schedules);
                    }
                });
                if let Some(schedule) = schedule {
                    self.schedule(id, schedule);
                }
            }
            StreamEvent::Disconnected { is_final } => self.on_stream_lost(id, is_final),
        }
    }

    /// Schedules the frames for the next animation frame, or for a timer while the page is hidden.
    fn schedule(self, id: TurnId, schedule: u32) {
        if !document::is_hidden() {
            request_animation_frame(move || self.apply_in_frame(id));
        }
        // A page that is hidden before its next animation frame gets none, so a timer follows. Otherwise the
        // animation frame was first, and frames that wait now belong to another schedule.
        let late = move || {
            let mut is_late = false;
            self.update_follower(id, |follower| is_late = follower.is_scheduled && follower.schedules == schedule);
            if is_late {
                self.apply_pending(id);
            }
        };
        set_timeout(late, UNSEEN);
    }

    fn apply_in_frame(self, id: TurnId) {
        let mut is_early = false;
        self.update_follower(id, |follower| is_early = clock::now_ms() - follower.applied_ms < BETWEEN_MS);
        if is_early {
            request_animation_frame(move || self.apply_pending(id));
        } else {
            self.apply_pending(id);
        }
    }

    fn apply_pending(self, id: TurnId) {
        let mut frames = Vec::new();
        self.update_follower(id, |follower| {
            follower.is_scheduled = false;
            follower.applied_ms = clock::now_ms();
            frames = std::mem::take(&mut follower.pending);
        });
        if !frames.is_empty() {
            self.apply(id, frames);
        }
    }

    fn apply(self, id: TurnId, frames: Vec<StreamFrame>) {
        let Some(turn) = self.find_if_alive(id) else { return };
        let FramesOutcome { is_gap, server_time } = turn.apply(frames);
        if let (Some(server), Some(local)) = (server_time, clock::current_time()) {
            self.skew.set_value(server - local);
        }
        if is_gap {
            self.reopen_later(id, RETRY_FIRST);
            let _ = self.reload.try_run(id);
            return;
        }
        self.announce_progress(id);
        if turn.with_untracked(|view| view.turn.status.is_terminal()) {
            set_timeout(move || self.unfollow(id), AFTERMATH);
        }
    }

    /// Handles a lost stream. The browser reopens a broken one by itself; one that was refused is reopened here.
    fn on_stream_lost(self, id: TurnId, is_final: bool) {
        let is_over =
            self.find_if_alive(id).is_none_or(|turn| turn.with_untracked(|view| view.turn.status.is_terminal()));
        let mut has_pending = false;
        self.update_follower(id, |follower| has_pending = !follower.pending.is_empty());
        if is_over {
            return self.unfollow(id);
        }
        if has_pending && !is_final {
            // The pending frames may include the end of the reply; the stream's own retry will tell.
            return;
        }
        if let Some(connection) = self.connection {
            connection.stream_lost();
        }
        let mut failures = 0;
        self.update_follower(id, |follower| {
            follower.failures = follower.failures.saturating_add(1);
            follower.lost_by = self.connection;
            failures = follower.failures;
        });
        if is_final {
            let pause = RETRY_FIRST.saturating_mul(1 << failures.min(8).saturating_sub(1)).min(RETRY_LAST);
            // A refusal may mean that the reply has ended or no longer exists: reload it.
            let _ = self.reload.try_run(id);
            self.reopen_later(id, pause);
        }
    }

    /// Closes the stream and reopens it after a pause, from the event known by then.
    fn reopen_later(self, id: TurnId, pause: Duration) {
        let retry = set_timeout_with_handle(move || self.open_stream(id), pause).ok();
        self.update_follower(id, |follower| {
            follower.stream = None;
            if let Some(old) = std::mem::replace(&mut follower.retry, retry) {
                old.clear();
            }
        });
    }

    fn unfollow(self, id: TurnId) {
        drop(self.followed.try_update_value(|followed| followed.remove(&id)));
    }

    /// Runs once a second: reopens silent streams, and announces that a reply is still running.
    pub(super) fn check_followed(self) {
        let now = clock::now_ms();
        let (silent, all): (Vec<TurnId>, Vec<TurnId>) = self.followed.with_value(|followed| {
            let silent = followed
                .iter()
                .filter(|(_, follower)| follower.stream.is_some() && now - follower.last_received_ms > SILENCE_MS)
                .map(|(id, _)| *id)
                .collect();
            (silent, followed.keys().copied().collect())
        });
        for id in silent {
            if let Some(connection) = self.connection {
                connection.stream_lost();
            }
            self.update_follower(id, |follower| {
                follower.failures = follower.failures.saturating_add(1);
                follower.lost_by = self.connection;
            });
            self.open_stream(id);
        }
        for id in all {
            self.announce_progress(id);
        }
    }

    pub(super) fn update_follower(self, id: TurnId, change: impl FnOnce(&mut ReplySubscription)) {
        // The page may be gone by the time a stream or a timer calls.
        let _ = self.followed.try_update_value(|followed| {
            if let Some(follower) = followed.get_mut(&id) {
                change(follower);
            }
        });
    }
}

//! Following a reply while it is written: its stream of frames, the batches they are applied in, and what is done when
//! the stream breaks, falls silent or has a gap.

use std::time::Duration;

use leptos::prelude::*;

use super::ChatState;
use super::follower::ReplySubscription;
use super::turn::FramesOutcome;
use crate::api::json;
use crate::browser::event_source::{self, StreamEvent};
use crate::browser::{clock, document};
use crate::domain::frame::{self, StreamFrame};
use crate::domain::{Event, TurnId, limits};

/// A stream that says nothing for this long is dead, whatever the network says: two heartbeats and some patience.
const SILENCE_MS: i64 = limits::HEARTBEAT.as_millis() as i64 * 2 + 5_000;
/// How long a stream may stay open after the reply's end, for the drawings that the server still sends.
const AFTERMATH: Duration = Duration::from_secs(5);
/// How long frames may wait where no animation frame comes, because nobody sees the page.
const UNSEEN: Duration = Duration::from_millis(250);
/// What comes so soon after a drawing, ms, is drawn one frame later: with every second one of a usual screen. Letters come
/// no calmer with each, and each costs the machine a style, a layout and a picture (performance.md G12).
const BETWEEN_MS: i64 = 30;
/// Pauses before a refused stream is opened again: doubling from the first to the last.
const RETRY_FIRST: Duration = Duration::from_secs(1);
const RETRY_LAST: Duration = Duration::from_secs(30);

impl ChatState {
    /// Follows every reply of the path that is being written and not followed yet. Call it from an effect: it runs again
    /// when the path or a turn's state changes. One that was asked for elsewhere may be over by now: that is told.
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

    /// Follows a reply on screen until it is over. Nothing happens when it is followed already.
    pub fn follow(self, id: TurnId) {
        if self.followed.with_value(|followed| followed.contains_key(&id)) {
            return;
        }
        self.followed.update_value(|followed| {
            followed.insert(id, ReplySubscription::new(clock::now_ms()));
        });
        self.open_stream(id);
    }

    /// Opens every broken stream now, without waiting for its turn.
    pub fn reopen_streams_now(self) {
        let broken: Vec<TurnId> = self.followed.with_value(|followed| {
            followed.iter().filter(|(_, follower)| follower.failures > 0).map(|(id, _)| *id).collect()
        });
        for id in broken {
            self.open_stream(id);
        }
    }

    /// Opens the stream after what is known of the turn, in place of one that may be open.
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
            follower.heard_ms = clock::now_ms();
            follower.stream = stream;
        });
    }

    fn on_stream_event(self, id: TurnId, news: StreamEvent) {
        match news {
            StreamEvent::Opened => {
                self.update_follower(id, |follower| {
                    follower.failures = 0;
                    follower.lost_by = None;
                    follower.heard_ms = clock::now_ms();
                });
                if let Some(connection) = self.connection {
                    connection.stream_works();
                }
            }
            StreamEvent::Message(text) => {
                let Ok(frame) = json::parse::<StreamFrame>(text.as_bytes()) else { return };
                let mut schedule = None;
                self.update_follower(id, |follower| {
                    follower.heard_ms = clock::now_ms();
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

    /// Applies what came with an animation frame, or by the clock where nobody looks.
    fn schedule(self, id: TurnId, schedule: u32) {
        if !document::is_hidden() {
            request_animation_frame(move || self.apply_in_frame(id));
        }
        // A page that is hidden before its next frame gets none. On any other the frame was first, and what waits now is
        // another schedule's.
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
        if let (Some(server), Some(here)) = (server_time, clock::current_time()) {
            self.skew.set_value(server - here);
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

    /// The stream broke. The browser opens one that merely broke again by itself; one that was refused is opened again
    /// here.
    fn on_stream_lost(self, id: TurnId, is_final: bool) {
        let is_over =
            self.find_if_alive(id).is_none_or(|turn| turn.with_untracked(|view| view.turn.status.is_terminal()));
        let mut has_pending = false;
        self.update_follower(id, |follower| has_pending = !follower.pending.is_empty());
        if is_over {
            return self.unfollow(id);
        }
        if has_pending && !is_final {
            // The end of the reply may be among them; the stream's own second try tells.
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
            // A refusal may mean that the reply is over or gone: ask what became of it.
            let _ = self.reload.try_run(id);
            self.reopen_later(id, pause);
        }
    }

    /// Closes the stream and opens it again after a pause, from what is known by then.
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

    /// Once a second: opens streams that fell silent, and says that a reply goes on.
    pub(super) fn check_followed(self) {
        let now = clock::now_ms();
        let (silent, all): (Vec<TurnId>, Vec<TurnId>) = self.followed.with_value(|followed| {
            let silent = followed
                .iter()
                .filter(|(_, follower)| follower.stream.is_some() && now - follower.heard_ms > SILENCE_MS)
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
        // The page may be gone by the time a stream or a timer speaks.
        let _ = self.followed.try_update_value(|followed| {
            if let Some(follower) = followed.get_mut(&id) {
                change(follower);
            }
        });
    }
}

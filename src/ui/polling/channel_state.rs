//! The state of the live channel as one page sees it: when it is opened and closed, and whether the page has to poll
//! meanwhile. It is pure: callers pass the time in milliseconds and what happened, and do what is returned.

use crate::browser::event_source::SILENCE_MS;
use crate::domain::ChannelEvent;

/// The time from the opening to the first event. A proxy that holds it back for longer holds everything back.
const HELLO_MS: i64 = 5_000;
/// A connection that lasts this long is not one of those that something closes again and again.
const STEADY_MS: i64 = 60_000;
/// This many connections in a row that did not last mean that the channel cannot be kept.
const MOST_BREAKS: u32 = 4;
/// The pauses before the channel is opened again: doubling from the first to the last after a loss, longer where it
/// cannot be kept, and as long as the server asks for where the page has too many streams.
const RETRY_FIRST_MS: i64 = 1_000;
const RETRY_LAST_MS: i64 = 30_000;
const HELD_BACK_MS: i64 = 300_000;
const DISPLACED_MS: i64 = 30_000;

/// The phase of the channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChannelPhase {
    /// The page does not need it.
    Closed,
    /// Opened at this time, and nothing was received yet.
    Opening { since: i64 },
    /// Open since a time, and heard at a time.
    Live { since: i64, heard: i64 },
    /// It could not be opened or kept, and is opened again at this time.
    Lost { until: i64 },
}

/// The action that follows from what happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelAction {
    Keep,
    /// Opens the channel after the known number, instead of one that may be open.
    Open,
    Close,
}

/// The state of the channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelState {
    phase: ChannelPhase,
    is_needed: bool,
    /// The number after which the channel continues.
    cursor: Option<u64>,
    /// The losses since the channel was last open.
    losses: u32,
    /// The connections in a row that were open and did not last.
    breaks: u32,
    is_held_back: bool,
}

impl Default for ChannelState {
    fn default() -> Self {
        Self { phase: ChannelPhase::Closed, is_needed: false, cursor: None, losses: 0, breaks: 0, is_held_back: false }
    }
}

impl ChannelState {
    /// Returns the number after which the channel continues.
    pub fn cursor(&self) -> Option<u64> {
        self.cursor
    }

    /// Returns true if the channel tells of nothing, so that the page has to ask. Before its first event it gets a moment.
    pub fn is_silent(&self) -> bool {
        matches!(self.phase, ChannelPhase::Closed | ChannelPhase::Lost { .. })
    }

    /// Returns true if something between page and server holds the channel back, or closes it again and again.
    pub fn is_held_back(&self) -> bool {
        self.is_held_back
    }

    /// Handles whether the page needs the channel: it is seen, and the server is not known to be away.
    pub fn need(&mut self, now: i64, is_needed: bool) -> ChannelAction {
        let is_new = std::mem::replace(&mut self.is_needed, is_needed) != is_needed;
        match (is_needed, self.phase) {
            (true, ChannelPhase::Closed) => self.open(now),
            // A page that is shown again does not wait, unless waiting is all that helps.
            (true, ChannelPhase::Lost { .. }) if is_new && !self.is_held_back => self.open(now),
            (false, ChannelPhase::Opening { .. } | ChannelPhase::Live { .. }) => {
                self.phase = ChannelPhase::Closed;
                ChannelAction::Close
            }
            _ => ChannelAction::Keep,
        }
    }

    /// Handles an event.
    pub fn receive(&mut self, now: i64, event: &ChannelEvent) -> ChannelAction {
        self.cursor = event.cursor().or(self.cursor);
        match (event, self.phase) {
            (ChannelEvent::Displaced, _) => return self.lose(now, DISPLACED_MS),
            (_, ChannelPhase::Live { since, .. }) => self.phase = ChannelPhase::Live { since, heard: now },
            (_, ChannelPhase::Opening { .. }) => {
                self.phase = ChannelPhase::Live { since: now, heard: now };
                self.losses = 0;
                self.is_held_back = false;
            }
            // A late event of a stream that was given up.
            (_, ChannelPhase::Closed | ChannelPhase::Lost { .. }) => {}
        }
        ChannelAction::Keep
    }

    /// Handles the loss of the connection, or a refusal.
    pub fn disconnect(&mut self, now: i64) -> ChannelAction {
        match self.phase {
            ChannelPhase::Closed | ChannelPhase::Lost { .. } => return ChannelAction::Keep,
            ChannelPhase::Opening { .. } => {}
            ChannelPhase::Live { since, .. } => {
                self.breaks = if now - since < STEADY_MS { self.breaks + 1 } else { 1 };
                if self.breaks >= MOST_BREAKS {
                    return self.hold_back(now);
                }
            }
        }
        let pause = RETRY_FIRST_MS.saturating_mul(1 << self.losses.min(8)).min(RETRY_LAST_MS);
        self.losses = self.losses.saturating_add(1);
        self.lose(now, pause)
    }

    /// Runs about once a second.
    pub fn tick(&mut self, now: i64) -> ChannelAction {
        match self.phase {
            // The page slept: nothing is known about the channel.
            ChannelPhase::Opening { since } if now - since > 2 * HELLO_MS => self.open(now),
            ChannelPhase::Opening { since } if now - since > HELLO_MS => self.hold_back(now),
            ChannelPhase::Live { heard, .. } if now - heard > SILENCE_MS => self.open(now),
            ChannelPhase::Lost { until } if now >= until && self.is_needed => self.open(now),
            _ => ChannelAction::Keep,
        }
    }

    fn open(&mut self, now: i64) -> ChannelAction {
        self.phase = ChannelPhase::Opening { since: now };
        ChannelAction::Open
    }

    fn hold_back(&mut self, now: i64) -> ChannelAction {
        self.is_held_back = true;
        self.breaks = 0;
        self.lose(now, HELD_BACK_MS)
    }

    fn lose(&mut self, now: i64, pause: i64) -> ChannelAction {
        self.phase = ChannelPhase::Lost { until: now + pause };
        ChannelAction::Close
    }
}

#[cfg(test)]
mod tests {
    use super::ChannelAction::{Close, Keep, Open};
    use super::*;
    use crate::domain::AccountChange;

    const HELLO: ChannelEvent = ChannelEvent::Hello { id: 7, now: chrono::DateTime::UNIX_EPOCH };
    const HEARTBEAT: ChannelEvent = ChannelEvent::Heartbeat { now: chrono::DateTime::UNIX_EPOCH };

    /// Returns the state of a channel that was opened and heard at this time.
    fn live(now: i64) -> ChannelState {
        let mut state = ChannelState::default();
        assert_eq!(state.need(now, true), Open);
        assert_eq!(state.receive(now, &HELLO), Keep);
        state
    }

    #[test]
    fn channel_is_open_while_page_needs_it_and_continues_after_last_number() {
        let mut state = ChannelState::default();
        assert!(state.is_silent() && state.cursor().is_none());
        assert_eq!(state.need(0, false), Keep);
        assert_eq!(state.need(0, true), Open);
        assert!(!state.is_silent(), "its first event gets a moment");
        assert_eq!(state.receive(100, &HELLO), Keep);
        let changed = ChannelEvent::Changed { id: 9, change: AccountChange::UnreadChanged };
        assert_eq!(state.receive(200, &changed), Keep);
        assert_eq!(state.receive(300, &HEARTBEAT), Keep);
        assert_eq!((state.is_silent(), state.cursor()), (false, Some(9)));
        assert_eq!(state.need(400, true), Keep);
        assert_eq!(state.need(500, false), Close);
        assert!(state.is_silent());
        assert_eq!(state.disconnect(600), Keep, "it was closed here");
        assert_eq!(state.tick(9_000), Keep);
        assert_eq!((state.need(10_000, true), state.cursor()), (Open, Some(9)));
    }

    #[test]
    fn channel_without_first_event_is_held_back_and_tried_again_later() {
        let mut state = ChannelState::default();
        state.need(0, true);
        assert_eq!((state.tick(HELLO_MS), state.is_silent()), (Keep, false));
        assert_eq!(state.tick(HELLO_MS + 1), Close);
        assert!(state.is_silent() && state.is_held_back());
        let until = HELLO_MS + 1 + HELD_BACK_MS;
        assert_eq!(state.tick(until - 1), Keep);
        // It is not opened each time that the page is shown.
        assert_eq!((state.need(until - 1, false), state.need(until - 1, true)), (Keep, Keep));
        assert_eq!(state.tick(until), Open);
        assert!(state.is_held_back(), "nothing was received yet");
        state.receive(until + 50, &HELLO);
        assert!(!state.is_held_back() && !state.is_silent());
    }

    #[test]
    fn channel_that_something_closes_again_and_again_is_held_back() {
        let mut state = live(0);
        let mut now = 0;
        for count in 1..=MOST_BREAKS {
            now += STEADY_MS - 1;
            assert_eq!(state.disconnect(now), Close);
            assert_eq!(state.is_held_back(), count == MOST_BREAKS, "{count}");
            if count < MOST_BREAKS {
                now += RETRY_FIRST_MS;
                assert_eq!(state.tick(now), Open, "{count}");
                state.receive(now, &HELLO);
            }
        }
        // Losses of connections that last are no such sign.
        let mut state = live(0);
        for count in 1..=2 * MOST_BREAKS {
            now += STEADY_MS + RETRY_FIRST_MS;
            assert_eq!((state.disconnect(now), state.is_held_back()), (Close, false), "{count}");
            now += RETRY_FIRST_MS;
            assert_eq!(state.tick(now), Open, "{count}");
            state.receive(now, &HELLO);
        }
    }

    #[test]
    fn lost_channel_is_opened_again_after_growing_bounded_pauses() {
        let (mut state, mut now) = (live(0), STEADY_MS);
        let mut pauses = Vec::new();
        for _ in 0..7 {
            assert_eq!(state.disconnect(now), Close);
            assert!(state.is_silent() && !state.is_held_back());
            let lost = now;
            while state.tick(now) == Keep {
                now += 500;
            }
            pauses.push(now - lost);
        }
        assert_eq!(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
        state.receive(now, &HELLO);
        now += STEADY_MS;
        state.disconnect(now);
        assert_eq!(state.tick(now + RETRY_FIRST_MS), Open, "the pauses begin again");
        // A page that is shown again does not wait.
        state.disconnect(now + 2_000);
        assert_eq!((state.need(now + 2_001, false), state.need(now + 2_002, true)), (Keep, Open));
    }

    #[test]
    fn silent_channel_is_opened_again() {
        let mut state = live(0);
        state.receive(1_000, &HEARTBEAT);
        assert_eq!(state.tick(1_000 + SILENCE_MS), Keep);
        assert_eq!(state.tick(1_001 + SILENCE_MS), Open);
        // The page slept while the channel was opened.
        assert_eq!(state.tick(3_600_000), Open);
        assert!(!state.is_held_back());
    }

    #[test]
    fn displaced_channel_waits_as_long_as_server_asks() {
        let mut state = live(0);
        assert_eq!(state.receive(100, &ChannelEvent::Displaced), Close);
        assert!(state.is_silent() && !state.is_held_back());
        assert_eq!(state.disconnect(150), Keep, "its end was announced");
        assert_eq!((state.tick(99 + DISPLACED_MS), state.tick(100 + DISPLACED_MS)), (Keep, Open));
        assert_eq!(state.cursor(), Some(7));
    }
}

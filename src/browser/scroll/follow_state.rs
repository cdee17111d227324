//! The follow state of the transcript: decides from scroll positions whether the page keeps its newest line in view
//! (docs/reference/ux.md 9, S1 to S7). It is a pure function of numbers, so that tests need no browser. Lengths are
//! CSS pixels.

/// The reader is at the bottom within this distance of it (S1, S4).
const NEAR: f64 = 60.0;
/// Beyond this distance from the bottom, the button to the latest message appears (S7).
const FAR: f64 = 200.0;
/// Upward movement by the reader that stops following (S3), as the sum of any number of steps.
const WILL: f64 = 3.0;
/// A reader who is closer to the bottom than this has not left it.
const PIXEL: f64 = 1.0;
/// Browsers round positions by up to this much.
const ROUNDING: f64 = 1.5;
/// A longer distance is jumped, not eased.
const LEAP: f64 = 2_500.0;
/// Fraction of the distance that is left after each frame of an eased move: below a tenth after 120 ms at 60 frames
/// per second.
const LEFT_PER_FRAME: f64 = 0.7;

/// The page's scroll position and sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScrollMetrics {
    /// Distance scrolled from the top.
    pub top: f64,
    /// Height of the whole page.
    pub height: f64,
    /// Height of the visible part.
    pub view: f64,
}

impl ScrollMetrics {
    /// Returns the scroll position of the bottom.
    pub fn bottom_position(&self) -> f64 {
        (self.height - self.view).max(0.0)
    }

    /// Returns the distance to the bottom.
    pub fn distance_to_bottom(&self) -> f64 {
        (self.bottom_position() - self.top).max(0.0)
    }
}

/// The part of the follow state that the page renders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScrollStatus {
    /// Growth keeps the bottom in view.
    pub is_following: bool,
    /// The bottom is so far away that the page shows a button to it.
    pub is_far: bool,
    /// The list's first turn (or its last one) is so near that more turns should be loaded (S8).
    pub is_near_start: bool,
    pub is_near_end: bool,
}

/// Tracks the reader's scroll position, and whether the page follows its growth.
#[derive(Debug, Clone, PartialEq)]
pub struct FollowState {
    is_following: bool,
    is_far: bool,
    /// The last position that was observed or that the page itself scrolled to.
    top: f64,
    height: f64,
    /// Distance that the reader has moved in one direction; negative is upward. The page's own moves in between do not
    /// count: they may happen in every frame, and slow wheels scroll by two pixels.
    travel: f64,
}

impl FollowState {
    pub fn new(metrics: ScrollMetrics) -> Self {
        Self {
            is_following: metrics.distance_to_bottom() <= NEAR,
            is_far: metrics.distance_to_bottom() > FAR,
            top: metrics.top,
            height: metrics.height,
            travel: 0.0,
        }
    }

    /// Returns whether growth keeps the bottom in view.
    pub fn is_following(&self) -> bool {
        self.is_following
    }

    /// Returns whether the button to the latest message is shown.
    pub fn is_far(&self) -> bool {
        self.is_far
    }

    /// Starts or stops following.
    pub fn set_following(&mut self, is_following: bool) {
        self.is_following = is_following;
        self.travel = 0.0;
    }

    /// Handles a scroll event. A move to where the page itself scrolled is not the reader's.
    pub fn on_scroll(&mut self, now: ScrollMetrics) {
        let moved = now.top - self.top;
        let is_pulled = moved < 0.0 && (self.was_pulled(now) || now.distance_to_bottom() < PIXEL);
        if moved != 0.0 && !is_pulled {
            let is_back = (moved < 0.0) != (self.travel < 0.0);
            self.travel = if is_back { moved } else { self.travel + moved };
            if self.travel <= -WILL {
                self.is_following = false;
            } else if self.travel > ROUNDING && now.distance_to_bottom() <= NEAR {
                self.is_following = true;
            }
        }
        self.remember_position(now);
    }

    /// Records a move of the page itself.
    pub fn on_own_scroll(&mut self, now: ScrollMetrics) {
        self.remember_position(now);
    }

    /// Handles a resize of the page or the window. A page that has become shorter than its position is moved up by the
    /// browser, whose scroll event comes later; the position is recorded here already.
    pub fn on_resize(&mut self, now: ScrollMetrics) {
        if now.top < self.top && (now.distance_to_bottom() <= ROUNDING || self.was_pulled(now)) {
            self.top = now.top;
        }
        self.height = now.height;
        self.judge_distance(now);
    }

    /// Returns whether the browser itself moved the position up because the page has become shorter, by at most that
    /// difference: at the page's end, or because content above was lower than estimated and scroll anchoring kept the
    /// visible content in place.
    fn was_pulled(&self, now: ScrollMetrics) -> bool {
        let shorter = self.height - now.height;
        shorter > ROUNDING && (now.distance_to_bottom() <= ROUNDING || self.top - now.top <= shorter + ROUNDING)
    }

    /// Returns the scroll position of this frame; `None` if the page is at the bottom or does not follow.
    pub fn next_position(&self, now: ScrollMetrics, instantly: bool) -> Option<f64> {
        let distance = now.bottom_position() - now.top;
        if !self.is_following || distance < ROUNDING {
            return None;
        }
        if instantly || distance > LEAP {
            return Some(now.bottom_position());
        }
        Some(now.bottom_position() - (distance * LEFT_PER_FRAME).floor())
    }

    fn remember_position(&mut self, now: ScrollMetrics) {
        self.top = now.top;
        self.height = now.height;
        self.judge_distance(now);
    }

    fn judge_distance(&mut self, now: ScrollMetrics) {
        if now.distance_to_bottom() > FAR {
            self.is_far = true;
        } else if now.distance_to_bottom() < NEAR {
            self.is_far = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics_at(top: f64) -> ScrollMetrics {
        ScrollMetrics { top, height: 3_000.0, view: 800.0 }
    }

    #[test]
    fn page_that_gets_shorter_is_still_followed() {
        // The status line disappears with the first words; the browser reports the size first, then the position.
        let mut reader = FollowState::new(metrics_at(2_200.0));
        let shorter = ScrollMetrics { top: 2_100.0, height: 2_900.0, view: 800.0 };
        reader.on_resize(shorter);
        reader.on_scroll(shorter);
        assert!(reader.is_following());
        // In the other order.
        let mut reader = FollowState::new(metrics_at(2_200.0));
        reader.on_scroll(shorter);
        reader.on_resize(shorter);
        assert!(reader.is_following());
        // A reader who scrolls up while the page gets shorter has left its end.
        let mut reader = FollowState::new(metrics_at(2_200.0));
        let away = ScrollMetrics { top: 1_900.0, ..shorter };
        reader.on_resize(away);
        reader.on_scroll(away);
        assert!(!reader.is_following());
    }

    #[test]
    fn lower_content_above_is_not_move_of_reader() {
        // During an eased move over rows with estimated heights, the content above shrinks by 220, and the browser
        // keeps the visible content in place.
        let kept = ScrollMetrics { top: 1_280.0, height: 2_780.0, view: 800.0 };
        for is_size_first in [true, false] {
            let mut reader = FollowState::new(metrics_at(2_200.0));
            reader.on_own_scroll(metrics_at(1_500.0));
            if is_size_first {
                reader.on_resize(kept);
            }
            reader.on_scroll(kept);
            assert!(reader.is_following());
            // A longer move is the reader's.
            let mut reader = FollowState::new(metrics_at(2_200.0));
            reader.on_own_scroll(metrics_at(1_500.0));
            let away = ScrollMetrics { top: 1_270.0, ..kept };
            if is_size_first {
                reader.on_resize(away);
            }
            reader.on_scroll(away);
            assert!(!reader.is_following());
        }
    }

    #[test]
    fn window_that_gets_lower_is_followed_at_bottom() {
        let mut reader = FollowState::new(metrics_at(2_200.0));
        let lower = ScrollMetrics { top: 2_200.0, height: 3_000.0, view: 400.0 };
        reader.on_resize(lower);
        assert_eq!(reader.next_position(lower, true), Some(2_600.0));
    }

    #[test]
    fn reader_within_sixty_pixels_of_bottom_is_followed() {
        assert!(FollowState::new(metrics_at(2_200.0)).is_following());
        assert!(FollowState::new(metrics_at(2_140.0)).is_following());
        assert!(!FollowState::new(metrics_at(2_139.0)).is_following());
    }

    #[test]
    fn three_pixels_upward_by_reader_stop_following_at_once() {
        let mut reader = FollowState::new(metrics_at(2_200.0));
        reader.on_scroll(metrics_at(2_198.0));
        assert!(reader.is_following(), "two pixels are rounding");
        reader.on_scroll(metrics_at(2_195.0));
        assert!(!reader.is_following(), "though it is still near the bottom");
    }

    #[test]
    fn small_steps_upward_add_up_whatever_page_does_in_between() {
        for step in [1.0, 2.0] {
            let mut reader = FollowState::new(metrics_at(2_200.0));
            for steps in 1..=3 {
                reader.on_scroll(metrics_at(2_200.0 - step * f64::from(steps)));
            }
            assert!(!reader.is_following(), "three steps of {step}");
        }
        // The page follows its growth after each step.
        let mut reader = FollowState::new(metrics_at(2_200.0));
        for grown in [3_100.0, 3_200.0] {
            reader.on_scroll(ScrollMetrics { top: grown - 902.0, height: grown - 100.0, view: 800.0 });
            reader.on_own_scroll(ScrollMetrics { top: grown - 800.0, height: grown, view: 800.0 });
        }
        assert!(!reader.is_following());
        // Moves in alternating directions do not add up, and neither do positions that are rounded differently each
        // time.
        let mut reader = FollowState::new(metrics_at(2_200.0));
        for top in [2_198.0, 2_199.0, 2_197.5, 2_199.0, 2_197.0] {
            reader.on_scroll(metrics_at(top));
            assert!(reader.is_following(), "{top}");
        }
        for height in [2_999.5, 2_999.0, 2_998.5, 2_998.0] {
            reader.on_scroll(ScrollMetrics { top: height - 800.0, height, view: 800.0 });
        }
        assert!(reader.is_following());
        // Small steps add up on the way back, too.
        reader.on_scroll(metrics_at(2_100.0));
        for top in 2_101..=2_141 {
            reader.on_scroll(metrics_at(f64::from(top)));
        }
        assert!(reader.is_following());
    }

    #[test]
    fn coming_back_near_bottom_starts_following_again() {
        let mut reader = FollowState::new(metrics_at(2_200.0));
        reader.on_scroll(metrics_at(1_000.0));
        reader.on_scroll(metrics_at(2_100.0));
        assert!(!reader.is_following());
        reader.on_scroll(metrics_at(2_150.0));
        assert!(reader.is_following());
    }

    #[test]
    fn own_scrolling_of_page_is_not_move_of_reader() {
        let mut reader = FollowState::new(metrics_at(2_200.0));
        reader.set_following(false);
        reader.on_own_scroll(metrics_at(1_500.0));
        reader.set_following(true);
        reader.on_scroll(metrics_at(1_500.0));
        assert!(reader.is_following());
    }

    #[test]
    fn page_that_gets_shorter_pulls_up_without_stopping() {
        let mut reader = FollowState::new(metrics_at(2_200.0));
        reader.on_scroll(ScrollMetrics { top: 1_900.0, height: 2_700.0, view: 800.0 });
        assert!(reader.is_following());
    }

    #[test]
    fn following_eases_to_bottom_and_jumps_when_far_or_unwanted() {
        let reader = FollowState::new(metrics_at(2_200.0));
        let grown = ScrollMetrics { top: 2_200.0, height: 3_100.0, view: 800.0 };
        assert_eq!(reader.next_position(grown, false), Some(2_230.0));
        assert_eq!(reader.next_position(grown, true), Some(2_300.0));
        let mut top = 2_200.0;
        for _ in 0..8 {
            let Some(next) = reader.next_position(ScrollMetrics { top, ..grown }, false) else { break };
            top = next;
        }
        assert!(top > 2_290.0, "within 120 ms: {top}");
        let leap = ScrollMetrics { top: 0.0, height: 9_000.0, view: 800.0 };
        assert_eq!(reader.next_position(leap, false), Some(8_200.0));
        assert_eq!(reader.next_position(metrics_at(2_200.0), false), None);
    }

    #[test]
    fn button_appears_beyond_two_hundred_and_hides_under_sixty() {
        let mut reader = FollowState::new(metrics_at(2_200.0));
        reader.on_scroll(metrics_at(2_010.0));
        assert!(!reader.is_far());
        reader.on_scroll(metrics_at(1_990.0));
        assert!(reader.is_far());
        reader.on_scroll(metrics_at(2_100.0));
        assert!(reader.is_far());
        reader.on_scroll(metrics_at(2_150.0));
        assert!(!reader.is_far());
    }

    #[test]
    fn growth_far_below_unfollowed_reader_shows_button() {
        let mut reader = FollowState::new(metrics_at(2_200.0));
        reader.on_scroll(metrics_at(2_150.0));
        reader.on_resize(ScrollMetrics { top: 2_150.0, height: 3_500.0, view: 800.0 });
        assert!(reader.is_far());
        assert!(!reader.is_following());
    }
}

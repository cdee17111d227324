//! Where the reader is in the page, and whether the page follows its own growth for them (ux.md 9, S1 to S7). Pure:
//! numbers in, a decision out. All lengths are CSS pixels.

/// Within this of the bottom, the reader is at the bottom (S1, S4).
const NEAR: f64 = 60.0;
/// Beyond this, the way back deserves a button (S7).
const FAR: f64 = 200.0;
/// Moves upward that come to this much are the reader's will (S3), in however small steps.
const WILL: f64 = 3.0;
/// Who is not even this far from the bottom has not left it.
const PIXEL: f64 = 1.0;
/// Rounding of positions by browsers.
const ROUNDING: f64 = 1.5;
/// A jump longer than this is not eased.
const LEAP: f64 = 2_500.0;
/// How much of the way is left after each frame of an eased move: below a tenth after 120 ms at 60 frames a second.
const LEFT_PER_FRAME: f64 = 0.7;

/// How the page is scrolled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metrics {
    /// How far it is scrolled down.
    pub top: f64,
    /// How high all of it is.
    pub height: f64,
    /// How much of it is seen.
    pub view: f64,
}

impl Metrics {
    /// The scroll position of the bottom.
    pub fn bottom(&self) -> f64 {
        (self.height - self.view).max(0.0)
    }

    /// How far it is to the bottom.
    pub fn rest(&self) -> f64 {
        (self.bottom() - self.top).max(0.0)
    }
}

/// What the page shows of the reader's place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// Growth keeps the bottom in view.
    pub is_following: bool,
    /// The bottom is so far that the way back deserves a button.
    pub is_far: bool,
    /// The list's first turn, or its last, is so near that more of them should be loaded (S8).
    pub is_near_start: bool,
    pub is_near_end: bool,
}

/// The reader's place.
#[derive(Debug, Clone, PartialEq)]
pub struct Reader {
    is_following: bool,
    is_far: bool,
    /// The last position that was seen, or that the page itself scrolled to.
    top: f64,
    height: f64,
    /// How far the reader has moved in one direction, upward as less than nothing. The page's own moves in between do not
    /// count: it may move with every frame, and slow wheels turn by two pixels.
    way: f64,
}

impl Reader {
    pub fn new(metrics: Metrics) -> Self {
        Self {
            is_following: metrics.rest() <= NEAR,
            is_far: metrics.rest() > FAR,
            top: metrics.top,
            height: metrics.height,
            way: 0.0,
        }
    }

    /// Whether growth keeps the bottom in view.
    pub fn is_following(&self) -> bool {
        self.is_following
    }

    /// Whether the button to the latest is there.
    pub fn is_far(&self) -> bool {
        self.is_far
    }

    /// Follows from now on, or stops to.
    pub fn set_following(&mut self, is_following: bool) {
        self.is_following = is_following;
        self.way = 0.0;
    }

    /// The page was scrolled by somebody. A move to where the page itself went is no move of the reader.
    pub fn scrolled(&mut self, now: Metrics) {
        let moved = now.top - self.top;
        let is_pulled = moved < 0.0 && (self.was_pulled(now) || now.rest() < PIXEL);
        if moved != 0.0 && !is_pulled {
            let is_back = (moved < 0.0) != (self.way < 0.0);
            self.way = if is_back { moved } else { self.way + moved };
            if self.way <= -WILL {
                self.is_following = false;
            } else if self.way > ROUNDING && now.rest() <= NEAR {
                self.is_following = true;
            }
        }
        self.seen(now);
    }

    /// The page itself scrolled to here.
    pub fn arrived(&mut self, now: Metrics) {
        self.seen(now);
    }

    /// The page changed its height, or its window did. Where it became shorter than its own place it is pulled up, and
    /// the browser tells of that as of any scrolling, but later: the place is known by then.
    pub fn resized(&mut self, now: Metrics) {
        if now.top < self.top && (now.rest() <= ROUNDING || self.was_pulled(now)) {
            self.top = now.top;
        }
        self.height = now.height;
        self.judge_distance(now);
    }

    /// A page that becomes shorter pulls the place up by itself, by as much at most: at its end, or because what is above
    /// turned out lower than was thought and the browser keeps what is seen in its place.
    fn was_pulled(&self, now: Metrics) -> bool {
        let shorter = self.height - now.height;
        shorter > ROUNDING && (now.rest() <= ROUNDING || self.top - now.top <= shorter + ROUNDING)
    }

    /// Where the page should scroll to in this frame to follow; none when it is there or does not follow.
    pub fn next(&self, now: Metrics, instantly: bool) -> Option<f64> {
        let way = now.bottom() - now.top;
        if !self.is_following || way < ROUNDING {
            return None;
        }
        if instantly || way > LEAP {
            return Some(now.bottom());
        }
        Some(now.bottom() - (way * LEFT_PER_FRAME).floor())
    }

    fn seen(&mut self, now: Metrics) {
        self.top = now.top;
        self.height = now.height;
        self.judge_distance(now);
    }

    fn judge_distance(&mut self, now: Metrics) {
        if now.rest() > FAR {
            self.is_far = true;
        } else if now.rest() < NEAR {
            self.is_far = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(top: f64) -> Metrics {
        Metrics { top, height: 3_000.0, view: 800.0 }
    }

    #[test]
    fn a_page_that_gets_shorter_goes_on_being_followed() {
        // The status line goes when the first words are there; the browser tells of the size first, then of the place.
        let mut reader = Reader::new(at(2_200.0));
        let shorter = Metrics { top: 2_100.0, height: 2_900.0, view: 800.0 };
        reader.resized(shorter);
        reader.scrolled(shorter);
        assert!(reader.is_following());
        // In the other order.
        let mut reader = Reader::new(at(2_200.0));
        reader.scrolled(shorter);
        reader.resized(shorter);
        assert!(reader.is_following());
        // Who scrolls up while it gets shorter is no more at its end.
        let mut reader = Reader::new(at(2_200.0));
        let away = Metrics { top: 1_900.0, ..shorter };
        reader.resized(away);
        reader.scrolled(away);
        assert!(!reader.is_following());
    }

    #[test]
    fn what_is_above_and_turns_out_lower_is_no_move_of_the_reader() {
        // Easing down a page whose rows are only guessed: 220 less above, and the browser keeps what is seen.
        let kept = Metrics { top: 1_280.0, height: 2_780.0, view: 800.0 };
        for is_size_first in [true, false] {
            let mut reader = Reader::new(at(2_200.0));
            reader.arrived(at(1_500.0));
            if is_size_first {
                reader.resized(kept);
            }
            reader.scrolled(kept);
            assert!(reader.is_following());
            // More than that is the reader's.
            let mut reader = Reader::new(at(2_200.0));
            reader.arrived(at(1_500.0));
            let away = Metrics { top: 1_270.0, ..kept };
            if is_size_first {
                reader.resized(away);
            }
            reader.scrolled(away);
            assert!(!reader.is_following());
        }
    }

    #[test]
    fn a_window_that_gets_lower_is_followed_at_the_bottom() {
        let mut reader = Reader::new(at(2_200.0));
        let lower = Metrics { top: 2_200.0, height: 3_000.0, view: 400.0 };
        reader.resized(lower);
        assert_eq!(reader.next(lower, true), Some(2_600.0));
    }

    #[test]
    fn a_reader_within_sixty_pixels_of_the_bottom_is_followed() {
        assert!(Reader::new(at(2_200.0)).is_following());
        assert!(Reader::new(at(2_140.0)).is_following());
        assert!(!Reader::new(at(2_139.0)).is_following());
    }

    #[test]
    fn three_pixels_upward_by_the_reader_stop_following_at_once() {
        let mut reader = Reader::new(at(2_200.0));
        reader.scrolled(at(2_198.0));
        assert!(reader.is_following(), "two pixels are rounding");
        reader.scrolled(at(2_195.0));
        assert!(!reader.is_following(), "though it is still near the bottom");
    }

    #[test]
    fn small_steps_upward_are_a_way_whatever_the_page_does_in_between() {
        for step in [1.0, 2.0] {
            let mut reader = Reader::new(at(2_200.0));
            for steps in 1..=3 {
                reader.scrolled(at(2_200.0 - step * f64::from(steps)));
            }
            assert!(!reader.is_following(), "three steps of {step}");
        }
        // The page follows its growth after each of them.
        let mut reader = Reader::new(at(2_200.0));
        for grown in [3_100.0, 3_200.0] {
            reader.scrolled(Metrics { top: grown - 902.0, height: grown - 100.0, view: 800.0 });
            reader.arrived(Metrics { top: grown - 800.0, height: grown, view: 800.0 });
        }
        assert!(!reader.is_following());
        // Up and down again is no way; nor is a place that is rounded otherwise each time.
        let mut reader = Reader::new(at(2_200.0));
        for top in [2_198.0, 2_199.0, 2_197.5, 2_199.0, 2_197.0] {
            reader.scrolled(at(top));
            assert!(reader.is_following(), "{top}");
        }
        for height in [2_999.5, 2_999.0, 2_998.5, 2_998.0] {
            reader.scrolled(Metrics { top: height - 800.0, height, view: 800.0 });
        }
        assert!(reader.is_following());
        // Coming back takes small steps, too.
        reader.scrolled(at(2_100.0));
        for top in 2_101..=2_141 {
            reader.scrolled(at(f64::from(top)));
        }
        assert!(reader.is_following());
    }

    #[test]
    fn coming_back_near_the_bottom_starts_following_again() {
        let mut reader = Reader::new(at(2_200.0));
        reader.scrolled(at(1_000.0));
        reader.scrolled(at(2_100.0));
        assert!(!reader.is_following());
        reader.scrolled(at(2_150.0));
        assert!(reader.is_following());
    }

    #[test]
    fn the_pages_own_scrolling_is_not_the_readers() {
        let mut reader = Reader::new(at(2_200.0));
        reader.set_following(false);
        reader.arrived(at(1_500.0));
        reader.set_following(true);
        reader.scrolled(at(1_500.0));
        assert!(reader.is_following());
    }

    #[test]
    fn a_page_that_gets_shorter_pulls_up_without_stopping() {
        let mut reader = Reader::new(at(2_200.0));
        reader.scrolled(Metrics { top: 1_900.0, height: 2_700.0, view: 800.0 });
        assert!(reader.is_following());
    }

    #[test]
    fn following_eases_to_the_bottom_and_leaps_when_it_is_far_or_unwanted() {
        let reader = Reader::new(at(2_200.0));
        let grown = Metrics { top: 2_200.0, height: 3_100.0, view: 800.0 };
        assert_eq!(reader.next(grown, false), Some(2_230.0));
        assert_eq!(reader.next(grown, true), Some(2_300.0));
        let mut top = 2_200.0;
        for _ in 0..8 {
            let Some(next) = reader.next(Metrics { top, ..grown }, false) else { break };
            top = next;
        }
        assert!(top > 2_290.0, "within 120 ms: {top}");
        let leap = Metrics { top: 0.0, height: 9_000.0, view: 800.0 };
        assert_eq!(reader.next(leap, false), Some(8_200.0));
        assert_eq!(reader.next(at(2_200.0), false), None);
    }

    #[test]
    fn the_button_comes_beyond_two_hundred_and_goes_under_sixty() {
        let mut reader = Reader::new(at(2_200.0));
        reader.scrolled(at(2_010.0));
        assert!(!reader.is_far());
        reader.scrolled(at(1_990.0));
        assert!(reader.is_far());
        reader.scrolled(at(2_100.0));
        assert!(reader.is_far());
        reader.scrolled(at(2_150.0));
        assert!(!reader.is_far());
    }

    #[test]
    fn growth_far_below_an_unfollowed_reader_brings_the_button() {
        let mut reader = Reader::new(at(2_200.0));
        reader.scrolled(at(2_150.0));
        reader.resized(Metrics { top: 2_150.0, height: 3_500.0, view: 800.0 });
        assert!(reader.is_far());
        assert!(!reader.is_following());
    }
}

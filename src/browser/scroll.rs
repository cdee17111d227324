//! Scrolling: follows a growing page, keeps the reader's view in place, and moves the page on request
//! (docs/reference/ux.md 9, whose rules S1 to S15 are cited below by number). [`follow_state`] decides, this module
//! and its children move the page.

pub mod follow_state;

#[cfg(feature = "hydrate")]
mod anchor;
#[cfg(feature = "hydrate")]
mod bottom_spacer;
#[cfg(feature = "hydrate")]
mod intent;
#[cfg(feature = "hydrate")]
mod keyboard;
#[cfg(feature = "hydrate")]
mod page;
#[cfg(feature = "hydrate")]
mod restoration;
#[cfg(feature = "hydrate")]
mod watch;
#[cfg(feature = "hydrate")]
mod window;

#[cfg(feature = "hydrate")]
mod real {
    use super::anchor;
    use super::follow_state::ScrollStatus;
    pub use super::page::FollowPause;
    use super::{bottom_spacer, page, restoration, watch, window};

    /// Watches the reader's scrolling and follows the growth of the element with this id. Replaces the previous watch,
    /// and returns the number of the new one.
    pub fn start_watching(list_id: &str, on_place: impl Fn(ScrollStatus) + 'static) -> u32 {
        watch::start_watching(list_id, on_place)
    }

    /// Stops the watch with this number, unless another one has replaced it.
    pub fn stop_watching(number: u32) {
        watch::stop_watching(number);
    }

    /// Returns whether growth keeps the bottom in view.
    pub fn is_following() -> bool {
        page::is_following()
    }

    /// Returns whether an element is below the visible part of the page, so that a change of it moves nothing in view.
    pub fn is_below_view(id: &str) -> bool {
        page::is_below_view(id)
    }

    /// Scrolls to the bottom and follows from there.
    pub fn scroll_to_latest() {
        page::scroll_to_latest();
    }

    /// Scrolls a message that was just sent under the header, with space below it for the reply, which is followed
    /// until it fills the screen (S6).
    pub fn scroll_to_sent(id: &str) {
        bottom_spacer::scroll_to_sent(id);
    }

    /// Lets the page that opens next do the same with the first message of its chat.
    pub fn expect_sent(id: &str) {
        bottom_spacer::expect_sent(id);
    }

    /// Scrolls an element under the header (S12). With `focus`, the element with that id gets the focus.
    pub fn scroll_to_element(id: &str, focus: Option<&str>) {
        anchor::scroll_to_element(id, focus);
    }

    /// Scrolls a position on screen, in pixels from its top, to where it is easy to read. Returns whether the page moved.
    pub fn bring_into_view(y: f64) -> bool {
        page::bring_into_view(y)
    }

    /// Anchors an element: it keeps its place on screen while the content around it changes (S8).
    pub fn anchor_element(id: &str) {
        anchor::anchor_element(id, id, None);
    }

    /// Anchors the header of the disclosure that this click opens or closes (S9). Does nothing for other clicks.
    pub fn anchor_clicked_header(click: &leptos::ev::MouseEvent) {
        anchor::anchor_clicked_header(click);
    }

    /// Anchors an element that replaces another at its place on screen, and moves the focus to an element inside it
    /// (docs/reference/ux.md 5.2).
    pub fn anchor_replacement(old: &str, new: &str, focus: &str) {
        anchor::anchor_element(old, new, Some(focus));
    }

    /// Restores the scroll position of a list of turns (S11): the position that the reader left if `as_left` is set,
    /// otherwise the bottom. If the turn of that position is not in the page, `on_missing` gets its id to load it, and
    /// then calls [`resume_restoration`] with the number.
    pub fn restore_position(list_id: &str, key: &str, as_left: bool, on_missing: impl FnOnce(String, u32) + 'static) {
        restoration::restore_position(list_id, key, as_left, on_missing);
    }

    /// Completes the restoration after the missing turn was loaded or could not be.
    pub fn resume_restoration(number: u32) {
        restoration::resume_restoration(number);
    }

    /// Changes the turns of the list while the visible ones keep their place (S8), then calls `done`.
    pub fn change_keeping_view(list_id: &str, change: impl FnOnce(), done: impl FnOnce() + 'static) {
        window::change_keeping_view(list_id, change, done);
    }

    /// Returns whether the reader is using an element: it contains selected text, a text area or, with `by_focus`, the
    /// focus.
    pub fn is_in_use(id: &str, by_focus: bool) -> bool {
        window::is_in_use(id, by_focus)
    }

    /// Returns whether an anchor is active, that is, an element keeps its place on screen.
    pub fn is_anchoring() -> bool {
        page::is_anchoring()
    }

    /// Returns the id of the first visible turn of the list.
    pub fn first_visible_id(list_id: &str) -> Option<String> {
        restoration::first_visible(list_id).map(|(id, _)| id)
    }

    /// Scrolls the boxes around the first element that matches by the smallest distance that shows it.
    pub fn scroll_into_view(selector: &str) {
        let element =
            web_sys::window().and_then(|w| w.document()).and_then(|d| d.query_selector(selector).ok().flatten());
        if let Some(element) = element {
            let options = web_sys::ScrollIntoViewOptions::new();
            options.set_block(web_sys::ScrollLogicalPosition::Nearest);
            element.scroll_into_view_with_scroll_into_view_options(&options);
        }
    }

    /// Pauses following while content arrives over several frames.
    pub fn pause_following() -> Option<FollowPause> {
        Some(page::pause_following())
    }

    /// Keeps the end of a scrollable box in view, unless the reader has scrolled up in it.
    pub fn keep_box_at_end(id: &str) {
        page::keep_box_at_end(id);
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use super::follow_state::ScrollStatus;

    #[derive(Debug)]
    pub struct FollowPause(());

    pub fn start_watching(_list_id: &str, _on_place: impl Fn(ScrollStatus) + 'static) -> u32 {
        0
    }

    pub fn stop_watching(_watch: u32) {}

    pub fn is_following() -> bool {
        false
    }

    pub fn is_below_view(_id: &str) -> bool {
        false
    }

    pub fn scroll_to_latest() {}

    pub fn scroll_to_sent(_id: &str) {}

    pub fn expect_sent(_id: &str) {}

    pub fn scroll_to_element(_id: &str, _focus: Option<&str>) {}

    pub fn bring_into_view(_y: f64) -> bool {
        false
    }

    pub fn anchor_element(_id: &str) {}

    pub fn anchor_clicked_header(_click: &leptos::ev::MouseEvent) {}

    pub fn anchor_replacement(_old: &str, _new: &str, _focus: &str) {}

    pub fn restore_position(
        _list_id: &str,
        _key: &str,
        _as_left: bool,
        _on_missing: impl FnOnce(String, u32) + 'static,
    ) {
    }

    pub fn resume_restoration(_number: u32) {}

    pub fn change_keeping_view(_list_id: &str, _change: impl FnOnce(), _done: impl FnOnce() + 'static) {}

    pub fn is_in_use(_id: &str, _by_focus: bool) -> bool {
        false
    }

    pub fn is_anchoring() -> bool {
        false
    }

    pub fn first_visible_id(_list_id: &str) -> Option<String> {
        None
    }

    pub fn scroll_into_view(_selector: &str) {}

    pub fn pause_following() -> Option<FollowPause> {
        None
    }

    pub fn keep_box_at_end(_id: &str) {}
}

pub use follow_state::ScrollStatus;
pub use real::{
    FollowPause, anchor_clicked_header, anchor_element, anchor_replacement, bring_into_view, change_keeping_view,
    expect_sent, first_visible_id, is_anchoring, is_below_view, is_following, is_in_use, keep_box_at_end,
    pause_following, restore_position, resume_restoration, scroll_into_view, scroll_to_element, scroll_to_latest,
    scroll_to_sent, start_watching, stop_watching,
};

//! Scrolling: following a growing page, and moving the page where the reader asked for it (ux.md 9). The reader owns the
//! viewport; what decides is [`reader`], what moves is here.

pub mod reader;

#[cfg(feature = "hydrate")]
mod hold;
#[cfg(feature = "hydrate")]
mod keyboard;
#[cfg(feature = "hydrate")]
mod page;
#[cfg(feature = "hydrate")]
mod place;
#[cfg(feature = "hydrate")]
mod room;
#[cfg(feature = "hydrate")]
mod watch;
#[cfg(feature = "hydrate")]
mod will;
#[cfg(feature = "hydrate")]
mod window;

#[cfg(feature = "hydrate")]
mod real {
    use super::hold as holding;
    pub use super::page::Wait;
    use super::reader::Place;
    use super::{page, place, room, watch, window};

    /// Watches how the reader moves and follows the growth of the element with this id. Stops watching what was watched
    /// before. Gives the number of this watch.
    pub fn start(list_id: &str, on_place: impl Fn(Place) + 'static) -> u32 {
        watch::start(list_id, on_place)
    }

    /// Stops the watch with this number, if it is still the one.
    pub fn stop(number: u32) {
        watch::stop(number);
    }

    /// Whether growth keeps the bottom in view.
    pub fn is_following() -> bool {
        page::is_following()
    }

    /// Goes to the bottom and follows from there.
    pub fn to_latest() {
        page::to_latest();
    }

    /// Puts what was just sent under the header with room below it for the reply (S6).
    pub fn to_sent(id: &str) {
        room::to_sent(id);
    }

    /// Puts an element under the header (S12). With `focus`, the focus goes to the element with that id.
    pub fn to_element(id: &str, focus: Option<&str>) {
        holding::to_element(id, focus);
    }

    /// Brings a height on screen, in pixels from its top, to where it is read best.
    pub fn bring(y: f64) {
        page::bring(y);
    }

    /// Keeps an element where it is on screen while what is around it changes (S8).
    pub fn hold(id: &str) {
        holding::hold(id, id, None);
    }

    /// Keeps the header of a part that opens or closes by this click where it is (S9). Nothing where it is of none.
    pub fn hold_clicked(click: &leptos::ev::MouseEvent) {
        holding::hold_clicked(click);
    }

    /// Keeps the place on screen for an element that takes the place of another, and the focus for one inside it (5.2).
    pub fn hold_for(old: &str, new: &str, focus: &str) {
        holding::hold(old, new, Some(focus));
    }

    /// Opens a page of turns: with `as_left` where the reader was when they left it scrolled up, else at the bottom
    /// (S11). Where they were is not in the page: `on_missing` gets the element's id and brings it, then calls [`resume`]
    /// with the number.
    pub fn open(list_id: &str, key: &str, as_left: bool, on_missing: impl FnOnce(String, u32) + 'static) {
        place::open(list_id, key, as_left, on_missing);
    }

    /// Opens again, after what was missing was brought or could not be.
    pub fn resume(number: u32) {
        place::resume(number);
    }

    /// Changes the turns of the list and keeps what the reader sees where it is (S8); then `done`.
    pub fn keeping(list_id: &str, change: impl FnOnce(), done: impl FnOnce() + 'static) {
        window::keeping(list_id, change, done);
    }

    /// Whether the reader holds on to an element: selected text or a box to write in is inside, or, where that counts,
    /// the focus.
    pub fn is_held(id: &str, by_focus: bool) -> bool {
        window::is_held(id, by_focus)
    }

    /// Whether a place on screen is kept for an element that is about to come.
    pub fn is_holding() -> bool {
        page::is_holding()
    }

    /// The id of the first element of the list that the reader sees.
    pub fn first_seen(list_id: &str) -> Option<String> {
        place::first_seen(list_id).map(|(id, _)| id)
    }

    /// Scrolls the boxes around the first element that matches, as little as shows it.
    pub fn into_sight(selector: &str) {
        let element =
            web_sys::window().and_then(|w| w.document()).and_then(|d| d.query_selector(selector).ok().flatten());
        if let Some(element) = element {
            let options = web_sys::ScrollIntoViewOptions::new();
            options.set_block(web_sys::ScrollLogicalPosition::Nearest);
            element.scroll_into_view_with_scroll_into_view_options(&options);
        }
    }

    /// Keeps the page from following until what comes into it over several frames is there.
    pub fn wait() -> Option<Wait> {
        Some(page::wait())
    }

    /// Keeps the end of a scrolling box in view, unless the reader scrolled up in it.
    pub fn keep_end(id: &str) {
        page::keep_end(id);
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use super::reader::Place;

    #[derive(Debug)]
    pub struct Wait(());

    pub fn start(_list_id: &str, _on_place: impl Fn(Place) + 'static) -> u32 {
        0
    }

    pub fn stop(_watch: u32) {}

    pub fn is_following() -> bool {
        false
    }

    pub fn to_latest() {}

    pub fn to_sent(_id: &str) {}

    pub fn to_element(_id: &str, _focus: Option<&str>) {}

    pub fn bring(_y: f64) {}

    pub fn hold(_id: &str) {}

    pub fn hold_clicked(_click: &leptos::ev::MouseEvent) {}

    pub fn hold_for(_old: &str, _new: &str, _focus: &str) {}

    pub fn open(_list_id: &str, _key: &str, _as_left: bool, _on_missing: impl FnOnce(String, u32) + 'static) {}

    pub fn resume(_number: u32) {}

    pub fn keeping(_list_id: &str, _change: impl FnOnce(), _done: impl FnOnce() + 'static) {}

    pub fn is_held(_id: &str, _by_focus: bool) -> bool {
        false
    }

    pub fn is_holding() -> bool {
        false
    }

    pub fn first_seen(_list_id: &str) -> Option<String> {
        None
    }

    pub fn into_sight(_selector: &str) {}

    pub fn wait() -> Option<Wait> {
        None
    }

    pub fn keep_end(_id: &str) {}
}

pub use reader::Place;
pub use real::{
    Wait, bring, first_seen, hold, hold_clicked, hold_for, into_sight, is_following, is_held, is_holding, keep_end,
    keeping, open, resume, start, stop, to_element, to_latest, to_sent, wait,
};

//! Where the reader left a page, for when they come back to it in this session (ux.md S11).

use std::cell::RefCell;
use std::time::Duration;

use leptos::prelude::{request_animation_frame, set_timeout};
use web_sys::Storage;

use super::page::{document, element, follow, go, header, is_following};

/// How long after a move the place is kept.
const SOON: Duration = Duration::from_millis(300);

struct Open {
    list_id: String,
    key: String,
    is_saving: bool,
}

thread_local! {
    static OPEN: RefCell<Option<Open>> = const { RefCell::new(None) };
}

fn storage() -> Option<Storage> {
    // Refused with an error where the person has switched it off.
    web_sys::window()?.session_storage().ok().flatten()
}

pub(super) fn open(list_id: &str, key: &str) {
    OPEN.with(|open| {
        *open.borrow_mut() = Some(Open { list_id: list_id.to_owned(), key: key.to_owned(), is_saving: false });
    });
    let kept = storage().and_then(|storage| storage.get_item(key).ok().flatten());
    let kept = kept.and_then(|kept| {
        let (id, offset) = kept.split_once(' ')?;
        Some((id.to_owned(), f64::from(offset.parse::<i32>().ok()?)))
    });
    request_animation_frame(move || {
        let target = kept.and_then(|(id, offset)| Some((element(&id)?, offset)));
        let scroll_y = web_sys::window().and_then(|window| window.scroll_y().ok()).unwrap_or(0.0);
        match target {
            Some((turn, offset)) => {
                follow(false);
                go(turn.get_bounding_client_rect().top() + scroll_y - offset);
            }
            None => {
                follow(true);
                let height = document().and_then(|d| d.document_element()).map_or(0, |root| root.scroll_height());
                go(f64::from(height));
            }
        }
    });
}

/// Keeps the place a moment after the last move.
pub(super) fn save_soon() {
    let starts =
        OPEN.with(|open| open.borrow_mut().as_mut().is_some_and(|open| !std::mem::replace(&mut open.is_saving, true)));
    if starts {
        set_timeout(save, SOON);
    }
}

fn save() {
    OPEN.with(|open| {
        let mut open = open.borrow_mut();
        let (Some(open), Some(storage)) = (open.as_mut(), storage()) else { return };
        open.is_saving = false;
        let seen = if is_following() { None } else { first_seen(&open.list_id) };
        let _ = match seen {
            Some((id, offset)) => storage.set_item(&open.key, &format!("{id} {}", offset.round() as i32)),
            None => storage.remove_item(&open.key),
        };
    });
}

/// The first turn that is at least partly below the header, and where it is on screen.
fn first_seen(list_id: &str) -> Option<(String, f64)> {
    let turns = element(list_id)?.query_selector_all("article[id]").ok()?;
    let header = header();
    for at in 0..turns.length() {
        let turn: web_sys::Element = wasm_bindgen::JsCast::dyn_into(turns.get(at)?).ok()?;
        let place = turn.get_bounding_client_rect();
        if place.bottom() > header {
            return Some((turn.id(), place.top()));
        }
    }
    None
}

//! The panel beside a chat: it pushes where there is room and lies over the page where there is less; on a phone the tree
//! is a page of its own.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::TreeMap;
use super::state::TreeState;
use crate::api::view::tree::TreePageQuery;
use crate::browser::{document, focus, media, scroll};
use crate::domain::{Branch, ChatId, TurnId};
use crate::ui::deletion::DeletePart;
use crate::ui::erased::{effect, on_change, view};
use crate::ui::kit::Icon;
use crate::ui::messages::tree as said;
use crate::ui::transcript::turn_heading::{article_id, heading_id};

/// The panel's id, one of the regions that F6 goes through.
pub const PANEL_ID: &str = "panel";
/// The button that opens it.
pub const TREE_BUTTON_ID: &str = "tree-button";

/// What has the focus until there are rows.
const HEADING: &str = "#panel h2";

/// The chat on screen, as far as the panel needs it.
#[derive(Clone, Copy)]
pub struct ShownChat {
    pub chat: ChatId,
    pub leaf: Signal<Option<TurnId>>,
    pub changes: RwSignal<u64>,
    pub deleting: DeletePart,
    /// Told of a branch that was changed in the panel.
    pub on_branch: Callback<Branch>,
}

/// Whether the panel is open, and for which chat; in context.
#[derive(Clone, Copy)]
pub struct TreePanel {
    pub(super) is_open: RwSignal<bool>,
    pub(super) shown: RwSignal<Option<ShownChat>>,
}

/// Puts a closed panel into the context.
pub fn provide_panel() -> TreePanel {
    let panel = TreePanel { is_open: RwSignal::new(false), shown: RwSignal::new(None) };
    provide_context(panel);
    panel
}

impl TreePanel {
    /// Says which chat is on screen, until the caller is gone.
    pub fn attach_to(self, shown: ShownChat) {
        effect(move || self.shown.set(Some(shown)));
        on_cleanup(move || {
            if self.shown.try_with_untracked(|now| now.is_some_and(|now| now.chat == shown.chat)) == Some(true) {
                self.shown.set(None);
            }
        });
    }

    /// Whether it is on screen.
    pub fn is_open(self) -> bool {
        self.is_open.get() && self.shown.with(Option::is_some)
    }

    /// Opens or closes it. False where there is no chat beside it, or no room: then the tree is a page.
    pub fn toggle(self) -> bool {
        if media::is_phone() || self.shown.with_untracked(Option::is_none) {
            return false;
        }
        if self.is_open.get_untracked() {
            self.close();
        } else {
            self.is_open.set(true);
            // Opened by hand: the reader goes on in it.
            request_animation_frame(|| {
                focus::focus_first(HEADING);
            });
        }
        true
    }

    /// Closes it and gives the focus back.
    pub fn close(self) {
        let had_focus = focus::is_within("#panel");
        self.is_open.set(false);
        if had_focus {
            // What was behind it takes the focus again when it is no more behind anything.
            request_animation_frame(|| {
                focus::focus_first(&format!("#{TREE_BUTTON_ID}"));
            });
        }
    }

    /// Where the tree of the chat on screen is a page.
    pub fn tree_page_path(self) -> Option<String> {
        self.shown.with_untracked(|shown| shown.map(|shown| format!("/c/{}/tree", shown.chat)))
    }
}

/// Lets the panel of the tree stand beside this chat, and tells it when the chat has other turns.
pub fn attach_tree_panel(shown: ShownChat, running: Signal<Option<TurnId>>, leaves: RwSignal<u64>) {
    let Some(panel) = use_context::<TreePanel>() else { return };
    on_change(move || (running.get(), leaves.get()), move |_, _| shown.changes.update(|count| *count += 1));
    panel.attach_to(shown);
}

/// What the panel is called, and the ways to the other views of the tree.
#[component]
pub fn PanelHead(chat: ChatId, on_close: Callback<()>) -> impl IntoView {
    view! {
        <header class="panel-head">
            <h2 tabindex="-1">{said::tree_short()}</h2>
            <a class="button bare" rel="external" href=format!("/c/{chat}/branches")>{said::branches()}</a>
            <a class="button bare" rel="external" href=format!("/c/{chat}/drawing")>{said::drawing()}</a>
            <button type="button" class="button bare" on:click=move |_| on_close.run(())>
                <Icon name="close"/>
                <span class="quiet">{said::close_tree()}</span>
            </button>
        </header>
    }
}

/// What is in the panel of this chat.
pub(super) fn draw_map(panel: TreePanel, shown: ShownChat) -> AnyView {
    let navigate = use_navigate();
    let show = Callback::new(move |turn: TurnId| {
        if !media::is_wide() {
            panel.is_open.set(false);
        }
        navigate(&format!("/c/{}?at={turn}", shown.chat), NavigateOptions { scroll: false, ..Default::default() });
        // It may be on screen already; otherwise it is gone to when its path is.
        if document::has_element(&article_id(turn)) {
            scroll::scroll_to_element(&article_id(turn), (!media::is_wide()).then(|| heading_id(turn)).as_deref());
        }
    });
    let ask = TreePageQuery::new(shown.chat, shown.leaf.get_untracked());
    let state = TreeState::new(ask, None, show, shown.deleting, shown.on_branch);
    on_change(
        move || state.is_loaded(),
        move |_, _| {
            request_animation_frame(move || {
                // Who waits for the rows; anybody else goes on with what they do, such as typing in another chat.
                if focus::is_within(HEADING) {
                    state.focus();
                }
            });
        },
    );
    view! { <TreeMap state leaf=shown.leaf changes=shown.changes/> }
}

//! The tree panel beside a chat: it takes its own column where there is room, and overlays the page where there is
//! less; on a phone the tree is a page of its own.

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
use crate::ui::messages::tree as texts;
use crate::ui::transcript::turn_heading::{article_id, heading_id};

/// The panel's id, one of the regions that F6 cycles through.
pub const PANEL_ID: &str = "panel";
/// The id of the button that opens it.
pub const TREE_BUTTON_ID: &str = "tree-button";

/// The heading, which has the focus until there are rows.
const HEADING: &str = "#panel h2";

/// The chat on screen, as far as the panel needs it.
#[derive(Clone, Copy)]
pub struct ShownChat {
    pub chat: ChatId,
    pub leaf: Signal<Option<TurnId>>,
    pub changes: RwSignal<u64>,
    pub deleting: DeletePart,
    /// Receives a branch that was changed in the panel.
    pub on_branch: Callback<Branch>,
}

/// The open state of the panel and its chat, provided as context.
#[derive(Clone, Copy)]
pub struct TreePanel {
    pub(super) is_open: RwSignal<bool>,
    pub(super) shown: RwSignal<Option<ShownChat>>,
}

/// Provides a closed panel as context.
pub fn provide_panel() -> TreePanel {
    let panel = TreePanel { is_open: RwSignal::new(false), shown: RwSignal::new(None) };
    provide_context(panel);
    panel
}

impl TreePanel {
    /// Attaches the panel to the chat on screen, until the caller is disposed.
    pub fn attach_to(self, shown: ShownChat) {
        effect(move || self.shown.set(Some(shown)));
        on_cleanup(move || {
            if self.shown.try_with_untracked(|now| now.is_some_and(|now| now.chat == shown.chat)) == Some(true) {
                self.shown.set(None);
            }
        });
    }

    /// Returns whether the panel is shown.
    pub fn is_open(self) -> bool {
        self.is_open.get() && self.shown.with(Option::is_some)
    }

    /// Opens or closes the panel. False where there is no chat beside it, or no room: then the tree is a page.
    pub fn toggle(self) -> bool {
        if media::is_phone() || self.shown.with_untracked(Option::is_none) {
            return false;
        }
        if self.is_open.get_untracked() {
            self.close();
        } else {
            self.is_open.set(true);
            // Opened by the reader, so the focus moves into it.
            request_animation_frame(|| {
                focus::focus_first(HEADING);
            });
        }
        true
    }

    /// Closes the panel and restores the focus.
    pub fn close(self) {
        let had_focus = focus::is_within("#panel");
        self.is_open.set(false);
        if had_focus {
            // Elements behind the panel can take the focus only once they are no longer inert.
            request_animation_frame(|| {
                focus::focus_first(&format!("#{TREE_BUTTON_ID}"));
            });
        }
    }

    /// Returns the path of the tree page of the chat on screen.
    pub fn tree_page_path(self) -> Option<String> {
        self.shown.with_untracked(|shown| shown.map(|shown| format!("/c/{}/tree", shown.chat)))
    }
}

/// Attaches the tree panel to this chat, and tells it when the chat's turns change.
pub fn attach_tree_panel(shown: ShownChat, running: Signal<Option<TurnId>>, leaves: RwSignal<u64>) {
    let Some(panel) = use_context::<TreePanel>() else { return };
    on_change(move || (running.get(), leaves.get()), move |_, _| shown.changes.update(|count| *count += 1));
    panel.attach_to(shown);
}

/// The title of the panel, and links to the other views of the tree.
#[component]
pub fn PanelHead(chat: ChatId, on_close: Callback<()>) -> impl IntoView {
    view! {
        <header class="panel-head">
            <h2 tabindex="-1">{texts::tree_short()}</h2>
            <a class="button bare" rel="external" href=format!("/c/{chat}/branches")>{texts::branches()}</a>
            <a class="button bare" rel="external" href=format!("/c/{chat}/drawing")>{texts::drawing()}</a>
            <button type="button" class="button bare" on:click=move |_| on_close.run(())>
                <Icon name="close"/>
                <span class="quiet">{texts::close_tree()}</span>
            </button>
        </header>
    }
}

/// Renders the content of the panel for this chat.
pub(super) fn draw_map(panel: TreePanel, shown: ShownChat) -> AnyView {
    let navigate = use_navigate();
    let show = Callback::new(move |turn: TurnId| {
        if !media::is_wide() {
            panel.is_open.set(false);
        }
        navigate(&format!("/c/{}?at={turn}", shown.chat), NavigateOptions { scroll: false, ..Default::default() });
        // A turn on screen is scrolled to at once; another one once its path is shown.
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
                // Only a reader who waits at the heading is moved to the rows; others keep their focus, such as in
                // the message box of another chat.
                if focus::is_within(HEADING) {
                    state.focus();
                }
            });
        },
    );
    view! { <TreeMap state leaf=shown.leaf changes=shown.changes/> }
}

//! The panel beside a chat: its tree, or one of its pages that the server renders. It takes its own column where there is
//! room, and overlays the page where there is less (docs/adr/0080-pages-beside-the-chat.md).

pub mod page_view;
pub mod side_panel;

use leptos::ev::{self, MouseEvent};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::browser::{dialog, document, focus, media, scroll};
use crate::domain::{Branch, ChatId, TurnId};
use crate::ui::deletion::DeletePart;
use crate::ui::erased::{effect, on_change};
use crate::ui::kit::link::is_same_tab_click;
use crate::ui::transcript::turn_heading::{article_id, heading_id};

/// The panel's id, one of the regions that F6 cycles through.
pub const PANEL_ID: &str = "panel";
/// The id of the button that opens the tree.
pub const TREE_BUTTON_ID: &str = "tree-button";

/// The heading, which has the focus until there are rows.
pub const HEADING: &str = "#panel h2";

/// The pages at `/c/{chat}/…` that open beside the chat.
const CHAT_PAGES: [&str; 5] = ["branches", "compare", "drawing", "export", "settings"];

/// The chat on screen, as far as the panel needs it.
#[derive(Clone, Copy)]
pub struct ShownChat {
    pub chat: ChatId,
    pub leaf: Signal<Option<TurnId>>,
    pub changes: RwSignal<u64>,
    pub deleting: DeletePart,
    /// Receives a branch that was changed in the panel.
    pub on_branch: Callback<Branch>,
    /// Shows a turn in the chat.
    pub show: Callback<TurnId>,
    /// Polls the server for the changes that the panel has made.
    pub poll: Callback<()>,
}

/// The content of the panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanelContent {
    Tree,
    /// The page of this chat at an address of this server.
    Page {
        chat: ChatId,
        address: String,
    },
}

impl PanelContent {
    /// Returns the page of the chat at this address; none if it does not open beside the chat.
    fn page_at(chat: ChatId, address: &str) -> Option<Self> {
        let mut parts = address.split(['?', '#']).next()?.strip_prefix('/')?.split('/');
        let is_page = match (parts.next()?, parts.next()?, parts.next()?, parts.next(), parts.next()) {
            ("c", of, page, None, None) => of.parse::<ChatId>() == Ok(chat) && CHAT_PAGES.contains(&page),
            ("c", of, "grafts", Some(_), None) => of.parse::<ChatId>() == Ok(chat),
            ("turns", _, "sent" | "raw", None, None) => true,
            _ => false,
        };
        is_page.then(|| Self::Page { chat, address: address.to_owned() })
    }
}

/// The state of the panel and its chat, provided as context.
#[derive(Clone, Copy)]
pub struct ChatPanel {
    content: RwSignal<Option<PanelContent>>,
    shown: RwSignal<Option<ShownChat>>,
    /// The title of the page; empty until the page is loaded.
    title: RwSignal<String>,
    /// True if the panel overlays the chat.
    is_over: RwSignal<bool>,
    /// The id of the element that had the focus when the panel opened.
    opener: StoredValue<Option<String>>,
}

/// Provides a closed panel as context.
pub fn provide_panel() -> ChatPanel {
    let panel = ChatPanel {
        content: RwSignal::new(None),
        shown: RwSignal::new(None),
        title: RwSignal::new(String::new()),
        is_over: RwSignal::new(false),
        opener: StoredValue::new(None),
    };
    provide_context(panel);
    panel
}

impl ChatPanel {
    /// Attaches the panel to the chat on screen, until the caller is disposed. A page of another chat is closed; the tree
    /// follows the chat.
    pub fn attach_to(self, shown: ShownChat) {
        effect(move || {
            let is_foreign = |content: &Option<PanelContent>| matches!(content, Some(PanelContent::Page { chat, .. }) if *chat != shown.chat);
            if self.content.with_untracked(is_foreign) {
                self.content.set(None);
            }
            self.shown.set(Some(shown));
        });
        on_cleanup(move || {
            if self.shown.try_with_untracked(|now| now.is_some_and(|now| now.chat == shown.chat)) == Some(true) {
                self.shown.set(None);
            }
        });
    }

    /// Returns whether the tree is shown.
    pub fn is_tree_open(self) -> bool {
        self.content.with(|content| *content == Some(PanelContent::Tree)) && self.shown.with(Option::is_some)
    }

    /// Opens the tree, or closes it. False where there is no chat beside it, or no room: then the tree is a page.
    pub fn toggle_tree(self) -> bool {
        if media::is_phone() || self.shown.with_untracked(Option::is_none) {
            return false;
        }
        if self.content.with_untracked(|content| *content == Some(PanelContent::Tree)) {
            self.close();
        } else {
            self.show(PanelContent::Tree);
        }
        true
    }

    /// Opened by the reader, so the focus moves into the panel.
    fn show(self, content: PanelContent) {
        // The focus returns to the button of a menu that was open.
        dialog::close_popovers();
        if self.content.with_untracked(Option::is_none) {
            self.opener.set_value(focus::focused_id());
            self.title.set(String::new());
        }
        self.content.set(Some(content));
        request_animation_frame(|| {
            focus::focus_first(HEADING);
        });
    }

    /// Closes the panel and restores the focus.
    pub fn close(self) {
        let had_focus = focus::is_within("#panel");
        self.content.set(None);
        if had_focus {
            let opener = self.opener.get_value();
            // Elements behind the panel can take the focus only once they are no longer inert.
            request_animation_frame(move || {
                if let Some(id) = opener {
                    focus::focus_first(&format!("#{id}"));
                }
                if focus::is_unfocused() {
                    focus::focus_first(&format!("#{TREE_BUTTON_ID}"));
                }
            });
        }
    }

    /// Returns the path of the tree page of the chat on screen.
    pub fn tree_page_path(self) -> Option<String> {
        self.shown.with_untracked(|shown| shown.map(|shown| format!("/c/{}/tree", shown.chat)))
    }
}

/// Attaches the panel to this chat, tells it when the chat's turns change, and opens links to pages of the chat in it.
pub fn attach_panel(panel: ChatPanel, shown: ShownChat, running: Signal<Option<TurnId>>, leaves: RwSignal<u64>) {
    on_change(move || (running.get(), leaves.get()), move |_, _| shown.changes.update(|count| *count += 1));
    panel.attach_to(shown);
    effect(move || {
        let clicks = window_event_listener(ev::click, move |event: MouseEvent| {
            if event.default_prevented() || !is_same_tab_click(&event) {
                return;
            }
            let address = document::clicked_link(&event);
            if let Some(content) = address.and_then(|address| PanelContent::page_at(shown.chat, &address)) {
                event.prevent_default();
                panel.show(content);
            }
        });
        on_cleanup(move || clicks.remove());
    });
}

/// Returns the action that shows a turn of the chat. A panel that overlays the chat is closed.
pub fn show_turn_action(panel: ChatPanel, chat: ChatId) -> Callback<TurnId> {
    let navigate = use_navigate();
    Callback::new(move |turn: TurnId| {
        let is_over = !media::has_room_beside();
        if is_over {
            panel.content.set(None);
        }
        navigate(&format!("/c/{chat}?at={turn}"), NavigateOptions { scroll: false, ..Default::default() });
        // A turn on screen is scrolled to at once; another one once its path is shown.
        if document::has_element(&article_id(turn)) {
            scroll::scroll_to_element(&article_id(turn), is_over.then(|| heading_id(turn)).as_deref());
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_chat_open_beside_it_and_others_do_not() {
        let [chat, other]: [ChatId; 2] =
            [1, 2].map(|number| format!("0199a000-0000-7000-8000-00000000000{number}").parse().unwrap());
        let opens = |address: String| PanelContent::page_at(chat, &address).is_some();
        for page in ["branches", "compare?left=a&right=b", "drawing?zoom=50#here", "export", "settings", "grafts/1"] {
            assert!(opens(format!("/c/{chat}/{page}")), "{page}");
            assert!(!opens(format!("/c/{other}/{page}")), "{page}");
            assert!(!opens(format!("https://example.org/c/{chat}/{page}")), "{page}");
        }
        for page in ["/turns/1/sent?request=2", "/turns/1/raw"] {
            assert!(opens(page.to_owned()), "{page}");
        }
        for page in ["tree", "tools", "find", "print", "settings/more", "grafts", "grafts/1/2", "?at=1"] {
            assert!(!opens(format!("/c/{chat}/{page}")), "{page}");
        }
        for page in ["/", "", "#here", "/c", "/turns/1/edit", "/turns/1/calls/2", "/settings/data", "//c/1/export"] {
            assert!(!opens(page.to_owned()), "{page}");
        }
    }
}

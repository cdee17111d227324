//! The page around a document of a tool server. It works without script, as far as the document does.

use leptos::prelude::*;

use super::messages;
use super::turns::turn_address;
use super::{PageSection, ServerPage};
use crate::domain::{BlockId, Turn};
use crate::ui::erased::view;
use crate::ui::messages::transcript as words;
use crate::ui::sandboxed_frame::AppViewFrame;

/// The page.
pub struct AppViewPage<'a> {
    pub turn: &'a Turn,
    /// The block of the call.
    pub block: BlockId,
    /// The display names of the tool and of its server.
    pub title: &'a str,
    pub server: &'a str,
}

impl AppViewPage<'_> {
    pub fn draw(&self) -> ServerPage {
        let body = view! {
            <p><a href=turn_address(self.turn)>{messages::back_to_chat()}</a></p>
            <p class="hint" dir="auto">{words::about_view(self.server)}</p>
            <AppViewFrame turn=self.turn.id block=self.block server=self.server.to_owned()/>
        };
        ServerPage { section: PageSection::Chat, title: self.title.to_owned(), notice: None, body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fixtures::reply;

    #[test]
    fn document_is_only_framed_in_sandbox() {
        let turn = reply(2, []);
        let block = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let page = AppViewPage { turn: &turn, block, title: "<b>Weather</b>", server: "<i>Skies</i>" };
        let html = Owner::new().with(|| page.draw().body.to_html()).replace("<!>", "");
        assert!(html.contains("sandbox=\"allow-scripts\"") && !html.contains("allow-same-origin"), "{html}");
        assert!(html.contains(&format!("src=\"/turns/{}/calls/{block}/view/document\"", turn.id)), "{html}");
        assert!(html.contains("&lt;i&gt;Skies&lt;/i&gt;") && !html.contains("<i>"), "{html}");
        assert!(html.contains(&turn_address(&turn)), "{html}");
    }
}

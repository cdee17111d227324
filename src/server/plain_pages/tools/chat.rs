//! The page of a chat's tools: which are offered, and whether a branch that began with others uses them from now on.

use leptos::prelude::*;

use super::choice;
use crate::domain::tool::{OfferedTool, ToolSpec};
use crate::domain::{Branch, ChatId};
use crate::server::plain_pages::words::{self as all_words, tools as words};
use crate::server::plain_pages::{Page, Said, Section};
use crate::server::service::tool_choice::ChatTools;
use crate::server::service::tool_servers::{ToolServerView, ToolView};
use crate::server::service::toolbox::LeftOut;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::words::told::told;

/// What the page shows.
pub struct ChatToolsPage {
    pub chat: ChatId,
    pub tools: ChatTools,
    pub built_in: Vec<ToolView>,
    pub servers: Vec<ToolServerView>,
    /// The branch that the chat shows, with what it offers.
    pub branch: Option<(Branch, Vec<OfferedTool>)>,
    /// What a branch with the same model would be given now.
    pub offered_now: Vec<OfferedTool>,
    /// What that model's provider brings.
    pub of_provider: Vec<OfferedTool>,
    /// The branch's model takes no tools.
    pub takes_none: bool,
    /// What was allowed in this chat once and for all: the server's id, the tool.
    pub allowed: Vec<(String, String)>,
    pub said: Option<Said>,
}

impl ChatToolsPage {
    /// The page, for its frame.
    pub fn draw(self) -> Page {
        let is_bare = self.built_in.is_empty() && self.servers.is_empty();
        let bare = is_bare.then(|| view! { <p class="hint">{words::none_at_all()}</p> });
        let takes_none = self.takes_none.then(|| view! { <p class="said warn"><span>{words::takes_none()}</span></p> });
        let ticks = choice(&self.built_in, &self.servers, &self.of_provider, &self.tools.choice, "chat");
        let body = view! {
            <p><a href=format!("/c/{}", self.chat)>{all_words::back_to_chat()}</a></p>
            <p class="lead">{words::of_chat_lead()}</p>
            <p class="hint">{words::settings()}" "<a href="/settings/tools">{words::to_settings()}</a></p>
            {takes_none}
            {bare}
            <form class="form" method="post" action=format!("/c/{}/tools", self.chat)>
                {ticks}
                <p class="hint">{words::for_new()}</p>
                <div class="deeds"><button type="submit" class="button primary">{words::save()}</button></div>
            </form>
            {self.allowed()}
            {client(&self.tools.choice.client)}
            {left_out(&self.tools.selection.left_out)}
            {self.now()}
        };
        Page { section: Section::Chat, title: words::of_chat().into(), said: self.said, body }
    }

    /// What the chat does not ask about any more, with the way to be asked again.
    fn allowed(&self) -> Option<AnyView> {
        let row = |(server, tool): &(String, String)| {
            let of_server = self.servers.iter().find(|view| view.id == *server).map(|view| view.name.clone());
            let of_server = of_server.map(|name| view! { <span class="hint" dir="auto">" "{name}</span> });
            view! {
                <li class="allowed-tool">
                    <span><code><bdi>{tool.clone()}</bdi></code>{of_server}</span>
                    <form method="post" action="/forms/tools/ask-again">
                        <input type="hidden" name="chat_id" value=self.chat.to_string()/>
                        <input type="hidden" name="server" value=server.clone()/>
                        <input type="hidden" name="tool" value=tool.clone()/>
                        <button type="submit" class="button"><Icon name="retry"/>{words::ask_again()}<span class="quiet">" "{tool.clone()}</span></button>
                    </form>
                </li>
            }
        };
        (!self.allowed.is_empty()).then(|| {
            view! {
                <section class="panel" aria-labelledby="allowed-title">
                    <h2 id="allowed-title">{words::allowed_here()}</h2>
                    <p class="hint">{words::allowed_here_what()}</p>
                    <ul class="allowed-tools">{self.allowed.iter().map(row).collect_view()}</ul>
                </section>
            }
        })
    }

    /// The button for a branch that offers something else.
    fn now(&self) -> Option<AnyView> {
        let (branch, offers) = self.branch.as_ref().filter(|(branch, _)| branch.head_turn_id.is_some())?;
        let same = offers.len() == self.offered_now.len()
            && offers.iter().zip(&self.offered_now).all(|(has, would_have)| has.is_as(would_have));
        if self.takes_none || same {
            return None;
        }
        Some(view! {
            <form class="form" method="post" action="/forms/branch-tools">
                <input type="hidden" name="branch_id" value=branch.id.to_string()/>
                <p class="hint" id="now-hint" dir="auto">{words::now_hint(&branch.name)}</p>
                <div class="deeds"><button type="submit" class="button" aria-describedby="now-hint">{words::now()}</button></div>
            </form>
        })
    }
}

fn client(tools: &[ToolSpec]) -> Option<AnyView> {
    let row = |tool: &ToolSpec| {
        view! { <li><code><bdi>{tool.name.clone()}</bdi></code>" "<span dir="auto">{tool.description.clone()}</span></li> }
    };
    (!tools.is_empty()).then(|| {
        view! { <h2>{words::client()}</h2><ul class="listed-tools">{tools.iter().map(row).collect_view()}</ul> }
    })
}

fn left_out(tools: &[LeftOut]) -> Option<AnyView> {
    let row = |left: &LeftOut| view! { <li><code><bdi>{left.name.clone()}</bdi></code>" "<span dir="auto">{told(&left.why).into_owned()}</span></li> };
    (!tools.is_empty()).then(|| {
        view! { <h2>{words::left_out()}</h2><ul class="listed-tools">{tools.iter().map(row).collect_view()}</ul> }
    })
}

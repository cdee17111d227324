//! The page of a chat's tools: the offered ones, and whether the present branch uses the new choice from now on.

use leptos::prelude::*;

use super::tool_choice_fields;
use crate::domain::tools::tool::{OfferedTool, ToolSpec};
use crate::domain::{Branch, ChatId};
use crate::server::server_pages::chat_settings::chat_paths;
use crate::server::server_pages::messages::{self as all_words, tools as words};
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::coded_messages::coded_sentence;
use turnleaf_service::tools::choice::ChatTools;
use turnleaf_service::tools::servers::{StoredPolicy, ToolServerView, ToolView};
use turnleaf_service::tools::toolbox::LeftOutTool;

/// The content of the page.
pub struct ChatToolsPage {
    /// `None` for a new chat that its first message creates.
    pub chat: Option<ChatId>,
    pub tools: ChatTools,
    pub built_in: Vec<ToolView>,
    pub servers: Vec<ToolServerView>,
    /// The branch that the chat shows.
    pub branch: Option<Branch>,
    /// The tools of the model's provider.
    pub provider_tools: Vec<OfferedTool>,
    /// True when the branch's model takes no tools.
    pub no_tool_support: bool,
    /// The stored policies that allow tools in this chat.
    pub allowed_policies: Vec<StoredPolicy>,
    pub notice: Option<ActionNotice>,
}

impl ChatToolsPage {
    /// Renders the page.
    pub fn draw(self) -> ServerPage {
        let is_bare = self.built_in.is_empty() && self.servers.is_empty();
        let bare = is_bare.then(|| view! { <p class="hint">{words::none_at_all()}</p> });
        let no_tool_support =
            self.no_tool_support.then(|| view! { <p class="said warn"><span>{words::no_tool_support()}</span></p> });
        let ticks = tool_choice_fields(&self.built_in, &self.servers, &self.provider_tools, &self.tools.choice, "chat");
        let (back, chat_path) = chat_paths(self.chat);
        let next = self.chat.is_none().then(|| view! { <p class="lead">{all_words::next_chat_hint()}</p> });
        let searched = self.tools.selection.searched.len();
        let searched =
            (searched > 0).then(|| view! { <p class="said warn"><span>{words::searched(searched)}</span></p> });
        let body = view! {
            <p><a href=back>{all_words::back_to_chat()}</a></p>
            {next}
            <p class="lead">{words::chat_tools_lead()}</p>
            <p class="hint">{words::settings()}" "<a href="/settings/tools">{words::to_settings()}</a></p>
            {no_tool_support}
            {bare}
            <form class="form" method="post" action=format!("{chat_path}/tools")>
                {ticks}
                {self.chat.map(|_| self.branch_choice())}
                <div class="deeds"><button type="submit" class="button primary">{words::save()}</button></div>
            </form>
            {self.allowed()}
            {client(&self.tools.choice.client)}
            {searched}
            {left_out(&self.tools.selection.left_out)}
        };
        ServerPage { section: PageSection::Chat, title: words::of_chat().into(), notice: self.notice, body }
    }

    /// Renders the tools that are allowed in this chat, each with a form that revokes it.
    fn allowed(&self) -> Option<AnyView> {
        let chat = self.chat?;
        let row = |StoredPolicy { server, tool, host, .. }: &StoredPolicy| {
            let of_server = self.servers.iter().find(|view| view.id == *server).map(|view| view.name.clone());
            let of_server = of_server.map(|name| view! { <span class="hint" dir="auto">" "{name}</span> });
            let at_host = host.clone().map(|host| view! { " "<bdi>{host}</bdi> });
            let host = host.clone().map(|host| view! { <input type="hidden" name="host" value=host/> });
            view! {
                <li class="allowed-tool">
                    <span><code><bdi>{tool.clone()}</bdi></code>{at_host}{of_server}</span>
                    <form method="post" action="/forms/tools/ask-again">
                        <input type="hidden" name="chat_id" value=chat.to_string()/>
                        <input type="hidden" name="server" value=server.clone()/>
                        <input type="hidden" name="tool" value=tool.clone()/>
                        {host}
                        <button type="submit" class="button"><Icon name="retry"/>{words::ask_again()}<span class="quiet">" "{tool.clone()}</span></button>
                    </form>
                </li>
            }
        };
        (!self.allowed_policies.is_empty()).then(|| {
            view! {
                <section class="panel" aria-labelledby="allowed-title">
                    <h2 id="allowed-title">{words::allowed_here()}</h2>
                    <p class="hint">{words::allowed_here_hint()}</p>
                    <ul class="allowed-tools">{self.allowed_policies.iter().map(row).collect_view()}</ul>
                </section>
            }
        })
    }

    /// Renders the choice of branches: new ones, and by default the present one.
    fn branch_choice(&self) -> AnyView {
        let branch = self.branch.as_ref().filter(|branch| branch.head_turn_id.is_some() && !self.no_tool_support);
        let now = branch.map(|branch| {
            view! {
                <div>
                    <label class="tick">
                        <input type="checkbox" name="now" value=branch.id.to_string() checked=true aria-describedby="now-hint"/>
                        <span>{words::use_now()}</span>
                    </label>
                    <p class="hint tick-hint" id="now-hint" dir="auto">{words::use_now_hint(&branch.name)}</p>
                </div>
            }
        });
        view! { {now} <p class="hint">{words::for_new()}</p> }
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

fn left_out(tools: &[LeftOutTool]) -> Option<AnyView> {
    let row = |left: &LeftOutTool| view! { <li><code><bdi>{left.name.clone()}</bdi></code>" "<span dir="auto">{coded_sentence(&left.message())}</span></li> };
    (!tools.is_empty()).then(|| {
        view! { <h2>{words::left_out()}</h2><ul class="listed-tools">{tools.iter().map(row).collect_view()}</ul> }
    })
}

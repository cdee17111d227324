//! The page "Tools": built-in tools, tool servers, approval policies, and the default of new chats. All texts of a
//! server are untrusted and rendered as plain, uncut text.

pub mod chat;
pub mod import;
mod rows;
mod server;
pub mod sign_in;
pub mod tool_server_form;
pub mod web_search;

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use super::messages::tools as words;
use super::{ActionNotice, PageSection, ServerPage};
use crate::domain::tools::tool::{OfferedTool, ToolChoice, ToolOrigin};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::join_list;
use turnleaf_service::tools::servers::{ToolServerView, ToolView};

pub use rows::{DEFAULT_POLICY, SERVER_POLICY};
pub use tool_server_form::{LIMIT_FIELDS, ToolServerForm, ToolServerFormValues};
use web_search::WebSearchPanel;

/// The content of the page.
pub struct ToolsPage {
    pub built_in: Vec<ToolView>,
    pub servers: Vec<ToolServerView>,
    pub search: WebSearchPanel,
    /// Tools that providers run themselves, each with its providers.
    pub provider_tools: Vec<(String, Vec<String>)>,
    /// The default tools of new chats.
    pub default: ToolChoice,
    pub now: DateTime<Utc>,
    pub notice: Option<ActionNotice>,
    /// The form of a new server that is being filled in.
    pub adding: ToolServerForm,
    /// The server that is being edited, with its form.
    pub editing: Option<(String, ToolServerForm)>,
}

impl ToolsPage {
    /// Renders the page.
    pub fn draw(self) -> ServerPage {
        let cards: Vec<AnyView> = self.servers.iter().map(|server| self.card(server)).collect();
        let empty = cards.is_empty().then(|| view! { <p class="hint">{words::no_servers()}</p> });
        let own = (!self.built_in.is_empty()).then(|| {
            view! {
                <section class="panel" aria-labelledby="own-title">
                    <h2 id="own-title">{words::built_in()}</h2>
                    {rows::policies_form("", &self.built_in, false)}
                </section>
            }
        });
        let search = self.search.draw(self.now);
        let provided = self.provider_tools_section();
        let adding = self.adding.draw_new();
        let defaults = self.defaults();
        ServerPage {
            section: PageSection::Tools,
            title: words::title().into(),
            notice: self.notice,
            body: view! {
                <p class="lead">{words::lead()}</p>
                {own}
                {search}
                {provided}
                {defaults}
                {empty}
                {cards}
                <section id="add" class="panel" aria-labelledby="add-title">
                    <h2 id="add-title"><Icon name="plus"/>{words::add()}</h2>
                    <p class="hint">{words::add_hint()}</p>
                    <p><a class="button" href="/settings/tools/import">{words::import_servers()}</a></p>
                    {adding}
                </section>
            },
        }
    }

    /// Renders the tools that providers run, which need no approval.
    fn provider_tools_section(&self) -> Option<AnyView> {
        let row = |(tool, providers): &(String, Vec<String>)| {
            view! { <li><strong>{words::provider_tool_name(tool)}</strong>" "<span class="hint" dir="auto" data-own="">{join_list(providers)}</span></li> }
        };
        (!self.provider_tools.is_empty()).then(|| {
            view! {
                <section class="panel" aria-labelledby="provided-title">
                    <h2 id="provided-title">{words::provider_tools()}</h2>
                    <p class="hint">{words::provider_tools_hint()}</p>
                    <ul class="listed-tools">{self.provider_tools.iter().map(row).collect_view()}</ul>
                </section>
            }
        })
    }

    fn card(&self, server: &ToolServerView) -> AnyView {
        match &self.editing {
            Some((id, form)) if *id == server.id => form.draw_change(server),
            _ => server::draw(server, self.now),
        }
    }

    fn defaults(&self) -> AnyView {
        let ticks = tool_choice_fields(&self.built_in, &self.servers, &[], &self.default, "default");
        view! {
            <section id="new-chats" class="panel" aria-labelledby="new-title" data-saves="">
                <h2 id="new-title">{words::new_chats()}</h2>
                <p class="hint">{words::new_chats_hint()}</p>
                <form class="form" method="post" action="/forms/tools/default">
                    {ticks}
                    <div class="deeds without-script"><button type="submit" class="button">{words::save()}</button></div>
                </form>
            </section>
        }
    }
}

/// Renders a checkbox for each tool and each whole server. A chosen tool that does not exist now stays chosen.
pub(super) fn tool_choice_fields(
    built_in: &[ToolView],
    servers: &[ToolServerView],
    of_provider: &[OfferedTool],
    chosen: &ToolChoice,
    form: &'static str,
) -> AnyView {
    let is_on = |name: &str| chosen.on.iter().any(|on| on == name);
    let named = |tool: &OfferedTool| tool.origin.as_ref().and_then(ToolOrigin::full_name);
    let provided = (!of_provider.is_empty()).then(|| {
        let tick = |tool: &OfferedTool| {
            let name = named(tool)?;
            Some(rows::named_checkbox(form, &name, tool.provider_tool_name().map(words::provider_tool_name).unwrap_or_default(), is_on(&name)))
        };
        let ticks = of_provider.iter().filter_map(tick).collect_view();
        view! { <fieldset><legend>{words::model_provider_tools()}</legend><p class="hint">{words::model_provider_tools_hint()}</p>{ticks}</fieldset> }
    });
    let own = (!built_in.is_empty()).then(|| {
        let ticks = built_in
            .iter()
            .enumerate()
            .map(|(at, tool)| rows::tool_checkbox(form, at, tool, is_on(&tool.name)))
            .collect_view();
        view! { <fieldset><legend>{words::built_in()}</legend>{ticks}</fieldset> }
    });
    let of_servers = servers.iter().filter(|server| server.is_enabled).map(|server| {
        let whole = format!("{}/*", server.id);
        let all = rows::server_checkbox(form, &whole, is_on(&whole));
        let of_server = format!("{form}-{}", server.id);
        let tick = |(at, tool): (usize, &ToolView)| rows::tool_checkbox(&of_server, at, tool, is_on(&tool.name));
        let tools: Vec<&ToolView> = server.tools.iter().filter(|tool| !tool.is_closed_to_models).collect();
        let count = tools.len();
        let ticks = tools.into_iter().enumerate().map(tick).collect_view();
        let each = if count == 0 {
            view! { <p class="hint">{words::no_tools()}</p> }
        } else {
            view! {
                <details class="fold" open=count <= 8>
                    <summary>{words::tools(count)}<Icon name="chevron-down"/></summary>
                    <div>{ticks}</div>
                </details>
            }
        };
        view! {
            <fieldset>
                <legend><bdi>{server.name.clone()}</bdi></legend>
                {all}
                {each}
            </fieldset>
        }
    });
    let of_servers = of_servers.collect_view();
    let shown: HashSet<String> = built_in
        .iter()
        .map(|tool| tool.name.clone())
        .chain(of_provider.iter().filter_map(named))
        .chain(servers.iter().filter(|server| server.is_enabled).flat_map(|server| {
            let tools = server.tools.iter().map(|tool| tool.name.clone());
            tools.chain([format!("{}/*", server.id)]).collect::<Vec<_>>()
        }))
        .collect();
    let kept = chosen.on.iter().filter(|name| !shown.contains(*name));
    let kept = kept.map(|name| view! { <input type="hidden" name="on" value=name.clone()/> }).collect_view();
    view! { {own}{provided}{of_servers}{kept} }
}

//! Tools as rows: the description of each, and its policy.

use std::borrow::Cow;

use leptos::prelude::*;

use crate::domain::text::excerpt::first_words;
use crate::server::server_pages::form_fields::{FieldKind, SelectField, TextField};
use crate::server::server_pages::messages::built_in_tools::tool_description;
use crate::server::server_pages::messages::tools as words;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::colon;
use crate::ui::messages::server_messages::tool_title;
use crate::ui::messages::transcript::claimed_effects;
use turnleaf_service::tools::servers::ToolView;

/// The value of a tool's policy that leaves it to the policy of its server, and of a server's policy that leaves it to
/// the configuration.
pub const SERVER_POLICY: &str = "server";
pub const DEFAULT_POLICY: &str = "default";

/// Renders the policies of one server's tools as a form. `server` is empty for built-in tools. `has_server_policy` says
/// whether the server has a policy, which applies to tools without one.
pub fn policies_form(server: &str, tools: &[ToolView], has_server_policy: bool) -> AnyView {
    let rows = tools.iter().enumerate().map(|(at, tool)| row(server, at, tool, has_server_policy)).collect_view();
    let hosts = tools.iter().filter_map(|tool| Some(hosts(tool, tool.hosts.as_ref()?))).collect_view();
    view! {
        <form class="form" id=format!("policies-{server}") method="post" action="/forms/tools/policies" data-saves="">
            <input type="hidden" name="server" value=server.to_owned()/>
            <ul class="listed-tools">{rows}</ul>
            <div class="deeds without-script"><button type="submit" class="button">{words::save_policies()}</button></div>
        </form>
        {hosts}
    }
}

/// Renders the hosts that a tool may reach in every chat, each with a form that revokes it, and a form that adds one.
fn hosts(tool: &ToolView, allowed: &[String]) -> AnyView {
    let name = title(tool).into_owned();
    let row = |host: &String| {
        view! {
            <li class="allowed-tool">
                <span><bdi>{host.clone()}</bdi></span>
                <form method="post" action="/forms/tools/hosts">
                    <input type="hidden" name="tool" value=tool.tool.clone()/>
                    <input type="hidden" name="host" value=host.clone()/>
                    <button type="submit" class="button" name="how" value="ask"><Icon name="retry"/>{words::ask_again()}<span class="quiet">" "{host.clone()}</span></button>
                </form>
            </li>
        }
    };
    let list = (!allowed.is_empty())
        .then(|| view! { <ul class="allowed-tools">{allowed.iter().map(row).collect_view()}</ul> });
    let form = format!("hosts-{}", tool.tool);
    let field = TextField {
        label: words::host(),
        name: "host",
        form: &form,
        kind: FieldKind::Code,
        is_required: true,
        ..TextField::default()
    };
    view! {
        <h3>{words::allowed_hosts(&name)}</h3>
        <p class="hint">{words::allowed_hosts_hint()}</p>
        {list}
        <form class="form" method="post" action="/forms/tools/hosts">
            <input type="hidden" name="tool" value=tool.tool.clone()/>
            {field.draw()}
            <div class="deeds"><button type="submit" class="button" name="how" value="allow">{words::allow_host()}</button></div>
        </form>
    }
}

fn row(server: &str, at: usize, tool: &ToolView, has_server_policy: bool) -> AnyView {
    let form = format!("policy-{server}-{at}");
    let hint = match tool.policy_set_by {
        "configuration" if tool.has_changed => Some(words::changed_since_trusted()),
        _ if tool.has_changed => Some(words::changed()),
        "server" => Some(words::by_server()),
        "configuration" => Some(words::trusted()),
        _ if tool.hosts.is_some() => Some(words::by_host()),
        _ if tool.asks_when_exposed => Some(words::asks_when_exposed()),
        "default" if words::policy_value(tool.policy) == "allow" => Some(words::harmless()),
        _ => None,
    };
    let may_choose = |(value, _): &(&str, &str)| tool.hosts.is_none() || *value != "allow";
    let of_server = has_server_policy.then(|| (SERVER_POLICY, words::as_for_server()));
    let options: Vec<(&str, &str)> =
        of_server.into_iter().chain(words::policies().into_iter().filter(may_choose)).collect();
    let chosen = if tool.policy_set_by == "server" { SERVER_POLICY } else { words::policy_value(tool.policy) };
    let choice = SelectField {
        label: words::when_called(),
        name: "policy",
        form: &form,
        options: &options,
        chosen,
        hint,
        error: None,
    };
    view! {
        <li data-tool=tool.name.clone()>
            <fieldset>
                {about(tool)}
                <input type="hidden" name="tool" value=tool.tool.clone()/>
                <input type="hidden" name="was" value=chosen/>
                {choice.draw()}
            </fieldset>
        </li>
    }
}

/// Renders name, description and schema as plain text.
fn about(tool: &ToolView) -> AnyView {
    let other_name =
        (tool.title != tool.tool).then(|| view! { " "<code class="hint"><bdi>{tool.tool.clone()}</bdi></code> });
    let hidden = (tool.hidden_characters > 0).then(
        || view! { " "<span class="badge warn"><Icon name="alert"/>{words::hidden(tool.hidden_characters)}</span> },
    );
    let claims = claimed_effects(&tool.hints);
    let claims = claims.map(|claims| view! { <p class="hint">{words::server_description()}{colon()}{claims}</p> });
    let closed = tool.is_closed_to_models.then(|| view! { <p class="hint">{words::only_for_views()}</p> });
    let icon = tool.icon.clone().map(|src| view! { <img class="tool-icon" src=src alt="" width="20" height="20"/> });
    let schema = serde_json::to_string_pretty(&tool.schema).unwrap_or_default();
    view! {
        <legend class="listed-name">{icon}<strong><bdi>{title(tool).into_owned()}</bdi></strong>{other_name}{hidden}</legend>
        <p class="listed-says" dir="auto">{description(tool).into_owned()}</p>
        {claims}
        {closed}
        <details class="fold">
            <summary>{words::arguments()}<span class="quiet">{colon()}<bdi>{title(tool).into_owned()}</bdi></span><Icon name="chevron-down"/></summary>
            <pre class="listed-schema" dir="auto" tabindex="0">{schema}</pre>
        </details>
    }
}

/// The number of characters of a server's description that are shown below the name in a choice.
const HINT_CHARS: usize = 200;

/// Renders a tool's checkbox in a choice. `form` and `at` make the id, because a tool's name may contain any
/// character.
pub fn tool_checkbox(form: &str, at: usize, tool: &ToolView, is_on: bool) -> AnyView {
    let hint_id = format!("{form}-{at}-hint");
    let hidden = (tool.hidden_characters > 0)
        .then(|| view! { " "<span class="badge warn">{words::hidden(tool.hidden_characters)}</span> });
    let hint = (!tool.description.is_empty()).then(|| {
        let whole = description(tool);
        // The rest of a server's long description is for the model.
        let shown = if is_built_in(tool) { whole.into_owned() } else { first_words(&whole, HINT_CHARS) };
        view! { <p class="hint tick-hint" id=hint_id.clone() dir="auto">{shown}</p> }
    });
    let described = hint.is_some().then_some(hint_id);
    view! {
        <div>
            <label class="tick">
                <input type="checkbox" name="on" value=tool.name.clone() checked=is_on aria-describedby=described/>
                <span><bdi>{title(tool).into_owned()}</bdi>{hidden}</span>
            </label>
            {hint}
        </div>
    }
}

/// Renders the checkbox for all tools of a server.
pub fn server_checkbox(form: &str, name: &str, is_on: bool) -> AnyView {
    named_checkbox(form, name, words::whole_server().to_owned(), is_on)
}

/// Renders the checkbox for a name without a description.
pub fn named_checkbox(form: &str, name: &str, title: String, is_on: bool) -> AnyView {
    let id = format!("{form}-{name}");
    view! {
        <label class="tick">
            <input type="checkbox" name="on" id=id value=name.to_owned() checked=is_on/>
            <span>{title}</span>
        </label>
    }
}

/// Returns whether a tool is built in: the name of another one begins with that of its server.
fn is_built_in(tool: &ToolView) -> bool {
    tool.name == tool.tool
}

/// Returns the title of a tool: localized for a built-in tool, else unchanged.
fn title(tool: &ToolView) -> Cow<'_, str> {
    if is_built_in(tool) { tool_title(&tool.tool, &tool.title) } else { Cow::Borrowed(&tool.title) }
}

/// Returns the description of a tool: localized for a built-in tool, else unchanged.
fn description(tool: &ToolView) -> Cow<'_, str> {
    if is_built_in(tool) { tool_description(&tool.tool, &tool.description) } else { Cow::Borrowed(&tool.description) }
}

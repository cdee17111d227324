//! The card of a tool server: status, address, log, tools, actions.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use super::rows;
use crate::domain::text::hidden_text::{count_hidden_characters, visible_text};
use crate::server::server_pages::card_actions::{CardActions, fact};
use crate::server::server_pages::form_fields::{SelectField, checkbox};
use crate::server::server_pages::messages::providers::time_ago;
use crate::server::server_pages::messages::{tool_sign_in, tools as words};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::join_list;
use turnleaf_service::tools::servers::ToolServerView;

/// Renders the card.
pub fn draw(server: &ToolServerView, now: DateTime<Utc>) -> AnyView {
    let title = format!("server-{}-title", server.id);
    let labelled = title.clone();
    let state = server.status.state;
    let since = server.status.since.map(|since| {
        let exact = since.format("%Y-%m-%d %H:%M UTC").to_string();
        let ago = time_ago((now - since).num_seconds());
        view! { <span class="hint">" "{words::status_changed()}" "<time datetime=since.to_rfc3339() title=exact>{ago}</time></span> }
    });
    let detail = words::status_detail(&server.status.message());
    let status =
        (detail.is_some() || since.is_some()).then(|| view! { <p class="status-line" dir="auto">{detail}{since}</p> });
    let tools = if server.tools.is_empty() {
        view! { <p class="hint">{words::no_tools()}</p> }
    } else {
        view! {
            <details class="fold" id=format!("tools-{}", server.id)>
                <summary>{words::tools(server.tools.len())}<span class="quiet">" "{server.name.clone()}</span><Icon name="chevron-down"/></summary>
                {rows::policies_form(&server.id, &server.tools, server.policy_set_by == "you")}
            </details>
        }
    };
    let log = (!server.status.log.is_empty()).then(|| {
        view! {
            <details class="fold">
                <summary>{words::log()}<Icon name="chevron-down"/></summary>
                <pre class="listed-schema" dir="auto" tabindex="0">{server.status.log.clone()}</pre>
            </details>
        }
    });
    view! {
        <article id=format!("server-{}", server.id) class="panel provider" data-server=server.id.clone() aria-labelledby=labelled>
            <header class="card-head">
                <h2 id=title><bdi>{server.name.clone()}</bdi></h2>
                <span class="state" data-state=status_colour(state)><span class="state-dot" aria-hidden="true"></span>{words::server_state(state)}</span>
            </header>
            {status}
            {facts(server)}
            {server_policy(server)}
            {instructions(server)}
            {tools}
            {log}
            {actions(server)}
        </article>
    }
}

/// Returns the colour of the status dot, by the states of connections.
fn status_colour(state: &str) -> &'static str {
    match state {
        "working" => "working",
        "off" | "not_started" | "starting" => "off",
        _ => "failing",
    }
}

fn facts(server: &ToolServerView) -> AnyView {
    let locked =
        server.locked.then(|| view! { <p class="said warn"><Icon name="lock"/><span>{words::set_by()}</span></p> });
    let kind = if server.kind == "program" { words::kind_program() } else { words::KIND_HTTP };
    let optional = |name, value: Option<String>| value.map(|value| fact(name, value));
    let headers = Some(join_list(&server.headers)).filter(|names| !names.is_empty());
    let signed_in = server.sign_in.as_ref().filter(|sign_in| sign_in.state != "signed_out");
    let signed_in = signed_in.map(|sign_in| tool_sign_in::state(sign_in.state).to_owned());
    let network = (server.kind != "program").then(|| {
        fact(words::network(), if server.local_network { words::local_yes() } else { words::local_no() }.to_owned())
    });
    view! {
        {locked}
        <dl class="facts">
            {fact(words::id(), server.id.clone())}
            {fact(words::kind(), kind.to_owned())}
            {optional(words::program(), server.program.clone())}
            {optional(words::address(), server.url.clone())}
            {optional(words::headers(), headers)}
            {optional(tool_sign_in::status(), signed_in)}
            {network}
            {optional(words::calls_itself(), server.status.implementation.clone())}
        </dl>
    }
}

/// Renders the permission of the tools that have none of their own. It is saved by a button, because one choice covers
/// many tools.
fn server_policy(server: &ToolServerView) -> AnyView {
    let form = format!("server-policy-{}", server.id);
    let chosen = if server.policy_set_by == "you" { words::policy_value(server.policy) } else { rows::DEFAULT_POLICY };
    let default = match server.policy_set_by {
        "configuration" => words::as_configured(),
        _ => words::not_set(),
    };
    let options: Vec<(&str, &str)> = [(rows::DEFAULT_POLICY, default)].into_iter().chain(words::policies()).collect();
    let choice = SelectField {
        label: words::server_policy(),
        name: "policy",
        form: &form,
        options: &options,
        chosen,
        hint: Some(words::server_policy_hint()),
        error: None,
    };
    view! {
        <form class="form" method="post" action="/forms/tools/server-policy">
            <input type="hidden" name="id" value=server.id.clone()/>
            {choice.draw()}
            <div class="deeds"><button type="submit" class="button">{words::save_for_server()}<span class="quiet">" "{server.name.clone()}</span></button></div>
        </form>
    }
}

/// Renders the instructions of the server with their switch; none where it gives none and the switch is on.
fn instructions(server: &ToolServerView) -> Option<AnyView> {
    if server.instructions.is_empty() && server.offers_instructions {
        return None;
    }
    let form = format!("instructions-{}", server.id);
    let hidden = count_hidden_characters(&server.instructions);
    let hidden = (hidden > 0)
        .then(|| view! { <p class="said warn"><Icon name="alert"/><span>{words::hidden(hidden)}</span></p> });
    let text = (!server.instructions.is_empty()).then(|| {
        view! { <pre class="listed-schema" dir="auto" tabindex="0">{visible_text(&server.instructions)}</pre> }
    });
    let hint = Some(words::instructions_hint());
    Some(view! {
        <details class="fold">
            <summary>{words::instructions()}<span class="quiet">" "{server.name.clone()}</span><Icon name="chevron-down"/></summary>
            {hidden}
            {text}
            <form class="form" method="post" action="/forms/tools/instructions">
                <input type="hidden" name="id" value=server.id.clone()/>
                {checkbox(&form, "offered", "1", words::offer_instructions(), hint, server.offers_instructions)}
                <div class="deeds"><button type="submit" class="button">{words::save()}<span class="quiet">" "{server.name.clone()}</span></button></div>
            </form>
        </details>
    })
}

fn actions(server: &ToolServerView) -> AnyView {
    let deeds = CardActions {
        id: &server.id,
        name: &server.name,
        page: "/settings/tools",
        form_path: "/forms/tools",
        card: format!("server-{}", server.id),
        is_enabled: server.is_enabled,
        is_locked: server.locked,
        remove_description: words::remove_description(&server.name),
    };
    let is_running = !matches!(server.status.state, "off" | "headers_unreadable");
    let begin = |action: &'static str, word: &'static str| deeds.button("/forms/tools/restart", "how", action, word);
    let mut first = sign_in_actions(server, &deeds);
    if is_running {
        first.push(begin("test", words::test()));
        if !server.is_shared() {
            first.push(begin("restart", words::restart()));
        }
    }
    deeds.draw(first)
}

/// Returns the buttons of the sign-in. A server that has asked for none offers none.
fn sign_in_actions(server: &ToolServerView, deeds: &CardActions<'_>) -> Vec<AnyView> {
    // A server that is off needs no sign-in, but its tokens can be given up.
    let is_offered = |state: &&str| server.is_enabled || *state == "signed_in";
    let state = server.sign_in.as_ref().map(|sign_in| sign_in.state).filter(is_offered).unwrap_or("signed_out");
    let failed = server.sign_in.as_ref().is_some_and(|sign_in| sign_in.problem.is_some());
    let begin = |word| deeds.button("/forms/tools/sign-in", "how", "sign-in", word);
    let end = || deeds.button("/forms/tools/sign-out", "how", "sign-out", tool_sign_in::sign_out());
    match state {
        "needed" => vec![begin(tool_sign_in::sign_in())],
        "more_needed" => vec![begin(tool_sign_in::sign_in_again()), end()],
        "signed_in" => vec![end()],
        _ if failed && server.is_enabled => vec![begin(tool_sign_in::sign_in())],
        _ => Vec::new(),
    }
}

//! The form of an HTTP tool server, new or changed. Typed values are kept when one is invalid, except the headers,
//! whose values are never rendered into a page.

use leptos::prelude::*;

use crate::domain::{InvalidField, limits};
use crate::server::server_pages::form_fields::{FieldKind, FormFields, checkbox};
use crate::server::server_pages::messages::{tool_sign_in as sign_in, tools as words};
use crate::ui::erased::view;
use crate::ui::locale::join_list;
use turnleaf_service::tools::servers::ToolServerView;

/// The values of the fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolServerFormValues {
    pub id: String,
    pub name: String,
    pub url: String,
    pub oauth_client_id: String,
    pub local_network: bool,
    /// The limits of start, silence and whole calls, as typed.
    pub limits: [String; 3],
}

/// A form with its values and the error of one of them.
#[derive(Debug, Clone, Default)]
pub struct ToolServerForm {
    pub values: ToolServerFormValues,
    pub error: Option<InvalidField>,
    /// True when headers were typed and must be typed again.
    pub lost_headers: bool,
}

const FIELDS: [&str; 10] = [
    "id",
    "name",
    "url",
    "headers",
    "oauth_client_id",
    "oauth_client_secret",
    "local_network",
    LIMIT_FIELDS[0],
    LIMIT_FIELDS[1],
    LIMIT_FIELDS[2],
];
/// The fields of [`ToolServerFormValues::limits`].
pub const LIMIT_FIELDS: [&str; 3] = ["start_seconds", "idle_seconds", "total_seconds"];

impl ToolServerForm {
    /// Fills the form from a server.
    pub fn from_server(server: &ToolServerView) -> Self {
        let values = ToolServerFormValues {
            id: server.id.clone(),
            name: server.name.clone(),
            url: server.url.clone().unwrap_or_default(),
            oauth_client_id: server.oauth_client_id.clone().unwrap_or_default(),
            local_network: server.local_network,
            limits: [server.start_seconds, server.idle_seconds, server.total_seconds]
                .map(|seconds| seconds.map(|seconds| seconds.to_string()).unwrap_or_default()),
        };
        Self { values, ..Self::default() }
    }

    /// Renders the form of a new server.
    pub fn draw_new(&self) -> AnyView {
        view! {
            <form class="form" method="post" action="/forms/tools/add">
                {self.fields("new", None)}
                <div class="deeds"><button type="submit" class="button primary">{words::test_and_save()}</button></div>
            </form>
        }
    }

    /// Renders the form in place of a card.
    pub fn draw_change(&self, server: &ToolServerView) -> AnyView {
        let id = server.id.clone();
        let title = format!("server-{id}-title");
        let labelled = title.clone();
        view! {
            <article id=format!("server-{id}") class="panel provider" data-server=id.clone() aria-labelledby=labelled>
                <h2 id=title><bdi>{words::edit_title(&server.name)}</bdi></h2>
                <form class="form" method="post" action="/forms/tools/change">
                    <input type="hidden" name="id" value=id.clone()/>
                    <input type="hidden" name="whole" value="1"/>
                    {self.fields(&id, Some(server))}
                    <div class="deeds">
                        <button type="submit" class="button primary">{words::save()}</button>
                        <a class="button bare" href=format!("/settings/tools#server-{id}")>{words::cancel()}</a>
                    </div>
                </form>
            </article>
        }
    }

    fn fields(&self, form: &str, changed: Option<&ToolServerView>) -> AnyView {
        let values = &self.values;
        let fields = FormFields { form, error: self.error.as_ref() };
        let text =
            |label, name, value, hint, kind, is_required| fields.text(label, name, value, hint, kind, is_required);
        let id = changed
            .is_none()
            .then(|| text(words::id(), "id", &values.id, Some(words::id_hint()), FieldKind::Code, false));
        let set = changed.map(|server| join_list(&server.headers)).filter(|names| !names.is_empty());
        let headers_hint = match (&set, self.lost_headers) {
            (_, true) => words::headers_again().to_owned(),
            (Some(names), false) => words::headers_kept(names),
            (None, false) => words::headers_hint().to_owned(),
        };
        let no_headers = set.is_some().then(|| checkbox(form, "no_headers", "1", words::no_headers(), None, false));
        let secret_hint = match changed.is_some_and(|server| server.has_oauth_secret) {
            true => sign_in::client_secret_kept(),
            false => sign_in::client_secret_hint(),
        };
        let address_hint = if changed.is_some() { words::address_clears() } else { words::address_hint() };
        let defaults = [limits::TOOL_START, limits::TOOL_IDLE, limits::TOOL_TIME];
        let labels = [words::start_limit(), words::idle_limit(), words::total_limit()];
        let limit_fields = std::array::from_fn::<_, 3, _>(|at| {
            let hint = words::limit_hint(defaults[at]);
            fields.text(labels[at], LIMIT_FIELDS[at], &values.limits[at], Some(&hint), FieldKind::Number, false)
        });
        view! {
            {fields.unassigned_error(&FIELDS)}
            {text(words::name(), "name", &values.name, None, FieldKind::Text, true)}
            {id}
            {text(words::address(), "url", &values.url, Some(address_hint), FieldKind::Code, true)}
            {text(words::headers(), "headers", "", Some(&headers_hint), FieldKind::CodeLines(3), false)}
            {no_headers}
            {text(sign_in::client_id(), "oauth_client_id", &values.oauth_client_id, Some(sign_in::client_id_hint()), FieldKind::Code, false)}
            {text(sign_in::client_secret(), "oauth_client_secret", "", Some(secret_hint), FieldKind::Secret, false)}
            {checkbox(form, "local_network", "1", words::network(), Some(words::network_hint()), values.local_network)}
            {fields.checkbox_error("local_network")}
            {limit_fields.collect_view()}
        }
    }
}

//! The page "Insert from a server": resources to attach and prompts to insert, per server; and the page of one resource.

use leptos::prelude::*;

use super::form_fields::{FieldKind, TextField};
use super::messages::{self, insert as words};
use super::{ActionNotice, PageSection, ServerPage};
use crate::domain::text::hidden_text::visible_text;
use crate::domain::{ChatId, limits};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::coded_messages::coded_sentence;
use crate::ui::messages::amounts;
use turnleaf_service::tools::server_content::{
    PromptArgumentView, ResourceContent, ServerCatalogView, ServerPromptView, ServerResourceView,
};

/// Returns the name of the input of the argument with this index.
pub fn argument_field(at: usize) -> String {
    format!("argument{at}")
}

/// The page; after a refusal it keeps what was typed.
pub struct InsertPage {
    pub chat: Option<ChatId>,
    /// The address of the chat.
    pub back: String,
    pub servers: Vec<ServerCatalogView>,
    pub problem: Option<String>,
    pub typed: Option<TypedInsert>,
}

/// The submitted values of a form that was refused, shown again.
#[derive(Debug, Clone, Default)]
pub struct TypedInsert {
    pub server: String,
    /// The prompt; empty at a resource.
    pub prompt: String,
    /// The submitted arguments of the prompt.
    pub arguments: Vec<String>,
    /// The template of addresses and the address that was made from it; empty at a prompt.
    pub template: String,
    pub uri: String,
    /// The values that the server suggests: for each argument, or for the address. `None` if it was not asked.
    pub suggested: Option<Vec<Vec<String>>>,
    /// The name of the argument that is wrong, and why.
    pub error: Option<(String, String)>,
}

/// The name of the field with the address of a resource.
pub const URI_FIELD: &str = "uri";

impl InsertPage {
    pub fn draw(self) -> ServerPage {
        let none = self.servers.is_empty().then(|| {
            view! {
                <p>{words::no_servers()}</p>
                <p><a class="button" href="/settings/tools">{words::connect()}</a></p>
            }
        });
        let servers = self.servers.iter().map(|server| self.server(server)).collect_view();
        let body = view! {
            <p><a href=self.back.clone()>{messages::back_to_chat()}</a></p>
            <p class="lead">{words::lead()}</p>
            {none}
            {servers}
        };
        let notice = self.problem.clone().map(ActionNotice::Refused);
        ServerPage { section: PageSection::Chat, title: words::title().to_owned(), notice, body }
    }

    fn server(&self, server: &ServerCatalogView) -> AnyView {
        let id = format!("server-{}", server.server);
        let labelled = id.clone();
        let problem = server.problem.as_ref().map(|problem| {
            view! { <p class="said warn" dir="auto"><Icon name="alert"/><span>{coded_sentence(&problem.message())}</span></p> }
        });
        let is_empty = server.resources.is_empty() && server.templates.is_empty() && server.prompts.is_empty();
        let nothing = (is_empty && problem.is_none()).then(|| view! { <p class="hint">{words::nothing()}</p> });
        let resources = server.resources.iter().map(|resource| self.resource(&server.server, resource));
        let templates = server.templates.iter().enumerate().map(|(at, template)| self.template(server, at, template));
        let prompts = server.prompts.iter().enumerate().map(|(at, prompt)| self.prompt(server, at, prompt));
        view! {
            <section class="panel" aria-labelledby=labelled>
                <h2 id=id><bdi>{server.name.clone()}</bdi></h2>
                {problem}
                {nothing}
                {list(words::resources(), resources.collect())}
                {list(words::templates(), templates.collect())}
                {list(words::prompts(), prompts.collect())}
            </section>
        }
    }

    /// Renders the hidden fields of a form.
    fn target(&self, server: &str) -> AnyView {
        let chat = self.chat.map(|chat| view! { <input type="hidden" name="chat_id" value=chat.to_string()/> });
        view! { {chat}<input type="hidden" name="server" value=server.to_owned()/> }
    }

    fn resource(&self, server: &str, resource: &ServerResourceView) -> AnyView {
        let name = resource.title.clone();
        view! {
            <li>
                {entry(&resource.title, Some(&resource.uri), &resource.description)}
                <form class="deeds" method="post" action="/forms/insert/resource">
                    {self.target(server)}
                    <input type="hidden" name=URI_FIELD value=resource.uri.clone()/>
                    <button type="submit" class="button">{words::attach()}<span class="quiet">" "{name.clone()}</span></button>
                    <button type="submit" class="button bare" formaction=VIEW_FORM>
                        {words::view()}<span class="quiet">" "{name}</span>
                    </button>
                </form>
            </li>
        }
    }

    fn template(&self, offer: &ServerCatalogView, at: usize, template: &ServerResourceView) -> AnyView {
        let server = offer.server.as_str();
        let form = format!("template-{server}-{at}");
        let typed = self.typed.as_ref().filter(|typed| typed.server == server && typed.template == template.uri);
        let field = TextField {
            label: words::address(),
            name: URI_FIELD,
            form: &form,
            value: typed.map_or(&template.uri, |typed| &typed.uri),
            error: typed.and_then(|typed| typed.error_of(URI_FIELD)),
            hint: Some(words::template_hint()),
            kind: FieldKind::Code,
            is_required: true,
            suggestions: typed.map(|typed| typed.suggested_for(0)).unwrap_or_default(),
            ..TextField::default()
        };
        let name = template.title.clone();
        let suggest = offer.suggests.then(|| suggest_button(&form, &name));
        view! {
            <li>
                {entry(&template.title, None, &template.description)}
                <form id=form.clone() class="form" method="post" action="/forms/insert/resource">
                    {self.target(server)}
                    <input type="hidden" name="template" value=template.uri.clone()/>
                    {field.draw()}
                    {typed.and_then(TypedInsert::suggestion_note)}
                    <div class="deeds">
                        <button type="submit" class="button">{words::attach()}<span class="quiet">" "{name}</span></button>
                        {suggest}
                    </div>
                </form>
            </li>
        }
    }

    fn prompt(&self, offer: &ServerCatalogView, at: usize, prompt: &ServerPromptView) -> AnyView {
        let server = offer.server.as_str();
        let form = format!("prompt-{server}-{at}");
        let typed = self.typed.as_ref().filter(|typed| typed.server == server && typed.prompt == prompt.name);
        let value = |at: usize| typed.and_then(|typed| typed.arguments.get(at)).map_or("", String::as_str);
        let argument = |(at, argument): (usize, &PromptArgumentView)| {
            let name = argument_field(at);
            let suggestions = typed.map(|typed| typed.suggested_for(at)).unwrap_or_default();
            // Only a field with one line can list values.
            let is_line = !suggestions.is_empty() && !value(at).contains('\n');
            let field = TextField {
                label: &argument.title,
                name: &name,
                form: &form,
                value: value(at),
                error: typed.and_then(|typed| typed.error_of(&argument.name)),
                hint: Some(argument.description.as_str()).filter(|hint| !hint.is_empty()),
                kind: if is_line { FieldKind::Text } else { FieldKind::Lines(2) },
                is_required: argument.is_required,
                suggestions,
                ..TextField::default()
            };
            view! {
                <input type="hidden" name="argument" value=argument.name.clone()/>
                {field.draw()}
            }
        };
        let arguments = prompt.arguments.iter().enumerate().map(argument).collect_view();
        let name = prompt.title.clone();
        let suggest = (offer.suggests && !prompt.arguments.is_empty()).then(|| suggest_button(&form, &name));
        view! {
            <li>
                {entry(&prompt.title, None, &prompt.description)}
                <form id=form.clone() class="form" method="post" action="/forms/insert/prompt">
                    {self.target(server)}
                    <input type="hidden" name="prompt" value=prompt.name.clone()/>
                    {arguments}
                    {typed.and_then(TypedInsert::suggestion_note)}
                    <div class="deeds">
                        <button type="submit" class="button">{words::insert()}<span class="quiet">" "{name}</span></button>
                        {suggest}
                    </div>
                </form>
            </li>
        }
    }
}

impl TypedInsert {
    fn error_of(&self, field: &str) -> Option<&str> {
        self.error.as_ref().filter(|(name, _)| name == field).map(|(_, sentence)| sentence.as_str())
    }

    /// Returns the suggested values of the field with this index.
    fn suggested_for(&self, at: usize) -> &[String] {
        self.suggested.as_ref().and_then(|suggested| suggested.get(at)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Renders what the server answered to the request for suggestions.
    fn suggestion_note(&self) -> Option<AnyView> {
        let is_any = self.suggested.as_ref()?.iter().any(|values| !values.is_empty());
        let note = if is_any { words::suggested() } else { words::none_suggested() };
        Some(view! { <p class="hint" role="status">{note}</p> })
    }
}

/// Renders the button that asks the server for values. It leads back to its form.
fn suggest_button(form: &str, name: &str) -> AnyView {
    let action = format!("/forms/insert/suggest#{form}");
    view! {
        <button type="submit" class="button bare" formaction=action formnovalidate>
            {words::suggest()}<span class="quiet">" "{name.to_owned()}</span>
        </button>
    }
}

/// The form that reads a resource.
const VIEW_FORM: &str = "/forms/insert/view";

/// Renders a list of a server; none where it is empty.
fn list(name: &'static str, rows: Vec<AnyView>) -> Option<AnyView> {
    (!rows.is_empty()).then(|| view! { <h3>{name}</h3> <ul class="sent-list">{rows}</ul> })
}

/// Renders the texts of an entry.
fn entry(title: &str, address: Option<&str>, description: &str) -> AnyView {
    let address = address.filter(|address| *address != title);
    let address = address.map(|address| view! { " "<code class="hint"><bdi>{address.to_owned()}</bdi></code> });
    let description =
        (!description.is_empty()).then(|| view! { <p class="listed-says" dir="auto">{visible_text(description)}</p> });
    view! {
        <p class="listed-name"><strong><bdi>{visible_text(title)}</bdi></strong>{address}</p>
        {description}
    }
}

/// The content of one resource.
pub struct ResourcePage {
    pub chat: Option<ChatId>,
    /// The address of the chat.
    pub back: String,
    pub server: String,
    pub uri: String,
    /// The content, or why it cannot be read; `None` before the user asks for it.
    pub content: Option<Result<ResourceContent, String>>,
}

impl ResourcePage {
    pub fn draw(self) -> ServerPage {
        let chat = self.chat.map(|chat| view! { <input type="hidden" name="chat_id" value=chat.to_string()/> });
        let (content, problem) = match &self.content {
            Some(Ok(content)) => (Some(shown_content(content)), None),
            Some(Err(problem)) => (None, Some(ActionNotice::Refused(problem.clone()))),
            None => (Some(view! { <p>{words::not_read_yet()}</p> }), None),
        };
        let look = self.content.is_none().then(|| {
            view! { <button type="submit" class="button primary" formaction=VIEW_FORM>{words::view()}</button> }
        });
        let attach = if self.content.is_none() { "button" } else { "button primary" };
        let body = view! {
            <p><a href=self.back.clone()>{messages::back_to_chat()}</a></p>
            <p><code class="hint"><bdi>{visible_text(&self.uri)}</bdi></code></p>
            {content}
            <form class="deeds" method="post" action="/forms/insert/resource">
                {chat}
                <input type="hidden" name="server" value=self.server.clone()/>
                <input type="hidden" name=URI_FIELD value=self.uri.clone()/>
                {look}
                <button type="submit" class=attach>{words::attach()}</button>
            </form>
        };
        ServerPage { section: PageSection::Chat, title: words::resource_of(&self.server), notice: problem, body }
    }
}

/// Renders text as it is, with hidden characters as codes. An image is shown once it is attached, because it is
/// re-encoded then.
fn shown_content(content: &ResourceContent) -> AnyView {
    let size = amounts::size(content.bytes.len() as u64);
    let text = std::str::from_utf8(&content.bytes).ok().filter(|_| content.is_text);
    let Some(text) = text else {
        return view! { <p class="hint">{words::image()}" "{size}</p> };
    };
    let shown = &text[..text.floor_char_boundary(limits::TOOL_SHOWN_BYTES)];
    let cut = (shown.len() < text.len()).then(
        || view! { <p class="hint">{crate::ui::messages::transcript::cut_at(shown.len(), text.len() as u64)}</p> },
    );
    view! {
        <pre class="listed-schema" dir="auto" tabindex="0">{visible_text(shown)}</pre>
        {cut}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_escapes_texts_of_server_and_keeps_typed_arguments() {
        let argument = PromptArgumentView {
            name: "code".into(),
            title: "<Code>".into(),
            description: String::new(),
            is_required: true,
        };
        let prompt = ServerPromptView {
            name: "review".into(),
            title: "Review".into(),
            description: "a\u{202e}b".into(),
            arguments: vec![argument],
        };
        let resource = ServerResourceView {
            uri: "file:///a?b&c".into(),
            title: "<b>A</b>".into(),
            description: String::new(),
            mime: None,
        };
        let server = ServerCatalogView {
            server: "files".into(),
            name: "Files".into(),
            resources: vec![resource],
            templates: Vec::new(),
            prompts: vec![prompt],
            suggests: true,
            problem: None,
        };
        let page_of = |suggested, error| InsertPage {
            chat: None,
            back: "/".into(),
            servers: vec![server.clone()],
            problem: None,
            typed: Some(TypedInsert {
                server: "files".into(),
                prompt: "review".into(),
                arguments: vec!["let x".into()],
                suggested,
                error,
                ..TypedInsert::default()
            }),
        };
        let page = page_of(None, Some(("code".to_owned(), "is required".to_owned())));
        let html = Owner::new().with(|| page.draw().body.to_html());
        // A button asks for values; without an answer there are none.
        assert!(html.contains("formaction=\"/forms/insert/suggest#prompt-files-0\"") && !html.contains("<datalist"));
        for part in [
            "&lt;b&gt;A",
            "&lt;Code&gt;",
            "a[U+202E]b",
            "let x",
            "value=\"file:///a?b&amp;c\"",
            "aria-invalid=\"true\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let page = page_of(Some(vec![vec!["a&b".to_owned(), "fn".to_owned()]]), None);
        let html = Owner::new().with(|| page.draw().body.to_html());
        for part in
            ["list=\"prompt-files-0-argument0-list\"", "<datalist id=\"prompt-files-0-argument0-list\"", "a&amp;b"]
        {
            assert!(html.contains(part), "{part}: {html}");
        }
        let page =
            ResourcePage { chat: None, back: "/".into(), server: "files".into(), uri: "a:b".into(), content: None };
        let html = Owner::new().with(|| page.draw().body.to_html());
        assert!(html.contains("formaction=\"/forms/insert/view\""), "{html}");
    }
}

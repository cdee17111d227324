//! Resources and prompts of tool servers, for a person who writes a message: a resource becomes an attachment like an
//! uploaded file, the text of a prompt becomes text of the draft. Nothing is sent before the person sends it.

mod address_template;
mod suggestions;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::coded_sentence::CodedSentence;
use crate::turns::messages::MessageBlock;
use crate::{Service, ServiceError};
use turnleaf_domain::documents::attachment::Attachment;
use turnleaf_domain::documents::file_name;
use turnleaf_domain::encoding::url_encoding;
use turnleaf_domain::tools::elicitation::{ElicitationAction, KeyedAnswer, OpenQuestions};
use turnleaf_domain::{ChatId, CodedMessage, InvalidField, MessageCode, UserId, limits};
use turnleaf_store::chats::drafts::Draft;
use turnleaf_tools::mcp::catalog::{PromptArgument, PromptEntry, ResourceEntry, ServerCatalog};

pub use turnleaf_tools::mcp::catalog::ResourceContent;
pub use turnleaf_tools::mcp::completion::{ArgumentDraft, ArgumentSubject};
pub use turnleaf_tools::mcp::prompt::{PromptAnswer, PromptRequest};

/// The resources and prompts that a tool server offers for messages. All of its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ServerCatalogView {
    /// The server's id.
    pub server: String,
    pub name: String,
    pub resources: Vec<ServerResourceView>,
    /// Resources whose address has parameters, such as `file:///{path}`.
    pub templates: Vec<ServerResourceView>,
    pub prompts: Vec<ServerPromptView>,
    /// True if the server suggests values of arguments.
    pub suggests: bool,
    /// The reason why its offer, or a part of it, is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<CodedSentence>,
}

/// A resource, or a template of resources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ServerResourceView {
    pub uri: String,
    pub title: String,
    pub description: String,
    pub mime: Option<String>,
}

/// A prompt with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ServerPromptView {
    pub name: String,
    pub title: String,
    pub description: String,
    pub arguments: Vec<PromptArgumentView>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct PromptArgumentView {
    pub name: String,
    pub title: String,
    pub description: String,
    pub is_required: bool,
}

impl From<&ResourceEntry> for ServerResourceView {
    fn from(entry: &ResourceEntry) -> Self {
        let ResourceEntry { uri, title, description, mime } = entry.clone();
        Self { uri, title, description, mime }
    }
}

impl From<&PromptEntry> for ServerPromptView {
    fn from(entry: &PromptEntry) -> Self {
        let PromptEntry { name, title, description, arguments } = entry.clone();
        let argument = |argument: PromptArgument| {
            let PromptArgument { name, title, description, is_required } = argument;
            PromptArgumentView { name, title, description, is_required }
        };
        Self { name, title, description, arguments: arguments.into_iter().map(argument).collect() }
    }
}

impl Service {
    /// Returns the catalogs of all enabled servers, by id. A server that does not answer in time has the reason
    /// instead.
    pub async fn server_catalogs(&self, owner: UserId) -> Result<Vec<ServerCatalogView>, ServiceError> {
        let named = self.tools().offerings(owner).await?.into_iter().map(|offering| (offering.server, offering.name));
        let catalogs = named.map(|(server, name)| async move {
            let key = self.tools().server_key(owner, &server);
            // A page waits for this; the listing of a slower server continues, and is shown at the next request.
            let listed = tokio::time::timeout(limits::CONNECT, self.tools().servers().catalog(&key)).await;
            let listed = listed.unwrap_or_else(|_| Err(MessageCode::NoTimelyResponse.into()));
            catalog_view(server, name, listed.as_deref().map_err(Clone::clone))
        });
        Ok(futures::future::join_all(catalogs).await)
    }

    /// Returns the catalog of one server.
    ///
    /// # Errors
    /// `NotFound` for a server that does not exist, `server_off` for a disabled one; `server_unavailable` if it does
    /// not answer.
    pub async fn server_catalog(&self, owner: UserId, server: &str) -> Result<ServerCatalogView, ServiceError> {
        let name = self.enabled_server_name(owner, server).await?;
        let listed = self.tools().servers().catalog(&self.tools().server_key(owner, server)).await;
        let listed = listed.map_err(unavailable)?;
        Ok(catalog_view(server.to_owned(), name, Ok(&listed)))
    }

    /// Reads a resource of a server.
    ///
    /// # Errors
    /// `NotFound` for a server that does not exist, `server_off` for a disabled one; `server_unavailable` if it cannot be read.
    pub async fn server_resource(
        &self,
        owner: UserId,
        server: &str,
        uri: &str,
    ) -> Result<ResourceContent, ServiceError> {
        check_resource_uri(uri)?;
        self.enabled_server_name(owner, server).await?;
        let key = self.tools().server_key(owner, server);
        self.tools().servers().read_resource(&key, uri).await.map_err(unavailable)
    }

    /// Reads a resource and stores it like an uploaded file: an image as an image, everything else as a document.
    /// Returns its block in a message.
    ///
    /// # Errors
    /// Those of [`Self::server_resource`], and those of an uploaded file.
    async fn store_server_resource(
        &self,
        owner: UserId,
        (server, uri): (&str, &str),
    ) -> Result<MessageBlock, ServiceError> {
        let content = self.server_resource(owner, server, uri).await?;
        let name = resource_name(uri, &content);
        self.store_attachment(owner, (&name, content.bytes), None).await
    }

    /// Stores a resource as [`Self::attach_server_resource`] does, and returns the attachment for a message that is
    /// being written.
    ///
    /// # Errors
    /// Those of [`Self::server_resource`], and those of an uploaded file.
    pub async fn read_server_attachment(
        &self,
        owner: UserId,
        resource: (&str, &str),
    ) -> Result<Attachment, ServiceError> {
        let block = self.store_server_resource(owner, resource).await?;
        self.attachments_of(owner, vec![block]).await?.pop().ok_or(ServiceError::NotFound)
    }

    /// Attaches a resource to a draft. Returns the new revision of the draft.
    ///
    /// # Errors
    /// Those of [`Self::server_resource`], and those of an uploaded file.
    pub async fn attach_server_resource(
        &self,
        owner: UserId,
        chat: Option<ChatId>,
        resource: (&str, &str),
    ) -> Result<i64, ServiceError> {
        if let Some(chat) = chat {
            self.chat(owner, chat).await?;
        }
        let block = self.store_server_resource(owner, resource).await?;
        self.attach_to_draft(owner, chat, vec![block]).await
    }

    /// Returns the text of a prompt, or the questions that its server asks first.
    ///
    /// # Errors
    /// `InvalidField` (`arguments/NAME`) for a missing or unknown argument, and for answers that are too long; those of
    /// [`Self::server_catalog`].
    pub async fn server_prompt(
        &self,
        owner: UserId,
        server: &str,
        request: PromptRequest,
    ) -> Result<PromptAnswer, ServiceError> {
        check_answers(&request)?;
        let catalog = self.server_catalog(owner, server).await?;
        let known = catalog.prompts.iter().find(|known| known.name == request.name);
        let known = known.ok_or_else(|| match &catalog.problem {
            Some(problem) => unavailable(problem.message()),
            None => ServiceError::NotFound,
        })?;
        let request = PromptRequest { arguments: checked_arguments(known, request.arguments)?, ..request };
        let key = self.tools().server_key(owner, server);
        self.tools().servers().prompt(&key, request).await.map_err(unavailable)
    }

    /// Appends the text of a prompt to the text of a draft. Returns the questions of the server instead, if it asks
    /// first.
    ///
    /// # Errors
    /// Those of [`Self::server_prompt`], and those of a draft that becomes too long.
    pub async fn insert_server_prompt(
        &self,
        owner: UserId,
        chat: Option<ChatId>,
        server: &str,
        request: PromptRequest,
    ) -> Result<Option<OpenQuestions>, ServiceError> {
        let text = match self.server_prompt(owner, server, request).await? {
            PromptAnswer::Text(text) => text,
            PromptAnswer::Asks(questions) => return Ok(Some(questions)),
        };
        let append = |draft: &mut Draft| {
            let between = if draft.text.trim().is_empty() { "" } else { "\n\n" };
            draft.text = format!("{}{between}{text}", draft.text.trim_end());
            !text.is_empty()
        };
        self.change_draft(owner, chat, append).await?;
        Ok(None)
    }

    async fn enabled_server_name(&self, owner: UserId, server: &str) -> Result<String, ServiceError> {
        let offerings = self.tools().offerings(owner).await?;
        let known = offerings.into_iter().find(|offering| offering.server == server);
        match known {
            Some(known) => Ok(known.name),
            None => Err(self.not_enabled(owner, server).await),
        }
    }
}

fn catalog_view(server: String, name: String, listed: Result<&ServerCatalog, CodedMessage>) -> ServerCatalogView {
    let empty = ServerCatalog::default();
    let (catalog, problem) = match listed {
        Ok(catalog) => (catalog, catalog.problem.clone().map(CodedSentence::new)),
        Err(problem) => (&empty, Some(CodedSentence::new(problem))),
    };
    ServerCatalogView {
        server,
        name,
        resources: catalog.resources.iter().map(ServerResourceView::from).collect(),
        templates: catalog.templates.iter().map(ServerResourceView::from).collect(),
        prompts: catalog.prompts.iter().map(ServerPromptView::from).collect(),
        suggests: catalog.has_suggestions,
        problem,
    }
}

/// Checks the address of a resource.
pub(crate) fn check_resource_uri(uri: &str) -> Result<(), InvalidField> {
    if uri.len() > limits::RESOURCE_URI_BYTES {
        return Err(InvalidField::too_long("uri", limits::RESOURCE_URI_BYTES));
    }
    if uri.is_empty() || uri.contains(char::is_control) {
        return Err(InvalidField::new("uri", MessageCode::NotAUrl));
    }
    Ok(())
}

/// The error of a server that does not fulfill a request.
pub(crate) fn unavailable(problem: CodedMessage) -> ServiceError {
    ServiceError::conflict("server_unavailable", problem)
}

/// Checks the size of the answers that are sent back to a server. Their content is checked by the server, which
/// requested them.
fn check_answers(request: &PromptRequest) -> Result<(), InvalidField> {
    if request.answers.len() > limits::ELICITATIONS_PER_CALL {
        return Err(InvalidField::too_long("answers", limits::ELICITATIONS_PER_CALL));
    }
    let unexpected = |answer: &KeyedAnswer| answer.content.is_some() && answer.action != ElicitationAction::Accept;
    if let Some(at) = request.answers.iter().position(unexpected) {
        return Err(InvalidField::new(format!("answers/{at}/content"), MessageCode::OnlyWith.with("other", "accept")));
    }
    let bytes = serde_json::to_string(&request.answers).map_or(usize::MAX, |answers| answers.len());
    let most = limits::ELICITATION_BYTES * limits::ELICITATIONS_PER_CALL;
    if bytes > most {
        return Err(InvalidField::too_long("answers", most));
    }
    match &request.state {
        Some(state) if state.len() > limits::ELICITATION_BYTES => {
            Err(InvalidField::too_long("state", limits::ELICITATION_BYTES))
        }
        _ => Ok(()),
    }
}

/// Checks the arguments of a prompt, which are texts, and leaves out empty ones.
fn checked_arguments(prompt: &ServerPromptView, given: Map<String, Value>) -> Result<Map<String, Value>, InvalidField> {
    let wrong = |name: &str, reason: MessageCode| Err(InvalidField::new(format!("arguments/{name}"), reason));
    let mut arguments = Map::new();
    for (name, value) in given {
        let Some(text) = value.as_str() else { return wrong(&name, MessageCode::NotAText) };
        if prompt.arguments.iter().all(|known| known.name != name) {
            return wrong(&name, MessageCode::IsUnknown);
        }
        if text.chars().count() > limits::ELICITATION_ANSWER_CHARS {
            return Err(InvalidField::too_long(format!("arguments/{name}"), limits::ELICITATION_ANSWER_CHARS));
        }
        if !text.is_empty() {
            arguments.insert(name, value);
        }
    }
    let missing = prompt.arguments.iter().find(|known| known.is_required && !arguments.contains_key(&known.name));
    match missing {
        Some(missing) => wrong(&missing.name, MessageCode::IsRequired),
        None => Ok(arguments),
    }
}

/// Returns a file name for a resource: the end of its address, with an ending where its content needs one.
fn resource_name(uri: &str, content: &ResourceContent) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or(uri);
    let last = path.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    let name = file_name::sanitize(&url_encoding::decode(last)).unwrap_or_else(|_| file_name::UNNAMED.to_owned());
    if name.contains('.') || !content.is_text {
        return name;
    }
    let ending = match content.mime.as_deref().map(|mime| mime.split(';').next().unwrap_or_default().trim()) {
        Some("text/markdown") => "md",
        Some("text/html") => "html",
        Some("text/csv") => "csv",
        Some("application/json") => "json",
        _ => "txt",
    };
    format!("{name}.{ending}")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;

    use super::*;

    #[test]
    fn resource_is_named_by_end_of_its_address() {
        let text =
            |mime: Option<&str>| ResourceContent { mime: mime.map(str::to_owned), bytes: Bytes::new(), is_text: true };
        for (uri, content, name) in [
            ("file:///a/b.md", text(None), "b.md"),
            ("db://people", text(Some("text/csv")), "people.csv"),
            ("db://people/?x=1", text(Some("application/json; charset=utf-8")), "people.json"),
            ("note:7", text(None), "7.txt"),
            ("file:///My%20notes%2F..%2F.secret%00.md", text(None), "unnamed.txt"),
            ("file:///My%20n%C3%B6tes.md", text(None), "My nötes.md"),
            ("x://", text(None), "unnamed.txt"),
            ("img://logo", ResourceContent { is_text: false, ..text(Some("image/png")) }, "logo"),
        ] {
            assert_eq!(resource_name(uri, &content), name, "{uri}");
        }
    }

    #[test]
    fn arguments_of_prompt_are_checked_by_name() {
        let argument = |name: &str, is_required| PromptArgumentView {
            name: name.into(),
            title: name.into(),
            description: String::new(),
            is_required,
        };
        let prompt = ServerPromptView {
            name: "p".into(),
            title: "P".into(),
            description: String::new(),
            arguments: vec![argument("code", true), argument("style", false)],
        };
        let check = |given: Value| checked_arguments(&prompt, given.as_object().cloned().unwrap());
        assert_eq!(Value::Object(check(json!({ "code": "x", "style": "" })).unwrap()), json!({ "code": "x" }));
        for (given, field) in [
            (json!({}), "arguments/code"),
            (json!({ "code": "" }), "arguments/code"),
            (json!({ "code": 3 }), "arguments/code"),
            (json!({ "code": "x", "other": "y" }), "arguments/other"),
        ] {
            assert_eq!(check(given.clone()).unwrap_err().field, field, "{given}");
        }
    }
}

//! The builder of one operation of the OpenAPI document, and the responses that many operations share.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use utoipa::openapi::path::ParameterIn;
use utoipa::{IntoParams, PartialSchema, ToSchema};

/// Shared responses that follow from the inputs of an operation: status, component name and description.
const SHARED_RESPONSES: [(u16, &str, &str); 13] = [
    (400, "Invalid", "The request is malformed; `field` names the part."),
    (401, "Unauthenticated", "You are not signed in (`unauthenticated`)."),
    (
        403,
        "Forbidden",
        "The API token lacks the scope (`forbidden`), the account may not use the model (`model_not_granted`), the \
        password has to be entered again in the session (`password_needed`), its person has to change the password \
        (`password_change_required`) or to set up a second factor (`second_factor_required`) first, or a browser sent the \
        request from another site (`cross_site`).",
    ),
    (404, "NotFound", "It does not exist, or you do not have access (`not_found`)."),
    (408, "TooSlow", "The request body took too long to arrive (`too_slow`)."),
    (413, "TooLarge", "Something exceeds its limit (`too_large`)."),
    (415, "UnsupportedMediaType", "The body must be uncompressed JSON (`unsupported_media_type`)."),
    (421, "UnknownHost", "The server does not accept this host name (`unknown_host`)."),
    (
        429,
        "TooMany",
        "Too many requests (`too_many`), or a budget is used up (`budget_exhausted`); retry after `Retry-After`.",
    ),
    (431, "HeaderTooLarge", "A header is too large (`header_too_large`)."),
    (500, "Internal", "Something went wrong on the server (`internal`)."),
    (503, "Unavailable", "The server is starting, shutting down or waiting for its database (`unavailable`)."),
    (
        507,
        "StorageFull",
        "The server's disk is full (`storage_full`) or almost full (`disk_space_low`), or your quota is used up (`quota_reached`).",
    ),
];

/// Description of the 422 for a value that a field cannot have.
pub const INVALID_VALUE: &str = "`invalid`: a value is not allowed; `field` names it.";

/// One operation of the OpenAPI document.
pub struct ApiOperation {
    method: &'static str,
    path: &'static str,
    about: Map<String, Value>,
    parameters: Vec<Value>,
    body: Option<Value>,
    answers: Map<String, Value>,
    schemas: Vec<(String, Value)>,
}

impl ApiOperation {
    /// Starts the description of a route with what follows from its method and path.
    pub fn new(method: &'static str, path: &'static str) -> Self {
        let (about, answers) = (Map::new(), Map::new());
        let mut operation =
            Self { method, path, about, parameters: Vec::new(), body: None, answers, schemas: Vec::new() };
        operation.path_parameters();
        let shared: &[u16] = if method == "get" { &[421, 431, 500, 503] } else { &[403, 421, 431, 500, 503, 507] };
        shared.iter().fold(operation, |operation, status| operation.shared_response(*status))
    }

    /// Sets the tag, the operation id and a summary of one sentence.
    pub fn describe(mut self, tag: &str, id: &str, summary: &str) -> Self {
        self.about.insert("tags".into(), json!([tag]));
        self.about.insert("operationId".into(), id.into());
        self.about.insert("summary".into(), summary.into());
        self
    }

    /// Adds a description, in which backticks mark code as in Markdown.
    pub fn add_description(mut self, text: &str) -> Self {
        self.about.insert("description".into(), text.into());
        self
    }

    /// Adds to the description that it needs a password which was entered lately.
    pub fn needs_recent_password(self) -> Self {
        let needed = "In a session whose password was not entered within the last 10 minutes the answer is 403 \
            `password_needed`.";
        let text = match self.about.get("description").and_then(Value::as_str) {
            Some(before) => format!("{before} {needed}"),
            None => needed.to_owned(),
        };
        self.add_description(&text)
    }

    pub fn mark_deprecated(mut self) -> Self {
        self.about.insert("deprecated".into(), true.into());
        self
    }

    /// Adds the fields of the query.
    pub fn query_parameters<T: IntoParams>(mut self) -> Self {
        let fields = T::into_params(|| Some(ParameterIn::Query));
        self.parameters.extend(fields.iter().map(|field| json!(field)));
        self.shared_response(400)
    }

    /// Changes the upper bound of a query field.
    pub fn limit_query_field(mut self, field: &str, most: u32) -> Self {
        if let Some(field) = self.parameters.iter_mut().find(|parameter| parameter["name"] == field) {
            field["schema"]["maximum"] = most.into();
        }
        self
    }

    /// Adds a request header.
    pub fn request_header(mut self, name: &str, about: &str) -> Self {
        let schema = json!({ "type": "string" });
        self.parameters.push(json!({ "name": name, "in": "header", "description": about, "schema": schema }));
        self
    }

    /// Sets the body, with an example.
    pub fn request_body<T: ToSchema>(mut self, example: Value) -> Self {
        let schema = self.schema_reference::<T>();
        let content = json!({ "application/json": { "schema": schema, "example": example } });
        self.body = Some(json!({ "required": true, "content": content }));
        self.shared_response(400).shared_response(408).shared_response(413).shared_response(415)
    }

    /// Sets the body to `T` under another name, with these fields required: the same fields are optional in a change.
    pub fn request_body_requiring<T: ToSchema>(self, name: &str, fields: &[&str], example: Value) -> Self {
        let mut operation = self.request_body::<T>(example);
        let mut schema = json!(<T as PartialSchema>::schema());
        schema["required"] = json!(fields);
        for field in fields {
            // The derive makes optional fields nullable.
            if let Some(kinds) = schema["properties"][field].get_mut("type") {
                *kinds = kinds.get(0).cloned().unwrap_or_else(|| kinds.clone());
            }
        }
        operation.schemas.push((name.to_owned(), schema));
        if let Some(body) = operation.body.as_mut() {
            body["content"]["application/json"]["schema"] = json!({ "$ref": format!("#/components/schemas/{name}") });
        }
        operation
    }

    /// Makes the body a file.
    pub fn binary_request_body(mut self) -> Self {
        let content = json!({ "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } });
        self.body = Some(json!({ "required": true, "content": content }));
        self.shared_response(400).shared_response(408).shared_response(413).shared_response(415)
    }

    /// Makes the body optional.
    pub fn optional_request_body(mut self) -> Self {
        if let Some(body) = self.body.as_mut() {
            body["required"] = false.into();
        }
        self
    }

    /// Adds a JSON response.
    pub fn response<T: ToSchema>(mut self, status: u16, about: &str) -> Self {
        let schema = self.schema_reference::<T>();
        self.custom_response(status, about, "application/json", schema)
    }

    /// Adds a response that is a list.
    pub fn list_response<T: ToSchema>(mut self, about: &str) -> Self {
        let items = self.schema_reference::<T>();
        self.custom_response(200, about, "application/json", json!({ "type": "array", "items": items }))
    }

    /// Adds a response of one of two shapes.
    pub fn one_of_response<A: ToSchema, B: ToSchema>(mut self, about: &str) -> Self {
        let choices = [self.schema_reference::<A>(), self.schema_reference::<B>()];
        self.custom_response(200, about, "application/json", json!({ "oneOf": choices }))
    }

    /// Adds a response `T` in the form of the query: native, or as in the schemas with these names, of which the first
    /// has `B` for its blocks.
    pub fn response_in_form<T: ToSchema, B: ToSchema>(mut self, about: &str, others: [&str; 2]) -> Self {
        let native = self.schema_reference::<T>();
        self.schema_reference::<B>();
        let others = others.map(|name| json!({ "$ref": format!("#/components/schemas/{name}") }));
        let choices: Vec<Value> = std::iter::once(native).chain(others).collect();
        self.custom_response(200, about, "application/json", json!({ "anyOf": choices }))
    }

    /// Adds a response whose shape is no type, or that is not JSON.
    pub fn custom_response(mut self, status: u16, about: &str, kind: &str, schema: Value) -> Self {
        let answer = self.answers.entry(status.to_string()).or_insert_with(|| json!({ "description": about }));
        if answer.get("content").is_none() {
            answer["content"] = json!({});
        }
        answer["content"][kind] = json!({ "schema": schema });
        self
    }

    /// Adds a response without a body.
    pub fn empty_response(mut self, status: u16, about: &str) -> Self {
        self.answers.insert(status.to_string(), json!({ "description": about }));
        self
    }

    /// Adds the responses of a create operation: 201, and 200 for a repeated idempotency key.
    pub fn created_response<T: ToSchema>(self, about: &str) -> Self {
        self.request_header("Idempotency-Key", "Idempotency key of this request; replaces `client_request_id`.")
            .response::<T>(201, about)
            .response::<T>(200, "The result of the same request sent earlier.")
            .problem_response(409, "`idempotency_mismatch`: the key was used for a different request.")
            .problem_response(422, "`invalid`: the request has two different keys.")
            .shared_response(400)
    }

    /// Adds an error of this operation. The sentence lists the codes.
    pub fn problem_response(mut self, status: u16, codes: &str) -> Self {
        let description = match self.answers.get(&status.to_string()).and_then(|answer| answer["description"].as_str())
        {
            Some(before) => format!("{before} {codes}"),
            None => codes.to_owned(),
        };
        let content = json!({ "application/problem+json": { "schema": problem_reference() } });
        self.answers.insert(status.to_string(), json!({ "description": description, "content": content }));
        self
    }

    /// Adds one of the shared responses.
    pub fn shared_response(mut self, status: u16) -> Self {
        if let Some((_, name, _)) = SHARED_RESPONSES.iter().find(|(shared, ..)| *shared == status) {
            let answer = json!({ "$ref": format!("#/components/responses/{name}") });
            self.answers.entry(status.to_string()).or_insert(answer);
        }
        self
    }

    /// Returns the schemas that the operation refers to.
    pub fn schemas(&self) -> impl Iterator<Item = (String, Value)> {
        self.schemas.clone().into_iter()
    }

    /// Returns the path, the method and the operation object.
    pub fn into_path_item(self) -> (&'static str, &'static str, Value) {
        let Self { method, path, mut about, parameters, body, mut answers, .. } = self;
        if !parameters.is_empty() {
            about.insert("parameters".into(), parameters.into());
        }
        if let Some(body) = body {
            about.insert("requestBody".into(), body);
        }
        answers.sort_keys();
        about.insert("responses".into(), answers.into());
        (path, method, about.into())
    }

    fn path_parameters(&mut self) {
        let names = self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        for name in names {
            let text = |pattern: &str| json!({ "type": "string", "pattern": pattern });
            let schema = match self.path {
                path if path.starts_with("/api/providers") => text("^[a-z0-9_-]{1,64}$"),
                path if path.starts_with("/api/tool-servers") => text("^[a-z0-9-]{1,32}$"),
                path if path.starts_with("/api/blobs") => text("^[0-9a-f]{64}$"),
                _ => id_schema(),
            };
            self.parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
        }
        if !self.parameters.is_empty() {
            self.answers.insert("404".into(), json!({ "$ref": "#/components/responses/NotFound" }));
        }
    }

    fn schema_reference<T: ToSchema>(&mut self) -> Value {
        let mut used = vec![(T::name().into_owned(), <T as PartialSchema>::schema())];
        T::schemas(&mut used);
        self.schemas.extend(used.into_iter().map(|(name, schema)| (name, json!(schema))));
        let name: Cow<'static, str> = T::name();
        json!({ "$ref": format!("#/components/schemas/{name}") })
    }
}

/// Returns the responses that many operations share.
pub fn shared_responses() -> Value {
    let content = json!({ "application/problem+json": { "schema": problem_reference() } });
    let answer = |(_, name, about): &(u16, &str, &str)| {
        ((*name).to_owned(), json!({ "description": about, "content": content }))
    };
    SHARED_RESPONSES.iter().map(answer).collect::<Map<_, _>>().into()
}

fn problem_reference() -> Value {
    json!({ "$ref": "#/components/schemas/Problem" })
}

/// Returns the schema of an id in a path.
pub fn id_schema() -> Value {
    json!({ "type": "string", "format": "uuid", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" })
}

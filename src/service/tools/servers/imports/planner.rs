//! Plans an import: compares each server of a file with those that are connected, and validates it as if it were
//! stored.

mod program;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use secrecy::{ExposeSecret, SecretString};

use super::plan::{NeededValue, PlannedAction, PlannedServer, ProgramImport, ServerImportPlan};
use crate::providers::Sealer;
use crate::providers::headers::SecretHeaders;
use crate::tools::servers::draft::{NewToolServer, ToolServerChange, apply_change, derive_id, empty_row};
use turnleaf_domain::{InvalidField, MessageCode, UserId, limits};
use turnleaf_platform::config::tool_server_tables::ToolServerTable;
use turnleaf_platform::credentials::mask_query;
use turnleaf_platform::{base_url, ids};
use turnleaf_providers::address::is_public;
use turnleaf_tools::server_file::{
    FileServer, FileTransport, InputDefinition, ServerFile, Template, TemplateVariable, VariableSource,
};

/// A server that is connected.
pub struct KnownServer {
    pub id: String,
    pub name: String,
    /// True when the configuration file sets it.
    pub is_locked: bool,
    /// The whole address, with its credentials.
    pub url: Option<String>,
    pub headers: SecretHeaders,
    pub argv: Vec<String>,
    pub total_seconds: Option<u64>,
    pub claim: ServerClaim,
}

/// The claim of an import on a connected server: at most one entry of the file may change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerClaim {
    Free,
    /// A server of the file has the same address and headers.
    Matched,
    /// The import adds or changes it, so that no other server of the file changes it.
    Taken,
}

/// The step that imports one server.
pub enum ImportStep {
    Add(Box<NewToolServer>),
    Change(String, Box<ToolServerChange>),
    Program(ToolServerTable),
}

pub struct ImportPlanner<'a> {
    pub sealer: &'a Sealer,
    /// The connected servers; those that the import adds are appended.
    pub known: Vec<KnownServer>,
    pub values: &'a BTreeMap<String, SecretString>,
    /// The values that the file defines.
    pub inputs: Vec<InputDefinition>,
    /// The addresses of the file without their queries, one for each server over HTTP.
    pub places: Vec<String>,
    pub programs: ProgramImport,
    pub now: DateTime<Utc>,
}

/// A server over HTTP whose variables are filled in as far as possible.
struct HttpDraft {
    url: String,
    headers: SecretHeaders,
    /// True when no variable lacks a value.
    is_whole: bool,
}

impl ImportPlanner<'_> {
    /// Plans the servers of a file. A server that is left out has no step.
    pub fn plan(mut self, file: ServerFile) -> (ServerImportPlan, Vec<Option<ImportStep>>) {
        let ServerFile { servers, not_read, inputs, unused_members } = file;
        self.inputs = inputs;
        self.match_servers(&servers);
        let mut plan = ServerImportPlan { not_read, unused_members, ..ServerImportPlan::default() };
        let mut steps = Vec::new();
        for server in servers {
            let variables: Vec<TemplateVariable> =
                server.transport.iter().flat_map(FileTransport::variables).cloned().collect();
            let (planned, step) = self.plan_server(server);
            for variable in variables.iter().filter(|variable| step.is_some() && variable.default.is_none()) {
                let key = variable.key();
                if plan.values.iter().all(|known| known.key != key) {
                    let (description, default) =
                        self.input(variable).map(|input| (input.description.clone(), input.default.clone())).unzip();
                    let is_set = self.values.contains_key(&key);
                    let (description, default) = (description.flatten(), default.flatten());
                    plan.values.push(NeededValue { key, description, default, is_set });
                }
            }
            plan.servers.push(planned);
            steps.push(step);
        }
        (plan, steps)
    }

    fn plan_server(&mut self, server: FileServer) -> (PlannedServer, Option<ImportStep>) {
        let FileServer { name, transport, is_enabled, total_seconds, unused_members } = server;
        let mut planned = PlannedServer {
            name: display_name(&name),
            id: String::new(),
            action: PlannedAction::LeaveOut,
            reason: None,
            target: String::new(),
            is_program: false,
            secrets: Vec::new(),
            is_behind_proxy: false,
            local_network: false,
            is_enabled,
            total_seconds,
            needs: Vec::new(),
            unused_members,
            configuration: None,
        };
        let step = match transport {
            Err(reason) => Err(InvalidField::new("", reason)),
            Ok(transport) => {
                planned.needs = self.missing_values(&transport);
                match transport {
                    FileTransport::Http { url, headers, is_behind_proxy } => {
                        planned.is_behind_proxy = is_behind_proxy;
                        self.plan_http(&mut planned, &url, &headers)
                    }
                    FileTransport::Program { argv, env, folder } => {
                        self.plan_program(&mut planned, &argv, &env, folder.as_ref())
                    }
                }
            }
        };
        match step {
            Ok(step) => (planned, Some(step)),
            Err(reason) => {
                planned.id.clear();
                planned.needs.clear();
                (PlannedServer { action: PlannedAction::LeaveOut, reason: Some(reason), ..planned }, None)
            }
        }
    }

    /// Returns the keys of variables without a value.
    fn missing_values(&self, transport: &FileTransport) -> Vec<String> {
        let mut missing: Vec<String> = Vec::new();
        for variable in transport.variables() {
            let key = variable.key();
            if variable.default.is_none() && self.value_of(variable).is_none() && !missing.contains(&key) {
                missing.push(key);
            }
        }
        missing
    }

    fn value_of(&self, variable: &TemplateVariable) -> Option<String> {
        let supplied = self.values.get(&variable.key()).map(|value| value.expose_secret().to_owned());
        supplied.or_else(|| self.input(variable)?.default.clone())
    }

    /// Returns the definition of a variable that the program asks a person for.
    fn input(&self, variable: &TemplateVariable) -> Option<&InputDefinition> {
        let of_input = variable.source == VariableSource::Input;
        self.inputs.iter().find(|input| of_input && input.id == variable.name)
    }

    /// Returns the text with the values that are known; other variables stay as they are.
    fn fill(&self, template: &Template) -> String {
        template.resolve(&|variable| self.value_of(variable)).unwrap_or_else(|| template.unresolved())
    }

    /// Notes the addresses of the file, and which connected servers it contains with the same headers.
    fn match_servers(&mut self, servers: &[FileServer]) {
        let draft = |server: &FileServer| {
            let transport = server.transport.as_ref().ok()?;
            let FileTransport::Http { url, headers, .. } = transport else { return None };
            Some(self.http_draft(url, headers, self.missing_values(transport).is_empty()))
        };
        let drafts: Vec<HttpDraft> = servers.iter().filter_map(draft).collect();
        for known in &mut self.known {
            if drafts.iter().any(|draft| is_same_connection(known, draft)) {
                known.claim = ServerClaim::Matched;
            }
        }
        self.places = drafts.iter().map(|draft| place_of(&draft.url)).collect();
    }

    fn http_draft(&self, url: &Template, headers: &[(String, Template)], is_whole: bool) -> HttpDraft {
        let headers: SecretHeaders =
            headers.iter().map(|(name, value)| (name.clone(), self.fill(value).into())).collect();
        HttpDraft { url: self.fill(url), headers, is_whole }
    }

    /// Returns the index of the connected server that a server of the file changes: the same one with another limit,
    /// or one at the same address. Of several accounts at one address, only the one with the same name is changed.
    ///
    /// # Errors
    /// The server is connected as it is, or the configuration file sets it.
    fn changed_server(&self, planned: &PlannedServer, draft: &HttpDraft) -> Result<Option<usize>, InvalidField> {
        let same = self.known.iter().position(|known| is_same_connection(known, draft));
        let found = same.or_else(|| {
            let place = place_of(&draft.url);
            let id = derive_id(&planned.name, &[]);
            let is_alone = self.places.iter().filter(|of| **of == place).count() <= 1;
            let is_free = |known: &KnownServer| {
                known.claim == ServerClaim::Free && known.url.as_deref().is_some_and(|url| place_of(url) == place)
            };
            let named =
                self.known.iter().position(|known| is_free(known) && (known.name == planned.name || known.id == id));
            named.or_else(|| self.known.iter().position(is_free).filter(|_| is_alone))
        });
        let Some(at) = found else { return Ok(None) };
        let known = &self.known[at];
        let is_unchanged = same.is_some() && (known.claim == ServerClaim::Taken || !changes_limit(known, planned));
        if known.is_locked || is_unchanged {
            return Err(InvalidField::new("", MessageCode::ServerConnected.with("name", &known.name)));
        }
        Ok(Some(at))
    }

    fn plan_http(
        &mut self,
        planned: &mut PlannedServer,
        url: &Template,
        headers: &[(String, Template)],
    ) -> Result<ImportStep, InvalidField> {
        let draft = self.http_draft(url, headers, planned.needs.is_empty());
        planned.secrets = draft.headers.iter().map(|(name, _)| name.clone()).collect();
        if has_variable_before_query(url) {
            // Its value may be a secret, and only the query is encrypted and masked.
            planned.target = mask_query(&url.unresolved());
            return Err(InvalidField::new("url", MessageCode::UrlHasVariable));
        }
        planned.target = mask_query(&draft.url);
        planned.local_network = base_url::literal_address(&draft.url).is_some_and(|address| !is_public(address))
            || is_local_name(&draft.url);
        let changed = self.changed_server(planned, &draft)?;
        let change = ToolServerChange {
            name: None,
            url: Some(draft.url.clone()),
            headers: Some(draft.headers.clone()),
            oauth_client_id: None,
            oauth_client_secret: None,
            is_enabled: None,
            // A change never takes the permission away.
            local_network: planned.local_network.then_some(true),
            start_seconds: None,
            idle_seconds: None,
            total_seconds: planned.total_seconds.map(Some),
        };
        if let Some(at) = changed {
            planned.action = PlannedAction::Change;
            (planned.id, planned.name) = (self.known[at].id.clone(), self.known[at].name.clone());
            self.check_http(planned, &change)?;
            let known = &mut self.known[at];
            (known.url, known.headers, known.claim) = (Some(draft.url), draft.headers, ServerClaim::Taken);
            return Ok(ImportStep::Change(planned.id.clone(), Box::new(change)));
        }
        let fields =
            ToolServerChange { name: Some(planned.name.clone()), is_enabled: Some(planned.is_enabled), ..change };
        self.check_http(planned, &fields)?;
        self.add_planned(planned, Some(draft.url), draft.headers, Vec::new())?;
        let new = NewToolServer { id: Some(planned.id.clone()), fields, client_request_id: None };
        Ok(ImportStep::Add(Box::new(new)))
    }

    /// Validates a server as if it were stored. One that lacks values is validated when it has them.
    fn check_http(&self, planned: &PlannedServer, fields: &ToolServerChange) -> Result<(), InvalidField> {
        if !planned.needs.is_empty() {
            return Ok(());
        }
        let mut row = empty_row(ids::mint(), ids::mint::<UserId>(), planned.id.clone(), self.now);
        apply_change(&mut row, fields.clone(), self.sealer).map(drop)
    }

    fn new_id(&self, planned: &PlannedServer) -> String {
        let taken: Vec<String> = self.known.iter().map(|known| known.id.clone()).collect();
        derive_id(&planned.name, &taken)
    }

    /// Gives a new server its id, and remembers it for the servers after it.
    fn add_planned(
        &mut self,
        planned: &mut PlannedServer,
        url: Option<String>,
        headers: SecretHeaders,
        argv: Vec<String>,
    ) -> Result<(), InvalidField> {
        if self.known.len() >= limits::TOOL_SERVERS {
            return Err(InvalidField::new("", MessageCode::TooManyServers.with("most", limits::TOOL_SERVERS)));
        }
        (planned.action, planned.id) = (PlannedAction::Add, self.new_id(planned));
        let (id, name, total_seconds) = (planned.id.clone(), planned.name.clone(), planned.total_seconds);
        let (is_locked, claim) = (false, ServerClaim::Taken);
        self.known.push(KnownServer { id, name, is_locked, url, headers, argv, total_seconds, claim });
        Ok(())
    }
}

/// Returns a valid display name.
fn display_name(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let name: String = plain.trim().chars().take(limits::TITLE_CHARS).collect();
    if name.is_empty() { "Server".to_owned() } else { name }
}

/// Returns true if the scheme, the host or the path depends on a variable.
fn has_variable_before_query(url: &Template) -> bool {
    // No address contains NUL.
    let marked = url.resolve(&|_| Some("\0".to_owned())).unwrap_or_default();
    marked.split('?').next().is_some_and(|start| start.contains('\0'))
}

/// Returns the address without its query, which may contain credentials.
fn place_of(url: &str) -> String {
    base_url::canonicalize(url.split(['?', '#']).next().unwrap_or(url))
}

/// Returns true if the host can only be a name of the local network.
fn is_local_name(url: &str) -> bool {
    let host = base_url::host_and_port(url).split(['?', '#', ':']).next().unwrap_or_default().to_ascii_lowercase();
    let has_local_end = [".local", ".lan", ".internal", ".home.arpa"].iter().any(|end| host.ends_with(end));
    has_local_end || (!host.is_empty() && !host.contains('.') && !host.starts_with('['))
}

fn is_same_connection(known: &KnownServer, draft: &HttpDraft) -> bool {
    let plain = |headers: &SecretHeaders| {
        let pair = |(name, value): &(String, SecretString)| {
            (name.trim().to_ascii_lowercase(), value.expose_secret().trim().to_owned())
        };
        headers.iter().map(pair).collect::<BTreeMap<_, _>>()
    };
    draft.is_whole
        && known.url.as_deref().map(base_url::canonicalize) == Some(base_url::canonicalize(&draft.url))
        && plain(&known.headers) == plain(&draft.headers)
}

fn changes_limit(known: &KnownServer, planned: &PlannedServer) -> bool {
    planned.total_seconds.is_some() && planned.total_seconds != known.total_seconds
}

#[cfg(test)]
mod tests;

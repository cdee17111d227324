//! Plans an import: compares each server of a file with those that are connected, and validates it as if it were
//! stored.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use secrecy::{ExposeSecret, SecretString};

use super::plan::{NeededValue, PlannedAction, PlannedServer, ProgramImport, ServerImportPlan};
use crate::providers::Sealer;
use crate::providers::headers::SecretHeaders;
use crate::tools::servers::draft::{NewToolServer, ToolServerChange, apply_change, derive_id, empty_row};
use turnleaf_domain::{InvalidField, MessageCode, UserId, limits};
use turnleaf_platform::config::tool_server_tables::{TableValue, ToolServerTable};
use turnleaf_platform::credentials::{MASKED, extract_credentials, mask_query};
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
    /// True when this import adds it.
    pub is_planned: bool,
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
    pub programs: ProgramImport,
    pub now: DateTime<Utc>,
}

/// A server over HTTP whose variables are filled in as far as possible.
struct HttpDraft {
    url: String,
    headers: SecretHeaders,
}

impl ImportPlanner<'_> {
    /// Plans the servers of a file. A server that is left out has no step.
    pub fn plan(mut self, file: ServerFile) -> (ServerImportPlan, Vec<Option<ImportStep>>) {
        let ServerFile { servers, not_read, inputs, unused_members } = file;
        self.inputs = inputs;
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

    fn plan_http(
        &mut self,
        planned: &mut PlannedServer,
        url: &Template,
        headers: &[(String, Template)],
    ) -> Result<ImportStep, InvalidField> {
        let draft = HttpDraft {
            url: self.fill(url),
            headers: headers.iter().map(|(name, value)| (name.clone(), self.fill(value).into())).collect(),
        };
        planned.target = mask_query(&draft.url);
        planned.secrets = draft.headers.iter().map(|(name, _)| name.clone()).collect();
        let is_whole = planned.needs.is_empty();
        planned.local_network = base_url::literal_address(&draft.url).is_some_and(|address| !is_public(address))
            || (is_whole && is_local_name(&draft.url));
        let is_same_place =
            |server: &&KnownServer| server.url.as_deref().is_some_and(|known| place_of(known) == place_of(&draft.url));
        let connected: Vec<&KnownServer> = self.known.iter().filter(is_same_place).collect();
        if let Some(same) = connected.iter().find(|known| {
            known.is_locked || (is_whole && is_same_connection(known, &draft) && !changes_limit(known, planned))
        }) {
            return Err(InvalidField::new("", MessageCode::ServerConnected.with("name", &same.name)));
        }
        let change = ToolServerChange {
            name: None,
            url: Some(draft.url.clone()),
            headers: Some(draft.headers.clone()),
            is_enabled: None,
            // A change never takes the permission away.
            local_network: planned.local_network.then_some(true),
            start_seconds: None,
            idle_seconds: None,
            total_seconds: planned.total_seconds.map(Some),
        };
        // One that this import adds is another account at the same address.
        if let Some(stored) = connected.iter().find(|known| !known.is_planned) {
            planned.action = PlannedAction::Change;
            (planned.id, planned.name) = (stored.id.clone(), stored.name.clone());
            self.check_http(planned, &change)?;
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

    fn plan_program(
        &mut self,
        planned: &mut PlannedServer,
        argv: &[Template],
        env: &[(String, Template)],
        folder: Option<&Template>,
    ) -> Result<ImportStep, InvalidField> {
        planned.is_program = true;
        let argv: Vec<String> = argv.iter().map(|part| self.fill(part)).collect();
        planned.target = argv.first().cloned().unwrap_or_default();
        planned.secrets = env.iter().map(|(name, _)| name.clone()).collect();
        if let Some(same) = self.known.iter().find(|known| !known.argv.is_empty() && known.argv == argv) {
            return Err(InvalidField::new("", MessageCode::ServerConnected.with("name", &same.name)));
        }
        let folder = folder.map(|folder| self.fill(folder));
        let is_allowed = self.programs == ProgramImport::Allowed;
        let variables = env.iter().map(|(name, value)| {
            let text = self.fill(value);
            let secret = SecretString::from(text.clone());
            let variable = match value.variables().next() {
                Some(variable) if variable.source == VariableSource::Environment => variable.name.clone(),
                _ => name.clone(),
            };
            let is_secret = !extract_credentials(name, &secret).is_empty() || value.variables().next().is_some();
            let value = match (is_secret, is_allowed) {
                (false, _) => TableValue::Text(text),
                (true, true) => TableValue::Secret(secret),
                (true, false) => TableValue::Variable(variable),
            };
            (name.clone(), value)
        });
        let env: Vec<(String, TableValue)> = variables.collect();
        if is_allowed && !planned.is_enabled {
            return Err(InvalidField::new("", MessageCode::SwitchedOff));
        }
        if is_allowed && !planned.needs.is_empty() {
            let names = planned.needs.join(", ");
            return Err(InvalidField::new("", MessageCode::ValuesMissing.with("names", names)));
        }
        let (id, name) = (self.new_id(planned), planned.name.clone());
        let mut table = ToolServerTable { id, name, argv, env, folder, total_seconds: planned.total_seconds };
        if is_allowed {
            self.add_planned(planned, None, Vec::new(), table.argv.clone())?;
            return Ok(ImportStep::Program(table));
        }
        mask_arguments(&mut table.argv);
        planned.configuration = Some(table.to_toml(&|_| std::path::PathBuf::new()));
        Err(InvalidField::new("", MessageCode::ProgramsRefused))
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
        let is_locked = false;
        self.known.push(KnownServer { id, name, is_locked, url, headers, argv, total_seconds, is_planned: true });
        Ok(())
    }
}

/// Returns a valid display name.
fn display_name(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let name: String = plain.trim().chars().take(limits::TITLE_CHARS).collect();
    if name.is_empty() { "Server".to_owned() } else { name }
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
    known.url.as_deref().map(base_url::canonicalize) == Some(base_url::canonicalize(&draft.url))
        && plain(&known.headers) == plain(&draft.headers)
}

fn changes_limit(known: &KnownServer, planned: &PlannedServer) -> bool {
    planned.total_seconds.is_some() && planned.total_seconds != known.total_seconds
}

/// Masks the credentials among arguments: behind an option that names one, in `name=value` and `Name: value`, and in
/// addresses.
fn mask_arguments(argv: &mut [String]) {
    let is_secret = |name: &str, value: &str| !extract_credentials(name, &SecretString::from(value)).is_empty();
    for at in 1..argv.len() {
        let (before, argument) = (argv[at - 1].clone(), argv[at].clone());
        let named = ["=", ": "].into_iter().find_map(|separator| {
            let (name, value) = argument.split_once(separator)?;
            is_secret(name, value).then(|| format!("{name}{separator}{MASKED}"))
        });
        let is_value = is_secret("", &argument) || (before.starts_with('-') && is_secret(&before, &argument));
        argv[at] = named.unwrap_or(if is_value { MASKED.to_owned() } else { argument });
    }
}

#[cfg(test)]
mod tests;

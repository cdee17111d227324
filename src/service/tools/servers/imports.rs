//! Import of the tool servers of other programs: a plan of what would be added, changed and left out, and its
//! execution for the chosen servers. Servers over HTTP are stored; programs are returned as tables of the
//! configuration file, the only place that may name them. Permissions are never imported.

mod plan;
mod planner;

use std::collections::{BTreeMap, BTreeSet};

use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use self::planner::{ImportPlanner, ImportStep, KnownServer, ServerClaim};
use crate::accounts::Actor;
use crate::{Service, ServiceError};
use turnleaf_domain::{CodedMessage, InvalidField, MessageCode, UserId};
use turnleaf_platform::config::tool_server_tables::ToolServerTable;
use turnleaf_platform::config::tool_servers::{ToolServerConfig, ToolServerTransport};
use turnleaf_platform::sealing::SecretBinding;
use turnleaf_store::tools::tool_servers;
use turnleaf_tools::server_file::parse_server_file;

pub use plan::{NeededValue, PlannedAction, PlannedServer, ProgramImport, ServerImportPlan};

/// The field of the text in requests.
const TEXT: &str = "json";

/// The values of variables by their keys, such as `env:TOKEN`.
pub type ImportValues = BTreeMap<String, SecretString>;

/// A file to import.
// No `Debug`: both may contain secrets.
#[derive(Clone)]
pub struct ServerImport {
    pub text: SecretString,
    pub values: ImportValues,
}

/// The result of an import.
#[derive(Debug, Default)]
pub struct ServerImportResult {
    /// The ids of the servers that were added or changed.
    pub imported: Vec<String>,
    /// The programs to add to the configuration file.
    pub programs: Vec<ToolServerTable>,
    /// The names of servers that could not be stored, with the reason.
    pub refused: Vec<(String, CodedMessage)>,
}

impl Service {
    /// Returns what an import would do.
    ///
    /// # Errors
    /// `InvalidField` of `json` when the text is not a file with servers.
    pub async fn plan_server_import(
        &self,
        owner: UserId,
        import: &ServerImport,
        programs: ProgramImport,
    ) -> Result<ServerImportPlan, ServiceError> {
        Ok(self.steps_of_import(owner, import, programs).await?.0)
    }

    /// Imports the servers at these places of the plan. With `starts`, stored servers are connected at once.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately; `InvalidField` of `value.KEY` when a chosen
    /// server needs a value. Nothing was stored then.
    pub async fn import_servers(
        &self,
        owner: UserId,
        actor: Actor,
        import: &ServerImport,
        (programs, starts): (ProgramImport, bool),
        chosen: &BTreeSet<usize>,
    ) -> Result<ServerImportResult, ServiceError> {
        self.require_recent_password(actor).await?;
        let _one_at_a_time = self.changing_providers().await;
        let (plan, steps) = self.steps_of_import(owner, import, programs).await?;
        for (at, server) in plan.servers.iter().enumerate().filter(|(at, _)| chosen.contains(at)) {
            if let (Some(key), true) = (server.needs.first(), steps[at].is_some()) {
                return Err(InvalidField::new(format!("value.{key}"), MessageCode::IsRequired).into());
            }
        }
        let mut result = ServerImportResult::default();
        for (at, (server, step)) in plan.servers.into_iter().zip(steps).enumerate() {
            let Some(step) = step.filter(|_| chosen.contains(&at)) else { continue };
            let stored = match step {
                ImportStep::Add(new) => self.store_tool_server(owner, actor, *new).await.map(|made| made.value.0),
                ImportStep::Change(id, change) => {
                    self.store_tool_server_change(owner, actor, (&id, *change)).await.map(|(row, _)| row)
                }
                ImportStep::Program(table) => {
                    result.programs.push(table);
                    continue;
                }
            };
            match stored {
                Ok(row) => {
                    if starts {
                        self.publish_tool_server(&row)?;
                    }
                    result.imported.push(row.slug);
                }
                Err(ServiceError::Invalid(invalid)) => result.refused.push((server.name, invalid.reason)),
                Err(ServiceError::Conflict { message, .. }) => result.refused.push((server.name, message)),
                Err(error) => return Err(error),
            }
        }
        Ok(result)
    }

    /// Encrypts an import for its owner, so that a page can keep it between the plan and the import.
    pub fn seal_server_import(&self, owner: UserId, import: &ServerImport) -> String {
        let values: BTreeMap<&str, &str> =
            import.values.iter().map(|(key, value)| (key.as_str(), value.expose_secret())).collect();
        let text = json!({ "text": import.text.expose_secret(), "values": values }).to_string();
        self.sealer().keyring().seal(import_binding(owner), &text.into())
    }

    /// Decrypts an import; `None` if it was not encrypted here for this owner.
    pub fn open_server_import(&self, owner: UserId, sealed: &str) -> Option<ServerImport> {
        let text = self.sealer().keyring().unseal(import_binding(owner), sealed).ok()?;
        let (text, values): (String, BTreeMap<String, String>) = {
            let mut members: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(text.expose_secret()).ok()?;
            let values = members.remove("values")?;
            (members.get("text")?.as_str()?.to_owned(), serde_json::from_value(values).ok()?)
        };
        let values = values.into_iter().map(|(key, value)| (key, value.into())).collect();
        Some(ServerImport { text: text.into(), values })
    }

    /// Returns the plan, and the step for each of its servers that can be imported.
    async fn steps_of_import(
        &self,
        owner: UserId,
        import: &ServerImport,
        programs: ProgramImport,
    ) -> Result<(ServerImportPlan, Vec<Option<ImportStep>>), ServiceError> {
        let file = parse_server_file(import.text.expose_secret()).map_err(|wrong| InvalidField::new(TEXT, wrong))?;
        let rows = tool_servers::list(self.db(), owner).await?;
        let configured = self.tools().configured_for(owner);
        let mut known: Vec<KnownServer> = configured.iter().map(configured_server).collect();
        for row in rows.iter().filter(|row| configured.iter().all(|server| server.id != row.slug)) {
            let secrets = self.sealer().open_secrets(row).unwrap_or_default();
            known.push(KnownServer {
                id: row.slug.clone(),
                name: row.name.clone(),
                is_locked: false,
                url: Some(secrets.url.unwrap_or_else(|| row.url.clone())),
                headers: secrets.headers,
                argv: Vec::new(),
                total_seconds: row.settings.total_seconds,
                claim: ServerClaim::Free,
            });
        }
        let (sealer, values, now) = (self.sealer(), &import.values, self.clock().now());
        let (inputs, places) = (Vec::new(), Vec::new());
        Ok(ImportPlanner { sealer, known, values, inputs, places, programs, now }.plan(file))
    }
}

fn configured_server(server: &ToolServerConfig) -> KnownServer {
    let (url, headers, argv) = match &server.reach {
        ToolServerTransport::Program { argv, .. } => (None, Vec::new(), argv.clone()),
        ToolServerTransport::Http { url, headers } => (Some(url.to_string()), headers.clone(), Vec::new()),
    };
    let (id, name) = (server.id.clone(), server.name.clone());
    let total_seconds = server.total.map(|total| total.as_secs());
    KnownServer { id, name, is_locked: true, url, headers, argv, total_seconds, claim: ServerClaim::Free }
}

fn import_binding(owner: UserId) -> SecretBinding<'static> {
    SecretBinding { table: "server_imports", column: "text", row: owner.uuid(), bound_to: "" }
}

//! The plan of an import, without secrets, for people.

use serde::{Serialize, Serializer};
use turnleaf_domain::InvalidField;

/// The permission of an import to add programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramImport {
    /// They are left out, with the table that the operator can add to the configuration file.
    Refused,
    /// The caller writes the configuration file.
    Allowed,
}

/// The planned effect of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ServerImportPlan {
    /// In the order of the file.
    pub servers: Vec<PlannedServer>,
    /// The values that a person has to supply, each for at least one server that can be imported.
    pub values: Vec<NeededValue>,
    /// The number of servers beyond the limit of a file.
    pub not_read: usize,
    /// The members of the file that contain no servers.
    pub unused_members: Vec<String>,
}

/// The planned effect on one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedServer {
    /// The display name.
    pub name: String,
    /// The id here. Empty for a server that is left out.
    pub id: String,
    pub action: PlannedAction,
    /// The reason why it is left out.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_sentence")]
    pub reason: Option<InvalidField>,
    /// The program without its arguments, or the address without credentials.
    pub target: String,
    pub is_program: bool,
    /// The names of its headers or variables.
    pub secrets: Vec<String>,
    /// True when the file starts a program that only forwards to the address.
    pub is_behind_proxy: bool,
    /// True when the address is on this machine or the local network, which the import allows for this server.
    pub local_network: bool,
    pub is_enabled: bool,
    pub total_seconds: Option<u64>,
    /// The keys of the values that it needs.
    pub needs: Vec<String>,
    /// The members that are not imported.
    pub unused_members: Vec<String>,
    /// The table of the configuration file for a program that is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedAction {
    Add,
    /// The server is connected already, with other headers, another query or another time limit.
    Change,
    LeaveOut,
}

/// A value that a server needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NeededValue {
    /// Such as `env:TOKEN` or `input:key`.
    pub key: String,
    /// The description in the file.
    pub description: Option<String>,
    /// The value that the file proposes.
    pub default: Option<String>,
    /// True when a value was supplied.
    pub is_set: bool,
}

fn as_sentence<S: Serializer>(reason: &Option<InvalidField>, serializer: S) -> Result<S::Ok, S::Error> {
    reason
        .as_ref()
        .map(|reason| match reason.field.as_str() {
            "" => reason.reason.to_string(),
            field => format!("{field}: {}", reason.reason),
        })
        .serialize(serializer)
}

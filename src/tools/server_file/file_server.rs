//! A server as the file of another program describes it.

use super::template::{Template, TemplateVariable};
use turnleaf_domain::CodedMessage;

/// A server as a file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileServer {
    /// The name in the file, unchanged.
    pub name: String,
    /// The transport of the server, or the reason why it cannot be imported.
    pub transport: Result<FileTransport, CodedMessage>,
    pub is_enabled: bool,
    /// The total time of a call in seconds, if the file limits it.
    pub total_seconds: Option<u64>,
    /// The members that have no counterpart here.
    pub unused_members: Vec<String>,
}

/// The transport of a server in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileTransport {
    Program {
        /// The program and its arguments.
        argv: Vec<Template>,
        env: Vec<(String, Template)>,
        folder: Option<Template>,
    },
    Http {
        url: Template,
        headers: Vec<(String, Template)>,
        /// True when the file starts a program that only forwards to this address.
        is_behind_proxy: bool,
    },
}

impl FileTransport {
    /// Returns the variables in its texts, in order.
    pub fn variables(&self) -> Vec<&TemplateVariable> {
        let texts: Vec<&Template> = match self {
            Self::Program { argv, env, folder } => {
                argv.iter().chain(env.iter().map(|(_, value)| value)).chain(folder).collect()
            }
            Self::Http { url, headers, .. } => {
                std::iter::once(url).chain(headers.iter().map(|(_, value)| value)).collect()
            }
        };
        texts.into_iter().flat_map(Template::variables).collect()
    }
}

//! The arguments of `turnleaf group`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum GroupCommand {
    /// Add a group without members
    Add { name: String },
    /// List all groups with the numbers of their members
    List,
    /// List the members of a group, or change who they are
    Members {
        name: String,
        /// Account to add; may be repeated
        #[arg(long, value_name = "NAME", value_delimiter = ',')]
        add: Vec<String>,
        /// Account to remove; may be repeated
        #[arg(long, value_name = "NAME", value_delimiter = ',')]
        remove: Vec<String>,
    },
    /// List the groups of sign-in services whose people are members of a group, or change which they are
    Mappings {
        name: String,
        /// Id of the identity provider, or proxy
        #[arg(long, value_name = "ID")]
        service: Option<String>,
        /// Group of the service to add, exactly as the service sends it; may be repeated
        #[arg(long, value_name = "GROUP", requires = "service")]
        add: Vec<String>,
        /// Group of the service to remove; may be repeated
        #[arg(long, value_name = "GROUP", requires = "service")]
        remove: Vec<String>,
    },
}

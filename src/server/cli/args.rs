//! The arguments. Their names are part of the public interface (docs/reference/api.md 1); the doc comments are the
//! help text.

mod groups;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::domain::transfer::export::ExportDetail;
use crate::domain::{AccountRole, TokenScope};
use turnleaf_platform::config::CliFlags;

pub use self::groups::GroupCommand;

/// Self-hosted chat for every LLM.
#[derive(Debug, Parser)]
#[command(
    name = "turnleaf",
    version,
    about,
    after_help = "Without a command, turnleaf serves on http://127.0.0.1:3000.\n\
        Exit codes: 0 success, 1 failure, 2 usage error, 3 imported only in part, 74 damaged data, 75 data directory \
        in use, 78 unsafe or invalid configuration."
)]
pub struct CliArgs {
    #[command(subcommand)]
    pub command: Option<CliCommand>,
    #[command(flatten)]
    pub settings: SettingArgs,
    /// Print results as JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// Settings that take precedence over the environment and the configuration file.
#[derive(Debug, clap::Args)]
pub struct SettingArgs {
    /// Address to listen on [default: 127.0.0.1:3000]
    #[arg(long, global = true, value_name = "HOST:PORT")]
    pub listen: Option<String>,
    /// Database, sqlite://PATH or postgres://… [default: turnleaf.db in the data directory]
    #[arg(long, global = true, value_name = "URL")]
    pub database: Option<String>,
    /// Directory for all data [default: ~/.local/share/turnleaf]
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Configuration file [default: ~/.config/turnleaf/config.toml, if it exists]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Migrate the database and serve
    Serve,
    /// Migrate the database and exit
    Migrate {
        /// Show what would be done, without doing it
        #[arg(long)]
        dry_run: bool,
    },
    /// Check all stored data; exits with code 74 if it finds damage
    Fsck {
        /// Move unreadable values into quarantine and replace them with readable ones; the server must not be running
        #[arg(long)]
        repair: bool,
        /// Print the quarantined values, one JSON object per line
        #[arg(long, conflicts_with = "repair")]
        quarantine: bool,
    },
    /// Parse a recorded raw response of a provider and print the result
    Replay(ReplayArgs),
    /// Copy the database to a file, even while it is in use
    Backup {
        /// File of the copy, which must not exist
        file: PathBuf,
    },
    /// Replace the database with a backup; the server must not be running
    Restore {
        /// File of the backup
        file: PathBuf,
    },
    /// Import chats from a Turnleaf archive or from the export of another program
    Import(ImportArgs),
    /// Export all chats, or one
    Export(ExportArgs),
    /// Manage tool servers
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// Manage accounts
    #[command(subcommand)]
    User(UserCommand),
    /// Manage groups of accounts
    #[command(subcommand)]
    Group(GroupCommand),
    /// Manage API tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// Make an invitation, with which somebody makes an account
    Invite {
        /// Role of the account: user or admin
        #[arg(long, value_parser = parse_given_role, default_value = "user")]
        role: AccountRole,
    },
    /// Check or show the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Check this installation for problems
    Doctor,
    /// Print the licenses of Turnleaf and of the libraries in it
    Licenses,
    /// Print the version
    Version,
    /// Run a program and end all of its processes with it; used by Turnleaf itself
    #[command(hide = true)]
    Guard(GuardArgs),
    /// Convert one file from standard input to standard output; used by Turnleaf itself
    #[command(hide = true)]
    Convert,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Check whether a server would start with the configuration
    Check,
    /// Show every setting and its origin; secrets are masked
    Print,
}

#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// Import the tool servers of another program: mcpServers, servers of VS Code, context_servers of Zed
    Import(ToolsImportArgs),
}

impl ToolsCommand {
    /// Returns true if the command changes nothing.
    pub fn is_dry_run(&self) -> bool {
        let Self::Import(args) = self;
        args.dry_run
    }
}

#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Add an account; prints a new password for it, which its person has to change within 3 days
    Add {
        name: String,
        /// Role: user, admin, or owner for the first account of a server
        #[arg(long, value_parser = parse_role, default_value = "user")]
        role: AccountRole,
        #[command(flatten)]
        password: PasswordArgs,
    },
    /// List all accounts
    List,
    /// Disable an account: its sessions and API tokens end
    Disable { name: String },
    /// Enable an account
    Enable { name: String },
    /// Give an account a new password and print it, which its person has to change within 3 days; its sessions and API
    /// tokens end
    ResetPassword {
        name: String,
        /// Also unlink the identities by which its person signs in at other services, and remove its passkeys; they are
        /// listed anyway
        #[arg(long)]
        unlink: bool,
        #[command(flatten)]
        password: PasswordArgs,
    },
    /// Take the second factor off an account whose person has lost it
    ResetSecondFactor { name: String },
    /// End all sessions and API tokens of an account
    SignOut { name: String },
    /// Show the budgets of an account and what is used of them, or those of a group, or set them
    Budget(BudgetArgs),
}

/// The budgets to set, and whose.
#[derive(Debug, clap::Args)]
pub struct BudgetArgs {
    /// Name of the account
    #[arg(required_unless_present_any = ["is_default", "of_group"], conflicts_with_all = ["is_default", "of_group"])]
    pub name: Option<String>,
    /// Name of a group, each of whose members is bounded
    #[arg(long = "group", value_name = "NAME", conflicts_with = "is_default")]
    pub of_group: Option<String>,
    /// The defaults of all accounts
    #[arg(long = "default")]
    pub is_default: bool,
    /// US dollars per day in UTC, or none
    #[arg(long, value_name = "DOLLARS")]
    pub day_cost: Option<String>,
    /// Tokens per day in UTC, or none
    #[arg(long, value_name = "TOKENS")]
    pub day_tokens: Option<String>,
    /// Requests per day in UTC, or none
    #[arg(long, value_name = "REQUESTS")]
    pub day_requests: Option<String>,
    /// US dollars per month in UTC, or none
    #[arg(long, value_name = "DOLLARS")]
    pub month_cost: Option<String>,
    /// Tokens per month in UTC, or none
    #[arg(long, value_name = "TOKENS")]
    pub month_tokens: Option<String>,
    /// Requests per month in UTC, or none
    #[arg(long, value_name = "REQUESTS")]
    pub month_requests: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct PasswordArgs {
    /// Read the password from the first line of standard input instead of making one
    #[arg(long = "password-stdin")]
    pub is_on_stdin: bool,
}

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Create an API token and print it
    Create {
        /// Purpose of the token
        name: String,
        /// Name of the account [default: the owner]
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        /// Scope of the token: chats:read, chats:write, models:call, export or settings; may be repeated
        #[arg(long = "scope", value_name = "SCOPE", required = true, value_delimiter = ',')]
        scopes: Vec<TokenScope>,
        /// Days for which it is valid, up to 365
        #[arg(long, default_value_t = 90)]
        days: u32,
    },
    /// List the API tokens of an account
    List {
        /// Name of the account [default: the owner]
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
    },
    /// Revoke an API token
    Revoke {
        /// Id of the token, as the list shows it
        id: String,
        /// Name of the account [default: the owner]
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
    },
}

fn parse_role(word: &str) -> Result<AccountRole, String> {
    AccountRole::parse(word).ok_or_else(|| "it is none of user, admin and owner".to_owned())
}

fn parse_given_role(word: &str) -> Result<AccountRole, String> {
    AccountRole::parse_given(word).ok_or_else(|| "it is neither user nor admin".to_owned())
}

#[derive(Debug, clap::Args)]
pub struct ToolsImportArgs {
    /// JSON file of the program, or - for standard input. Variables such as ${env:NAME} take their values from the
    /// environment of this command, ${input:my-key} from MY_KEY
    pub file: PathBuf,
    /// Show what would be imported, without importing it
    #[arg(long)]
    pub dry_run: bool,
    /// Also replace headers and limits of servers that are connected already
    #[arg(long)]
    pub update: bool,
}

#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// Format: turnleaf, git, chatgpt, claude, open-webui, librechat, llama-cpp, big-agi,
    /// claude-code, codex, gemini-cli,
    /// deepseek, ai-studio, gemini-takeout, grok, messages, lobehub, cherry-studio, sillytavern, jan or anythingllm;
    /// for a database legacy-messages or legacy-actions
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub from: String,
    /// With --from messages: the keys that the file uses, where they are not OpenAI's: role=author.name,content=body
    #[arg(long, value_name = "FIELD=KEY,…")]
    pub map: Option<String>,
    /// Show what would be imported, without importing it
    #[arg(long)]
    pub dry_run: bool,
    /// Exported files, unchanged, the folder of an unpacked archive or of an exported git repository; for a database its
    /// SQLite file or postgres://…
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Export one chat instead of all
    #[arg(long, value_name = "ID")]
    pub chat: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ExportFormat::Json)]
    pub format: ExportFormat,
    /// Output file, which must not exist [default: standard output]; for git: a folder that does not exist or is empty
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Folder for the images that the Markdown links; it is created if it does not exist
    #[arg(long, value_name = "DIR")]
    pub assets: Option<PathBuf>,
    /// Level of detail of reasoning, in Markdown and HTML
    #[arg(long, value_enum, default_value_t = DetailLevel::Folded)]
    pub reasoning: DetailLevel,
    /// Level of detail of tool calls, in Markdown and HTML
    #[arg(long, value_enum, default_value_t = DetailLevel::Folded)]
    pub tools: DetailLevel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ExportFormat {
    /// Archive with everything: all branches, raw responses, images, documents
    Json,
    /// The current branch as Markdown
    Markdown,
    /// The current branch as one page that needs no network connection
    Html,
    /// All branches as a bare repository, one commit per message or reply
    Git,
}

/// The level of detail with which a kind of content is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum DetailLevel {
    Folded,
    Full,
    LeftOut,
}

impl From<DetailLevel> for ExportDetail {
    fn from(much: DetailLevel) -> Self {
        match much {
            DetailLevel::Folded => Self::Folded,
            DetailLevel::Full => Self::Full,
            DetailLevel::LeftOut => Self::LeftOut,
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct ReplayArgs {
    /// The protocol: anthropic, openai_chat, openai_responses, gemini or ollama
    #[arg(long)]
    pub api: String,
    /// The dialect of the protocol, such as deepseek
    #[arg(long, value_name = "NAME")]
    pub dialect: Option<String>,
    /// HTTP status of the response [default: 200]
    #[arg(long, value_name = "N")]
    pub http_status: Option<u16>,
    /// Feed the parser this many bytes at a time; the result is the same
    #[arg(long, value_name = "BYTES", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub chunk: Option<usize>,
    /// Add what the next request to the same model would contain
    #[arg(long)]
    pub next: bool,
    /// File with the response body, or - for standard input
    pub file: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct GuardArgs {
    /// Become the program instead of watching it
    #[arg(long = "become")]
    pub is_program: bool,
    /// Process id of the parent, whose end ends the program
    pub parent: u32,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    pub argv: Vec<std::ffi::OsString>,
}

impl From<SettingArgs> for CliFlags {
    fn from(args: SettingArgs) -> Self {
        Self { listen: args.listen, database: args.database, data_dir: args.data_dir, config: args.config }
    }
}

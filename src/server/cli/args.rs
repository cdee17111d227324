//! The arguments. Names are contract (contract.md 1); the help texts are for people who have read nothing else.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::domain::export::ExportDetail;
use turnleaf_platform::config::CliFlags;

/// Self-hosted chat for every LLM.
#[derive(Debug, Parser)]
#[command(
    name = "turnleaf",
    version,
    about,
    after_help = "Without a command, turnleaf serves on http://127.0.0.1:3000.\n\
                  Exit codes: 0 done, 1 failed, 2 wrong use, 74 damaged data, 75 data directory in use, \
                  78 unsafe or wrong configuration."
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

/// Settings that beat the environment and the configuration file.
#[derive(Debug, clap::Args)]
pub struct SettingArgs {
    /// Where to serve [default: 127.0.0.1:3000]
    #[arg(long, global = true, value_name = "HOST:PORT")]
    pub listen: Option<String>,
    /// Database, sqlite://PATH or postgres://… [default: turnleaf.db in the data directory]
    #[arg(long, global = true, value_name = "URL")]
    pub database: Option<String>,
    /// Where everything is kept [default: ~/.local/share/turnleaf]
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Configuration file [default: ~/.config/turnleaf/config.toml, if there is one]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Bring the database up to date and serve
    Serve,
    /// Bring the database up to date, nothing else
    Migrate {
        /// Say what would be done, and do nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Check everything stored; findings end with exit code 74
    Fsck {
        /// Move values that cannot be read into quarantine and put something readable in their place; the server must not
        /// run
        #[arg(long)]
        repair: bool,
        /// Print what is in quarantine, one value a line as JSON
        #[arg(long, conflicts_with = "repair")]
        quarantine: bool,
    },
    /// Read a provider's raw reply as it was recorded and print what it becomes
    Replay(ReplayArgs),
    /// Copy the database to a file, also while it is in use
    Backup {
        /// The copy, which must not exist
        file: PathBuf,
    },
    /// Put such a copy in the place of the database; the server must not run
    Restore {
        /// The copy
        file: PathBuf,
    },
    /// Take in chats from an archive of Turnleaf or from what another program exported
    Import(ImportArgs),
    /// Take out chats: all of them, or one
    Export(ExportArgs),
    /// Check or show the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Look for what may be wrong with this installation
    Doctor,
    /// Print the version
    Version,
    /// Run a program and leave nothing of it behind; for Turnleaf itself
    #[command(hide = true)]
    Guard(GuardArgs),
    /// Read one file on standard input and answer on standard output; for Turnleaf itself
    #[command(hide = true)]
    Convert,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Say whether a server would start with it
    Check,
    /// Show every setting and where it comes from; secrets are masked
    Print,
}

#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// What it is: turnleaf, chatgpt, claude, open-webui, librechat, llama-cpp or big-agi; or, of a database,
    /// legacy-messages or legacy-actions
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub from: String,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Exported files, as they came; of a database its SQLite file or postgres://…
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// One chat; all of them without it
    #[arg(long, value_name = "ID")]
    pub chat: Option<String>,
    /// What is written
    #[arg(long, value_enum, default_value_t = ExportFormat::Json)]
    pub format: ExportFormat,
    /// A file, which must not exist [default: standard output]; for git a folder, which must not exist or be empty
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How much of reasoning is written, as Markdown and HTML
    #[arg(long, value_enum, default_value_t = DetailLevel::Folded)]
    pub reasoning: DetailLevel,
    /// How much of tools is written, as Markdown and HTML
    #[arg(long, value_enum, default_value_t = DetailLevel::Folded)]
    pub tools: DetailLevel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ExportFormat {
    /// An archive with everything: all branches, the bytes of providers, images, documents
    Json,
    /// The path that is shown, for people
    Markdown,
    /// The path that is shown, as one page that needs no network
    Html,
    /// All branches as a bare repository: a turn is a commit
    Git,
}

/// How much of something is written.
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
    /// The status the body came with [default: 200]
    #[arg(long, value_name = "N")]
    pub http_status: Option<u16>,
    /// Feed this many bytes at a time; the result is the same
    #[arg(long, value_name = "BYTES", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub chunk: Option<usize>,
    /// Add what the next request to the same model would carry
    #[arg(long)]
    pub next: bool,
    /// The body, or - for standard input
    pub file: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct GuardArgs {
    /// Become the program instead of watching it
    #[arg(long = "become")]
    pub is_program: bool,
    /// The process that must be there
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

//! Where things are kept and how much of them: the data directory, whether raw replies are kept at all, the space that
//! must stay free, and the quota.

use std::path::PathBuf;

use etcetera::BaseStrategy;

use crate::config::environment::{Environment, switch};
use crate::config::file::{ConfigFile, SizeEntry};
use crate::config::setting::{Setting, Source};
use crate::config::{ConfigError, Flags};
use turnleaf_domain::limits;
use turnleaf_domain::size::{NotASize, Size};

/// The data directory: ours by name, else the state directory of a system service, else the user's data directory.
pub fn data_dir(
    flags: &Flags,
    environment: &Environment,
    file: Option<PathBuf>,
) -> Result<Setting<PathBuf>, ConfigError> {
    let variable = |name| environment.text(name).map(PathBuf::from);
    let candidates = [
        (Source::Flag("--data-dir"), flags.data_dir.clone()),
        (Source::Environment("TURNLEAF_DATA_DIR"), variable("TURNLEAF_DATA_DIR")),
        (Source::File("data_dir"), file),
        (Source::Environment("STATE_DIRECTORY"), variable("STATE_DIRECTORY")),
        (Source::Default, usual(environment)),
    ];
    let setting = Setting::first(candidates, PathBuf::new);
    if setting.value.as_os_str().is_empty() {
        return Err(ConfigError::new(
            "there is no home directory to keep data in: set --data-dir or TURNLEAF_DATA_DIR",
        ));
    }
    Ok(setting)
}

fn usual(environment: &Environment) -> Option<PathBuf> {
    let asked = environment.text("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let parent = asked.or_else(|| etcetera::choose_base_strategy().ok().map(|strategy| strategy.data_dir()));
    parent.map(|parent| parent.join("turnleaf"))
}

/// Whether raw replies are kept; they are unless told otherwise.
pub fn store_raw(environment: &Environment, file: &ConfigFile) -> Result<Setting<bool>, ConfigError> {
    let name = "TURNLEAF_STORE_RAW";
    let from_environment = environment.text(name).map(|text| switch(name, text)).transpose()?;
    Ok(Setting::first(
        [(Source::Environment(name), from_environment), (Source::File("store_raw"), file.store_raw)],
        || true,
    ))
}

/// The free space that the file system of the data directory keeps: below it nothing new begins. 0 switches it off.
pub fn min_free_disk(environment: &Environment, file: &ConfigFile) -> Result<Setting<Size>, ConfigError> {
    let of_file = (Source::File("min_free_disk"), file.min_free_disk.as_ref());
    size("TURNLEAF_MIN_FREE_DISK", environment, of_file, limits::MIN_FREE_DISK)
}

/// What each person may keep in all. 0, the default, is no quota.
pub fn quota(environment: &Environment, file: &ConfigFile) -> Result<Setting<Size>, ConfigError> {
    size("TURNLEAF_QUOTA", environment, (Source::File("quota"), file.quota.as_ref()), 0)
}

fn size(
    variable: &'static str,
    environment: &Environment,
    (key, entry): (Source, Option<&SizeEntry>),
    default: u64,
) -> Result<Setting<Size>, ConfigError> {
    let candidates = [(Source::Environment(variable), environment.owned(variable)), (key, entry.map(SizeEntry::text))];
    Setting::first(candidates, || default.to_string()).try_map(|text, source| {
        text.parse().map_err(|error: NotASize| ConfigError::new(format!("{source} {error}: {text}")))
    })
}

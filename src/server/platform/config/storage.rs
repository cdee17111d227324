//! Where things are kept: the data directory, and whether raw replies are kept at all.

use std::path::PathBuf;

use etcetera::BaseStrategy;

use crate::server::platform::config::environment::{Environment, switch};
use crate::server::platform::config::file::ConfigFile;
use crate::server::platform::config::setting::{Setting, Source};
use crate::server::platform::config::{ConfigError, Flags};

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

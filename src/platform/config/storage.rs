//! The storage settings: the data directory, whether raw responses are stored, the free space to keep, and the quota.

use std::path::PathBuf;

use etcetera::BaseStrategy;

use crate::config::environment::{Environment, parse_switch};
use crate::config::file::{ConfigFile, SizeEntry};
use crate::config::setting::{SettingSource, SourcedSetting};
use crate::config::{CliFlags, ConfigError};
use turnleaf_domain::limits;
use turnleaf_domain::text::byte_size::{ByteSize, ParseByteSizeError};

/// Returns the data directory: the configured one, else the state directory of a system service, else the user's data
/// directory.
pub fn data_dir(
    flags: &CliFlags,
    environment: &Environment,
    file: Option<PathBuf>,
) -> Result<SourcedSetting<PathBuf>, ConfigError> {
    let variable = |name| environment.text(name).map(PathBuf::from);
    let candidates = [
        (SettingSource::Flag("--data-dir"), flags.data_dir.clone()),
        (SettingSource::Environment("TURNLEAF_DATA_DIR"), variable("TURNLEAF_DATA_DIR")),
        (SettingSource::File("data_dir"), file),
        (SettingSource::Environment("STATE_DIRECTORY"), variable("STATE_DIRECTORY")),
        (SettingSource::Default, default_data_dir(environment)),
    ];
    let setting = SourcedSetting::first_set(candidates, PathBuf::new);
    if setting.value.as_os_str().is_empty() {
        return Err(ConfigError::new("no home directory found for the data; set --data-dir or TURNLEAF_DATA_DIR"));
    }
    Ok(setting)
}

fn default_data_dir(environment: &Environment) -> Option<PathBuf> {
    let configured = environment.text("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let parent = configured.or_else(|| etcetera::choose_base_strategy().ok().map(|strategy| strategy.data_dir()));
    parent.map(|parent| parent.join("turnleaf"))
}

/// Returns whether raw responses are stored; the default is yes.
pub fn store_raw(environment: &Environment, file: &ConfigFile) -> Result<SourcedSetting<bool>, ConfigError> {
    let name = "TURNLEAF_STORE_RAW";
    let from_environment = environment.text(name).map(|text| parse_switch(name, text)).transpose()?;
    Ok(SourcedSetting::first_set(
        [(SettingSource::Environment(name), from_environment), (SettingSource::File("store_raw"), file.store_raw)],
        || true,
    ))
}

/// Returns the free space that the file system of the data directory keeps; below it nothing new is accepted. 0
/// disables the check.
pub fn min_free_disk(environment: &Environment, file: &ConfigFile) -> Result<SourcedSetting<ByteSize>, ConfigError> {
    let of_file = (SettingSource::File("min_free_disk"), file.min_free_disk.as_ref());
    read_size("TURNLEAF_MIN_FREE_DISK", environment, of_file, limits::MIN_FREE_DISK)
}

/// Returns the storage quota of each person. 0, the default, means none.
pub fn quota(environment: &Environment, file: &ConfigFile) -> Result<SourcedSetting<ByteSize>, ConfigError> {
    read_size("TURNLEAF_QUOTA", environment, (SettingSource::File("quota"), file.quota.as_ref()), 0)
}

fn read_size(
    variable: &'static str,
    environment: &Environment,
    (key, entry): (SettingSource, Option<&SizeEntry>),
    default: u64,
) -> Result<SourcedSetting<ByteSize>, ConfigError> {
    let candidates =
        [(SettingSource::Environment(variable), environment.text_owned(variable)), (key, entry.map(SizeEntry::text))];
    SourcedSetting::first_set(candidates, || default.to_string()).try_map(|text, source| {
        text.parse().map_err(|error: ParseByteSizeError| ConfigError::new(format!("{source} {error}: {text}")))
    })
}

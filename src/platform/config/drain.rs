//! The settings of a graceful shutdown: how long `/readyz` announces it while connections are still accepted, and how
//! long running replies may finish after that.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::config::ConfigError;
use crate::config::environment::Environment;
use crate::config::file::ConfigFile;
use crate::config::setting::{SettingSource, SourcedSetting};
use turnleaf_domain::limits;

const FINISH_SECONDS: RangeInclusive<u64> = 1..=3_600;
const ANNOUNCE_SECONDS: RangeInclusive<u64> = 0..=300;

/// The durations of the two phases of a shutdown.
#[derive(Debug, Clone)]
pub struct DrainSettings {
    /// The announcement: `/readyz` answers 503 while everything else works, so that a load balancer sends requests
    /// elsewhere.
    pub announce: SourcedSetting<Duration>,
    /// The drain: no new connections are accepted, and running replies may finish.
    pub finish: SourcedSetting<Duration>,
}

/// Reads both durations. `is_public` says that a load balancer may watch `/readyz`; on a loopback address nothing
/// does, so the announcement is skipped by default.
pub fn read(environment: &Environment, file: &ConfigFile, is_public: bool) -> Result<DrainSettings, ConfigError> {
    let seconds = |variable: &'static str, key, from_file, default: Duration, allowed: RangeInclusive<u64>| {
        let from_environment = environment.text(variable).map(|text| {
            let wrong = || ConfigError::new(format!("{variable} must be a whole number of seconds, but is: {text}"));
            text.parse::<u64>().map_err(|_| wrong())
        });
        let candidates = [
            (SettingSource::Environment(variable), from_environment.transpose()?),
            (SettingSource::File(key), from_file),
        ];
        SourcedSetting::first_set(candidates, || default.as_secs()).try_map(|value, source| {
            let (least, most) = (allowed.start(), allowed.end());
            let wrong = || {
                ConfigError::new(format!(
                    "{source} must be between {least} and {most} seconds, but is: \
                {value}"
                ))
            };
            allowed.contains(&value).then(|| Duration::from_secs(value)).ok_or_else(wrong)
        })
    };
    let announced = if is_public { limits::DRAIN_ANNOUNCE } else { Duration::ZERO };
    Ok(DrainSettings {
        announce: seconds(
            "TURNLEAF_DRAIN_ANNOUNCE_SECONDS",
            "drain_announce_seconds",
            file.drain_announce_seconds,
            announced,
            ANNOUNCE_SECONDS,
        )?,
        finish: seconds("TURNLEAF_DRAIN_SECONDS", "drain_seconds", file.drain_seconds, limits::DRAIN, FINISH_SECONDS)?,
    })
}

//! Formatting of durations for people.

/// Formats whole seconds in at most two units, such as `12 s`, `1 min 5 s` or `2 h 3 min`. The caller passes the
/// localized names of hours, minutes and seconds.
pub fn format_elapsed(seconds: u64, [h, min, s]: [&str; 3]) -> String {
    let (minutes, rest) = (seconds / 60, seconds % 60);
    match (minutes / 60, minutes % 60, rest) {
        (0, 0, rest) => format!("{rest} {s}"),
        (0, minutes, 0) => format!("{minutes} {min}"),
        (0, minutes, rest) => format!("{minutes} {min} {rest} {s}"),
        (hours, 0, _) => format!("{hours} {h}"),
        (hours, minutes, _) => format!("{hours} {h} {minutes} {min}"),
    }
}

//! Texts for the model about calls that were not run, written so that it can act upon them.

use turnleaf_domain::encoding::json_bounds;
use turnleaf_domain::limits;

pub(super) const STOPPED: &str = "The user stopped this call.";
pub(super) const DECLINED: &str = "The user declined this call.";
pub(super) const NOT_SIGNED_IN: &str =
    "The tool was not run: its server needs the user to sign in (sign_in_needed), and the user declined.";
pub(super) const TOO_LONG: &str = "The tool took too long and was stopped.";
pub(super) const GATE_TOO_LONG: &str = "The tool is not available now: its server does not answer.";

/// Returns the text for arguments that are invalid JSON or exceed its bounds.
pub(super) fn unusable_arguments(arguments: &str) -> String {
    let reason = match json_bounds::parse_bounded(arguments) {
        Err(error) if json_bounds::parse(arguments).is_ok() => format!("cannot be used ({error})"),
        _ => "are not valid JSON".to_owned(),
    };
    format!(
        "The arguments of this call {reason}, so the tool was not run. Call it again with one JSON object that has the \
         fields of the tool's schema."
    )
}

pub(super) fn tool_not_available(name: &str) -> String {
    format!("The tool {name:?} is not available in this chat. It was not run.")
}

pub(super) fn too_many_calls() -> String {
    format!(
        "Not run: a reply may make at most {} calls at a time. Call it again with fewer beside it.",
        limits::TOOL_CALLS_A_STEP
    )
}

/// Returns the text for a call that a person declined, with their reason.
pub(super) fn declined_with_reason(declined: &str, reason: Option<&str>) -> String {
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("{declined} Their reason: {reason}"),
        None => declined.to_owned(),
    }
}

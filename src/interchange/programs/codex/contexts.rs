//! Texts that Codex writes in the name of the user.

/// Beginnings of texts that are context for the model.
const CONTEXTS: &[&str] = &[
    "# AGENTS.md instructions",
    "<apps_instructions>",
    "<codex_internal_context",
    "<collaboration_mode>",
    "<environment_context>",
    "<environments_instructions>",
    "<external_",
    "<goal_context>",
    "<hook_prompt",
    "<model_switch>",
    "<multi_agent_mode>",
    "<permissions instructions>",
    "<personality_spec>",
    "<plugins_instructions>",
    "<recommended_plugins>",
    "<skill>",
    "<skills_instructions>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_instructions>",
    "Warning: The maximum number of unified exec processes you can keep open is",
    "Warning: Your account was flagged for potentially high-risk cyber activity",
    "Warning: apply_patch was requested via ",
];

/// Returns whether a text of a user message is context of the program.
pub(super) fn is_context(text: &str) -> bool {
    let text = text.trim_start();
    CONTEXTS.iter().any(|start| text.starts_with(start))
}

/// Returns whether a text says that the user stopped the response before it.
pub(super) fn is_interruption(text: &str) -> bool {
    text.trim_start().starts_with("<turn_aborted>")
}

/// Returns whether a text is a shell command of the user with its output: the user's own, but not a turn.
pub(super) fn is_shell_command(text: &str) -> bool {
    text.trim_start().starts_with("<user_shell_command>")
}

/// Returns whether a text only marks where an image or a recording begins or ends.
pub(super) fn is_media_mark(text: &str) -> bool {
    let text = text.trim();
    let is_opening =
        |name: &str| text.strip_prefix(name).is_some_and(|rest| rest.ends_with('>') && rest.matches('<').count() == 0);
    matches!(text, "<image>" | "</image>" | "<audio>" | "</audio>")
        || is_opening("<image name=")
        || is_opening("<audio name=")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_is_told_from_words_of_user() {
        for text in ["<environment_context>\n  <cwd>/x</cwd>", "\n# AGENTS.md instructions for /x\n", "<skill>\n"] {
            assert!(is_context(text), "{text}");
        }
        for text in ["What is <environment_context>?", "<user_shell_command>", "Warning: I am new here"] {
            assert!(!is_context(text), "{text}");
        }
        for (text, is_mark) in [
            ("<image name=[Image #1]>", true),
            ("</image>", true),
            ("<image name=a> is <b>", false),
            ("An <image>", false),
        ] {
            assert_eq!(is_media_mark(text), is_mark, "{text}");
        }
        assert!(is_interruption("<turn_aborted>\nThe user") && is_context("<turn_aborted>"));
    }
}

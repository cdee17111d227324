//! Texts with variables: `${env:NAME}` and `${input:id}` of VS Code, Cursor and Windsurf, `${NAME}` and
//! `${NAME:-default}` of Claude Code, `$NAME` of Gemini CLI at the end of a value.

use std::fmt;

/// The variables of editors that name places of the person's machine.
const PLACES: [&str; 6] = ["workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "/", "cwd"];

/// A text with variables. `Debug` does not show it, because it may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Template(Vec<TemplatePart>);

#[derive(Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Variable(TemplateVariable),
}

/// A variable of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateVariable {
    pub source: VariableSource,
    pub name: String,
    pub default: Option<String>,
}

/// The source of a variable's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableSource {
    Environment,
    /// The program asks a person for it.
    Input,
    /// A place of the person's machine, such as the home folder.
    Place,
}

impl TemplateVariable {
    /// Returns the name by which values are supplied, such as `env:TOKEN`.
    pub fn key(&self) -> String {
        match self.source {
            VariableSource::Environment => format!("env:{}", self.name),
            VariableSource::Input => format!("input:{}", self.name),
            VariableSource::Place => self.name.clone(),
        }
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.variables()).finish()
    }
}

impl Template {
    pub fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let inner = rest[start + 2..].split_once('}');
            match inner.and_then(|(inner, behind)| Some((parse_variable(inner)?, behind))) {
                Some((variable, behind)) => {
                    push_text(&mut parts, &rest[..start]);
                    parts.push(TemplatePart::Variable(variable));
                    rest = behind;
                }
                None => {
                    push_text(&mut parts, &rest[..start + 2]);
                    rest = &rest[start + 2..];
                }
            }
        }
        match bare_variable(rest).filter(|_| parts.is_empty()) {
            Some((before, variable)) => {
                push_text(&mut parts, before);
                parts.push(TemplatePart::Variable(variable));
            }
            None => push_text(&mut parts, rest),
        }
        Self(parts)
    }

    pub fn variables(&self) -> impl Iterator<Item = &TemplateVariable> {
        self.0.iter().filter_map(|part| match part {
            TemplatePart::Variable(variable) => Some(variable),
            TemplatePart::Text(_) => None,
        })
    }

    /// Returns the text with the values of its variables, or their defaults. `None` if one has neither.
    pub fn resolve(&self, value_of: &dyn Fn(&TemplateVariable) -> Option<String>) -> Option<String> {
        let part = |part: &TemplatePart| match part {
            TemplatePart::Text(text) => Some(text.clone()),
            TemplatePart::Variable(variable) => value_of(variable).or_else(|| variable.default.clone()),
        };
        self.0.iter().map(part).collect()
    }

    /// Returns the text with its variables as they are written in configurations of VS Code.
    pub fn unresolved(&self) -> String {
        let part = |part: &TemplatePart| match part {
            TemplatePart::Text(text) => text.clone(),
            TemplatePart::Variable(variable) => format!("${{{}}}", variable.key()),
        };
        self.0.iter().map(part).collect()
    }

    /// Replaces the variables of the environment that `env` sets.
    pub(super) fn with_environment(self, env: &[(String, Template)]) -> Self {
        let set = |variable: &TemplateVariable| {
            let of_env = variable.source == VariableSource::Environment;
            env.iter().find(|(name, _)| of_env && *name == variable.name).map(|(_, value)| value.0.clone())
        };
        let part = |part: TemplatePart| match &part {
            TemplatePart::Variable(variable) => set(variable).unwrap_or_else(|| vec![part.clone()]),
            TemplatePart::Text(_) => vec![part],
        };
        Self(self.0.into_iter().flat_map(part).collect())
    }

    /// Splits at the first occurrence of a character in its leading text.
    pub(super) fn split_once(&self, at: char) -> Option<(String, Template)> {
        let (TemplatePart::Text(first), rest) = self.0.split_first()? else { return None };
        let (before, behind) = first.split_once(at)?;
        let behind = behind.trim_start();
        let first = (!behind.is_empty()).then(|| TemplatePart::Text(behind.to_owned()));
        Some((before.trim().to_owned(), Self(first.into_iter().chain(rest.iter().cloned()).collect())))
    }

    /// Returns the text if it has no variables.
    pub fn as_text(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [TemplatePart::Text(text)] => Some(text),
            _ => None,
        }
    }
}

fn push_text(parts: &mut Vec<TemplatePart>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(TemplatePart::Text(before)) => before.push_str(text),
        _ => parts.push(TemplatePart::Text(text.to_owned())),
    }
}

/// Parses the inside of `${…}`.
fn parse_variable(inner: &str) -> Option<TemplateVariable> {
    let variable = |source, name: &str, default: Option<&str>| {
        let (name, default) = (name.to_owned(), default.map(str::to_owned));
        Some(TemplateVariable { source, name, default })
    };
    match inner.split_once(':') {
        Some(("env", name)) if is_name(name) => variable(VariableSource::Environment, name, None),
        Some(("input", id)) if !id.is_empty() => variable(VariableSource::Input, id, None),
        Some((name, default)) if is_name(name) => {
            variable(VariableSource::Environment, name, Some(default.strip_prefix('-')?))
        }
        None if PLACES.contains(&inner) => variable(VariableSource::Place, inner, None),
        None if is_name(inner) => variable(VariableSource::Environment, inner, None),
        _ => None,
    }
}

/// Splits off a `$NAME` that is the whole text or its last word. Elsewhere a `$` may belong to a password.
fn bare_variable(text: &str) -> Option<(&str, TemplateVariable)> {
    let start = text.rfind('$')?;
    let (before, name) = (&text[..start], &text[start + 1..]);
    let is_upper = name.chars().all(|c| c == '_' || c.is_ascii_uppercase() || c.is_ascii_digit());
    let is_own_word = before.is_empty() || before.ends_with(' ');
    let variable = TemplateVariable { source: VariableSource::Environment, name: name.to_owned(), default: None };
    (is_own_word && is_upper && is_name(name)).then_some((before, variable))
}

/// Returns true for the name of an environment variable.
fn is_name(text: &str) -> bool {
    text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) && text.starts_with(|c: char| !c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_every_program_are_found() {
        for (text, keys, resolved) in [
            ("plain", &[][..], "plain"),
            ("${env:TOKEN}", &["env:TOKEN"], "<env:TOKEN>"),
            ("Bearer ${input:github-token}", &["input:github-token"], "Bearer <input:github-token>"),
            ("a${X}b${Y:-z}c", &["env:X", "env:Y"], "a<env:X>b<env:Y>c"),
            ("$MY_TOKEN", &["env:MY_TOKEN"], "<env:MY_TOKEN>"),
            ("Bearer $TOKEN", &["env:TOKEN"], "Bearer <env:TOKEN>"),
            ("${workspaceFolder}/x", &["workspaceFolder"], "<workspaceFolder>/x"),
            ("pa$WORD", &[], "pa$WORD"),
            ("pa $$W0RD", &[], "pa $$W0RD"),
            ("$lower", &[], "$lower"),
            ("${", &[], "${"),
            ("${}${9}${a b}${input:}", &[], "${}${9}${a b}${input:}"),
            ("${a:b} ${X}", &["env:X"], "${a:b} <env:X>"),
        ] {
            let template = Template::parse(text);
            assert_eq!(template.variables().map(TemplateVariable::key).collect::<Vec<_>>(), keys, "{text}");
            let value = |variable: &TemplateVariable| Some(format!("<{}>", variable.key()));
            assert_eq!(template.resolve(&value).as_deref(), Some(resolved), "{text}");
        }
    }

    #[test]
    fn missing_value_has_default_or_leaves_text_unresolved() {
        let none = |_: &TemplateVariable| None;
        assert_eq!(Template::parse("a${X:-b}").resolve(&none).as_deref(), Some("ab"));
        assert_eq!(Template::parse("a${X}").resolve(&none), None);
        assert_eq!(Template::parse("a${X:-b}$").unresolved(), "a${env:X}$");
        assert!(!format!("{:?}", Template::parse("secret ${X}")).contains("secret"));
    }
}

//! Values that a server suggests while a person fills in a prompt or the address of a resource. They are untrusted; the
//! person chooses.

use futures::future::join_all;
use tokio::time::timeout;

use super::address_template::{OpenVariable, variable_names};
use super::{ServerCatalogView, unavailable};
use crate::{Service, ServiceError};
use turnleaf_domain::{InvalidField, MessageCode, UserId, limits};
use turnleaf_tools::mcp::completion::{ArgumentDraft, ArgumentSubject};

impl Service {
    /// Returns the values that a server suggests for an argument of a prompt or of a template; none if it does not
    /// suggest any.
    ///
    /// # Errors
    /// `NotFound` for a server, prompt or template that does not exist; `InvalidField` for an unknown argument or one
    /// that is too long; `server_unavailable` if the server does not answer.
    pub async fn argument_suggestions(
        &self,
        owner: UserId,
        server: &str,
        draft: ArgumentDraft,
    ) -> Result<Vec<String>, ServiceError> {
        let catalog = self.server_catalog(owner, server).await?;
        check_draft(&catalog, &draft)?;
        if !catalog.suggests {
            return Ok(Vec::new());
        }
        self.suggest(owner, server, draft).await
    }

    /// Returns suggested values for each of these arguments of a prompt, given by name and with what is written of
    /// them. An argument that the server cannot answer for has none.
    ///
    /// # Errors
    /// Those of [`Self::argument_suggestions`]; `server_unavailable` only if the server answers for none of them.
    pub async fn prompt_suggestions(
        &self,
        owner: UserId,
        (server, prompt): (&str, &str),
        arguments: &[(String, String)],
    ) -> Result<Vec<Vec<String>>, ServiceError> {
        let catalog = self.server_catalog(owner, server).await?;
        let draft = |(name, value): &(String, String)| {
            let others = arguments.iter().filter(|(other, value)| other != name && !value.is_empty());
            ArgumentDraft {
                subject: ArgumentSubject::Prompt(prompt.to_owned()),
                argument: name.clone(),
                value: value.clone(),
                others: others.cloned().collect(),
            }
        };
        let drafts: Vec<ArgumentDraft> = arguments.iter().take(limits::SERVER_PROMPT_ARGUMENTS).map(draft).collect();
        drafts
            .iter()
            .try_for_each(|draft| check_draft(&catalog, draft).map_err(|error| about_argument(error, draft)))?;
        if !catalog.suggests {
            return Ok(vec![Vec::new(); drafts.len()]);
        }
        let asked = drafts.into_iter().map(|draft| self.suggest(owner, server, draft));
        let mut answers = join_all(asked).await;
        if answers.iter().all(Result::is_err) {
            answers.pop().transpose()?;
        }
        Ok(answers.into_iter().map(Result::unwrap_or_default).collect())
    }

    /// Returns addresses that fill in the first open variable of an address with suggested values; none if the address
    /// is not of the template.
    ///
    /// # Errors
    /// Those of [`Self::argument_suggestions`].
    pub async fn address_suggestions(
        &self,
        owner: UserId,
        (server, template): (&str, &str),
        address: &str,
    ) -> Result<Vec<String>, ServiceError> {
        if address.len() > limits::RESOURCE_URI_BYTES {
            return Err(InvalidField::too_long("uri", limits::RESOURCE_URI_BYTES).into());
        }
        let Some(open) = OpenVariable::find(template, address) else { return Ok(Vec::new()) };
        let draft = ArgumentDraft {
            subject: ArgumentSubject::Template(template.to_owned()),
            argument: open.name.clone(),
            value: open.value.clone(),
            others: open.others.clone(),
        };
        let values = self.argument_suggestions(owner, server, draft).await?;
        let addresses = values.iter().map(|value| open.with_value(value));
        Ok(addresses.filter(|address| address.len() <= limits::RESOURCE_URI_BYTES).collect())
    }

    /// Asks a server, within the time for which a page waits.
    async fn suggest(&self, owner: UserId, server: &str, draft: ArgumentDraft) -> Result<Vec<String>, ServiceError> {
        let key = self.tools().server_key(owner, server);
        let answer = timeout(limits::CONNECT, self.tools().servers().suggestions(&key, draft)).await;
        answer.unwrap_or_else(|_| Err(MessageCode::NoTimelyResponse.into())).map_err(unavailable)
    }
}

/// Checks that a server has the subject with this argument, and that no text is longer than it may be when it is sent.
fn check_draft(catalog: &ServerCatalogView, draft: &ArgumentDraft) -> Result<(), ServiceError> {
    let names: Option<Vec<&str>> = match &draft.subject {
        ArgumentSubject::Prompt(name) => catalog
            .prompts
            .iter()
            .find(|prompt| prompt.name == *name)
            .map(|prompt| prompt.arguments.iter().map(|argument| argument.name.as_str()).collect()),
        ArgumentSubject::Template(template) => {
            catalog.templates.iter().any(|known| known.uri == *template).then(|| variable_names(template).collect())
        }
    };
    let names = names.ok_or_else(|| match &catalog.problem {
        Some(problem) => unavailable(problem.message()),
        None => ServiceError::NotFound,
    })?;
    let is_known = |name: &String| names.contains(&name.as_str());
    let is_long = |text: &String| text.chars().count() > limits::ELICITATION_ANSWER_CHARS;
    if !is_known(&draft.argument) {
        return Err(InvalidField::new("argument", MessageCode::IsUnknown).into());
    }
    if is_long(&draft.value) {
        return Err(InvalidField::too_long("value", limits::ELICITATION_ANSWER_CHARS).into());
    }
    for (name, value) in &draft.others {
        let field = format!("arguments/{name}");
        if !is_known(name) {
            return Err(InvalidField::new(field, MessageCode::IsUnknown).into());
        }
        if is_long(value) {
            return Err(InvalidField::too_long(field, limits::ELICITATION_ANSWER_CHARS).into());
        }
    }
    Ok(())
}

/// Names the argument in an error about the value of a draft, as errors about other arguments do.
fn about_argument(error: ServiceError, draft: &ArgumentDraft) -> ServiceError {
    match error {
        ServiceError::Invalid(InvalidField { field, reason }) if field == "value" => {
            InvalidField { field: format!("arguments/{}", draft.argument), reason }.into()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::server_content::{PromptArgumentView, ServerPromptView, ServerResourceView};

    fn catalog() -> ServerCatalogView {
        let (title, description) = (String::new(), String::new());
        let argument = |name: &str| PromptArgumentView {
            name: name.to_owned(),
            title: title.clone(),
            description: description.clone(),
            is_required: false,
        };
        let arguments = vec![argument("style"), argument("language")];
        let prompt = ServerPromptView {
            name: "review".into(),
            title: title.clone(),
            description: description.clone(),
            arguments,
        };
        let uri = "db://{table}{?id}".to_owned();
        let template = ServerResourceView { uri, title: title.clone(), description: description.clone(), mime: None };
        ServerCatalogView {
            server: "files".into(),
            name: "Files".into(),
            resources: Vec::new(),
            templates: vec![template],
            prompts: vec![prompt],
            suggests: true,
            problem: None,
        }
    }

    /// Returns the name of the wrong field; empty for a subject that is not there, `None` if all is right.
    fn problem_of(subject: ArgumentSubject, argument: &str, other: (&str, &str)) -> Option<String> {
        let others = [other].into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let draft = ArgumentDraft { subject, argument: argument.to_owned(), value: String::new(), others };
        match check_draft(&catalog(), &draft).err()? {
            ServiceError::Invalid(InvalidField { field, .. }) => Some(field),
            _ => Some(String::new()),
        }
    }

    #[test]
    fn only_arguments_of_subject_are_sent() {
        let prompt = || ArgumentSubject::Prompt("review".into());
        let template = || ArgumentSubject::Template("db://{table}{?id}".into());
        let long = "x".repeat(limits::ELICITATION_ANSWER_CHARS + 1);
        for (subject, argument, other, expected) in [
            (prompt(), "style", ("language", "rust"), None),
            (prompt(), "table", ("language", "rust"), Some("argument")),
            (prompt(), "style", ("table", "rust"), Some("arguments/table")),
            (prompt(), "style", ("language", long.as_str()), Some("arguments/language")),
            (template(), "table", ("id", "7"), None),
            (template(), "style", ("id", "7"), Some("argument")),
            (template(), "table", ("style", "7"), Some("arguments/style")),
            (ArgumentSubject::Prompt("other".into()), "style", ("language", ""), Some("")),
            (ArgumentSubject::Template("db://{table}".into()), "table", ("id", ""), Some("")),
        ] {
            let found = problem_of(subject.clone(), argument, other);
            assert_eq!(found.as_deref(), expected, "{subject:?} {argument} {}", other.0);
        }
    }

    #[test]
    fn too_long_value_of_form_is_named_by_its_argument() {
        let draft = ArgumentDraft {
            subject: ArgumentSubject::Prompt("review".into()),
            argument: "style".into(),
            value: "x".repeat(limits::ELICITATION_ANSWER_CHARS + 1),
            others: std::collections::HashMap::new(),
        };
        let error = check_draft(&catalog(), &draft).unwrap_err();
        let ServiceError::Invalid(InvalidField { field, .. }) = about_argument(error, &draft) else {
            panic!("it is invalid")
        };
        assert_eq!(field, "arguments/style");
    }
}

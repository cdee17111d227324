//! Values that a server suggests while a person fills in a prompt or the address of a resource. They are untrusted; the
//! person chooses.

use futures::future::join_all;
use tokio::time::timeout;

use super::address_template::OpenVariable;
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
    /// Those of [`Self::argument_suggestions`], except that the server may be silent.
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
        drafts.iter().try_for_each(|draft| check_draft(&catalog, draft))?;
        if !catalog.suggests {
            return Ok(vec![Vec::new(); drafts.len()]);
        }
        let asked = drafts.into_iter().map(|draft| self.suggest(owner, server, draft));
        Ok(join_all(asked).await.into_iter().map(Result::unwrap_or_default).collect())
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
        // The variables of a template are named by itself.
        ArgumentSubject::Template(template) => catalog
            .templates
            .iter()
            .any(|known| known.uri == *template)
            .then(|| draft.others.keys().chain([&draft.argument]).map(String::as_str).collect()),
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

//! Imports the tool choice of an archived chat. Tool servers are matched by name.

use serde_json::Value;

use super::report::ImportReport;
use crate::Service;
use crate::tools::choice::check_stored_choice;
use turnleaf_domain::UserId;
use turnleaf_domain::tools::tool::{PROVIDER, ToolChoice};
use turnleaf_interchange::{ImportIssue, IssueKind, IssueLocation};
use turnleaf_store::StoreError;
use turnleaf_tools::built_in;

impl Service {
    /// Returns the part of the choice that exists here. The rest is reported.
    pub(super) async fn import_tool_choice(
        &self,
        owner: UserId,
        title: &str,
        choice: Value,
        report: &mut ImportReport,
    ) -> Result<Option<ToolChoice>, StoreError> {
        let mut lost = |text: String| {
            let place = IssueLocation { conversation: title.to_owned(), ..IssueLocation::default() };
            report.add_finding(&ImportIssue { kind: IssueKind::Lost, location: place, text });
        };
        let read = serde_json::from_value::<ToolChoice>(choice).map_err(|error| error.to_string());
        let checked =
            read.and_then(|choice| check_stored_choice(&choice).map(|()| choice).map_err(|reason| reason.to_string()));
        let mut choice = match checked {
            Ok(choice) => choice,
            Err(reason) => {
                lost(format!("its tool selection cannot be imported: {reason}"));
                return Ok(None);
            }
        };
        let mut available = Vec::with_capacity(choice.on.len());
        for name in choice.on {
            let is_here = match name.split_once('/') {
                Some((PROVIDER, _)) => true,
                Some((server, _)) => self.tools().has_server(owner, server).await?,
                None => built_in::describe_all().iter().any(|known| known.tool == name),
            };
            if is_here {
                available.push(name);
            } else {
                lost(format!("it used the tool `{name}`, which does not exist here"));
            }
        }
        choice.on = available;
        Ok(Some(choice))
    }
}

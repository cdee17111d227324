//! The projects of an archive: those of its chats, and of an export of everything also those without chats.

use super::ExportScope;
use super::archive_output::{ArchiveOutput, unwritable};
use super::redaction::redact_project;
use crate::{Service, ServiceError};
use turnleaf_domain::{Project, UserId};
use turnleaf_store::chats;

impl Service {
    /// Writes the projects before the chats. The caller has read the chats that it writes.
    pub(super) async fn write_projects(
        &self,
        owner: UserId,
        which: ExportScope,
        out: &mut ArchiveOutput<'_>,
    ) -> Result<(), ServiceError> {
        let mut projects: Vec<Project> = self.projects(owner).await?.into_iter().map(|listed| listed.project).collect();
        if let ExportScope::Chat(chat) = which {
            // It may have been deleted since the export began.
            let of_chat = chats::find(self.db(), owner, chat).await?.and_then(|chat| chat.project_id);
            projects.retain(|project| Some(project.id) == of_chat);
        }
        let keys = self.supervisor().registry().known_keys();
        projects.iter_mut().for_each(|project| redact_project(&keys, project));
        out.writer.write_projects(&projects).map_err(unwritable)
    }
}

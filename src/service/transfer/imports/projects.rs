//! Imports the projects of a Turnleaf archive, which stand before its chats. A project that is here keeps what it is.

use chrono::{DateTime, Utc};

use super::import_key::imported_id;
use super::report::{ImportReport, ImportRequest};
use crate::{Service, ServiceError};
use turnleaf_domain::chats::project::{check_project_instructions, check_project_name};
use turnleaf_domain::{Project, ProjectId, UserId, limits};
use turnleaf_interchange::{ImportIssue, IssueKind, IssueLocation};
use turnleaf_store::projects;

/// The highest version of an imported project: changes of its instructions can still increase it.
const VERSION_MAX: i64 = 1 << 32;
/// The name of a project whose own is unusable.
const NAMELESS: &str = "Project";

impl Service {
    /// Stores a project of an archive, unless it is here. What is not allowed here is left out and reported; the chats of
    /// a project without room are in none.
    pub(super) async fn import_project(
        &self,
        import: &ImportRequest,
        project: Project,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        let owner = import.owner;
        if import.dry_run || self.imported_project(owner, Some(project.id)).await?.is_some() {
            return Ok(());
        }
        let place = IssueLocation { conversation: project.name.clone(), ..IssueLocation::default() };
        let growth = self.check_imported_growth(owner, project.instructions.len() as u64).await;
        let mut tx = self.db().begin().await?;
        let is_full = projects::count(&mut tx, owner).await? >= limits::PROJECTS as u64;
        let refused = match (check_project_instructions(&project.instructions), growth) {
            (_, Err(ServiceError::Store(error))) => return Err(error.into()),
            (Err(invalid), _) => Some(invalid.to_string()),
            (_, Err(refused)) => Some(refused.to_string()),
            _ if is_full => Some(format!("there are more than {} projects", limits::PROJECTS)),
            _ => None,
        };
        if let Some(reason) = refused {
            tx.rollback().await?;
            let text = format!("the project was left out: {reason}");
            report.add_finding(&ImportIssue { kind: IssueKind::Lost, location: place, text });
            return Ok(());
        }
        let imported = Project {
            id: imported_id(owner, project.id.uuid()).into(),
            owner_id: owner,
            name: check_project_name(&project.name).unwrap_or_else(|_| NAMELESS.to_owned()),
            // A model that is not usable here is not used by new chats either.
            default_model: project.default_model.filter(|lock| !has_nul(&lock.provider) && !has_nul(&lock.model)),
            version: project.version.clamp(1, VERSION_MAX),
            created_at: project.created_at.min(now),
            updated_at: project.updated_at.min(now),
            ..project
        };
        projects::insert(&mut tx, &imported).await?;
        Ok(tx.commit().await?)
    }

    /// Returns the project here that is this one of an archive, if it is here: under its own id, because the archive was
    /// made here, or under that of its import.
    pub(super) async fn imported_project(
        &self,
        owner: UserId,
        archived: Option<ProjectId>,
    ) -> Result<Option<ProjectId>, ServiceError> {
        let Some(archived) = archived else { return Ok(None) };
        for id in [archived, imported_id(owner, archived.uuid()).into()] {
            if projects::find(self.db(), owner, id).await?.is_some() {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }
}

fn has_nul(text: &str) -> bool {
    text.contains('\0')
}

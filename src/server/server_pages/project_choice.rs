//! The choice of a project for chats, and how a project is named and linked.

use leptos::prelude::*;

use super::form_fields::SelectField;
use super::messages::projects as words;
use crate::domain::{ProjectColor, ProjectId};
use crate::ui::erased::view;
use turnleaf_service::projects::ListedProject;

/// Renders the choice of a project, or of none, for the forms that move chats.
pub fn project_select(
    form: &str,
    projects: &[ListedProject],
    chosen: Option<ProjectId>,
    hint: Option<&str>,
) -> AnyView {
    let mut options = vec![(String::new(), words::none().to_owned())];
    options.extend(projects.iter().map(|listed| (listed.project.id.to_string(), listed.project.name.clone())));
    let options: Vec<(&str, &str)> = options.iter().map(|(id, name)| (id.as_str(), name.as_str())).collect();
    let chosen = chosen.map(|id| id.to_string()).unwrap_or_default();
    SelectField {
        label: words::move_to(),
        name: "project",
        form,
        options: &options,
        chosen: &chosen,
        hint,
        error: None,
    }
    .draw()
}

/// Renders the color of a project, which its name accompanies.
pub fn swatch(color: ProjectColor) -> AnyView {
    view! { <span class="project-dot" data-color=color.as_str() aria-hidden="true"></span> }
}

/// Returns the address of a project's page.
pub fn project_path(id: ProjectId) -> String {
    format!("/projects/{id}")
}

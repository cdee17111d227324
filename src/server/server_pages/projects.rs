//! The pages of projects: the list with a form for a new one, one project with its chats and settings, the question
//! before a deletion, and the project of a chat on the page of its settings.

use std::collections::BTreeMap;

use leptos::prelude::*;

use super::chats::chats_page_address;
use super::form_fields::{FieldKind, SelectField, TextField};
use super::messages::projects as words;
use super::project_choice::{project_path, project_select, swatch};
use super::{ActionNotice, PageSection, ServerPage, messages};
use crate::domain::providers::provider::Model;
use crate::domain::{Chat, ModelLock, Project, ProjectColor};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::messages as app_words;
use crate::ui::model_options::model_value;
use turnleaf_service::chats::{BrowseFilter, ListedChat};
use turnleaf_service::projects::{ListedProject, is_outdated};

/// The values of the form as they were typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectForm {
    pub name: String,
    /// The word of a color.
    pub color: String,
    pub instructions: String,
    /// The form value of a model; empty for the usual one.
    pub model: String,
}

/// A form with its errors.
#[derive(Debug, Clone, Default)]
pub struct ProjectFormState {
    pub form: ProjectForm,
    /// By the name of the field.
    pub errors: BTreeMap<String, String>,
}

impl ProjectFormState {
    /// Fills the form from a stored project.
    pub fn from_project(project: &Project) -> Self {
        let form = ProjectForm {
            name: project.name.clone(),
            color: project.color.as_str().to_owned(),
            instructions: project.instructions.clone(),
            model: project.default_model.as_ref().map(model_value).unwrap_or_default(),
        };
        Self { form, errors: BTreeMap::new() }
    }

    fn fields(&self, models: &[Model], stored: Option<&ModelLock>) -> AnyView {
        let Self { form, errors } = self;
        let error = |name: &str| errors.get(name).map(String::as_str);
        let name = TextField {
            label: words::name(),
            name: "name",
            form: FORM,
            value: &form.name,
            error: error("name"),
            is_required: true,
            ..TextField::default()
        };
        let instructions = TextField {
            label: words::instructions(),
            name: "instructions",
            form: FORM,
            value: &form.instructions,
            hint: Some(words::instructions_hint()),
            error: error("instructions"),
            kind: FieldKind::Lines(6),
            ..TextField::default()
        };
        let colors = ProjectColor::ALL.map(|color| (color.as_str(), words::color_name(color)));
        let color = SelectField {
            label: words::color(),
            name: "color",
            form: FORM,
            options: &colors,
            chosen: &form.color,
            hint: None,
            error: error("color"),
        };
        let mut options = vec![(String::new(), words::usual_model().to_owned())];
        let option = |model: &Model| {
            (model_value(&model.lock), format!("{} · {}", model.provider_name, app_words::model_name(model)))
        };
        options.extend(models.iter().map(option));
        if let Some(lock) = stored.filter(|lock| models.iter().all(|model| model.lock != **lock)) {
            options.push((model_value(lock), format!("{} · {}", lock.model, words::model_gone())));
        }
        let options: Vec<(&str, &str)> = options.iter().map(|(value, name)| (value.as_str(), name.as_str())).collect();
        let model = SelectField {
            label: words::model(),
            name: "default_model",
            form: FORM,
            options: &options,
            chosen: &form.model,
            hint: None,
            error: error("default_model"),
        };
        view! { {name.draw()} {color.draw()} {instructions.draw()} {model.draw()} }
    }
}

const FORM: &str = "project";

/// The list of projects.
pub struct ProjectsPage {
    pub projects: Vec<ListedProject>,
    pub models: Vec<Model>,
    /// The form for a new project.
    pub form: ProjectFormState,
}

impl ProjectsPage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let row = |listed: &ListedProject| {
            let project = &listed.project;
            view! {
                <li class="plain-row">
                    <a class="row-name" href=project_path(project.id)>
                        {swatch(project.color)}
                        <bdi>{project.name.clone()}</bdi>
                    </a>
                    <span class="row-end">{words::chat_count(listed.chats)}</span>
                </li>
            }
        };
        let list = if self.projects.is_empty() {
            view! { <p class="hint">{words::nothing()}</p> }
        } else {
            let rows = self.projects.iter().map(row).collect_view();
            view! { <ul class="rows" aria-label=words::list()>{rows}</ul> }
        };
        let body = view! {
            <p class="lead">{words::lead()}</p>
            {list}
            <section class="panel" aria-labelledby="new-project">
                <h2 id="new-project">{words::new()}</h2>
                <form class="form" method="post" action="/forms/projects/create">
                    {self.form.fields(&self.models, None)}
                    <div class="deeds"><button type="submit" class="button primary">{words::create()}</button></div>
                </form>
            </section>
        };
        ServerPage { section: PageSection::Projects, title: app_words::chats::projects().to_owned(), notice, body }
    }
}

/// One project.
pub struct ProjectPage {
    pub listed: ListedProject,
    /// Its newest chats that are not archived.
    pub chats: Vec<ListedChat>,
    pub models: Vec<Model>,
    pub form: ProjectFormState,
}

impl ProjectPage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let ListedProject { project, chats, archived_chats } = &self.listed;
        let id = project.id;
        let chats_address =
            |archived| chats_page_address(&BrowseFilter { archived, project: Some(id), ..BrowseFilter::default() });
        let archived = (*archived_chats > 0).then(|| {
            view! { <a class="button" href=chats_address(true)>{words::archived_count(*archived_chats)}</a> }
        });
        let select = (*chats > *archived_chats)
            .then(|| view! { <a class="button" href=chats_address(false)>{words::select_chats()}</a> });
        let body = view! {
            <p><a href=PageSection::Projects.path()>{words::list()}</a></p>
            <form method="post" action="/forms/projects/chat">
                <input type="hidden" name="project_id" value=id.to_string()/>
                <div class="deeds">
                    <button type="submit" class="button primary"><Icon name="plus"/>{words::new_chat()}</button>
                </div>
            </form>
            <h2>{words::chats()}</h2>
            {self.chat_list()}
            <div class="deeds">
                {select}
                {archived}
                <a class="button" href=format!("/search?project={id}")>{words::search()}</a>
            </div>
            <section class="panel" aria-labelledby="project-settings">
                <h2 id="project-settings">{words::settings()}</h2>
                <form class="form" method="post" action="/forms/projects/save">
                    <input type="hidden" name="project_id" value=id.to_string()/>
                    {self.form.fields(&self.models, project.default_model.as_ref())}
                    <div class="deeds"><button type="submit" class="button primary">{messages::save()}</button></div>
                </form>
            </section>
            <section class="panel" aria-labelledby="project-deletion">
                <h2 id="project-deletion">{words::delete()}</h2>
                <p class="hint">{words::delete_hint()}</p>
                <p><a class="button danger" href=format!("/projects/{id}/delete")>{words::delete()}</a></p>
            </section>
        };
        ServerPage { section: PageSection::Projects, title: project.name.clone(), notice, body }
    }

    fn chat_list(&self) -> AnyView {
        if self.chats.is_empty() {
            return view! { <p class="hint">{words::no_chats()}</p> };
        }
        let row = |chat: &ListedChat| {
            let title = if chat.title.is_empty() { app_words::untitled().to_owned() } else { chat.title.clone() };
            let day = chat.updated_at.format("%Y-%m-%d").to_string();
            view! {
                <li class="plain-row">
                    <a class="row-name" href=format!("/c/{}", chat.id)><bdi>{title}</bdi></a>
                    <span class="row-end"><time datetime=chat.updated_at.to_rfc3339()>{day}</time></span>
                </li>
            }
        };
        view! { <ul class="rows" aria-label=words::chats()>{self.chats.iter().map(row).collect_view()}</ul> }
    }
}

/// The question before a deletion.
pub struct ProjectDeletionPage {
    pub listed: ListedProject,
}

impl ProjectDeletionPage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let ListedProject { project, chats, archived_chats } = self.listed;
        let choice = |value: &'static str, name: &'static str, is_chosen: bool| {
            view! {
                <label class="tick"><input type="radio" name="chats" value=value checked=is_chosen/><span>{name}</span></label>
            }
        };
        let archived = (archived_chats > 0).then(|| format!(" · {}", words::archived_count(archived_chats)));
        let question = (chats > 0).then(|| {
            view! {
                <p class="hint">{words::chat_count(chats)}{archived}</p>
                <fieldset>
                    <legend class="form-legend">{words::what_happens()}</legend>
                    {choice("keep", words::keep_chats(), true)}
                    {choice("trash", words::trash_chats(), false)}
                </fieldset>
            }
        });
        let body = view! {
            <form class="panel" method="post" action="/forms/projects/delete">
                <h2 dir="auto">{words::delete_question(&project.name)}</h2>
                <p>{words::deletion_hint()}</p>
                {question}
                <input type="hidden" name="project_id" value=project.id.to_string()/>
                <div class="deeds">
                    <a class="button" href=project_path(project.id)>{app_words::cancel()}</a>
                    <button type="submit" class="button danger">{words::delete()}</button>
                </div>
            </form>
        };
        ServerPage { section: PageSection::Projects, title: words::delete().to_owned(), notice, body }
    }
}

/// Renders the project of a chat on the page of its settings: a form that moves the chat, and one that takes the
/// instructions if they have changed since.
pub fn chat_project_form(chat: &Chat, projects: &[ListedProject]) -> AnyView {
    if projects.is_empty() {
        return view! {
            <section class="panel" id="project" aria-labelledby="project-title">
                <h2 id="project-title">{words::project()}</h2>
                <p class="hint">{words::nothing()}</p>
                <p><a href=PageSection::Projects.path()>{words::manage()}</a></p>
            </section>
        };
    }
    let current = projects.iter().find(|listed| Some(listed.project.id) == chat.project_id);
    let open = current.map(|listed| {
        view! { <p><a href=project_path(listed.project.id)>{swatch(listed.project.color)}{words::open()}</a></p> }
    });
    let changed = current.filter(|listed| is_outdated(chat, &listed.project)).map(|_| {
        view! {
            <form class="panel" method="post" action="/forms/projects/use">
                <p class="said warn"><Icon name="alert"/><span>{words::changed()}</span></p>
                <input type="hidden" name="chat_id" value=chat.id.to_string()/>
                <div class="deeds">
                    <button type="submit" class="button">{words::use_in_new_branches()}</button>
                </div>
            </form>
        }
    });
    view! {
        <form class="panel" id="project" method="post" action="/forms/projects/move">
            <h2>{words::project()}</h2>
            {open}
            <input type="hidden" name="chat_id" value=chat.id.to_string()/>
            {project_select("chat-project", projects, chat.project_id, Some(words::move_hint()))}
            <div class="deeds"><button type="submit" class="button">{words::do_move()}</button></div>
        </form>
        {changed}
    }
}

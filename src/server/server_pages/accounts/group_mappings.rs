//! The panel of mappings on the page of a group: the groups of sign-in services whose people are members.

use leptos::prelude::*;

use crate::domain::{GroupId, InvalidField};
use crate::server::server_pages::form_fields::{FieldKind, FormFields, SelectField, TextField};
use crate::server::server_pages::messages::rights as words;
use crate::ui::erased::view;
use turnleaf_service::accounts::mapped_groups::{GroupMapping, GroupService};

/// The mappings of a group, and the choices for a new one.
#[derive(Debug, Clone, Default)]
pub struct GroupMappingPanel {
    pub mappings: Vec<GroupMapping>,
    /// The services whose groups can be mapped.
    pub services: Vec<GroupService>,
    /// Names of groups that services have named.
    pub suggestions: Vec<String>,
}

/// Returns the name of a service in the language of the page.
pub(super) fn service_name(service: &GroupService) -> String {
    match service {
        GroupService::Proxy => words::reverse_proxy().to_owned(),
        GroupService::IdentityProvider { name, .. } => name.clone(),
    }
}

impl GroupMappingPanel {
    /// Returns whether members can come from elsewhere.
    pub(super) fn is_shown(&self) -> bool {
        !self.mappings.is_empty() || !self.services.is_empty()
    }

    /// Renders the panel, with the service and the name that were typed and refused. Without services there is none.
    pub(super) fn draw(&self, group: GroupId, typed: (&str, &str), error: Option<&InvalidField>) -> Option<AnyView> {
        let id_field = || view! { <input type="hidden" name="group_id" value=group.to_string()/> };
        let row = |mapping: &GroupMapping| {
            view! {
                <li class="plain-row">
                    <span class="row-name">
                        <bdi>{mapping.name.clone()}</bdi>
                        <span class="hint"><bdi>{service_name(&mapping.service)}</bdi></span>
                    </span>
                    <span class="row-end">
                        <form method="post" action="/forms/groups/unmap">
                            {id_field()}
                            <input type="hidden" name="mapping_id" value=mapping.id.to_string()/>
                            <button type="submit" class="button danger">
                                {words::unmap_group()}<span class="quiet">" "{mapping.name.clone()}</span>
                            </button>
                        </form>
                    </span>
                </li>
            }
        };
        let list = (!self.mappings.is_empty()).then(|| {
            let rows = self.mappings.iter().map(row).collect_view();
            view! { <ul class="rows" aria-labelledby="mappings-title">{rows}</ul> }
        });
        let form = (!self.services.is_empty()).then(|| {
            let fields = self.fields(typed, error);
            view! {
                <form class="form" method="post" action="/forms/groups/map">
                    {id_field()}
                    {fields}
                    <div class="deeds">
                        <button type="submit" class="button primary">{words::map_group()}</button>
                    </div>
                </form>
            }
        });
        self.is_shown().then(|| {
            view! {
                <section class="panel" aria-labelledby="mappings-title">
                    <h2 id="mappings-title">{words::mappings()}</h2>
                    <p class="hint">{words::mappings_hint()}</p>
                    {list}
                    {form}
                </section>
            }
        })
    }

    fn fields(&self, (typed_service, typed_name): (&str, &str), error: Option<&InvalidField>) -> AnyView {
        let fields = FormFields { form: "mapping", error };
        let names: Vec<String> = self.services.iter().map(service_name).collect();
        let ids = self.services.iter().map(|service| service.id().unwrap_or_default());
        let options: Vec<(&str, &str)> = ids.zip(names.iter().map(String::as_str)).collect();
        let (service_error, name_error) = (fields.error("service"), fields.error("name"));
        let service = SelectField {
            label: words::sign_in_service(),
            name: "service",
            form: fields.form,
            options: &options,
            chosen: typed_service,
            hint: None,
            error: service_error.as_deref(),
        };
        let name = TextField {
            label: words::external_group(),
            name: "name",
            form: fields.form,
            value: typed_name,
            hint: Some(words::external_group_hint()),
            error: name_error.as_deref(),
            kind: FieldKind::Code,
            is_required: true,
            suggestions: &self.suggestions,
            ..TextField::default()
        };
        view! {
            {service.draw()}
            {name.draw()}
            {fields.unassigned_error(&["service", "name"])}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::MessageCode;

    fn html(panel: &GroupMappingPanel, typed: (&str, &str), error: Option<&InvalidField>) -> String {
        let group = uuid::Uuid::from_u128(1).into();
        let drawn = || panel.draw(group, typed, error).map(|panel| panel.to_html()).unwrap_or_default();
        Owner::new().with(drawn).replace("<!>", "")
    }

    fn corp(id: Option<&str>) -> GroupService {
        GroupService::IdentityProvider { id: id.map(str::to_owned), name: "<Corp>".into() }
    }

    #[test]
    fn panel_lists_mappings_and_offers_services() {
        let mapping = GroupMapping { id: uuid::Uuid::from_u128(7).into(), service: corp(None), name: "<staff>".into() };
        let panel = GroupMappingPanel {
            mappings: vec![mapping],
            services: vec![GroupService::Proxy, corp(Some("corp"))],
            suggestions: vec!["admins".into()],
        };
        let error = InvalidField::new("name", MessageCode::IsUnknown);
        let html = html(&panel, ("corp", "\"x"), Some(&error));
        for part in [
            "&lt;staff&gt;</bdi>",
            "action=\"/forms/groups/unmap\"",
            "value=\"00000000-0000-0000-0000-000000000007\"",
            "<option value=\"proxy\">Reverse proxy</option>",
            "<option value=\"corp\" selected",
            "value=\"&quot;x\"",
            "id=\"mapping-name-error\"",
            "<option value=\"admins\">",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn panel_is_absent_without_services_and_lists_mappings_of_former_ones() {
        assert_eq!(html(&GroupMappingPanel::default(), ("", ""), None), "");
        let mapping = GroupMapping { id: uuid::Uuid::from_u128(7).into(), service: corp(None), name: "staff".into() };
        let html = html(&GroupMappingPanel { mappings: vec![mapping], ..<_>::default() }, ("", ""), None);
        assert!(html.contains("/forms/groups/unmap") && !html.contains("/forms/groups/map\""), "{html}");
    }
}

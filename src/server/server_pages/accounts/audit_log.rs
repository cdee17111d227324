//! The page of the audit log, for administrators.

use leptos::prelude::*;

use crate::domain::AuditVerb;
use crate::server::server_pages::messages::accounts as words;
use crate::server::server_pages::{PageSection, ServerPage};
use crate::ui::erased::view;
use turnleaf_service::accounts::audit_log::AuditEntry;

/// A page of the audit log.
pub struct AuditLogPage {
    pub entries: Vec<AuditEntry>,
    /// True if there may be older entries.
    pub has_more: bool,
}

impl AuditLogPage {
    pub fn draw(self) -> ServerPage {
        let older = self.entries.last().filter(|_| self.has_more).map(|last| {
            let address = format!("{}?before={}", PageSection::AuditLog.path(), last.id);
            view! { <p><a class="button" href=address>{words::older_entries()}</a></p> }
        });
        let list = if self.entries.is_empty() {
            view! { <p class="hint">{words::no_entries()}</p> }
        } else {
            let rows = self.entries.iter().map(row).collect_view();
            view! {
                <div class="usage-scroll" role="region" tabindex="0" aria-label=words::audit_log()>
                    <table class="audit-table">
                        <thead><tr>
                            <th scope="col">{words::time()}</th>
                            <th scope="col">{words::actor()}</th>
                            <th scope="col">{words::action()}</th>
                            <th scope="col">{words::target()}</th>
                            <th scope="col">{words::address()}</th>
                        </tr></thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            }
        };
        let body = view! { <p class="lead">{words::audit_lead()}</p>{list}{older} };
        let title = words::audit_log().to_owned();
        ServerPage { section: PageSection::AuditLog, title, notice: None, body }
    }
}

fn row(entry: &AuditEntry) -> AnyView {
    // The command line has no address, a stranger has one.
    let actor = match (&entry.actor_name, entry.actor, &entry.ip) {
        (Some(name), ..) if !name.is_empty() => name.clone(),
        (_, Some(id), _) => id.to_string(),
        (_, None, Some(_)) => words::nobody().to_owned(),
        (_, None, None) => words::from_command_line().to_owned(),
    };
    let token = entry.token.map(|_| view! { " "<span class="mark">{words::with_token()}</span> });
    let action = AuditVerb::parse(&entry.verb).map_or_else(|| entry.verb.clone(), |verb| words::verb_name(verb).into());
    let refused = words::outcome_note(entry.outcome).map(|note| view! { " "<span class="mark">{note}</span> });
    view! {
        <tr>
            <td>
                <time datetime=entry.at.to_rfc3339()>{entry.at.format("%Y-%m-%d %H:%M:%S UTC").to_string()}</time>
            </td>
            <td><bdi>{actor}</bdi>{token}</td>
            <td>{action}{refused}</td>
            <td><bdi>{entry.target.clone()}</bdi></td>
            <td>{entry.ip.clone()}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::domain::AuditOutcome;

    #[test]
    fn entry_says_who_did_what_from_where() {
        let id = |n: u128| uuid::Uuid::from_u128(n);
        let entry = AuditEntry {
            id: id(1).into(),
            at: DateTime::UNIX_EPOCH,
            actor: Some(id(2).into()),
            actor_name: Some("<Ann>".into()),
            token: None,
            ip: Some("203.0.113.7".into()),
            verb: AuditVerb::Invite.as_str().into(),
            target: "admin".into(),
            outcome: AuditOutcome::Done,
        };
        let stranger = AuditEntry { actor: None, actor_name: None, outcome: AuditOutcome::Refused, ..entry.clone() };
        let newer = AuditEntry { ip: None, verb: "open_share".into(), ..stranger.clone() };
        let page = AuditLogPage { entries: vec![entry, stranger, newer], has_more: true };
        let html = Owner::new().with(|| page.draw().body.to_html()).replace("<!>", "");
        for part in [
            "&lt;Ann&gt;",
            "Create invitation",
            "203.0.113.7",
            "not signed in",
            "refused",
            "command line",
            "open_share",
            "/settings/audit?before=00000000-0000-0000-0000-000000000001",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}

//! `turnleaf group`: groups of accounts. A server that runs follows a change within half a minute.

use serde_json::{Value, json};

use crate::domain::GroupId;
use crate::server::cli::accounts::named_account::find_account;
use crate::server::cli::args::GroupCommand;
use crate::server::cli::database::block_on;
use crate::server::cli::exit::{CliError, CliExitCode};
use crate::server::cli::{installation, output};
use turnleaf_platform::config::Config;
use turnleaf_service::Service;
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::account_error::AccountError;
use turnleaf_service::accounts::groups::{AccountGroup, GroupMember};
use turnleaf_service::accounts::mapped_groups::{GroupMapping, GroupService};

/// Runs a command of `turnleaf group`.
pub fn run(command: &GroupCommand, config: &Config, json: bool) -> Result<(), CliError> {
    match command {
        GroupCommand::Add { name } => add_group(config, name, json),
        GroupCommand::List => list_groups(config, json),
        GroupCommand::Members { name, add, remove } if add.is_empty() && remove.is_empty() => {
            list_members(config, name, json)
        }
        GroupCommand::Members { name, add, remove } => change_members(config, name, (add, remove)),
        GroupCommand::Mappings { name, service: Some(service), add, remove }
            if !add.is_empty() || !remove.is_empty() =>
        {
            change_mappings(config, name, service, (add, remove))
        }
        GroupCommand::Mappings { name, service, .. } => list_mappings(config, (name, service.as_deref()), json),
    }
}

fn add_group(config: &Config, name: &str, json: bool) -> Result<(), CliError> {
    let group = block_on(async {
        let (service, _) = installation::open(config, None).await?;
        let created = service.create_group(Actor::default(), name, None).await;
        service.supervisor().db().close().await;
        created.map(|created| created.value).map_err(|error| CliError::could_not("add the group", error))
    })?;
    if json { output::print_json(&group_json(&group)) } else { Ok(()) }
}

fn list_groups(config: &Config, json: bool) -> Result<(), CliError> {
    let groups = block_on(async {
        let (service, _, _looked_in) = installation::open_read_only(config).await?;
        service.account_groups().await.map_err(|error| CliError::could_not("list the groups", error))
    })?;
    if json {
        return output::print_json(&groups.iter().map(group_json).collect::<Vec<_>>());
    }
    groups.iter().try_for_each(|group| output::print_line(format_args!("{}: {}", group.name, group.members)))
}

fn list_members(config: &Config, name: &str, json: bool) -> Result<(), CliError> {
    let members = block_on(async {
        let (service, _, _looked_in) = installation::open_read_only(config).await?;
        let group = find_group(&service, name).await?;
        let found = service.group(group).await.map_err(|error| CliError::could_not("list the members", error))?;
        Ok::<_, CliError>(found.1)
    })?;
    if json {
        let member = |member: &GroupMember| {
            let services: Vec<&str> = member.services.iter().map(GroupService::name).collect();
            json!({ "id": member.user, "name": member.name, "is_added": member.is_added, "services": services })
        };
        return output::print_json(&members.iter().map(member).collect::<Vec<_>>());
    }
    members.iter().try_for_each(|member| output::print_line(&member.name))
}

fn change_members(config: &Config, name: &str, (add, remove): (&[String], &[String])) -> Result<(), CliError> {
    block_on(async {
        let (service, _) = installation::open(config, None).await?;
        let changed = set_members(&service, name, (add, remove)).await;
        service.supervisor().db().close().await;
        changed
    })
}

async fn set_members(service: &Service, name: &str, (add, remove): (&[String], &[String])) -> Result<(), CliError> {
    let group = find_group(service, name).await?;
    // An unknown name changes nothing.
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for account in add {
        added.push(find_account(service, account).await?);
    }
    for account in remove {
        removed.push(find_account(service, account).await?);
    }
    let could_not = |error: AccountError| CliError::could_not(&format!("change the group {name}"), error);
    for user in added {
        service.add_group_member(Actor::default(), group, user).await.map_err(could_not)?;
    }
    for user in removed {
        service.remove_group_member(Actor::default(), group, user).await.map_err(could_not)?;
    }
    Ok(())
}

fn list_mappings(config: &Config, (name, service): (&str, Option<&str>), json: bool) -> Result<(), CliError> {
    let mut mappings = block_on(async {
        let (opened, _, _looked_in) = installation::open_read_only(config).await?;
        let group = find_group(&opened, name).await?;
        opened.group_mappings(group).await.map_err(|error| CliError::could_not("list the mappings", error))
    })?;
    mappings.retain(|mapping| service.is_none_or(|service| is_of_service(mapping, service)));
    if json {
        return output::print_json(&mappings.iter().map(mapping_json).collect::<Vec<_>>());
    }
    let line = |mapping: &GroupMapping| {
        let service = mapping.service.id().unwrap_or_else(|| mapping.service.name());
        output::print_line(format_args!("{service}: {}", mapping.name))
    };
    mappings.iter().try_for_each(line)
}

fn change_mappings(
    config: &Config,
    name: &str,
    service: &str,
    (add, remove): (&[String], &[String]),
) -> Result<(), CliError> {
    block_on(async {
        let (opened, _) = installation::open(config, None).await?;
        let changed = set_mappings(&opened, name, service, (add, remove)).await;
        opened.supervisor().db().close().await;
        changed
    })
}

async fn set_mappings(
    opened: &Service,
    name: &str,
    service: &str,
    (add, remove): (&[String], &[String]),
) -> Result<(), CliError> {
    let group = find_group(opened, name).await?;
    let could_not = |error: AccountError| CliError::could_not(&format!("change the mappings of {name}"), error);
    // An unknown mapping changes nothing.
    let mappings = opened.group_mappings(group).await.map_err(|error| could_not(error.into()))?;
    let mut removed = Vec::new();
    for external in remove {
        let found = mappings.iter().find(|mapping| is_of_service(mapping, service) && mapping.name == *external);
        let none = || CliError::new(CliExitCode::Failed, format_args!("{name} has no mapping of {external}"));
        removed.push(found.ok_or_else(none)?.id);
    }
    for external in add {
        opened.map_group(Actor::default(), group, (service, external)).await.map_err(could_not)?;
    }
    for mapping in removed {
        opened.unmap_group(Actor::default(), group, mapping).await.map_err(could_not)?;
    }
    Ok(())
}

/// Returns whether a mapping is of the service with this id. One that is not configured any more is named by its host.
fn is_of_service(mapping: &GroupMapping, service: &str) -> bool {
    mapping.service.id().unwrap_or_else(|| mapping.service.name()) == service
}

fn mapping_json(mapping: &GroupMapping) -> Value {
    json!({
        "id": mapping.id,
        "service": mapping.service.id(),
        "service_name": mapping.service.name(),
        "name": mapping.name,
    })
}

/// Returns the group with this name.
pub(super) async fn find_group(service: &Service, name: &str) -> Result<GroupId, CliError> {
    let found = service.find_group(name).await.map_err(|error| CliError::could_not("find the group", error))?;
    found.ok_or_else(|| CliError::new(CliExitCode::Failed, format_args!("no group has the name {name}")))
}

fn group_json(group: &AccountGroup) -> Value {
    json!({ "id": group.id, "name": group.name, "members": group.members, "created_at": group.created_at })
}

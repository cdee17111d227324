//! Messages of the pages of groups and access, in both languages.

use crate::ui::locale::{define_messages, message, plural_message};

define_messages! {
    // Groups.
    groups: "Groups and access", "组与使用权限";
    groups_lead: "Groups of accounts. Members may use everything that their group may use.",
        "账号可以加入组。组可以使用的内容，其成员都可以使用。";
    no_groups: "No groups yet.", "还没有组。";
    new_group: "New group", "新建组";
    name: "Name", "名称";
    create_group: "Create group", "创建组";
    rename: "Rename", "重命名";
    delete_group: "Delete group", "删除组";
    delete_group_hint: "Its members stay. They lose access to what only this group may use.",
        "成员的账号会保留，但会失去仅此组可用的内容。";
    members: "Members", "成员";
    no_members: "No members yet.", "还没有成员。";
    add_member: "Add member", "添加成员";
    account_name: "Account name", "账号名称";
    remove_member: "Remove", "移出";
    all_groups: "All groups", "所有组";
    group_created: "The group was created.", "组已创建。";
    group_renamed: "The group was renamed.", "组已重命名。";
    group_deleted: "The group was deleted.", "组已删除。";
    member_added: "The account was added to the group.", "账号已加入组。";
    member_removed: "The account was removed from the group.", "账号已移出组。";
    added_here: "Added here", "在此添加";
    mapped_member_hint: "It ends at the service or with the mapping.", "在该服务中移出或移除映射后失效。";
    // Mappings of groups.
    mappings: "Groups of sign-in services", "登录服务的组";
    mappings_hint: "People whom a service names for one of these groups are members, for as long as it does. Each sign-in \
        updates that.",
        "登录服务认定属于以下组的人即为成员，直到该服务不再如此认定。每次登录时更新。";
    sign_in_service: "Service", "服务";
    reverse_proxy: "Reverse proxy", "反向代理";
    external_group: "Name of the group there", "该服务中的组名";
    external_group_hint: "Exactly as the service sends it.", "须与该服务发送的名称完全一致。";
    map_group: "Add mapping", "添加映射";
    unmap_group: "Remove mapping", "移除映射";
    group_mapped: "The mapping was added.", "映射已添加。";
    group_unmapped: "The mapping was removed.", "映射已移除。";
    // Access.
    access: "Access to models and tools", "模型和工具的使用权限";
    access_lead: "Who may use the models and tool servers of this server. The owner may use everything. Everybody may \
        use the providers that they connect themselves.",
        "谁可以使用此服务器的模型和工具服务器。所有者可以使用全部内容。每个人都可以使用自己连接的服务商。";
    change_access: "Change access", "更改使用权限";
    target: "Model or tool server", "模型或工具服务器";
    everybody: "Everybody", "所有人";
    audience: "Who may use it", "可使用者";
    only_owner: "Only the owner", "仅所有者";
    find_groups: "Find groups by name", "按名称查找组";
    find: "Find", "查找";
    as_provider: "as its provider", "与服务商相同";
    show_fewer: "Show fewer models", "显示较少模型";
    single_accounts: "Single accounts", "单个账号";
    single_accounts_hint: "Their names, with spaces between them.", "账号名称，以空格分隔。";
    save: "Save", "保存";
    use_default: "Use the default", "恢复默认";
    default_of_model: "By default a model may be used by the same people as its provider.",
        "默认情况下，模型的使用权限与其服务商相同。";
    default_of_provider: "By default everybody may use the models of this provider. The rule is for those without a rule \
        of their own, also for new ones.",
        "默认情况下，所有人都可以使用此服务商的模型。此规则适用于没有单独规则的模型，包括新增的模型。";
    default_of_tool_server: "By default only the owner may use a tool server of the configuration file. It runs with the \
        rights of this server, for everybody who may use it.",
        "默认情况下，只有所有者可以使用配置文件中的工具服务器。它以此服务器的权限运行，供所有可使用者共用。";
    access_saved: "Saved. It applies from the next message on.", "已保存，从下一条消息起生效。";
    access_reset: "The default applies again.", "已恢复默认。";
}

/// Returns the number of members of a group.
pub fn member_count(count: u64) -> String {
    plural_message!(count; "1 member", "{count} members"; "{count} 名成员")
}

/// Returns the reason why an account is a member that an administrator has not added.
pub fn from_service(service: &str) -> String {
    message!("From {service}", "来自 {service}")
}

/// Returns the number of accounts that may use something.
pub fn account_count(count: usize) -> String {
    plural_message!(count; "1 account", "{count} accounts"; "{count} 个账号")
}

/// Returns the names of groups and accounts that may use something, and that there are others.
pub fn and_others(names: &str, count: usize) -> String {
    message!("{names} and {count} more", "{names}，另有 {count} 个")
}

/// Returns that groups have no box now.
pub fn groups_hidden(count: usize) -> String {
    plural_message!(count; "1 more group. Find it by its name.", "{count} more groups. Find them by their names.";
        "还有 {count} 个组，可按名称查找。")
}

/// Returns the link to all models of a provider.
pub fn show_models(provider: &str, count: usize) -> String {
    plural_message!(count; "Show the model of {provider}", "Show all {count} models of {provider}";
        "显示 {provider} 的全部 {count} 个模型")
}

/// Returns the name of the models of a provider that have no rule.
pub fn models_of(provider: &str) -> String {
    message!("{provider}: all models", "{provider}：所有模型")
}

/// Returns the name of a tool server.
pub fn tools_of(server: &str) -> String {
    message!("Tools: {server}", "工具：{server}")
}

/// Returns the heading of the form of a rule.
pub fn access_to(target: &str) -> String {
    message!("Access: {target}", "使用权限：{target}")
}

//! Messages of the import of tool servers, in both languages.

use crate::ui::locale::{define_messages, message, plural_message};

define_messages! {
    title: "Import tool servers", "导入工具服务器";
    lead: "Paste the tool servers of another program, or choose its file. You will see what would be added before \
        anything is saved.", "粘贴其他程序的工具服务器设置，或选择其文件。保存之前会先显示将要添加的内容。";
    lead_hint: "Supports mcpServers of Claude, Cursor, Cline, Windsurf and Gemini CLI, servers of VS Code, and \
        context_servers of Zed, with comments. Permissions such as autoApprove are never imported.", "支持 \
        Claude、Cursor、Cline、Windsurf 和 Gemini CLI 的 mcpServers，VS Code 的 servers，以及 Zed 的 context_servers，可含注释。autoApprove 等权限不会导入。";
    text: "Settings as JSON", "JSON 设置";
    file: "File", "文件";
    preview: "Preview", "预览";
    preview_title: "Servers in the file", "文件中的服务器";
    preview_hint: "Headers and values are saved encrypted and never shown again.", "请求头和值会加密保存，之后不再显示。";
    values_title: "Values", "值";
    values_hint: "The servers need these. They are saved encrypted, as parts of headers and of queries of addresses.",
        "服务器需要以下值。它们会作为请求头和地址查询参数的一部分加密保存。";
    value_is_set: "Entered. Leave empty to keep it.", "已填写。留空则保留。";
    add_chosen: "Add selected servers", "添加所选服务器";
    start_again: "Choose another file", "选择其他文件";
    choose_one: "Select at least one server.", "请至少选择一个服务器。";
    paste_again: "The preview is no longer valid. Paste the settings again.", "预览已失效，请重新粘贴设置。";
    headers: "Headers", "请求头";
    variables: "Variables", "变量";
    not_imported: "Not imported", "未导入";
    direct: "Turnleaf connects to the address directly, without mcp-remote.", "Turnleaf 会直接连接该地址，不经过 mcp-remote。";
    local_network: "This address is on this machine or the local network. Importing it allows that for this server.",
        "此地址位于本机或本地网络。导入即表示允许此服务器使用该地址。";
    disabled: "It will be added disabled.", "添加后处于停用状态。";
    table: "Table for the configuration file", "配置文件中的表";
    table_hint: "The administrator of this server can add this to the configuration file. Values of secrets come from \
        variables of the server's environment.", "此服务器的管理员可以将其加入配置文件。机密的值取自服务器的环境变量。";
    none_to_add: "None of these servers can be added here.", "这些服务器都不能在此添加。";
}

/// Describes a server that would be added.
pub fn adds(id: &str) -> String {
    message!("Will be added. Its tools will be named {id}/tool.", "将会添加。其工具名称为 {id}/tool。")
}

/// Describes a server that is connected with other headers.
pub fn changes(name: &str) -> String {
    message!(
        "Already connected as {name}, with different headers, query or timeout. Select it to replace them.",
        "已连接（{name}），但请求头、查询参数或超时不同。勾选则替换。"
    )
}

/// Describes a server that cannot be added.
pub fn left_out(reason: &str) -> String {
    message!("Left out: {reason}", "不导入：{reason}")
}

pub fn limit(seconds: u64) -> String {
    plural_message!(
        seconds; "Call timeout: 1 second", "Call timeout: {seconds} seconds"; "调用超时：{seconds} 秒"
    )
}

pub fn not_read(count: usize) -> String {
    plural_message!(
        count; "1 more server is not listed: the file has too many.", "{count} more servers are not listed: the file has \
        too many."; "文件中的服务器过多，另有 {count} 个未列出。"
    )
}

/// Describes the parts of the file that contain no servers.
pub fn unused(names: &str) -> String {
    message!("Other settings in the file were not used: {names}.", "文件中的其他设置未使用：{names}。")
}

/// The notice after servers were refused while they were saved.
pub fn refused(names: &str) -> String {
    message!("Some servers could not be saved: {names}", "部分服务器无法保存：{names}")
}

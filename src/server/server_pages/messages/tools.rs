//! Messages of the page "Tools" and of a chat's tools page, in both languages.

pub use super::providers::{address, edit, headers, headers_hint, local_no, local_yes, name, network, network_hint};
pub use super::providers::{
    no_headers, remove, status_detail, status_sentence, switch_off, switch_on, test, test_and_save, test_result,
};
pub use super::saved;
use std::time::Duration;

use crate::domain::tools::approval::ToolApprovalPolicy;
use crate::domain::{InvalidField, limits};
use crate::ui::locale::coded_messages::field_error_sentence;
use crate::ui::locale::{define_messages, join_sentences, localized_word, message, plural_message};
use crate::ui::messages::branches::branch_name;
pub use crate::ui::messages::palette::chat_tools as of_chat;

pub const KIND_HTTP: &str = "HTTP";

define_messages! {
    allowed_here: "Allowed in this chat", "已在此对话中允许";
    allowed_here_hint: "These tools run in this chat without asking.", "这些工具在此对话中无需询问即可运行。";
    ask_again: "Ask every time", "每次询问";
    asks_again: "Turnleaf will ask you again.", "之后会再次询问你。";
    title: "Tools", "工具";
    lead: "Tools that models can call. Tools with side effects ask you first unless you set otherwise here. Tool \
        descriptions come from their servers and may be wrong or misleading.", "模型可以调用的工具。有副作用的工具会先征得你的同意，除非你在此另有设定。工具说明由服务器自行提供，可能有误，也可能有误导性。";
    model_provider_tools: "Provider tools", "服务商的工具";
    model_provider_tools_hint: "The provider runs these within its reply without asking you, and may charge for them.",
        "由服务商在回复过程中自行运行，可能收费，不会征求你的同意。";
    built_in: "Built-in tools", "内置工具";
    servers: "Tool servers", "工具服务器";
    status_changed: "Status changed", "状态更新于";
    no_servers: "No tool servers connected yet.", "尚未连接工具服务器。";
    add: "Connect an HTTP server", "通过 HTTP 连接服务器";
    add_hint: "Local programs can only be added in this server's configuration file, because a program can do \
        anything this server can.", "本机程序只能在此服务器的配置文件中添加，因为程序能做这台服务器能做的任何事。";
    id: "Short name", "短名称";
    id_hint: "Its tools are named short-name/tool. Use a-z, 0-9 and -. Cannot be changed later. Leave empty to derive \
        it from the name.", "其工具的名称为“短名称/工具”。可用 \
        a-z、0-9 和 -，之后不能更改。留空则由名称生成。";
    address_hint: "The URL of its MCP endpoint, usually ending in /mcp.", "其 MCP 端点的地址，通常以 /mcp 结尾。";
    address_clears: "Changing the address deletes the headers, unless you enter them with it, and resets the tool \
        permissions.", "更改地址会删除请求头（除非同时填写），并重置工具权限。";
    start_limit: "Startup timeout (seconds)", "启动超时（秒）";
    idle_limit: "Idle timeout of a call (seconds)", "调用空闲超时（秒）";
    total_limit: "Total timeout of a call (seconds)", "调用总超时（秒）";
    headers_again: "Enter the headers again. Pages never contain their values.", "请再次输入请求头：页面从不保留其值。";
    program: "Program", "程序";
    set_by: "Set in the configuration file. Change it there.", "由配置文件设置，请在配置文件中更改。";
    kind_program: "Local program", "本机程序";
    kind: "Type", "类型";
    calls_itself: "Reported name", "自报名称";
    log: "Server log", "服务器日志";
    no_tools: "It has not listed any tools yet.", "它尚未提供任何工具。";
    restart: "Restart", "重新启动";
    cancel: "Cancel", "取消";
    save: "Save", "保存";
    save_policies: "Save permissions", "保存权限";
    when_called: "When a model calls this tool", "模型调用时";
    arguments: "Parameters", "参数";
    server_description: "Server claims", "服务器声称";
    only_for_views: "Only views of this server can call it. No model is offered it.",
        "只有此服务器的视图可以调用它，不会提供给模型。";
    by_host: "This tool asks once per host. Allowed hosts are listed below. You cannot allow all hosts at once.",
        "此工具对每个主机询问一次。已允许的主机列在下方；不能一次允许所有主机。";
    allowed_hosts_hint: "Pages on these hosts, such as example.org, are fetched in every chat without asking. \
        Redirects to other hosts are not followed unless those are allowed too.", "这些主机（如 example.org）上的网页在所有对话中无需询问即可获取。不会跟随到其他主机的跳转，除非那些主机也已允许。";
    host: "Host", "主机";
    allow_host: "Allow host", "允许主机";
    asks_when_exposed: "Runs without asking until the chat contains text you did not write: a page, a tool result, a \
        web search, an image or a file. After that it asks, because such text may tell the model what to search for.", "在对话中出现不是你写的文字（网页、工具结果、网页搜索、图片或文件）之前，它无需询问即可运行；此后则会询问，因为这类文字可能会左右模型搜索什么。";
    provider_tools: "Provider tools", "服务商的工具";
    provider_tools_hint: "The provider runs these within its reply. Turnleaf cannot ask you about individual searches \
        or pages and does not see addresses before they are fetched, so permissions on this page do not apply. Their \
        output counts as text you did not write. They are off until you turn them on in a chat.", "服务商在生成回复的过程中运行这些工具。Turnleaf \
        无法就单次搜索或页面询问你，也无法预先看到所访问的地址，因此本页的任何权限都不适用于它们。其输出视为不是你写的文字。默认关闭，需在对话中开启。";
    changed: "It changed after you allowed it, so it asks again.", "你允许之后它有改动，因此会再次询问。";
    changed_since_trusted: "The configuration file trusts a different version of its description, so it asks. Read \
        the current description; to trust it as it is, choose “Always allow”.", "配置文件信任的是其说明的另一个版本，因此会询问。请阅读当前说明；如果信任当前说明，请选择“始终允许”。";
    trusted: "Marked as safe in the configuration file.", "配置文件声明它是安全的。";
    instructions: "Instructions of this server", "此服务器的使用说明";
    instructions_hint: "The text follows the system prompt of new branches that use its tools. It comes from the server \
        and may be wrong or misleading.", "使用其工具的新分支会在系统提示词之后附上这段文字。内容由服务器提供，可能有误，也可能有误导性。";
    offer_instructions: "Give models these instructions", "向模型提供这些说明";
    server_policy: "Permission for all tools of this server", "此服务器所有工具的权限";
    server_policy_hint: "Applies to tools without a permission of their own. “Always allow” covers the tools it lists \
        now, as described now, in every chat and with any arguments; new and changed tools ask. “Never run” also ends \
        permissions in single chats.", "适用于没有单独设置权限的工具。“始终允许”涵盖它目前列出且说明未改动的工具，适用于所有对话和任何参数；新增或有改动的工具会询问。“从不运行”也会使单个对话中的许可失效。";
    not_set: "Not set: ask me", "未设置：询问我";
    as_configured: "As in the configuration file", "按配置文件";
    as_for_server: "As for the server", "与服务器相同";
    by_server: "Set for all tools of this server.", "由此服务器所有工具的权限决定。";
    save_for_server: "Save permission", "保存权限";
    harmless: "It has no side effects and does not access anything outside, so it runs without asking.",
        "它没有副作用，也不访问外部，因此无需询问即可运行。";
    new_chats: "In new chats", "在新对话中";
    new_chats_hint: "Selected tools are available in new chats. You can change them in each chat.",
        "勾选的工具会提供给今后开始的对话。每个对话可单独更改。";
    whole_server: "All tools of this server, including ones it adds later", "此服务器的所有工具，包括今后新增的";
    cleared: "Saved. The address changed, so the headers were deleted and the tool permissions were reset.",
        "已保存。地址已更改，因此请求头已删除，工具权限已重置。";
    removed: "Removed.", "已移除。";
    import_servers: "Import from another program", "从其他程序导入";
    imported: "Imported.", "已导入。";
    back_to_tools: "Back to Tools", "返回“工具”";
    not_saved: "Not saved. Check the highlighted fields.", "尚未保存，请检查有误的字段。";

    // The tools of a chat.
    chat_tools_lead: "Tools that models can call in this chat. Tools ask you first unless you set otherwise.",
        "模型在此对话中可以调用的工具。工具会先征得你的同意，除非你另有设定。";
    client: "Tools run by an API client of this chat", "由此对话的 API 客户端运行的工具";
    left_out: "Not available", "不可用";
    settings: "Tool permissions are in Settings.", "工具权限在“设置”中。";
    to_settings: "Tool settings", "工具设置";
    for_new: "Other branches keep the tools they started with. New branches get these, including retries and \
        switching models.", "其他分支沿用开始时的工具；新分支使用这些工具，包括重试和换用其他模型。";
    use_now: "Use these tools from the next message", "从下一条消息起使用这些工具";
    use_now_running: "Saved for new branches. This branch has an unfinished reply and keeps its tools; save again \
        when the reply is finished.", "选择已为新分支保存。此分支有回复尚未结束，因此沿用原有工具；请在结束后再次保存。";
    no_tool_support: "This model does not support tools.", "此模型不支持工具。";
    none_at_all: "No tools available.", "没有可用的工具。";
    from_provider: "Run by the provider", "由模型的服务商运行";
}

/// Describes the values of a limit with this default.
pub fn limit_hint(default: Duration) -> String {
    let (least, most) = (limits::TOOL_SETTABLE_SECONDS.start(), limits::TOOL_SETTABLE_SECONDS.end());
    let usual = default.as_secs();
    message!("{least} to {most}. Leave empty for the default, {usual}.", "{least} 到 {most}。留空则为默认的 {usual}。")
}

/// Says that the model has to search for tools, because they are too many to offer.
pub fn searched(count: usize) -> String {
    let most = limits::TOOLS_OFFERED;
    plural_message!(
        count;
        "These servers have more than {most} tools. The model finds 1 of them with a tool search.",
        "These servers have more than {most} tools. The model finds {count} of them with a tool search.";
        "这些服务器的工具超过 {most} 个，其中 {count} 个由模型通过工具搜索查找。"
    )
}

pub fn policies() -> [(&'static str, &'static str); 3] {
    [
        ("ask", localized_word("Ask me", "询问我")),
        ("allow", localized_word("Always allow", "始终允许")),
        ("never", localized_word("Never run", "从不运行")),
    ]
}

/// Returns the value of a policy in a form.
pub fn policy_value(policy: ToolApprovalPolicy) -> &'static str {
    match policy {
        ToolApprovalPolicy::Ask => "ask",
        ToolApprovalPolicy::Allow => "allow",
        ToolApprovalPolicy::Never => "never",
    }
}

/// Returns the word for the status of a server.
pub fn server_state(state: &str) -> &'static str {
    match state {
        "working" => localized_word("Working", "正常"),
        "starting" => localized_word("Starting", "正在启动"),
        "failed" => localized_word("Not responding", "没有响应"),
        "sign_in_needed" => localized_word("Sign-in needed", "需要登录"),
        "off" => localized_word("Disabled", "已停用"),
        "headers_unreadable" => localized_word("Headers cannot be decrypted", "请求头无法解密"),
        _ => localized_word("Not started", "未启动"),
    }
}

pub fn tools(count: usize) -> String {
    plural_message!(count; "1 tool", "{count} tools"; "{count} 个工具")
}

pub fn allowed_hosts(tool: &str) -> String {
    message!("Allowed hosts for {tool}", "已允许“{tool}”访问的主机")
}

pub fn hidden(count: u32) -> String {
    plural_message!(count; "1 hidden character", "{count} hidden characters"; "{count} 个隐藏字符")
}

pub fn headers_kept(names: &str) -> String {
    message!(
        "Set: {names}. Lines here replace all of them; one per line, as Name: value.",
        "已设置：{names}。每行一个，格式为 Name: value；在此填写的内容会替换全部请求头。"
    )
}

pub fn edit_title(name: &str) -> String {
    message!("Edit {name}", "编辑 {name}")
}

pub fn remove_description(name: &str) -> String {
    message!(
        "Disconnects {name} and deletes its headers and tool permissions. Its results in chats stay.",
        "断开 {name} 的连接，并删除其请求头和工具权限。它在对话中的结果会保留。"
    )
}

pub fn use_now_hint(branch: &str) -> String {
    let branch = branch_name(branch);
    message!(
        "For branch “{branch}”. The provider then has to read the whole chat again, which may cost more once.",
        "用于分支“{branch}”。服务商随后会重新读取整个对话，可能产生一次额外费用。"
    )
}

/// Returns the display name of a provider tool.
pub fn provider_tool_name(tool: &str) -> String {
    match tool {
        "web_search" => localized_word("Web search", "网页搜索").to_owned(),
        "code_execution" => localized_word("Code execution", "代码执行").to_owned(),
        other => other.to_owned(),
    }
}

/// Returns the reason why a choice was not saved.
pub fn not_saved_because(invalid: &InvalidField) -> String {
    join_sentences(not_saved(), &field_error_sentence(invalid))
}

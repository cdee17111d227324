//! Messages of the pages of shares, in both languages.

use crate::ui::locale::{define_messages, message, plural_message};
use crate::ui::messages::amounts::number;

define_messages! {
    share_path: "Share this path", "分享此分支";
    lead: "A link leads to a copy of the messages and replies up to here. Later messages, other branches and other \
        versions are not in it.", "链接指向到此为止的消息和回复的副本，不含之后的消息、其他分支和其他版本。";
    audience: "Anyone with the link can read the copy without signing in, until it expires or you revoke it.",
        "在链接过期或被你撤销之前，任何人都可以凭链接阅读此副本，无需登录。";
    nothing_to_share: "This chat has no messages to share yet.", "此对话还没有可以分享的消息。";
    also_include: "Also include", "一并包含";
    reasoning: "Reasoning", "思考过程";
    tools: "Tool calls with their inputs and results", "工具调用及其输入和结果";
    documents: "Names and quoted lines of attached documents", "所附文档的名称和引用的内容";
    expires_after: "Link expires after", "链接有效期";
    update_preview: "Update preview", "更新预览";
    preview: "Preview", "预览";
    preview_hint: "The link will show exactly this.", "链接展示的内容与此完全相同。";
    open_preview: "Open preview in a new tab", "在新标签页中打开预览";
    create: "Create link", "创建链接";
    link_created: "Link created", "链接已创建";
    link: "Link", "链接";
    shown_once: "Copy the link now. It will not be shown again.", "请立即复制链接，之后不会再次显示。";
    open_link: "Open link", "打开链接";
    link_known: "This link was already created, and its address is shown only once. If you do not have it, revoke it and \
        create another one.", "此链接已经创建，其地址只显示一次。如果你没有保存，请撤销后重新创建。";
    shared_links: "Shared links", "分享的链接";
    list_lead: "Copies of paths that others can read. Revoking a link ends it at once and leaves the chat as it is.",
        "他人可以阅读的对话副本。撤销后链接立即失效，对话保持不变。";
    no_links: "No shared links. To create one, choose “Share this path” in the “Share” menu of a chat.",
        "没有分享的链接。如需创建，请在对话的“分享”菜单中选择“分享此分支”。";
    messages_and_replies: "Messages and replies", "消息和回复";
    created: "Created", "创建时间";
    expires: "Expires", "过期时间";
    expired: "Expired", "已过期";
    revoked: "Revoked", "已撤销";
    last_opened: "Last opened", "上次打开";
    never_opened: "Not opened yet", "尚未打开";
    revoke: "Revoke", "撤销";
    link_revoked: "Link revoked.", "已撤销链接。";

    // Live shares.
    share_live: "Share live", "实时分享";
    live_lead: "The people and groups that you name read this branch while it grows, signed in to this server: everything \
        that is added to it appears on their page. They see no other branches, no other versions, and no settings.",
        "你指定的人员和组登录此服务器后可以实时阅读此分支：之后加入此分支的内容都会出现在他们的页面上。他们看不到其他分支、其他版本和设置。";
    people: "People", "人员";
    groups: "Groups", "组";
    exact_names: "Exact names, one on each line.", "准确的名称，每行一个。";
    live_shares: "Live shares", "实时分享";
    shared_with_me: "Shared with me", "与我共享";
    save_readers: "Save readers", "保存读者";
    open_as_readers: "Open as readers see it", "以读者视角打开";
    end_live: "End", "结束";
    live_started: "The branch is shared live. Its readers find it here, under “Shared with me”.",
        "已实时分享此分支。读者可以在此处的“与我共享”下找到它。";
    readers_saved: "Readers saved.", "已保存读者。";
    live_ended: "Live share ended.", "已结束实时分享。";
    reply_running: "A reply is being generated. This page refreshes by itself.", "正在生成回复，此页面会自动刷新。";

    // The page on which readers continue a shared chat.
    continue_chat: "Continue this chat", "继续此对话";
    continue_lead: "A copy becomes a new chat of yours. It has what the shared page shows, and nothing else. The person \
        who shared it does not see what you write.", "副本将成为你的新对话，只包含分享页面所展示的内容。分享者看不到你写的内容。";
    continue_hint: "No model is asked until you send a message.", "在你发送消息之前，不会调用任何模型。";
    back_to_page: "Back to the shared page", "返回分享页面";
    copy_chat: "Copy to my chats", "复制到我的对话";

    // The page for readers whose link leads nowhere.
    link_missing: "Link not available", "链接不可用";
    link_missing_hint: "This link does not exist, has expired, or was revoked.", "此链接不存在、已过期或已被撤销。";
}

/// The size of a shared path.
pub fn messages(count: usize) -> String {
    let many = number(count as u64);
    plural_message!(count; "{many} message", "{many} messages"; "{many} 条消息")
}

/// The number of days for which a link is valid.
pub fn days(days: u32) -> String {
    plural_message!(days; "1 day", "{days} days"; "{days} 天")
}

/// The branch that is shared.
pub fn branch_named(name: &str) -> String {
    message!("Branch: {name}", "分支：{name}")
}

/// The person who shares a branch.
pub fn shared_by(name: &str) -> String {
    message!("Shared by {name}", "由 {name} 分享")
}

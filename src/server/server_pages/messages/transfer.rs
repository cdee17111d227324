//! Messages of exports and of the page "Data", in both languages.

use crate::ui::locale::{define_messages, message};

define_messages! {
    title: "Data", "数据";
    export_section: "Export", "导出";
    export_all: "Export everything", "导出全部";
    export_all_hint: "One archive with all chats and branches, provider responses, images and documents. API keys and \
        settings are not included.", "一个包含所有对话及其分支、服务商的原始响应、图片和文档的存档。不包括 API 密钥和设置。";
    export_confirmed: "You can export everything now.", "现在可以导出全部内容。";
    storage: "Storage used", "存储用量";
    storage_hint: "Deleted items count until they leave Trash. Database indexes are not counted.",
        "已删除的内容在移出回收站前仍计入用量。不含数据库索引。";
    back_up: "Back up", "备份";
    back_up_sqlite: "The first command copies the whole database, including settings and encrypted API keys, even \
        while the server runs. The second restores a copy while the server is stopped. Decrypting the keys requires \
        secret.key from the data directory: back up that file too:", "第一条命令可复制整个数据库，包括设置和加密的 \
        API 密钥，服务器运行时也可使用；第二条命令在服务器停止时恢复备份。解密密钥需要数据目录中的 secret.key，请一并备份该文件：";
    back_up_postgres: "The database is PostgreSQL: use its own tools. Decrypting API keys requires secret.key from \
        the data directory: back up that file too.", "数据库为 \
        PostgreSQL，请使用其自带工具。解密 API 密钥需要数据目录中的 secret.key，请一并备份该文件。";
    export_chat: "Export chat", "导出此对话";
    archive: "Archive (JSON)", "存档（JSON）";
    archive_hint: "Everything in this chat, with all branches and provider responses. Turnleaf can re-import it as an \
        identical chat.", "此对话的全部内容，包括所有分支和服务商的原始响应。Turnleaf 可将其重新导入为相同的对话。";
    damaged: "Parts of this chat are damaged in the database. Exports contain everything else and list what is \
        missing.", "此对话的部分内容在数据库中已损坏。导出的文件包含其余全部内容，并列出缺少的部分。";
    markdown: "Markdown", "Markdown";
    markdown_zip: "Markdown with images", "Markdown 与图片";
    page: "Page (HTML)", "网页（HTML）";
    page_hint: "The current branch as it looks here, in one file with its images. It can be read and printed without \
        Turnleaf or a network connection.", "当前显示的分支，外观与此处相同，连同图片保存为一个文件，无需 \
        Turnleaf 和网络即可阅读和打印。";
    git: "Git repository", "Git 仓库";
    git_hint: "All branches as a bare repository in a ZIP file. Each message and each reply is a commit, each branch \
        a ref. Includes reasoning and tool calls; provider responses are only in the archive.", "以 ZIP 打包的裸仓库，包含所有分支。每条消息和每条回复是一个提交，每个分支是一个引用。包含思考过程和工具调用；服务商的原始响应仅在存档中。";
    markdown_hint: "The current branch as readable text.", "当前显示的分支，便于阅读。";
    markdown_zip_hint: "The same text in a ZIP with the images that it links.", "同样的文本，与其链接的图片一起打包为 ZIP。";
    reasoning: "Reasoning", "思考过程";
    tools: "Tool calls", "工具调用";
    folded: "Collapsed", "折叠";
    full: "Expanded", "展开";
    omitted: "Omitted", "省略";
    download: "Download", "下载";
    untitled: "Untitled", "未命名";
}

/// Returns the used part of the quota.
pub fn storage_of_quota(used: &str, quota: &str) -> String {
    message!("{used} of {quota}", "{used}，共 {quota}")
}

/// Returns the parts of the used storage.
pub fn storage_parts(chats: &str, files: &str, documents: &str, waiting: &str) -> String {
    message!(
        "Chats {chats}, files {files}, documents {documents}, pending imports {waiting}.",
        "对话 {chats}，文件 {files}，文档 {documents}，等待导入 {waiting}。"
    )
}

//! Messages of the "Share" menu of a chat, in both languages.

use crate::ui::locale::define_messages;

define_messages! {
    share: "Share", "分享";
    copy_markdown: "Copy as Markdown", "复制为 Markdown";
    copy_link: "Copy link", "复制链接";
    share_path: "Share this path…", "分享此分支…";
    download_page: "Download as web page", "下载为网页";
    download_markdown: "Download as Markdown", "下载为 Markdown";
    download_images: "Download Markdown with images", "下载 Markdown 与图片";
    download_archive: "Download archive (JSON)", "下载存档（JSON）";
    download_git: "Download Git repository", "下载 Git 仓库";
    options: "Export options…", "导出选项…";
}

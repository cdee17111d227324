//! Messages of previews, in both languages.

use crate::domain::blocks::preview::{CodePreview, PreviewKind};
use crate::ui::locale::{define_messages, localized_word, message};

define_messages! {
    views: "View", "显示方式";
    preview: "Preview", "预览";
    source: "Source", "源码";
    changes: "Changes", "改动";
    versions: "Versions", "版本";
    download: "Download", "下载";
    full_screen: "Full screen", "全屏";
    leave_full_screen: "Leave full screen", "退出全屏";
    about: "A model made this. It cannot use the network or access Turnleaf. Never enter a password here.",
        "这是模型生成的内容，没有网络，也无法访问 Turnleaf。请勿在此输入密码。";
    needs_script: "Drawing a diagram needs JavaScript.", "绘制图表需要 JavaScript。";
    unavailable: "This diagram cannot be drawn. You can read its source and download it.",
        "此图表无法绘制。可以查看或下载其源码。";
}

/// The name of the page: that of the file, or of what it is.
pub fn title(shown: &CodePreview) -> String {
    let kind = match shown.kind {
        PreviewKind::Html => localized_word("web page", "网页"),
        PreviewKind::Svg => localized_word("drawing", "图形"),
        PreviewKind::Mermaid => localized_word("diagram", "图表"),
        PreviewKind::Markdown => localized_word("formatted text", "排版文本"),
    };
    let name = shown.name.as_deref().unwrap_or(kind);
    message!("Preview: {name}", "预览：{name}")
}

/// The name of a version.
pub fn version(number: usize) -> String {
    message!("Version {number}", "第 {number} 版")
}

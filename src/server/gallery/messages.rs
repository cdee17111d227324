//! Messages of the gallery in both languages. The texts inside samples are not translated.

use super::composers::ComposerSample;
use super::gallery_sheet::GallerySheet;
use crate::ui::locale::{define_messages, localized_word};

define_messages! {
    gallery: "Interface samples", "界面示例";
    lead: "Every component in every state, with sample data. Nothing here has any effect.",
        "以示例展示界面的每个组件及其所有状态，这里的操作不会产生任何效果。";
    colours: "Colors: light and dark", "颜色：浅色与深色";
    contrast: "Contrast", "对比度";
    pair: "Pair", "组合";
    light: "Light", "浅色";
    dark: "Dark", "深色";
    needs: "Needs", "要求";
    type_scale: "Type", "字号";
    spacing: "Spacing", "间距";
    icons: "Icons", "图标";
    buttons: "Buttons", "按钮";
    fields: "Fields", "输入框";
    choices: "Choices", "选项";
    dialog: "Dialog", "对话框";
    menu: "Menu", "菜单";
    notes: "Notes", "提示";
    bars: "Connection", "连接";
    action_results: "Status messages", "操作结果";
    waiting: "Loading", "加载";
    nothing: "Empty", "空状态";
    first_run: "First run", "首次使用";
    primary: "Primary", "主要";
    plain: "Plain", "普通";
    bare: "Bare", "无边框";
    danger: "Danger", "危险";
    busy: "Busy", "忙碌";
    off: "Off", "停用";
    sample_text: "A tree keeps every reply, 1234567890.", "每条回复都保存在树中，1234567890。";
    hint: "A one-line description.", "一行说明。";
    wrong: "This is not a valid URL.", "这不是有效的地址。";
    chats: "Chats", "对话列表";
    header: "Chat header", "对话标题栏";
    find_bar: "Find in chat", "在对话中查找";
    message_box_bars: "Above the message box", "输入框上方";
    off_screen_turns: "Messages off screen", "未显示的消息";
    message_in_flight: "Sending a message", "正在发送的消息";
    editing: "Inline editing", "就地编辑";
    no_page: "Page not found", "未找到页面";
    palette: "Command palette", "命令面板";
    question: "Delete confirmation", "删除前的确认";
    try_other_model: "Switch model", "换用其他模型";
    card_actions: "Actions menu", "操作菜单";
    search: "Search", "搜索";
    rejected_files: "Rejected files", "被拒绝的文件";
    failed: "Failed page", "失败的页面";
    column: "Chat sidebar", "对话侧边栏";
    tree: "Tree map", "树状图";
    sign_menus: "/ and @ menus in the message box", "输入框中的 / 与 @ 菜单";
    dragged: "Dragging files onto the page", "将文件拖到页面上";
}

/// Returns the title of a gallery page.
pub fn sheet_title(sheet: GallerySheet) -> &'static str {
    match sheet {
        GallerySheet::Basics => localized_word("Basics", "基础"),
        GallerySheet::Parts => localized_word("Parts", "组件"),
        GallerySheet::Writing => localized_word("Writing", "文字"),
        GallerySheet::Reasoning => localized_word("Reasoning and waiting", "思考与等待"),
        GallerySheet::Tools => localized_word("Tools", "工具"),
        GallerySheet::Results => localized_word("Results and endings", "结果与结束"),
        GallerySheet::Failures => localized_word("Failures", "失败"),
        GallerySheet::Chat => localized_word("Chat shell", "对话周围"),
        GallerySheet::Lists => localized_word("Lists", "列表"),
        GallerySheet::Menus => localized_word("Menus and dialogs", "菜单与对话框"),
        GallerySheet::ServerPageParts => localized_word("Plain pages", "普通页面"),
        GallerySheet::Composer(ComposerSample::Empty) => localized_word("Composer: empty", "输入框：空"),
        GallerySheet::Composer(ComposerSample::Written) => localized_word("Composer: with text", "输入框：已输入"),
        GallerySheet::Composer(ComposerSample::ReplyRunning) => {
            localized_word("Composer: replying", "输入框：正在回复")
        }
        GallerySheet::Composer(ComposerSample::WithFiles) => localized_word("Composer: files", "输入框：附件"),
        GallerySheet::Composer(ComposerSample::ContextFull) => {
            localized_word("Composer: context full", "输入框：上下文已满")
        }
        GallerySheet::Composer(ComposerSample::ModelUnavailable) => {
            localized_word("Composer: model unavailable", "输入框：模型不可用")
        }
        GallerySheet::Composer(ComposerSample::Sending) => localized_word("Composer: sending", "输入框：正在发送"),
        GallerySheet::Composer(ComposerSample::Stopping) => localized_word("Composer: stopping", "输入框：正在停止"),
        GallerySheet::Composer(ComposerSample::UploadingFiles) => {
            localized_word("Composer: uploading files", "输入框：正在上传文件")
        }
        GallerySheet::Composer(ComposerSample::Pasted) => localized_word("Composer: pasted", "输入框：粘贴内容"),
        GallerySheet::Composer(ComposerSample::Refused) => localized_word("Composer: rejected", "输入框：被拒绝"),
        GallerySheet::Composer(ComposerSample::ChangingModel) => {
            localized_word("Composer: new branch", "输入框：新分支")
        }
    }
}

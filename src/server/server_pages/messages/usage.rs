//! Messages of the usage page, in both languages.

use chrono::NaiveDate;

use crate::ui::locale::{define_messages, message};

define_messages! {
    from: "From", "起始日期";
    to: "To", "截止日期";
    group: "Group by", "分组方式";
    show: "Show", "显示";
    by_day: "Day", "日期";
    by_model: "Model", "模型";
    by_provider: "Provider", "服务商";
    by_chat: "Chat", "对话";
    last_7: "7 days", "近 7 天";
    last_30: "30 days", "近 30 天";
    this_month: "This month", "本月";
    this_year: "This year", "今年";
    nothing: "Nothing was asked of a model in this time.", "这段时间没有请求过模型。";
    table: "What was spent", "用量明细";
    calls: "Calls", "调用次数";
    input: "Tokens in", "输入 token";
    cached: "of it cached", "其中缓存";
    output: "Tokens out", "输出 token";
    reasoning: "of it reasoning", "其中思考";
    cost: "Cost, US$", "费用（美元）";
    total: "Total", "合计";
    deleted: "Deleted chats", "已删除的对话";
    csv: "Download as CSV", "下载 CSV";
    estimated: "≈ means estimated: computed from tokens and a list of prices. What your provider bills may differ. — means unknown; models on your own machine have no price.", "≈ 表示估算值：由 token 数和价格表计算得出，可能与服务商的账单不同。— 表示未知；在你自己机器上运行的模型没有价格。";
    what_counts: "Every call of a provider counts, also those of stopped, failed and deleted replies, until Trash is emptied of them. Days are in UTC.", "对服务商的每次调用都计入，包括已停止、失败和已删除的回复，直到它们从回收站清除。日期按 UTC 计算。";
}

pub fn caption(from: NaiveDate, to: NaiveDate) -> String {
    if from == to { from.to_string() } else { message!("{from} to {to}", "{from} 至 {to}") }
}

/// Returns the number of unknown costs, shown next to a sum.
pub fn unknown_costs(unknown: u64) -> String {
    message!(" + {unknown} unknown", " + {unknown} 项未知")
}

pub fn more_rows(hidden: usize) -> String {
    message!("{hidden} more are in the CSV.", "还有 {hidden} 行在 CSV 中。")
}

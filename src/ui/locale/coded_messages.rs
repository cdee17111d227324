//! The sentences of the server's codes in the reader's language. The English templates are those of the codes
//! (`domain::coded_message`), because the API has them, too; the Chinese ones are here. Only the server calls
//! [`coded_sentence`], so that the table of codes is not in the browser's bundle: the browser gets whole sentences.

use crate::domain::InvalidField;
use crate::domain::coded_message::{CodedMessage, MessageCode, with_optional_parts};
use crate::domain::drop_reason::{AT_LEAST, BETWEEN, DropReason, RANGE};
use crate::domain::message_template::{MessageArgs, fill_template};
use crate::ui::locale::{Locale, locale, localized_sentence};

/// Returns the sentence in the reader's language.
pub fn coded_sentence(coded: &CodedMessage) -> String {
    localized_sentence(|| coded.to_string(), || chinese_sentence(coded).unwrap_or_else(|| coded.to_string()))
}

/// Returns the sentence in the reader's language if that is not the English text.
pub fn translated_sentence(coded: &CodedMessage) -> Option<String> {
    (locale() != Locale::English && !coded.is_uncoded()).then(|| coded_sentence(coded))
}

/// Returns the problem of a field with the field's name, which stays as it is.
pub fn field_error_sentence(invalid: &InvalidField) -> String {
    labelled_sentence(&invalid.field, &invalid.reason)
}

/// Returns a sentence about a field, or only the sentence if there is no field.
pub fn labelled_sentence(field: &str, coded: &CodedMessage) -> String {
    let sentence = coded_sentence(coded);
    if field.is_empty() { sentence } else { message!("{field}: {sentence}", "{field}：{sentence}") }
}

/// Returns that something exceeds a limit.
pub fn too_large_sentence(field: &str, limit: &CodedMessage) -> String {
    let limit = coded_sentence(limit);
    message!("{field} is too large: {limit}", "{field} 太大：{limit}")
}

/// Returns why a parameter cannot be sent, as a part of a sentence; `None` if an argument is missing.
pub fn drop_reason_sentence(reason: DropReason, mut args: MessageArgs) -> Option<String> {
    args.extend(range_sentence(&args).map(|range| (RANGE.to_owned(), range)));
    localized_template(reason.template(), chinese_drop_reason(reason), &args)
}

/// Returns the words for a range from its arguments `least` and `most`; `None` if they are missing.
pub fn range_sentence(args: &MessageArgs) -> Option<String> {
    localized_template(BETWEEN, "{least} 至 {most}", args)
        .or_else(|| localized_template(AT_LEAST, "不小于 {least}", args))
}

/// Fills the template of the current language. Returns `None` if an argument is missing.
pub fn localized_template(english: &str, chinese: &str, args: &MessageArgs) -> Option<String> {
    let english = fill_template(english, args)?;
    Some(localized_sentence(|| english, || fill_template(chinese, args).unwrap_or_default()))
}

fn chinese_sentence(coded: &CodedMessage) -> Option<String> {
    if let MessageCode::Param(reason) = coded.code {
        return drop_reason_sentence(reason, coded.args.clone());
    }
    let cause = coded.args.get(CodedMessage::DETAIL).map(|detail| {
        let cause = coded.cause().and_then(|cause| chinese_sentence(&cause));
        format!("：{}", cause.as_deref().unwrap_or(detail))
    });
    let hint = coded.args.get(CodedMessage::SUGGESTION).map(|address| format!("你是否想用 {address}？"));
    fill_template(chinese_template(coded.code), &with_optional_parts(&coded.args, cause, hint))
}

fn chinese_drop_reason(reason: DropReason) -> &'static str {
    match reason {
        DropReason::TemperatureOrTopP => "此模型不能同时使用 temperature 和 top_p",
        DropReason::ModelNeverThinks => "此模型不支持思考",
        DropReason::ModelAlwaysThinks => "此模型的思考无法关闭",
        DropReason::ThinkingCannotBeSet => "此模型的思考强度无法设置",
        DropReason::Unsupported => "此模型不支持",
        DropReason::UnsupportedWhileThinking => "此模型在开启思考时不支持",
        DropReason::UnsupportedWithoutThinking => "此模型仅在开启思考时支持",
        DropReason::NoRoomForBudget => "它没有给思考预算留出余地",
        DropReason::NoRoomForThinking => "max_tokens 没有给它留出余地",
        DropReason::OtherLevel => "此模型不支持“{requested}”，已改用“{sent}”",
        DropReason::OutOfRange => "此模型必须为 {range}",
        DropReason::OutOfRangeWhileThinking => "此模型开启思考时必须为 {range}",
        DropReason::OutOfRangeWithoutThinking => "此模型未开启思考时必须为 {range}",
        DropReason::BudgetOutOfRange => "此模型的思考预算必须为 {range} token",
        DropReason::BudgetNotBelowMaxTokens => "思考预算必须小于 max_tokens（{limit}）",
        DropReason::TooManyStopSequences => "此模型最多 {most} 个",
        DropReason::BlankStopSequence => "此模型不支持空白的停止序列",
    }
}

fn chinese_template(code: MessageCode) -> &'static str {
    match code {
        MessageCode::Empty => "不能为空",
        MessageCode::HasNul => "不能包含 NUL 字符",
        MessageCode::HasControlCharacters => "不能包含控制字符",
        MessageCode::IsRequired => "需要填写",
        MessageCode::IsTooLong => "太长了",
        MessageCode::IsUnknown => "未知的值",
        MessageCode::NotAnObject => "必须是对象",
        MessageCode::NotAnId => "不是有效的编号",
        MessageCode::NotBetween => "必须在 {least} 与 {most} 之间",
        MessageCode::TooSmall => "至少为 {least}",
        MessageCode::TooMany => "最多 {most} 个",
        MessageCode::TooManyCharacters => "最多 {most} 个字符",
        MessageCode::TooManyWords => "最多 {most} 个词",
        MessageCode::NotOneLine => "必须是一行 1 至 {most} 个字符",
        MessageCode::NotVisibleCharacters => "必须是 1 至 {most} 个可见字符",
        MessageCode::NotOneOf => "必须是以下之一：{choices}",
        MessageCode::NotZeroOrOne => "必须为 0 或 1",
        MessageCode::NotADate => "必须是有效的日期，例如 {example}",
        MessageCode::NotATime => "不是有效的时间",
        MessageCode::NotVisibleAscii => "只能包含可见的 ASCII 字符",
        MessageCode::TooLarge => "最大为 {most}",
        MessageCode::TooFewCharacters => "至少 {least} 个字符",
        MessageCode::NotAText => "必须是文本",
        MessageCode::NotANumber => "必须是数字",
        MessageCode::NotAWholeNumber => "必须是整数",
        MessageCode::NotTrueOrFalse => "必须为 true 或 false",
        MessageCode::NotAnEmailAddress => "必须是电子邮件地址",
        MessageCode::NotAUri => "必须是有效的地址，例如 {example}",
        MessageCode::NotADateTime => "必须是日期和时间，例如 {example}",
        MessageCode::TooFewChosen => "至少选择 {least} 项",
        MessageCode::TooManyChosen => "最多选择 {most} 项",
        MessageCode::IncompleteBody => "请求内容不完整",
        MessageCode::UnknownFormField => "表单含有未知字段",
        MessageCode::BrokenForm => "表单格式错误或不完整",
        MessageCode::FormNotUtf8 => "表单不是 UTF-8 编码",
        MessageCode::NoFileChosen => "请先选择文件",
        MessageCode::UnknownFormat => "未知的格式",
        MessageCode::InvalidKeyMapping => "必须是若干 `FIELD=KEY`，字段不得重复，可用字段：{fields}",
        MessageCode::UnknownCommand => "未知的命令",
        MessageCode::RequestIdMismatch => "与 Idempotency-Key 请求头不一致",
        MessageCode::RequestIdReused => "此请求编号已用于另一个请求",
        MessageCode::NeedsContentOrText => "需要 `content`（内容块）或 `text`",
        MessageCode::NeedsContentOrBlob => "需要 `content` 或 `blob`",
        MessageCode::NeedsDocumentChange => "需要 `content`、`blob` 或 `title`",
        MessageCode::BothSet => "`{one}` 和 `{other}` 只能设置一个",
        MessageCode::OnlyWith => "只能与 `{other}` 一起使用",
        MessageCode::OtherSearchCursor => "属于另一次搜索",
        MessageCode::UnknownCursor => "必须是搜索返回的游标",
        MessageCode::EmptyStopSequence => "不能是空字符串",
        MessageCode::ZeroBudget => "思考预算至少为 1 个 token；如需关闭思考，请使用 \"off\"",
        MessageCode::EmptyMessage => "消息为空",
        MessageCode::TooManyBlocks => "最多 {most} 个部分",
        MessageCode::TooManyReferences => "最多引用 {most} 项",
        MessageCode::TooManyImages => "最多 {most} 张图片",
        MessageCode::TooManyAttachments => "最多 {most} 个附件",
        MessageCode::AltTooLong => "`alt` 最多 {most} 个字符",
        MessageCode::ToolResultNeedsId => "工具结果需要 `tool_use_id`",
        MessageCode::UnknownReferenceType => "`ref_type` 必须为 `document`",
        MessageCode::NotAnImage => "此文件不是图片，请将其作为文档添加",
        MessageCode::NotADraftAttachment => "只能是图片、文档和选段",
        MessageCode::NewChatHasNoParent => "新对话没有更早的消息",
        MessageCode::NoSuchMessage => "此对话没有该消息",
        MessageCode::NoSuchBranch => "此对话没有该分支",
        MessageCode::OneForkPoint => "请设置 `from_turn_id` 或 `fromRef`，不能同时设置",
        MessageCode::AmbiguousBranch => "有多个分支使用此名称，请使用 id",
        MessageCode::NoSuchReference => "此对话中没有这个分支或消息",
        MessageCode::OtherChat => "此消息属于另一个对话",
        MessageCode::MustFollowReply => "消息必须跟在回复之后，请先重试尚无回复的消息",
        MessageCode::NotRetryable => "只能重试回复，或尚无回复的消息",
        MessageCode::NotEditable => "只能编辑消息或回复",
        MessageCode::ReplyCannotReference => "回复不能引用文档",
        MessageCode::OwnReplyHasNoModel => "自己撰写的回复不能设置模型",
        MessageCode::CopyMustEndWithReply => "副本必须以回复结尾",
        MessageCode::NotBelowStart => "必须是起始消息或其下方的消息",
        MessageCode::NotOnPath => "此消息不在该分支上",
        MessageCode::NothingToRerun => "此分支没有可重新运行的消息",
        MessageCode::NotRepeatable => "此分支上有一条消息含工具结果，无法重新运行",
        MessageCode::SameTurn => "必须与左侧不同",
        MessageCode::NoDefaultModel => "此服务商没有默认模型，请选择一个",
        MessageCode::ProviderNotConfigured => "服务商 {provider} 未配置",
        MessageCode::ProviderNotConnected => "服务商 `{provider}` 未连接",
        MessageCode::ModelNameInvalid => "模型名称必须为 1 至 {most} 个字符",
        MessageCode::NotStopped => "未能停止回复，请重试",
        MessageCode::EarlierReplyRunning => "此消息之前的回复仍在生成",
        MessageCode::ReplyRunning => "此回复仍在生成",
        MessageCode::BranchReplyRunning => "此分支上的回复仍在生成",
        MessageCode::RepliesKeepStarting => "要删除的对话中不断有新的回复开始，请重试",
        MessageCode::LowerReplyRunning => "下方的回复未能及时停止，请重试",
        MessageCode::AnswersNoMessage => "此回复没有对应的消息",
        MessageCode::BranchLocked => "此分支使用 {provider} / {model}，如需使用其他模型，请新建分支",
        MessageCode::ModelUnavailable => "{model} 不可用，请选择其他模型",
        MessageCode::ProviderUnavailable => "此服务商不可用，请选择其他模型",
        MessageCode::TooManyVersions => "一条消息最多有 {most} 个版本",
        MessageCode::TooManyBranches => "一个对话最多有 {most} 个分支",
        MessageCode::TooManyMessages => "一个对话最多有 {most} 条消息",
        MessageCode::BranchMoved => "此分支刚刚有了新内容，请重新加载后重试",
        MessageCode::DraftChanged => "草稿刚刚在别处被更改",
        MessageCode::RerunTooLong => "一次最多重新运行 {most} 条消息，此分支超过了该数量",
        MessageCode::RerunNotPaused => "只能继续已暂停的重新运行",
        MessageCode::RerunReplyGone => "此次重新运行的最后一条回复已被删除",
        MessageCode::RerunChanged => "此次重新运行刚刚被更改",
        MessageCode::ToolCallAnswered => "工具调用 `{id}` 已有结果",
        MessageCode::ApprovalClosed => "此请求已失效",
        MessageCode::ToolsChanged => "此服务器的工具已变化，请重新查看",
        MessageCode::ApprovalChanged => "此请求已变化，请重新查看",
        MessageCode::NoValidDecision => "不是有效的回答",
        MessageCode::DamagedTree => "消息 {turn} 没有更早的上级；详情请运行 `turnleaf fsck`",
        MessageCode::DamagedPath => "{reason}；详情请运行 `turnleaf fsck`。",
        MessageCode::LastBranch => "不能删除对话的最后一个分支，请删除整个对话",
        MessageCode::NothingToPrune => "此对话没有其他消息",
        MessageCode::ChatDeleted => "所属对话也已删除，请先恢复该对话",
        MessageCode::ParentDeleted => "它的上级“{title}”随后被删除，请先恢复该内容",
        MessageCode::ParentPurged => "它的上级正在被永久删除，无法恢复",
        MessageCode::ImportRunning => "另一个导入仍在进行",
        MessageCode::DeletionRunning => "正在删除全部内容",
        MessageCode::NotAllDeleted => "未能全部删除，请重试",
        MessageCode::TooManyFiles => "最多 {most} 个文件",
        MessageCode::PreviewRunning => "预览尚未完成",
        MessageCode::PreviewExpired => "此预览的文件已不在服务器上，请重新上传",
        MessageCode::ImportNotUndoable => "此导入已撤销",
        MessageCode::ImportNotUndone => "此导入未被撤销",
        MessageCode::ImportPartlyUndone => "部分内容未能移到回收站，请重试",
        MessageCode::ImportPartlyRestored => "部分内容未能恢复{cause}",
        MessageCode::ImportStopped => "已被停止",
        MessageCode::ImportCrashed => "服务器无法继续，请重试",
        MessageCode::ImportInterrupted => "服务器已重新启动",
        MessageCode::ImportDiskLow => "服务器磁盘空间即将用尽",
        MessageCode::ImportUnsupported => "Turnleaf 不支持此文件的来源程序",
        MessageCode::ImportWithoutChats => "此文件中没有对话",
        MessageCode::ImportNotArchive => "此文件不是 Turnleaf 存档",
        MessageCode::ImportNotJson => "此文件不是 JSON",
        MessageCode::ImportOtherFormat => "此文件的格式不符（应为 {expected}）",
        MessageCode::ImportUnrecognized => "未在其中找到对话：{reason}",
        MessageCode::ImportDamaged => "文件不完整或已损坏：{reason}",
        MessageCode::ImportTooLarge => "超出限制：{reason}",
        MessageCode::ImportNewerVersion => "它由更新版本的 Turnleaf 写成（存档版本 {version}），请先更新此服务器",
        MessageCode::ImportIsDatabase => {
            "这是一个数据库；如果是支持的结构，请用 `turnleaf import --from legacy-messages FILE`（或 `legacy-actions`）导入"
        }
        MessageCode::ImportUnreadable => "文件无法读取：{reason}",
        MessageCode::ImportNotSpooled => "无法临时存放：{reason}",
        MessageCode::ImportDatabaseUnreadable => "读取数据库时中断：{reason}",
        MessageCode::ImportDatabaseNotOpened => "无法打开数据库：{reason}",
        MessageCode::ImportTablesUnreadable => "无法读取其中的表：{reason}",
        MessageCode::ImportNotSqlite => "这不是 SQLite 数据库",
        MessageCode::ImportRolledBack => "未保存任何内容{cause}",
        MessageCode::FileEmpty => "文件是空的",
        MessageCode::FileUnsupported => "不支持此类文件：{kind}",
        MessageCode::ImageTooLarge => "图片太大：最多 {limit}",
        MessageCode::EncodingUnknown => "文字编码未知，请选择一种",
        MessageCode::UnpackedTooLarge => "文件解压后超过 {limit}",
        MessageCode::TextTooLong => "文字太长：最多 {limit}",
        MessageCode::FileDamaged => "文件已损坏：{reason}",
        MessageCode::FileHasNoText => "文件中没有文字",
        MessageCode::FileTookTooLong => "读取文件所需的时间或内存超出限制",
        MessageCode::FileUnreadable => "无法读取文件",
        MessageCode::FileStorageFull => "文件和文档的存储上限为 {limit}，现已用满；请先永久删除一些",
        MessageCode::DocumentNeedsTitle => "文档需要标题",
        MessageCode::ImageHasNoText => "图片没有文字，请将其添加到消息中",
        MessageCode::DocumentChanged => "文档在此期间已被更改",
        MessageCode::TooManyDocumentVersions => "一份文档最多有 {most} 个版本",
        MessageCode::NoSuchVersion => "此文档没有该版本",
        MessageCode::VersionGone => "此文档的该版本已不存在",
        MessageCode::NotComparable => "无法比较这些版本",
        MessageCode::SelectionOutOfRange => "选段 [{start}, {end}) 超出此版本，它有 {length} 个字符",
        MessageCode::SelectionDiffers => "此版本中选段的文字不同；位置按 Unicode 标量值计算",
        MessageCode::SizeLimit => "最多 {limit}",
        MessageCode::ToolResultLimit => "工具结果最多 {limit}",
        MessageCode::ImagesLimit => "一条消息中的图片合计最多 {limit}",
        MessageCode::DocumentLimit => "一份文档最多 {limit}",
        MessageCode::ReferencesLimit => "一条消息中引用的内容合计最多 {limit}，其中最大的是“{title}”（{size}）",
        MessageCode::BodyTooLarge => "请求内容超过 {limit}。",
        MessageCode::NotAToolName => "不是工具名称",
        MessageCode::ListedTwice => "重复包含 `{name}`",
        MessageCode::UnknownTool => "未知的工具 `{name}`",
        MessageCode::NotAWireName => "名称必须由 1 至 {most} 个 a-z、A-Z、0-9、_ 和 - 组成",
        MessageCode::ClientToolsNotAllowed => "只能为某个对话设置，不能用于新对话",
        MessageCode::ParametersNotObject => "`{name}`：参数必须是对象",
        MessageCode::DescriptionTooLong => "`{name}`：说明超过 {most} 字节",
        MessageCode::ParametersTooLong => "`{name}`：参数超过 {most} 字节",
        MessageCode::ToolHasNul => "`{name}`：不能包含 NUL 字符",
        MessageCode::InvalidSchema => "`{name}`：{reason}",
        MessageCode::ToolServerIdInvalid => "必须是 1 至 32 个 a-z、0-9 或 -，且不能是 `provider`",
        MessageCode::ToolServerExists => "服务器 `{id}` 已存在",
        MessageCode::ToolServerIdFixed => "不能更改：它的工具名称包含此标识",
        MessageCode::OnlyOnNewServer => "只能在新服务器上设置",
        MessageCode::TooManyServers => "最多 {most} 个工具服务器",
        MessageCode::ServerLocked => "{name} 由配置文件设置，请在那里更改。",
        MessageCode::HostOnly => "只适用于按主机请求许可的工具",
        MessageCode::NotAHost => "不是有效的主机名，例如 example.org",
        MessageCode::OnePolicyPerTool => "每个工具设置一项",
        MessageCode::UnknownPolicy => "必须为 `ask`、`allow` 或 `never`",
        MessageCode::ProgramsRefused => "本地程序只能在配置文件中添加。",
        MessageCode::NotJson => "不是有效的 JSON（第 {line} 行）：{reason}",
        MessageCode::NoServersInFile => "不包含工具服务器",
        MessageCode::NoServerAddress => "它既没有程序，也没有地址。",
        MessageCode::TransportUnsupported => "不支持 {kind} 类型的连接。",
        MessageCode::WrongType => "`{name}` 的类型不正确",
        MessageCode::ServerConnected => "它已连接，名称为 {name}。",
        MessageCode::ValuesMissing => "它需要以下值：{names}。",
        MessageCode::UrlHasVariable => "只能在查询参数中使用变量，因为只有查询参数会加密保存",
        MessageCode::NotAVariable => "包含 `{name}`，它不是有效的变量名",
        MessageCode::NotAnAbsolutePath => "必须是绝对路径",
        MessageCode::ConfigurationNotChanged => "无法更改配置文件。",
        MessageCode::ProviderIdInvalid => "必须是 1 至 64 个 a-z、0-9、- 或 _，且不能是 `demo`",
        MessageCode::ProviderExists => "服务商 `{id}` 已存在",
        MessageCode::ProviderSetBy => "服务商 `{id}` 已由 {set_by} 设置",
        MessageCode::ProviderLocked => "{name} 由 {set_by} 设置，请在那里更改。",
        MessageCode::ProviderFound => "{name} 是在本机自动发现的。请添加它，或在“设置 › 服务商”中选择“使用”。",
        MessageCode::ProviderIdFixed => "不能更改：已有对话在使用它",
        MessageCode::OnlyOnNewProvider => "只能在新服务商上设置",
        MessageCode::OnlyForResponses => "只适用于 openai_responses API",
        MessageCode::UnknownDialect => "未知的方言 `{dialect}`；留空则根据地址识别",
        MessageCode::KeyInvalid => "只能是 ASCII 字母、数字和符号，不含空格",
        MessageCode::HeaderLineInvalid => "每行应为“名称: 值”的形式",
        MessageCode::HeaderNameInvalid => "请求头名称只能包含字母、数字和连字符",
        MessageCode::HeaderReserved => "不能在此设置 `{name}`",
        MessageCode::HeaderValueInvalid => "`{name}` 的值必须是一行 ASCII 字符",
        MessageCode::HeaderTwice => "`{name}` 重复出现",
        MessageCode::MetadataAddress => "是云元数据或链路本地地址，不允许连接",
        MessageCode::LocalNetworkNeeded => "地址位于本机或本地网络时必须开启",
        MessageCode::NoServerFound => "该地址没有找到服务器",
        MessageCode::NotAUrl => "不是有效的网址",
        MessageCode::UrlHasSpaces => "不能包含空格、控制字符或反斜杠",
        MessageCode::UrlHasInvalidPort => "端口无效",
        MessageCode::UrlHasNoHost => "缺少主机名",
        MessageCode::UrlHasOtherScheme => "必须以 http:// 或 https:// 开头",
        MessageCode::UrlHasCredentials => "不能包含用户名或密码",
        MessageCode::UrlHasQuery => "不能包含查询或片段",
        MessageCode::UrlHasFragment => "不能包含片段（# 之后的部分）",
        MessageCode::MaskedCredential => "凭据的位置上是 {mask}，请填写凭据本身",
        MessageCode::UrlHasDots => "路径不能有空的或仅由点组成的部分",
        MessageCode::PeriodTooLong => "时间段最多 {most} 天",
        MessageCode::PeriodReversed => "不能晚于时间段的结束日期",
        MessageCode::NeedsChat => "选择对话时需要填写",
        MessageCode::OnlyWithBranches => "只能与 `group=branch` 一起使用",
        MessageCode::NotAllowedValue => "不是允许的值",
        MessageCode::NotFound => "此内容不存在，或你无权访问。",
        MessageCode::CrossSite => "此请求来自其他网站。",
        MessageCode::UnknownHost => "此服务器不接受该主机名。管理员可以通过 TURNLEAF_ALLOWED_HOSTS 允许它。",
        MessageCode::TooSlow => "请求传输超时。",
        MessageCode::TooManyRunning => "同时进行的回复过多。",
        MessageCode::TooManyInProgress => "此客户端同时进行的请求过多，请稍后重试。",
        MessageCode::TooManyUploads => "此客户端同时进行的上传过多，请等待其中一个完成。",
        MessageCode::TooManyExports => "同时进行的导出过多，请稍后重试。",
        MessageCode::DiskLow => "服务器磁盘空间即将用尽，需等管理员清理空间后才能开始新的内容。",
        MessageCode::QuotaReached => "你的存储配额（{quota}）已用尽。请先永久删除一些对话、文件或文档。",
        MessageCode::DatabaseBusy => "数据库正忙，请稍后重试。",
        MessageCode::ShuttingDown => "服务器正在关闭。",
        MessageCode::DiskFull => "服务器磁盘已满。",
        MessageCode::Internal => "服务器出错了。",
        MessageCode::Working => "正常",
        MessageCode::WorkingWithoutModels => "正常，但没有列出模型。",
        MessageCode::WorkingWithOneModel => "正常 · 1 个模型",
        MessageCode::WorkingWithModels => "正常 · {models} 个模型",
        MessageCode::WorkingWithoutList => "正常 · {model} 有响应，但没有模型列表",
        MessageCode::NoResponse => "{host} 在 {seconds} 秒内没有响应。",
        MessageCode::KeyMissing => "需要 API 密钥，但尚未设置。",
        MessageCode::NoModelList => "此地址没有模型列表（{status}）{cause}。{hint}",
        MessageCode::Redirected => "它重定向到其他地址（{status}）{cause}。{hint}",
        MessageCode::KeyRefused => "它拒绝了 API 密钥（{status}）{cause}。",
        MessageCode::NotAModelList => "它有响应，但返回的不是模型列表{cause}。{hint}",
        MessageCode::FailedWithStatus => "它返回的状态为 {status}{cause}。",
        MessageCode::KeyNotSendable => "无法发送 API 密钥{cause}。",
        MessageCode::NotConnected => "无法连接{cause}。",
        MessageCode::NotTested => "尚未测试。",
        MessageCode::SwitchedOff => "已停用。",
        MessageCode::ServerStarting => "正在启动。",
        MessageCode::ServerWorking => "正常。",
        MessageCode::ServerFailed => "没有响应。",
        MessageCode::KeyUnreadable => {
            "无法解密已保存的 API 密钥：{reason}。请使用加密时的 TURNLEAF_SECRET_KEY 或 secret.key 文件启动服务器，或重新输入密钥。"
        }
        MessageCode::HeadersUnreadable => {
            "无法解密已保存的请求头：{reason}。请使用加密时的 TURNLEAF_SECRET_KEY 或 secret.key 文件启动服务器，或重新输入请求头。"
        }
        MessageCode::ServerNotStarted => "尚未启动。",
        MessageCode::SignInNeeded => "需要登录",
        MessageCode::SignInAgain => "它要求更多权限，需要重新登录",
        MessageCode::SignInNotOffered => "该服务器没有说明在哪里登录。请检查其地址，或为其填写 Authorization 请求头。",
        MessageCode::SignInUsesHeader => {
            "该服务器设有 Authorization 请求头，因此不使用登录。如需登录，请删除该请求头。"
        }
        MessageCode::SignInNeedsHttps => {
            "登录需要 Turnleaf 的安全地址。请将 TURNLEAF_PUBLIC_URL 设为 https:// 地址，或在本机以 http://localhost 打开 Turnleaf。"
        }
        MessageCode::SignInUnreachable => "无法连接 {host} 的登录服务{cause}。请稍后再试。",
        MessageCode::SignInStatus => "它返回 HTTP {status}",
        MessageCode::SignInMetadataInvalid => "{host} 的登录服务对自身的描述无法使用。请联系其管理员。",
        MessageCode::SignInResourceMismatch => "该服务器提供的登录针对另一个地址 {resource}。请检查服务器的地址。",
        MessageCode::SignInIssuerMismatch => "{host} 的登录服务自称为 {issuer}，因此未使用。请联系该服务器的管理员。",
        MessageCode::SignInInsecure => "{host} 的登录服务使用了没有 HTTPS 的地址，因此未使用。请联系其管理员。",
        MessageCode::SignInWithoutPkce => "{host} 的登录服务不支持 PKCE（S256），登录不安全。请联系其管理员。",
        MessageCode::SignInNotRegistered => {
            "{host} 的登录服务不会自动注册程序。请在那里注册 Turnleaf，重定向地址为 {redirect}，然后在该服务器的表单中填写客户端 ID。"
        }
        MessageCode::SignInRegistrationRefused => {
            "{host} 的登录服务拒绝注册 Turnleaf（{error}）。请在那里自行注册，重定向地址为 {redirect}，然后在该服务器的表单中填写客户端 ID。"
        }
        MessageCode::SignInDenied => "未授予访问权限。如需授予，请重新登录。",
        MessageCode::SignInRefused => "{host} 的登录服务拒绝了登录（{error}）。请重新登录。",
        MessageCode::SignInExpired => "此次登录已过期或已使用。请重新登录。",
        MessageCode::SignInOtherIssuer => "答复并非来自所请求的登录服务，因此未使用。请重新登录。",
        MessageCode::SignInTokenUnusable => "{host} 的登录服务没有返回可用的令牌。请重新登录，或联系其管理员。",
        MessageCode::ClientSecretAlone => "需要客户端 ID",
        MessageCode::NoListener => "该地址没有服务器在监听（{error}）",
        MessageCode::TlsFailed => "安全连接失败（{error}）",
        MessageCode::HostNotFound => "找不到该名称的服务器（{error}）",
        MessageCode::NoTimelyResponse => "它没有及时响应",
        MessageCode::ProviderNotPublic => "{address} 不是公共互联网地址。如需允许，请为此服务商开启“本地网络”",
        MessageCode::ToolServerNotPublic => "{address} 不是公共互联网地址。如需允许，请为此工具服务器开启“本地网络”",
        MessageCode::SearchEngineNotPublic => "{address} 不是公共互联网地址。如需允许，请为此搜索引擎开启“本地网络”",
        MessageCode::MetadataRefused => "{address} 是云元数据或链路本地地址，Turnleaf 从不连接这类地址。请使用其他地址",
        MessageCode::MetadataNameRefused => "{name} 是云元数据服务的名称，Turnleaf 从不连接这类地址。请使用其他地址",
        MessageCode::NoTimelyStart => "它在 {seconds} 秒内没有响应",
        MessageCode::NotStarted => "无法启动{cause}",
        MessageCode::Disconnected => "它断开了连接",
        MessageCode::ConnectionClosed => "连接已关闭",
        MessageCode::ClosedBeforeResponse => "它在响应之前关闭了连接",
        MessageCode::RequestCancelled => "请求已取消",
        MessageCode::InitializeRefused => "它拒绝初始化{cause}",
        MessageCode::StartUnreadable => "无法读取它的响应",
        MessageCode::ResponseUnreadable => "无法读取响应",
        MessageCode::ResponseTooLarge => "响应超过 {limit}，已丢弃",
        MessageCode::ResponseNotMcp => "它的响应不是 MCP",
        MessageCode::ResponseStatus => "它返回 HTTP {status}",
        MessageCode::CredentialsRejected => "它拒绝了凭据（HTTP 401）",
        MessageCode::AccessDenied => "凭据没有访问权限（HTTP 403）",
        MessageCode::SessionUnknown => "它已不认识此会话",
        MessageCode::ToolsNotListed => "无法列出它的工具{cause}",
        MessageCode::NotAList => "响应不是列表",
        MessageCode::HeaderNotSendable => "无法发送请求头 `{name}`",
        MessageCode::ProgramNotFound => "程序不存在或无法启动{cause}",
        MessageCode::ProgramExited => "程序已退出，退出代码为 {exit_code}{cause}",
        MessageCode::ProgramSignalled => "程序被信号 {signal} 终止{cause}",
        MessageCode::ProgramKilled => "程序被强制终止{cause}",
        MessageCode::SearchNotSetUp => "尚未设置搜索引擎，请在“设置 › 工具”中选择一个。",
        MessageCode::SearchWorks => "正常。测试得到的结果数：{results}。",
        MessageCode::SearchFoundNothing => "它有响应，但测试没有找到结果。",
        MessageCode::SearchJsonDisabled => {
            "SearXNG 拒绝以 JSON 回答（{status}）。请在其 settings.yml 的 `search.formats` 中添加 `json`。"
        }
        MessageCode::SearchRateLimited => "它正在限制请求（{status}）{cause}。请稍后重试。",
        MessageCode::SearchQuotaUsed => "此 API 密钥的额度已用尽（{status}）{cause}。",
        MessageCode::SearchQueryRefused => "它拒绝了查询（{status}）{cause}。",
        MessageCode::SearchTooLarge => "它的响应超过 {limit}。",
        MessageCode::SearchNotResults => "它有响应，但返回的不是搜索结果。请检查地址。",
        MessageCode::SearchEnginesSilent => "SearXNG 所用的引擎没有响应：{engines}。",
        MessageCode::KeySuperfluous => "必须留空：{engine} 没有 API 密钥",
        MessageCode::SetToNever => "你已设为从不运行。",
        MessageCode::ToolUnusable => "无法使用：{reason}。",
        MessageCode::SchemaInvalid => "它的参数结构无效：{reason}",
        MessageCode::TooManyTools => "最多向模型提供 {most} 个工具。",
        MessageCode::ToolNameTaken => "已有同名的工具。",
        MessageCode::NotAvailableNow => "目前不可用。",
        MessageCode::Other => "{text}",
        MessageCode::Param(reason) => chinese_drop_reason(reason),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::message_template::next_placeholder;
    use crate::ui::locale::with_locale;

    fn placeholders(mut template: &'static str) -> BTreeSet<&'static str> {
        let mut names = BTreeSet::new();
        while let Some((_, name, behind)) = next_placeholder(template) {
            names.insert(name);
            template = behind;
        }
        names
    }

    #[test]
    fn both_languages_have_same_arguments() {
        for code in MessageCode::OWN.iter().copied().chain(DropReason::ALL.map(MessageCode::Param)) {
            assert_eq!(placeholders(code.template()), placeholders(chinese_template(code)), "{}", code.code());
        }
    }

    #[test]
    fn sentence_is_that_of_the_language() {
        let both = |coded: CodedMessage| {
            [Locale::English, Locale::Chinese].map(|locale| with_locale(locale, || coded_sentence(&coded)))
        };
        for (coded, english, chinese) in [
            (MessageCode::Empty.into(), "must not be empty", "不能为空"),
            (MessageCode::NotBetween.with("least", 1).with("most", 9), "must be between 1 and 9", "必须在 1 与 9 之间"),
            (
                MessageCode::Param(DropReason::OutOfRange).with("least", 0).with("most", 2),
                "must be between 0 and 2 for this model",
                "此模型必须为 0 至 2",
            ),
            (
                MessageCode::NoModelList.with("status", 404).with(CodedMessage::SUGGESTION, "http://a/v1"),
                "No model list found at this address (404). Did you mean http://a/v1?",
                "此地址没有模型列表（404）。你是否想用 http://a/v1？",
            ),
            (
                MessageCode::NotConnected.with(CodedMessage::DETAIL, "connection refused"),
                "Could not connect: connection refused.",
                "无法连接：connection refused。",
            ),
            (
                CodedMessage::from(MessageCode::NotConnected)
                    .with_cause(MessageCode::NoListener.with("error", "os error 111")),
                "Could not connect: no server is listening there (os error 111).",
                "无法连接：该地址没有服务器在监听（os error 111）。",
            ),
            (CodedMessage::uncoded("expected {x}"), "expected {x}", "expected {x}"),
        ] {
            assert_eq!(both(coded), [english, chinese]);
        }
        let field = InvalidField::new("title", MessageCode::Empty);
        assert_eq!(with_locale(Locale::Chinese, || field_error_sentence(&field)), "title：不能为空");
        assert_eq!(with_locale(Locale::English, || translated_sentence(&field.reason)), None);
    }
}

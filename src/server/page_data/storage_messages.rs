//! Messages of storage refusals in both languages. They are rendered on the server, because the browser never needs
//! them in its own tables.

use crate::domain::byte_size::ByteSize;
use crate::ui::locale;
use turnleaf_service::usage::storage::StorageRefusal;

/// Returns the sentence for a storage refusal with this code; `None` for another code.
pub fn storage_refusal_sentence(code: &str, quota: Option<u64>) -> Option<String> {
    let quota = || quota.map(|bytes| StorageRefusal::QuotaReached { quota_bytes: bytes });
    [Some(StorageRefusal::DiskLow), quota()].into_iter().flatten().find(|one| one.code() == code).map(refusal_sentence)
}

/// Returns the sentence for a refusal.
pub fn refusal_sentence(refusal: StorageRefusal) -> String {
    locale::localized_sentence(|| refusal.to_string(), || chinese_refusal_sentence(refusal))
}

fn chinese_refusal_sentence(refusal: StorageRefusal) -> String {
    match refusal {
        StorageRefusal::DiskLow => "服务器磁盘空间即将用尽，需等管理员清理空间后才能开始新的内容。".to_owned(),
        StorageRefusal::QuotaReached { quota_bytes } => {
            format!("你的存储配额（{}）已用尽。请先永久删除一些对话、文件或文档。", ByteSize(quota_bytes))
        }
    }
}

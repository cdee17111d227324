//! The keys of an activity (see the module's sources).

use crate::reading::known_keys::KnownKeys;

pub(super) const ACTIVITY: KnownKeys = KnownKeys {
    kind: "activity",
    read: &[
        "header",
        "products",
        "title",
        "titleUrl",
        "time",
        "safeHtmlItem",
        "details",
        "subtitles",
        "imageFile",
        "attachedFiles",
    ],
    lost: &[
        ("locationInfos", "the place of an activity is not imported"),
        ("description", "the description of an activity is not imported"),
    ],
    ignored: &["activityControls"],
};

pub(super) const ANSWER: KnownKeys = KnownKeys { kind: "answer", read: &["html"], lost: &[], ignored: &[] };

pub(super) const SUBTITLE: KnownKeys = KnownKeys { kind: "subtitle", read: &["name", "url"], lost: &[], ignored: &[] };

pub(super) const DETAIL: KnownKeys =
    KnownKeys { kind: "detail", read: &["name", "value", "url"], lost: &[], ignored: &[] };

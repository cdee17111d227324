//! The keys of big-AGI's objects (see the module's sources).

use crate::reading::known_keys::KnownKeys;

pub(super) const CONVERSATION: KnownKeys = KnownKeys {
    kind: "conversation",
    read: &["id", "messages", "userTitle", "autoTitle", "isArchived", "created", "updated", "systemPurposeId"],
    lost: &[
        ("participants", "the participants of the conversation are not imported"),
        ("userSymbol", "the symbol of the conversation is not imported"),
    ],
    ignored: &[
        "tokenCount",
        "_isIncognito",
        "_abortController",
        "turnTerminationMode",
        "ephemerals",
        "abortController",
    ],
};

pub(super) const MESSAGE: KnownKeys = KnownKeys {
    kind: "message",
    read: &["id", "role", "created", "fragments", "text", "generator", "metadata", "userFlags", "originLLM"],
    lost: &[],
    ignored: &[
        "tokenCount",
        "sender",
        "avatar",
        "purposeId",
        "updated",
        "pendingIncomplete",
        "typing",
        "pendingPlaceholderText",
    ],
};

pub(super) const METADATA: KnownKeys = KnownKeys {
    kind: "metadata",
    read: &["inReferenceTo", "inReplyToText"],
    lost: &[],
    ignored: &["ranOutOfTokens", "initialRecipients", "author", "entangled"],
};

pub(super) const GENERATOR: KnownKeys = KnownKeys {
    kind: "generator",
    read: &["name", "aix", "metrics", "tokenStopReason"],
    lost: &[("upstreamContainer", "the container in which code ran is not imported")],
    ignored: &["mgt", "upstreamHandle", "providerInfraLabel", "xeOpCode", "retryAttempt"],
};

pub(super) const FRAGMENT: KnownKeys = KnownKeys {
    kind: "fragment",
    read: &["part", "title"],
    lost: &[("vendorState", "the state that a provider attached to a part is not imported")],
    ignored: &["ft", "fId", "caption", "created", "originId", "liveFileId", "identity"],
};

/// The parts of fragments; the keys of all their types.
pub(super) const PART: KnownKeys = KnownKeys {
    kind: "part",
    read: &[
        "pt",
        "text",
        "error",
        "hint",
        "aText",
        "redactedData",
        "textSignature",
        "invocation",
        "id",
        "response",
        "_legacyImageRefPart",
        "zRefSummary",
        "zUuid",
        "assetType",
        "resource",
        "dataRef",
        "altText",
        "meta",
        "l1Title",
        "ref",
        "data",
        "vdt",
        "type",
        "annotations",
    ],
    lost: &[],
    ignored: &[
        "aType",
        "pText",
        "pType",
        "rt",
        "zType",
        "environment",
        "width",
        "height",
        "version",
        "modelOp",
        "aixControl",
        "sid",
    ],
};

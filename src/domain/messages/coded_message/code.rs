//! The codes of sentences with their English templates. Those of accounts and of imports are beside it.

use crate::messages::drop_reason::DropReason;

with_account_codes! { with_import_codes: define_codes:
    // Values of fields.
    Empty, "empty", "must not be empty";
    HasNul, "has_nul", "must not contain NUL";
    HasControlCharacters, "has_control_characters", "must not contain control characters";
    IsRequired, "is_required", "is required";
    IsTooLong, "is_too_long", "is too long";
    IsUnknown, "is_unknown", "is unknown";
    NotAnObject, "not_an_object", "must be an object";
    NotAnId, "not_an_id", "not an id";
    NotBetween, "not_between", "must be between {least} and {most}";
    TooSmall, "too_small", "must be at least {least}";
    TooMany, "too_many", "at most {most}";
    TooManyCharacters, "too_many_characters", "must be at most {most} characters";
    TooManyWords, "too_many_words", "must be at most {most} words";
    NotOneLine, "not_one_line", "must be 1 to {most} characters on one line";
    NotVisibleCharacters, "not_visible_characters", "must be 1 to {most} visible characters";
    NotOneOf, "not_one_of", "must be one of {choices}";
    NotZeroOrOne, "not_zero_or_one", "must be 0 or 1";
    NotADate, "not_a_date", "must be a date such as {example}";
    NotATime, "not_a_time", "is not a valid time";
    NotVisibleAscii, "not_visible_ascii", "must contain only visible ASCII characters";
    TooLarge, "too_large", "must be at most {most}";
    TooFewCharacters, "too_few_characters", "must be at least {least} characters";
    NotAText, "not_a_text", "must be text";
    NotANumber, "not_a_number", "must be a number";
    NotAWholeNumber, "not_a_whole_number", "must be a whole number";
    NotTrueOrFalse, "not_true_or_false", "must be true or false";
    NotAnEmailAddress, "not_an_email_address", "must be an email address";
    NotAUri, "not_a_uri", "must be an address such as {example}";
    NotADateTime, "not_a_date_time", "must be a date and time such as {example}";
    TooFewChosen, "too_few_chosen", "choose at least {least}";
    TooManyChosen, "too_many_chosen", "choose at most {most}";
    // Requests and forms.
    IncompleteBody, "incomplete_body", "the request body is incomplete";
    UnknownFormField, "unknown_form_field", "the form has an unknown field";
    BrokenForm, "broken_form", "the form is malformed or incomplete";
    FormNotUtf8, "form_not_utf8", "the form is not UTF-8";
    NoFileChosen, "no_file_chosen", "choose a file first";
    UnknownFormat, "unknown_format", "unknown format";
    InvalidKeyMapping, "invalid_key_mapping", "must be `FIELD=KEY` pairs with different fields out of {fields}";
    UnknownCommand, "unknown_command", "unknown command";
    RequestIdMismatch, "request_id_mismatch", "differs from the Idempotency-Key header";
    RequestIdReused, "request_id_reused", "this client_request_id was already used for a different request";
    NeedsContentOrText, "needs_content_or_text", "`content` (blocks) or `text` is required";
    NeedsContentOrBlob, "needs_content_or_blob", "`content` or `blob` is required";
    NeedsDocumentChange, "needs_document_change", "`content`, `blob` or `title` is required";
    BothSet, "both_set", "set `{one}` or `{other}`, not both";
    OnlyWith, "only_with", "only allowed with `{other}`";
    OtherSearchCursor, "other_search_cursor", "belongs to another search";
    UnknownCursor, "unknown_cursor", "must be one that a search has given";
    // Parameters.
    EmptyStopSequence, "empty_stop_sequence", "must not be empty strings";
    ZeroBudget, "zero_budget", "a budget must be at least 1 token; use \"off\" to turn thinking off";
    // Chats, branches and messages.
    EmptyMessage, "empty_message", "the message is empty";
    TooManyBlocks, "too_many_blocks", "at most {most} blocks";
    TooManyReferences, "too_many_references", "at most {most} references";
    TooManyImages, "too_many_images", "at most {most} images";
    TooManyAttachments, "too_many_attachments", "at most {most} attachments";
    AltTooLong, "alt_too_long", "`alt` can have at most {most} characters";
    ToolResultNeedsId, "tool_result_needs_id", "a tool result needs `tool_use_id`";
    UnknownReferenceType, "unknown_reference_type", "`ref_type` must be `document`";
    NotAnImage, "not_an_image", "this file is not an image; attach it as a document";
    NotADraftAttachment, "not_a_draft_attachment", "must be images, documents and selections";
    NewChatHasNoParent, "new_chat_has_no_parent", "a new chat has no earlier message";
    NoSuchMessage, "no_such_message", "this chat has no such message";
    NoSuchBranch, "no_such_branch", "this chat has no such branch";
    OneForkPoint, "one_fork_point", "set `from_turn_id` or `fromRef`, not both";
    AmbiguousBranch, "ambiguous_branch", "several branches have this name; use an id";
    NoSuchReference, "no_such_reference", "this chat has no such branch or message";
    OtherChat, "other_chat", "this message belongs to another chat";
    MustFollowReply, "must_follow_reply", "a message must follow a reply; retry the message without a reply first";
    NotRetryable, "not_retryable", "only a reply, or a message without a reply, can be retried";
    NotEditable, "not_editable", "only a message or a reply can be edited";
    ReplyCannotReference, "reply_cannot_reference", "a reply cannot reference documents";
    OwnReplyHasNoModel, "own_reply_has_no_model", "a model cannot be set for a reply you write yourself";
    CopyMustEndWithReply, "copy_must_end_with_reply", "a copy must end with a reply";
    NotBelowStart, "not_below_start", "must be the start message or one below it";
    NotOnPath, "not_on_path", "this message is not on the branch";
    NothingToRerun, "nothing_to_rerun", "this branch has no messages left to rerun";
    NotRepeatable, "not_repeatable", "a message on this branch contains a tool result and cannot be rerun";
    SameTurn, "same_turn", "must differ from the left one";
    NoDefaultModel, "no_default_model", "this provider has no default model; choose one";
    ProviderNotConfigured, "provider_not_configured", "provider {provider} is not configured";
    ProviderNotConnected, "provider_not_connected", "provider `{provider}` is not connected";
    ModelNameInvalid, "model_name_invalid", "model names must be 1 to {most} characters";
    NotStopped, "not_stopped", "the reply could not be stopped; try again";
    QueueFull, "queue_full", "at most {most} messages can be queued";
    QueuedMessageSent, "queued_message_sent", "this message was already sent";
    TitleNeedsReply, "title_needs_reply", "a title can be suggested once the chat has a complete reply";
    TooManyTitles, "too_many_titles", "at most {most} titles can be suggested for a chat";
    AttachedGone, "attached_gone", "something attached to it no longer exists";
    EarlierReplyRunning, "earlier_reply_running", "the reply before this message is still being generated";
    ReplyRunning, "reply_running", "this reply is still being generated";
    BranchReplyRunning, "branch_reply_running", "a reply on this branch is still being generated";
    RepliesKeepStarting, "replies_keep_starting", "new replies keep starting in the chats to be deleted; try again";
    LowerReplyRunning, "lower_reply_running", "a reply below did not stop in time; try again";
    AnswersNoMessage, "answers_no_message", "this reply does not belong to a message";
    BranchLocked, "branch_locked", "this branch uses {provider} / {model}; create a new branch to use another model";
    ModelUnavailable, "model_unavailable", "{model} is not available; choose another model";
    ModelNotGranted, "model_not_granted", "your account may not use {model}; choose another model";
    ProviderNotGranted, "provider_not_granted", "your account may not use this provider; choose another model";
    ProviderUnavailable, "provider_unavailable", "this provider is not available; choose another model";
    TooManyVersions, "too_many_versions", "a message can have at most {most} versions";
    TooManyBranches, "too_many_branches", "a chat can have at most {most} branches";
    TooManyMessages, "too_many_messages", "a chat can have at most {most} messages";
    BranchMoved, "branch_moved", "this branch was changed at the same time; reload and try again";
    DraftChanged, "draft_changed", "the draft was changed at the same time";
    RerunTooLong, "rerun_too_long", "a rerun can have at most {most} messages; this branch has more";
    RerunNotPaused, "rerun_not_paused", "only a paused rerun can be resumed";
    RerunReplyGone, "rerun_reply_gone", "the last reply of this rerun was deleted";
    RerunChanged, "rerun_changed", "this rerun was changed at the same time";
    ToolCallAnswered, "tool_call_answered", "tool call `{id}` already has a result";
    ApprovalClosed, "approval_closed", "this request is no longer open";
    ApprovalChanged, "approval_changed", "this request has changed; review it again";
    ToolsChanged, "tools_changed", "the tools of this server have changed; review them again";
    NoValidDecision, "no_valid_decision", "is not a valid answer";
    DamagedTree, "damaged_tree", "message {turn} has no older parent; run `turnleaf fsck` for details";
    DamagedPath, "damaged_path", "{reason}; run `turnleaf fsck` for details.";
    // Trash.
    NotInTrash, "not_in_trash", "it is not in Trash";
    LastBranch, "last_branch", "the last branch of a chat cannot be deleted; delete the chat instead";
    NothingToPrune, "nothing_to_prune", "the chat has no other messages";
    ChatDeleted, "chat_deleted", "its chat was also deleted; restore that first";
    ParentDeleted, "parent_deleted", "its parent was deleted later (“{title}”); restore that first";
    ParentPurged, "parent_purged", "its parent is being permanently deleted, so it cannot be restored";
    ImportRunning, "import_running", "another import is still running";
    DeletionRunning, "deletion_running", "everything is already being deleted";
    NotAllDeleted, "not_all_deleted", "some items could not be deleted; try again";
    // Files and documents.
    FileEmpty, "file_empty", "the file is empty";
    FileUnsupported, "file_unsupported", "{kind} is not supported";
    ImageTooLarge, "image_too_large", "the image is too large: at most {limit}";
    EncodingUnknown, "encoding_unknown", "the text encoding is unknown; choose one";
    UnpackedTooLarge, "unpacked_too_large", "the uncompressed file is larger than {limit}";
    TextTooLong, "text_too_long", "the text is too long: at most {limit}";
    FileDamaged, "file_damaged", "the file is damaged: {reason}";
    FileHasNoText, "file_has_no_text", "the file contains no text";
    FileTookTooLong, "file_took_too_long", "the file took too much time or memory to read";
    FileUnreadable, "file_unreadable", "the file could not be read";
    FileStorageFull, "file_storage_full",
        "your storage limit of {limit} for files and documents is reached; permanently delete some first";
    DocumentNeedsTitle, "document_needs_title", "a document needs a title";
    ImageHasNoText, "image_has_no_text", "an image has no text; attach it to a message instead";
    DocumentChanged, "document_changed", "the document has changed in the meantime";
    TooManyDocumentVersions, "too_many_document_versions", "a document can have at most {most} versions";
    NoSuchVersion, "no_such_version", "the document does not have this version";
    VersionGone, "version_gone", "this version of the document no longer exists";
    NotComparable, "not_comparable", "these versions cannot be compared";
    SelectionOutOfRange, "selection_out_of_range",
        "the selection [{start}, {end}) is not in this version, which has {length} characters";
    SelectionDiffers, "selection_differs",
        "the selected text differs in this version; offsets count Unicode scalar values";
    // Limits.
    SizeLimit, "size_limit", "at most {limit}";
    ToolResultLimit, "tool_result_limit", "a tool result can be at most {limit}";
    ImagesLimit, "images_limit", "images in a message can total at most {limit}";
    DocumentLimit, "document_limit", "a document can be at most {limit}";
    ReferencesLimit, "references_limit",
        "references in a message can total at most {limit}; the largest is “{title}” with {size}";
    BodyTooLarge, "body_too_large", "The request body is larger than {limit}.";
    // Tools and their servers.
    NotAToolName, "not_a_tool_name", "is not a tool name";
    ListedTwice, "listed_twice", "contains `{name}` twice";
    UnknownTool, "unknown_tool", "unknown tool `{name}`";
    NotAWireName, "not_a_wire_name", "has a name that is not 1 to {most} characters of a-z, A-Z, 0-9, _ and -";
    ClientToolsNotAllowed, "client_tools_not_allowed", "can only be set for one chat, not for new chats";
    ParametersNotObject, "parameters_not_object", "`{name}`: parameters must be an object";
    DescriptionTooLong, "description_too_long", "`{name}`: description is longer than {most} bytes";
    ParametersTooLong, "parameters_too_long", "`{name}`: parameters are longer than {most} bytes";
    ToolHasNul, "tool_has_nul", "`{name}`: must not contain NUL";
    InvalidSchema, "invalid_schema", "`{name}`: {reason}";
    ToolServerIdInvalid, "tool_server_id_invalid", "must be 1 to 32 of a-z, 0-9 and -, and not `provider`";
    ToolServerExists, "tool_server_exists", "server `{id}` already exists";
    ToolServerIdFixed, "tool_server_id_fixed", "cannot be changed: its tool names contain it";
    OnlyOnNewServer, "only_on_new_server", "can only be set on a new server";
    TooManyServers, "too_many_servers", "at most {most} tool servers";
    ServerLocked, "server_locked", "{name} is set in the configuration file. Change it there.";
    HostOnly, "host_only", "applies only to tools that need approval for each host";
    NotAHost, "not_a_host", "must be a host such as example.org";
    OnePolicyPerTool, "one_policy_per_tool", "set one per tool";
    UnknownPolicy, "unknown_policy", "must be `ask`, `allow` or `never`";
    ProgramsRefused, "programs_refused", "Local programs can only be added in the configuration file.";
    NotJson, "not_json", "is not valid JSON (line {line}): {reason}";
    NoServersInFile, "no_servers_in_file", "contains no tool servers";
    NoServerAddress, "no_server_address", "It names neither a program nor an address.";
    TransportUnsupported, "transport_unsupported", "Connections of the type {kind} are not supported.";
    WrongType, "wrong_type", "`{name}` has the wrong type";
    ServerConnected, "server_connected", "It is already connected as {name}.";
    ValuesMissing, "values_missing", "It needs a value for {names}.";
    UrlHasVariable, "url_has_variable", "may have variables only in its query, because only that is saved encrypted";
    NotAVariable, "not_a_variable", "contains `{name}`, which is not a valid variable name";
    NotAnAbsolutePath, "not_an_absolute_path", "must be an absolute path";
    ConfigurationNotChanged, "configuration_not_changed", "The configuration file could not be changed.";
    // Connections.
    ProviderIdInvalid, "provider_id_invalid", "must be 1 to 64 of a-z, 0-9, - and _, and not `demo`";
    ProviderExists, "provider_exists", "provider `{id}` already exists";
    ProviderSetBy, "provider_set_by", "provider `{id}` is already set by {set_by}";
    ProviderLocked, "provider_locked", "{name} is set by {set_by}. Change it there.";
    ProviderFound, "provider_found",
        "{name} was found automatically on this machine. Add it, or select “Use it” in Settings › Providers.";
    ProviderIdFixed, "provider_id_fixed", "cannot be changed: chats use it";
    OnlyOnNewProvider, "only_on_new_provider", "can only be set on a new provider";
    OnlyForResponses, "only_for_responses", "is only available for the openai_responses API";
    UnknownDialect, "unknown_dialect", "unknown dialect `{dialect}`; leave it empty to detect it from the address";
    KeyInvalid, "key_invalid", "must contain only ASCII letters, digits, and symbols, without spaces";
    HeaderLineInvalid, "header_line_invalid", "each line must be like Name: value";
    HeaderNameInvalid, "header_name_invalid", "header names may contain only letters, digits and hyphens";
    HeaderReserved, "header_reserved", "`{name}` cannot be set here";
    HeaderValueInvalid, "header_value_invalid", "the value of `{name}` must be one line of ASCII characters";
    HeaderTwice, "header_twice", "`{name}` is listed twice";
    MetadataAddress, "metadata_address", "is a cloud metadata or link-local address; connecting to it is not allowed";
    LocalNetworkForAdmins, "local_network_for_admins", "can be switched on by administrators only";
    LocalNetworkNeeded, "local_network_needed", "must be on for an address on this machine or the local network";
    NoServerFound, "no_server_found", "no server was found at this address";
    NotAUrl, "not_a_url", "is not a URL";
    UrlHasSpaces, "url_has_spaces", "must not contain spaces, control characters or backslashes";
    UrlHasInvalidPort, "url_has_invalid_port", "has an invalid port";
    UrlHasNoHost, "url_has_no_host", "has no host";
    UrlHasOtherScheme, "url_has_other_scheme", "must start with http:// or https://";
    UrlHasCredentials, "url_has_credentials", "must not contain a user name or password";
    UrlHasQuery, "url_has_query", "must not have a query or fragment";
    UrlHasFragment, "url_has_fragment", "must not have a fragment";
    MaskedCredential, "masked_credential", "contains {mask} in place of a credential";
    UrlHasDots, "url_has_dots", "must not have empty or dotted path segments";
    // Usage.
    PeriodTooLong, "period_too_long", "a period can have at most {most} days";
    PeriodReversed, "period_reversed", "must not be after the end of the period";
    NeedsChat, "needs_chat", "is required to select the chat";
    OnlyWithBranches, "only_with_branches", "is only allowed with `group=branch`";
    NotAllowedValue, "not_allowed_value", "is not one of the allowed values";
    // Budgets.
    NotDollars, "not_dollars", "must be an amount in US dollars such as 12.50";
    BudgetDayCost, "budget_day_cost", "Your daily budget of US${most} is used up. It resets at {resets} UTC.";
    BudgetDayTokens, "budget_day_tokens",
        "Your daily budget of {most} tokens is used up. It resets at {resets} UTC.";
    BudgetDayRequests, "budget_day_requests",
        "Your daily budget of {most} requests is used up. It resets at {resets} UTC.";
    BudgetMonthCost, "budget_month_cost", "Your monthly budget of US${most} is used up. It resets at {resets} UTC.";
    BudgetMonthTokens, "budget_month_tokens",
        "Your monthly budget of {most} tokens is used up. It resets at {resets} UTC.";
    BudgetMonthRequests, "budget_month_requests",
        "Your monthly budget of {most} requests is used up. It resets at {resets} UTC.";
    BudgetUnreadable, "budget_unreadable",
        "A budget of your account cannot be read, so nothing is sent. Ask an administrator to set your budgets again.";
    // The request as a whole.
    Unauthenticated, "unauthenticated", "You are not signed in.";
    Forbidden, "forbidden", "You do not have permission to do this.";
    NotFound, "not_found", "It does not exist, or you do not have access to it.";
    CrossSite, "cross_site", "This request came from another site.";
    UnknownHost, "unknown_host",
        "This server does not accept this host name. Its administrator can allow it with TURNLEAF_ALLOWED_HOSTS.";
    TooSlow, "too_slow", "The request took too long to arrive.";
    TooManyRunning, "too_many_running", "Too many replies are running at once.";
    TooManyInProgress, "too_many_in_progress",
        "Too many requests from this client are in progress. Try again in a moment.";
    TooManyUploads, "too_many_uploads", "Too many uploads from this client are in progress. Wait for one to finish.";
    TooManyExports, "too_many_exports", "Too many exports are in progress. Try again in a moment.";
    DiskLow, "disk_low", "The server's disk is almost full. Nothing new can start until its administrator frees space.";
    QuotaReached, "quota_reached",
        "Your storage quota of {quota} is used up. Permanently delete chats, files or documents first.";
    DatabaseBusy, "database_busy", "The database is busy. Try again in a moment.";
    ShuttingDown, "shutting_down", "The server is shutting down.";
    DiskFull, "disk_full", "The server's disk is full.";
    Internal, "internal", "Something went wrong on this server.";
    // The states of providers and tool servers.
    Working, "working", "Working";
    WorkingWithoutModels, "working_without_models", "Working, but no models are listed.";
    WorkingWithOneModel, "working_with_one_model", "Working · 1 model";
    WorkingWithModels, "working_with_models", "Working · {models} models";
    WorkingWithoutList, "working_without_list", "Working · {model} responds, but there is no model list";
    NoResponse, "no_response", "{host} did not respond within {seconds} seconds.";
    KeyMissing, "key_missing", "An API key is required, but none is set.";
    NoModelList, "no_model_list", "No model list found at this address ({status}){cause}.{hint}";
    Redirected, "redirected", "It redirects to another address ({status}){cause}.{hint}";
    KeyRefused, "key_refused", "It rejected the API key ({status}){cause}.";
    NotAModelList, "not_a_model_list", "It responded, but not with a model list{cause}.{hint}";
    FailedWithStatus, "failed_with_status", "It answered with status {status}{cause}.";
    KeyNotSendable, "key_not_sendable", "The API key cannot be sent{cause}.";
    NotConnected, "not_connected", "Could not connect{cause}.";
    NotTested, "not_tested", "Not tested yet.";
    SwitchedOff, "switched_off", "Disabled.";
    ServerStarting, "server_starting", "Starting.";
    ServerWorking, "server_working", "Working.";
    ServerFailed, "server_failed", "Not responding.";
    KeyUnreadable, "key_unreadable",
        "The stored API key cannot be decrypted: {reason}. Start the server with the TURNLEAF_SECRET_KEY or \
        secret.key file it was encrypted with, or enter the key again.";
    HeadersUnreadable, "headers_unreadable",
        "The stored headers cannot be decrypted: {reason}. Start the server with the TURNLEAF_SECRET_KEY or \
        secret.key file they were encrypted with, or enter them again.";
    ServerNotStarted, "server_not_started", "Not started yet.";
    // The sign-in to a tool server. The first two are parts of sentences.
    SignInNeeded, "sign_in_needed", "you need to sign in to it";
    SignInAgain, "sign_in_again", "you need to sign in to it again, because it asks for more permissions";
    SignInNotOffered, "sign_in_not_offered",
        "The server does not say where to sign in. Check its address, or enter an Authorization header for it.";
    SignInUsesHeader, "sign_in_uses_header",
        "This server has an Authorization header, which is used instead of a sign-in. Delete the header to sign in.";
    SignInNeedsHttps, "sign_in_needs_https",
        "Signing in needs a secure address of Turnleaf. Set TURNLEAF_PUBLIC_URL to an https:// address, or open \
        Turnleaf on this machine as http://localhost.";
    SignInUnreachable, "sign_in_unreachable",
        "The sign-in service at {host} could not be reached{cause}. Try again later.";
    SignInMetadataInvalid, "sign_in_metadata_invalid",
        "The sign-in service at {host} describes itself in a way that cannot be used. Ask its operator.";
    SignInResourceMismatch, "sign_in_resource_mismatch", "The server offers a sign-in for another address, {resource}.";
    SignInIssuerMismatch, "sign_in_issuer_mismatch",
        "The sign-in service at {host} calls itself {issuer}, so it was not used. Ask the operator of the server.";
    SignInInsecure, "sign_in_insecure", "The sign-in service at {host} has no HTTPS, so it was not used.";
    SignInWithoutPkce, "sign_in_without_pkce",
        "The sign-in service at {host} does not support PKCE with S256, so signing in would not be safe.";
    SignInNotRegistered, "sign_in_not_registered",
        "The sign-in service at {host} does not register programs by itself. Register Turnleaf there with the redirect \
        address {redirect}, and enter the client ID in the form of the server.";
    SignInRegistrationRefused, "sign_in_registration_refused",
        "The sign-in service at {host} refused to register Turnleaf ({error}). Register it there with the redirect \
        address {redirect}, and enter the client ID in the form of the server.";
    SignInDenied, "sign_in_denied", "Access was not granted. Sign in again to grant it.";
    SignInRefused, "sign_in_refused", "The sign-in service at {host} refused the sign-in ({error}). Sign in again.";
    SignInExpired, "sign_in_expired", "This sign-in has expired or was already used. Sign in again.";
    SignInOtherIssuer, "sign_in_other_issuer", "The answer came from another sign-in service. Sign in again.";
    SignInTokenUnusable, "sign_in_token_unusable",
        "The sign-in service at {host} answered without a token that can be used. Sign in again, or ask its operator.";
    ClientSecretAlone, "client_secret_alone", "needs a client ID";
    // Why an address cannot be reached, as parts of sentences.
    NoListener, "no_listener", "no server is listening there ({error})";
    TlsFailed, "tls_failed", "the secure connection failed ({error})";
    HostNotFound, "host_not_found", "no server with this name was found ({error})";
    NoTimelyResponse, "no_timely_response", "it did not respond in time";
    ProviderNotPublic, "provider_not_public",
        "{address} is not a public internet address. To allow it, turn on “Local network” for this provider";
    ToolServerNotPublic, "tool_server_not_public",
        "{address} is not a public internet address. To allow it, turn on “Local network” for this tool server";
    SearchEngineNotPublic, "search_engine_not_public",
        "{address} is not a public internet address. To allow it, turn on “Local network” for this search engine";
    MetadataRefused, "metadata_refused",
        "{address} is a cloud metadata or link-local address, which Turnleaf never connects to. Use another address";
    MetadataNameRefused, "metadata_name_refused",
        "{name} is the name of a cloud metadata service, which Turnleaf never connects to. Use another address";
    // Why a tool server failed, as parts of sentences.
    NoTimelyStart, "no_timely_start", "it did not respond within {seconds} s";
    NotStarted, "not_started", "it could not be started{cause}";
    Disconnected, "disconnected", "it disconnected";
    ConnectionClosed, "connection_closed", "the connection closed";
    ClosedBeforeResponse, "closed_before_response", "the connection closed before it responded";
    RequestCancelled, "request_cancelled", "it was cancelled";
    InitializeRefused, "initialize_refused", "it refused to initialize{cause}";
    StartUnreadable, "start_unreadable", "its response could not be read";
    ResponseUnreadable, "response_unreadable", "the response could not be read";
    ResponseTooLarge, "response_too_large", "the response is larger than {limit} and was dropped";
    ResponseNotMcp, "response_not_mcp", "its response is not MCP";
    ResponseStatus, "response_status", "it responded with HTTP {status}";
    CredentialsRejected, "credentials_rejected", "it rejected the credentials (HTTP 401)";
    AccessDenied, "access_denied", "the credentials do not grant access (HTTP 403)";
    SessionUnknown, "session_unknown", "it no longer knows the session";
    ToolsNotListed, "tools_not_listed", "its tools could not be listed{cause}";
    NotAList, "not_a_list", "the response is not a list";
    HeaderNotSendable, "header_not_sendable", "the header `{name}` cannot be sent";
    ProgramNotFound, "program_not_found", "the program was not found or cannot be started{cause}";
    ProgramExited, "program_exited", "the program ended with exit code {exit_code}{cause}";
    ProgramSignalled, "program_signalled", "the program was ended by signal {signal}{cause}";
    ProgramKilled, "program_killed", "the program was killed{cause}";
    // The web search.
    SearchNotSetUp, "search_not_set_up", "No search engine is set up. Choose one in Settings › Tools.";
    SearchWorks, "search_works", "Working. Results of the test: {results}.";
    SearchFoundNothing, "search_found_nothing", "It responded, but the test found nothing.";
    SearchJsonDisabled, "search_json_disabled",
        "SearXNG refuses to answer in JSON ({status}). Add `json` to `search.formats` in its settings.yml.";
    SearchRateLimited, "search_rate_limited", "It is limiting requests ({status}){cause}. Try again later.";
    SearchQuotaUsed, "search_quota_used", "The quota of this API key is used up ({status}){cause}.";
    SearchQueryRefused, "search_query_refused", "It refused the query ({status}){cause}.";
    SearchTooLarge, "search_too_large", "Its response is larger than {limit}.";
    SearchNotResults, "search_not_results", "It responded, but not with search results. Check the address.";
    SearchEnginesSilent, "search_engines_silent", "The engines behind SearXNG did not respond: {engines}.";
    KeySuperfluous, "key_superfluous", "must be empty: {engine} has no API key";
    // Why a tool is not offered.
    SetToNever, "set_to_never", "You set it to never run.";
    ToolUnusable, "tool_unusable", "It cannot be used: {reason}.";
    SchemaInvalid, "schema_invalid", "Its schema is invalid: {reason}";
    TooManyTools, "too_many_tools", "At most {most} tools can be offered to a model.";
    ToolNameTaken, "tool_name_taken", "Another tool already has this name.";
    NotAvailableNow, "not_available_now", "It is not available right now.";
    // A text that has no code: the requester sees it in English.
    Other, "other", "{text}";
}

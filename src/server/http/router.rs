//! The router: every route of the server, by noun. One table builds the router and the OpenAPI document, so an API
//! route is always next to its description.

use std::sync::Arc;

use axum::routing::{self, MethodRouter};
use axum::{Extension, Router};

use super::features;
use super::health::{self, Readiness};
use super::layers::{HttpConfig, wrap_entrance, wrap_routes};
use super::openapi::operation::ApiOperation;
use super::response::{error_page, fallback};
use super::site::assets::{self, Site};
use super::site::{diagram_frame, external_link, frame_host, gallery, preview_panel, worker};
use super::streams::{events, socket};
use super::transfer::{delete_all, exports, import_pages, imports};
use super::{
    attachments, branches, chats, documents, notifications, openapi, preferences, projects, providers, request, search,
    site, tools, transfer, trash, turns, usage,
};
use crate::server::app::App;

/// One method of one path, and its handler.
struct Route {
    method: &'static str,
    path: &'static str,
    answer: fn(&RouteContext) -> MethodRouter<App>,
    /// The OpenAPI description. `None` for pages and forms, which are not for programs.
    describe: Option<fn(ApiOperation) -> ApiOperation>,
}

/// The values that some routes need besides the state of the application.
struct RouteContext<'a> {
    site: &'a Arc<Site>,
    readiness: &'a Readiness,
    document: Arc<openapi::OpenApiDocument>,
    origin: Option<&'a str>,
}

/// Makes a route of the API from its method, path, handler and description.
macro_rules! api {
    ($method:ident $path:literal $handler:path, $describe:path) => {
        Route {
            method: stringify!($method),
            path: $path,
            answer: |_| routing::$method($handler),
            describe: Some($describe),
        }
    };
    ($method:ident $path:literal |$shell:ident| $answer:expr, $describe:path) => {
        Route { method: stringify!($method), path: $path, answer: |$shell| $answer, describe: Some($describe) }
    };
}

/// Makes the route of a page or of a form.
macro_rules! page {
    ($method:ident $path:literal $handler:path) => {
        Route { method: stringify!($method), path: $path, answer: |_| routing::$method($handler), describe: None }
    };
    ($method:ident $path:literal |$shell:ident| $answer:expr) => {
        Route { method: stringify!($method), path: $path, answer: |$shell| $answer, describe: None }
    };
}

const ROUTES: &[Route] = &[
    // Chats.
    api!(get "/api/chats" chats::api::list, chats::operations::list_chats),
    api!(post "/api/chats" chats::api::create, chats::operations::create_chat),
    api!(get "/api/chats/{id}" chats::api::show, chats::operations::show_chat),
    api!(patch "/api/chats/{id}" chats::api::change, chats::operations::change_chat),
    api!(delete "/api/chats/{id}" chats::api::delete, chats::operations::delete_chat),
    api!(post "/api/chats/{id}/restore" chats::api::restore, chats::operations::restore_chat),
    api!(post "/api/chats/{id}/copies" chats::copies::create, chats::operations::copy_chat),
    api!(put "/api/chats/{id}/last-viewed" chats::api::set_last_viewed, chats::operations::set_last_viewed),
    api!(get "/api/chats/{id}/ws" |shell| socket::require_same_origin(routing::get(socket::open), shell.origin), chats::operations::follow_chat),
    api!(post "/api/chats/{id}/title-suggestions" chats::titles::create, chats::operations::suggest_title),
    api!(post "/api/chats/{id}/title-suggestions/stop" chats::titles::stop, chats::operations::stop_title),
    api!(get "/api/title-suggestions/{id}" chats::titles::show, chats::operations::show_title_suggestion),
    api!(get "/api/title-suggestions/{id}/request" chats::titles::request_body, chats::operations::show_title_request),
    api!(get "/api/title-suggestions/{id}/raw" chats::titles::raw_response, chats::operations::show_title_response),
    page!(post "/forms/suggest-title" chats::titles::suggest_form),
    page!(post "/forms/stop-title" chats::titles::stop_form),
    page!(get "/title-suggestions/{id}" chats::titles::page),
    page!(get "/c/{id}/tools" chats::tools::show),
    page!(post "/c/{id}/tools" chats::tools::save),
    page!(post "/forms/tools/ask-again" chats::tools::ask_again),
    page!(get "/new/tools" chats::new_chat::tools),
    page!(post "/new/tools" chats::new_chat::save_tools),
    page!(get "/new/settings" chats::new_chat::settings),
    page!(post "/new/settings" chats::new_chat::save_settings),
    page!(get "/chats" chats::page::show),
    page!(post "/forms/chats" chats::page::apply_action),
    page!(post "/forms/rename" chats::settings::rename),
    page!(get "/c/{id}/settings" chats::settings::show),
    page!(post "/c/{id}/settings" chats::settings::save),
    page!(get "/c/{id}/find" chats::find_in_chat::page),
    // Projects.
    api!(get "/api/projects" projects::api::list, projects::operations::list_projects),
    api!(post "/api/projects" projects::api::create, projects::operations::create_project),
    api!(get "/api/projects/{id}" projects::api::show, projects::operations::show_project),
    api!(patch "/api/projects/{id}" projects::api::change, projects::operations::change_project),
    api!(delete "/api/projects/{id}" projects::api::delete, projects::operations::delete_project),
    page!(get "/projects" projects::pages::list),
    page!(get "/projects/{id}" projects::pages::show),
    page!(get "/projects/{id}/delete" projects::pages::confirm_deletion),
    page!(post "/forms/projects/create" projects::pages::create),
    page!(post "/forms/projects/save" projects::pages::save),
    page!(post "/forms/projects/chat" projects::pages::begin_chat),
    page!(post "/forms/projects/delete" projects::pages::delete),
    page!(post "/forms/projects/move" projects::pages::move_chat),
    page!(post "/forms/projects/use" projects::pages::use_instructions),
    // Turns.
    api!(post "/api/chats/{id}/turns" turns::api::start, turns::operations::send_message),
    api!(get "/api/turns/{id}" turns::api::show, turns::operations::show_turn),
    api!(get "/api/turns/{id}/markdown" turns::api::markdown, turns::operations::turn_as_markdown),
    api!(post "/api/turns/{id}/edit" turns::api::edit, turns::operations::edit_message),
    api!(post "/api/turns/{id}/retry" turns::api::retry, turns::operations::retry_reply),
    api!(post "/api/turns/{id}/stop" turns::api::stop, turns::operations::stop_reply),
    api!(get "/api/turns/{id}/events" events::turn_events, turns::operations::follow_turn),
    api!(get "/api/turns/{id}/generations" turns::generations::list, turns::operations::list_generations),
    api!(get "/api/generations/{id}" turns::generations::show, turns::operations::show_generation),
    api!(get "/api/generations/{id}/raw" turns::generations::raw_response, turns::operations::show_raw),
    api!(post "/api/turns/{id}/calls/{block}" turns::tool_calls::decide, turns::operations::decide_call),
    api!(post "/api/turns/{id}/calls/{block}/answer" turns::elicitations::answer, turns::operations::answer_call),
    api!(post "/api/turns/{id}/calls/{block}/stop" turns::tool_calls::stop, turns::operations::stop_call),
    api!(post "/api/turns/{id}/continue" turns::tool_calls::continue_reply, turns::operations::continue_turn),
    api!(get "/api/turns/{id}/queue" turns::queue::list, turns::operations::list_queue),
    api!(post "/api/turns/{id}/queue" turns::queue::create, turns::operations::queue_message),
    api!(get "/api/queued-messages/{id}" turns::queue::show, turns::operations::show_queued_message),
    api!(patch "/api/queued-messages/{id}" turns::queue::change, turns::operations::change_queued_message),
    api!(delete "/api/queued-messages/{id}" turns::queue::cancel, turns::operations::cancel_queued_message),
    api!(post "/api/queued-messages/{id}/send" turns::queue::send, turns::operations::send_queued_message),
    page!(post "/forms/queue" turns::queue::act),
    page!(post "/forms/call" turns::tool_calls::decide_form),
    page!(post "/forms/elicitation" turns::elicitations::answer_form),
    page!(post "/forms/call-stop" turns::tool_calls::stop_form),
    page!(post "/forms/continue" turns::tool_calls::continue_reply_form),
    page!(post "/forms/send" turns::forms::send),
    page!(post "/forms/model" turns::forms::choose_model),
    page!(post "/forms/stop" turns::forms::stop),
    page!(post "/forms/retry" turns::forms::retry),
    page!(get "/turns/{id}/edit" turns::pages::edit_page),
    page!(get "/turns/{id}/again" turns::pages::retry_page),
    page!(get "/turns/{id}/sent" turns::pages::sent_page),
    page!(get "/turns/{id}/raw" turns::pages::raw_page),
    page!(get "/turns/{id}/calls/{block}" turns::call_page::show),
    page!(get "/turns/{id}/calls/{block}/question" turns::elicitations::show),
    page!(get "/turns/{id}/calls/{block}/view" turns::app_views::page),
    page!(get "/turns/{id}/calls/{block}/view/document" turns::app_views::document),
    page!(get "/turns/{id}/calls/{block}/view/call" turns::app_views::call),
    page!(post "/turns/{id}/calls/{block}/view/call" turns::app_views::call_tool),
    page!(get "/turns/{id}/previews/{block}" |shell| routing::get(turns::previews::page).layer(Extension(shell.site.clone()))),
    page!(get "/turns/{id}/previews/{block}/document" turns::previews::document),
    page!(get "/turns/{id}/previews/{block}/file" turns::previews::file),
    page!(post "/turns/{id}/calls/{block}/view/resource" turns::app_views::read_resource),
    page!(post "/forms/edit" turns::pages::edit_form),
    page!(post "/forms/copy" turns::pages::copy_form),
    // Branches.
    api!(get "/api/chats/{id}/compare" branches::compare::show, branches::operations::compare_paths),
    api!(get "/api/chats/{id}/grafts" branches::reruns::list, branches::operations::list_reruns),
    api!(post "/api/chats/{id}/grafts" branches::reruns::create, branches::operations::create_rerun),
    api!(get "/api/grafts/{id}" branches::reruns::show, branches::operations::show_rerun),
    api!(post "/api/grafts/{id}/cancel" branches::reruns::cancel, branches::operations::cancel_rerun),
    api!(post "/api/grafts/{id}/resume" branches::reruns::resume, branches::operations::resume_rerun),
    api!(get "/api/chats/{id}/branches" branches::api::list, branches::operations::list_branches),
    api!(post "/api/chats/{id}/branches" branches::api::create, branches::operations::create_branch),
    api!(get "/api/branches/{id}" branches::api::show, branches::operations::show_branch),
    api!(patch "/api/branches/{id}" branches::api::change, branches::operations::change_branch),
    page!(get "/c/{id}/compare" branches::compare::page),
    page!(get "/c/{id}/grafts/{graft}" branches::reruns::page),
    page!(post "/forms/graft" branches::reruns::create_form),
    page!(post "/forms/graft/cancel" branches::reruns::cancel_form),
    page!(post "/forms/graft/resume" branches::reruns::resume_form),
    page!(get "/c/{id}/branches" branches::pages::branch_list),
    page!(get "/c/{id}/drawing" branches::pages::tree_drawing),
    page!(post "/forms/branch" branches::pages::update_branch),
    // Reading.
    api!(get "/api/chats/{id}/turns" chats::path_views::turns, chats::operations::list_turns),
    api!(get "/api/chats/{id}/tree" branches::tree::show, chats::operations::show_tree),
    api!(get "/api/chats/{id}/path/{turn}" branches::tree::path, chats::operations::show_path),
    api!(get "/api/turns/{id}/siblings" branches::tree::siblings, chats::operations::list_siblings),
    api!(get "/api/chats/{id}/find" chats::find_in_chat::show, chats::operations::find_in_chat),
    api!(get "/api/chats/{id}/groups" chats::path_views::groups, chats::operations::list_groups),
    api!(get "/api/chats/{id}/blocks" chats::path_views::blocks, chats::operations::list_blocks),
    api!(get "/api/chats/{id}/messages" chats::path_views::messages, chats::operations::list_messages),
    // Search.
    api!(get "/api/search" search::show, search::operations::search),
    page!(get "/search" search::page),
    // Trash.
    api!(delete "/api/turns/{id}" trash::api::delete_turn, trash::operations::delete_turn),
    api!(delete "/api/branches/{id}" trash::api::delete_branch, trash::operations::delete_branch),
    api!(post "/api/chats/{id}/prune" trash::api::prune, trash::operations::prune_chat),
    api!(post "/api/turns/{id}/restore" trash::api::restore_turn, trash::operations::restore_turn),
    api!(post "/api/branches/{id}/restore" trash::api::restore_branch, trash::operations::restore_branch),
    api!(get "/api/trash" trash::api::list, trash::operations::list_trash),
    api!(post "/api/trash/{id}/restore" trash::api::restore, trash::operations::restore_deletion),
    api!(delete "/api/trash/{id}" trash::api::purge, trash::operations::purge_deletion),
    api!(delete "/api/trash" trash::api::empty, trash::operations::empty_trash),
    page!(get "/trash" trash::page::show),
    page!(post "/forms/delete-turn" trash::page::delete_turn),
    page!(post "/forms/delete-branch" trash::page::delete_branch),
    page!(post "/forms/delete-chat" trash::page::delete_chat),
    page!(post "/forms/prune" trash::page::prune),
    page!(post "/forms/restore" trash::page::restore),
    page!(post "/forms/purge" trash::page::purge),
    page!(post "/forms/empty-trash" trash::page::empty),
    // Documents.
    api!(post "/api/blobs" attachments::uploads::create, documents::operations::upload_file),
    api!(get "/api/documents" documents::api::list, documents::operations::list_documents),
    api!(post "/api/documents" documents::api::create, documents::operations::create_document),
    api!(get "/api/documents/{id}" documents::api::show, documents::operations::show_document),
    api!(put "/api/documents/{id}" documents::api::change, documents::operations::change_document),
    api!(delete "/api/documents/{id}" documents::api::delete, documents::operations::delete_document),
    api!(post "/api/documents/{id}/restore" documents::api::restore, documents::operations::restore_document),
    api!(get "/api/documents/{id}/versions" documents::api::versions, documents::operations::list_document_versions),
    api!(get "/api/documents/{id}/compare" documents::api::compare, documents::operations::compare_document_versions),
    api!(post "/api/drafts/attachments" chats::drafts::attach, documents::operations::attach_to_draft),
    page!(get "/documents" documents::pages::list),
    page!(get "/docs" documents::pages::list_by_short_name),
    page!(get "/docs/{id}" documents::pages::show_by_short_name),
    page!(get "/documents/new" documents::pages::new_document),
    page!(get "/documents/{id}" documents::pages::show),
    page!(get "/documents/{id}/edit" documents::pages::edit),
    page!(get "/documents/{id}/compare" documents::pages::compare),
    page!(post "/forms/documents/upload" documents::forms::upload),
    page!(post "/forms/documents/from-upload" documents::forms::from_upload),
    page!(post "/forms/documents/save" documents::forms::save),
    page!(post "/forms/documents/delete" documents::forms::delete),
    page!(post "/forms/documents/restore" documents::forms::restore),
    page!(post "/forms/documents/purge" documents::forms::purge),
    page!(post "/forms/documents/quote" documents::forms::quote),
    page!(post "/forms/attach" attachments::forms::attach),
    page!(post "/forms/detach" attachments::forms::detach),
    // Transfer.
    api!(get "/api/export" exports::export_all, transfer::operations::export_all),
    api!(get "/api/chats/{id}/export" |shell| routing::get(exports::export_chat).layer(Extension(shell.site.clone())), transfer::operations::export_chat),
    api!(post "/api/imports" imports::create, transfer::operations::start_import),
    api!(get "/api/imports" imports::list, transfer::operations::list_imports),
    api!(get "/api/imports/{id}" imports::show, transfer::operations::show_import),
    api!(delete "/api/imports/{id}" imports::forget, transfer::operations::forget_import),
    api!(post "/api/imports/{id}/start" imports::start, transfer::operations::start_previewed_import),
    api!(post "/api/imports/{id}/stop" imports::stop, transfer::operations::stop_import),
    api!(post "/api/imports/{id}/undo" imports::undo, transfer::operations::undo_import),
    api!(post "/api/imports/{id}/restore" imports::restore, transfer::operations::restore_import),
    page!(get "/c/{id}/export" exports::page),
    page!(get "/c/{id}/print" |shell| routing::get(exports::page_to_print).layer(Extension(shell.site.clone()))),
    page!(get "/settings/data" import_pages::data_page),
    page!(get "/settings/data/imports/{id}" import_pages::page),
    page!(get "/settings/data/delete" delete_all::page),
    page!(post "/forms/delete-everything" delete_all::delete),
    page!(post "/forms/import" import_pages::import_form),
    page!(post "/forms/import/start" import_pages::start_form),
    page!(post "/forms/import/stop" import_pages::stop_form),
    page!(post "/forms/import/undo" import_pages::undo_form),
    page!(post "/forms/import/restore" import_pages::restore_form),
    page!(post "/forms/import/forget" import_pages::forget_form),
    // Providers.
    api!(get "/api/models" providers::api::list_models, providers::operations::list_models),
    api!(put "/api/models/default" providers::api::set_default, providers::operations::set_default_model),
    api!(delete "/api/models/default" providers::api::clear_default, providers::operations::clear_default_model),
    api!(get "/api/providers" providers::api::list, providers::operations::list_providers),
    api!(post "/api/providers" providers::api::create, providers::operations::add_provider),
    api!(patch "/api/providers/{id}" providers::api::change, providers::operations::change_provider),
    api!(delete "/api/providers/{id}" providers::api::remove, providers::operations::remove_provider),
    api!(post "/api/providers/{id}/test" providers::api::test, providers::operations::test_provider),
    page!(get "/settings" preferences::index),
    page!(get "/settings/providers" providers::page::show),
    page!(post "/forms/found" providers::page::decide_found_server),
    page!(post "/forms/demo" providers::page::choose_demo),
    page!(post "/forms/providers/add" providers::page::add_connection),
    page!(post "/forms/providers/change" providers::page::change),
    page!(post "/forms/providers/key" providers::page::save_key),
    page!(post "/forms/providers/models" providers::page::save_models),
    page!(post "/forms/providers/test" providers::page::test),
    page!(post "/forms/providers/remove" providers::page::remove),
    // Tools.
    api!(get "/api/tools" tools::api::list, tools::operations::list_tools),
    api!(put "/api/tools/default" tools::api::set_default, tools::operations::set_default_tools),
    api!(get "/api/chats/{id}/tools" tools::api::show_chat_tools, tools::operations::show_chat_tools),
    api!(put "/api/chats/{id}/tools" tools::api::choose_chat_tools, tools::operations::choose_chat_tools),
    api!(post "/api/branches/{id}/tools" tools::api::use_chat_tools_on_branch, tools::operations::use_chat_tools),
    api!(get "/api/tool-policies" tools::api::list_policies, tools::operations::list_tool_policies),
    api!(put "/api/tool-policies" tools::api::set_policy, tools::operations::set_tool_policy),
    api!(get "/api/tool-servers" tools::api::list_servers, tools::operations::list_tool_servers),
    api!(post "/api/tool-servers" tools::api::create_server, tools::operations::add_tool_server),
    api!(patch "/api/tool-servers/{id}" tools::api::change_server, tools::operations::change_tool_server),
    api!(delete "/api/tool-servers/{id}" tools::api::remove_server, tools::operations::remove_tool_server),
    api!(post "/api/tool-servers/{id}/restart" tools::api::restart_server, tools::operations::restart_tool_server),
    api!(put "/api/tool-servers/{id}/policy" tools::api::set_server_policy, tools::operations::set_server_policy),
    api!(put "/api/tool-servers/{id}/instructions" tools::api::set_offers_instructions, tools::operations::set_server_instructions),
    api!(get "/api/tool-servers/{id}/catalog" tools::content::show_catalog, tools::operations::show_server_catalog),
    api!(post "/api/tool-servers/{id}/resources" tools::content::store_resource, tools::operations::store_server_resource),
    api!(get "/api/tool-catalogs" tools::content::list_catalogs, tools::operations::list_server_catalogs),
    api!(post "/api/tool-servers/{id}/prompts" tools::content::show_prompt, tools::operations::show_server_prompt),
    api!(post "/api/tool-servers/{id}/suggestions" tools::content::suggest_values, tools::operations::suggest_server_values),
    api!(get "/api/web-search" tools::web_search::show, tools::operations::show_web_search),
    api!(put "/api/web-search" tools::web_search::set, tools::operations::set_web_search),
    api!(delete "/api/web-search" tools::web_search::remove, tools::operations::remove_web_search),
    api!(post "/api/web-search/test" tools::web_search::test, tools::operations::test_web_search),
    api!(get "/api/blobs/{sha256}" attachments::blobs::show, tools::operations::show_blob),
    page!(get "/insert" tools::content::page),
    page!(get "/insert/view" tools::content::resource_page),
    page!(post "/forms/insert/view" tools::content::view_resource_form),
    page!(post "/forms/insert/resource" tools::content::attach_resource_form),
    page!(post "/forms/insert/prompt" tools::content::insert_prompt_form),
    page!(post "/forms/insert/answer" tools::prompt_questions::answer_form),
    page!(post "/forms/insert/suggest" tools::content::suggest_form),
    page!(get "/settings/tools" tools::page::show),
    page!(post "/forms/tools/default" tools::page::save_default),
    page!(post "/forms/tools/policies" tools::page::save_policies),
    page!(post "/forms/tools/hosts" tools::page::save_host),
    page!(post "/forms/tools/add" tools::page::add),
    page!(post "/forms/tools/change" tools::page::change),
    page!(post "/forms/tools/restart" tools::page::restart),
    page!(post "/forms/tools/remove" tools::page::remove),
    page!(post "/forms/tools/server-policy" tools::page::save_server_policy),
    page!(post "/forms/tools/instructions" tools::page::save_instructions),
    page!(post "/forms/tools/sign-in" |shell| tools::sign_in::begin_route(shell.origin)),
    page!(post "/forms/tools/sign-out" tools::sign_in::sign_out),
    page!(get "/settings/tools/oauth/confirm" tools::sign_in::confirm),
    page!(get "/settings/tools/oauth/callback" tools::sign_in::callback),
    page!(get "/oauth/client.json" |shell| tools::sign_in::document_route(shell.origin)),
    page!(get "/settings/tools/import" tools::import::show),
    page!(post "/settings/tools/import" tools::import::preview),
    page!(post "/forms/tools/import" tools::import::add),
    page!(post "/forms/tools/search" tools::web_search_forms::save),
    page!(post "/forms/tools/search/test" tools::web_search_forms::test),
    page!(post "/forms/tools/search/remove" tools::web_search_forms::remove),
    // Server.
    api!(get "/api/usage" usage::show, openapi::server_operations::show_usage),
    api!(get "/api/features" features::show, openapi::server_operations::show_features),
    api!(get "/api/openapi.json" |shell| routing::get(openapi::show).layer(Extension(shell.document.clone())), openapi::server_operations::show_openapi),
    api!(get "/api/docs" |shell| routing::get(openapi::page).layer(Extension(shell.document.clone())), openapi::server_operations::show_docs),
    api!(get "/healthz" |shell| routing::get(health::liveness).with_state(shell.readiness.clone()), openapi::server_operations::show_liveness),
    api!(get "/readyz" |shell| routing::get(health::readiness).with_state(shell.readiness.clone()), openapi::server_operations::show_readiness),
    api!(get "/version" |shell| routing::get(health::show_version).with_state(shell.site.clone()), openapi::server_operations::show_version),
    page!(get "/usage" usage::page),
    page!(get "/notifications" notifications::show),
    page!(post "/forms/notifications" notifications::mark_all_read),
    // Settings.
    page!(post "/forms/instructions" preferences::save_instructions),
    page!(post "/forms/preferences" preferences::save_preferences),
    page!(post "/forms/keys" preferences::save_keys),
    page!(get "/settings/general" preferences::general),
    page!(get "/settings/appearance" preferences::appearance),
    page!(get "/settings/shortcuts" preferences::shortcuts),
    page!(get "/settings/about" |shell| routing::get(preferences::about).layer(Extension(shell.site.clone()))),
    // Site.
    page!(get "/leave" external_link::page),
    page!(get "/settings/about/gallery" gallery::redirect_to_first_sheet),
    page!(get "/settings/about/gallery/{sheet}" gallery::show),
    page!(get "/frame-host.js" frame_host::show),
    page!(get "/frames/diagram/{hash}" |shell| routing::get(diagram_frame::show).with_state(shell.site.clone())),
    page!(get "/preview.js" preview_panel::script),
    page!(get "/preview.css" preview_panel::style),
    page!(get "/offline" worker::page),
    page!(get "/worker.js" |shell| routing::get(worker::show).with_state(shell.site.clone())),
];

/// Returns the operations of the API, in the order of the document.
fn operations() -> Vec<ApiOperation> {
    let described = ROUTES.iter().filter_map(|route| Some((route, route.describe?)));
    described.map(|(route, describe)| describe(ApiOperation::new(route.method, route.path))).collect()
}

/// Builds the whole server as one service, with its layers.
pub fn router(app: &App, site: &Arc<Site>, readiness: Readiness, config: &HttpConfig) -> Router {
    let document = Arc::new(openapi::OpenApiDocument::new(operations));
    let shell = RouteContext { site, readiness: &readiness, document, origin: config.public_origin.as_deref() };
    let routes = ROUTES.iter().fold(Router::new(), |router, route| router.route(route.path, (route.answer)(&shell)));
    let router = site::pages::add_page_routes(routes, app, config.transport)
        .layer(axum::middleware::from_fn(request::server_function_args::layer))
        .merge(assets::routes(site))
        .method_not_allowed_fallback(fallback::method_not_allowed)
        .fallback(site::pages::not_found);
    let pages_of_failures = axum::middleware::from_fn_with_state(app.clone(), error_page::layer);
    wrap_entrance(wrap_routes(router, config).layer(pages_of_failures), config).with_state(app.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_routes_are_described_and_page_routes_are_not() {
        for Route { method, path, describe, .. } in ROUTES {
            let is_for_programs = path.starts_with("/api/") || ["/healthz", "/readyz", "/version"].contains(path);
            assert_eq!(is_for_programs, describe.is_some(), "{method} {path}");
        }
    }
}

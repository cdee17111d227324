//! Every route, on one screen: noun, verb, and who answers.

use axum::Router;
use axum::routing::{delete, get, patch, post, put};

use super::assets::{self, Site};
use super::health::{self, Readiness};
use super::router::{HttpConfig, layers};
use super::{
    branches, chat_settings, chats, compare, copies, events, find, forms, generations, grafts, openapi, providers,
    reading, settings, site_pages, socket, trash, trash_page, tree, tree_pages, turn_pages, turns, usage,
};
use crate::server::app::App;

/// The whole server as one service, behind its shell.
pub fn routes(app: &App, site: &std::sync::Arc<Site>, readiness: Readiness, config: &HttpConfig) -> Router {
    let origin = config.public_origin.as_deref();
    let api = Router::new()
        .route("/api/chats", get(chats::list).post(chats::create))
        .route("/api/chats/{id}", get(chats::show).patch(chats::change).delete(chats::delete))
        .route("/api/chats/{id}/restore", post(chats::restore))
        .route("/api/chats/{id}/last-viewed", put(chats::last_viewed))
        .route("/api/turns/{id}", get(turns::show).delete(trash::delete_turn))
        .route("/api/turns/{id}/restore", post(trash::restore_turn))
        .route("/api/chats/{id}/prune", post(trash::prune))
        .route("/api/trash", get(trash::list).delete(trash::empty))
        .route("/api/trash/{id}", delete(trash::purge))
        .route("/api/trash/{id}/restore", post(trash::restore))
        .route("/api/chats/{id}/copies", post(copies::create))
        .route("/api/chats/{id}/turns", get(reading::turns).post(turns::start))
        .route("/api/chats/{id}/tree", get(tree::show))
        .route("/api/chats/{id}/path/{turn}", get(tree::path))
        .route("/api/chats/{id}/groups", get(reading::groups))
        .route("/api/chats/{id}/blocks", get(reading::blocks))
        .route("/api/chats/{id}/messages", get(reading::messages))
        .route("/api/chats/{id}/find", get(find::show))
        .route("/api/chats/{id}/ws", socket::from_our_own_pages(get(socket::open), origin))
        .route("/api/turns/{id}/siblings", get(tree::siblings))
        .route("/api/chats/{id}/branches", get(branches::list).post(branches::create))
        .route("/api/branches/{id}", get(branches::show).patch(branches::change).delete(trash::delete_branch))
        .route("/api/branches/{id}/restore", post(trash::restore_branch))
        .route("/api/turns/{id}/edit", post(turns::edit))
        .route("/api/turns/{id}/stop", post(turns::stop))
        .route("/api/turns/{id}/retry", post(turns::retry))
        .route("/api/turns/{id}/events", get(events::events))
        .route("/api/turns/{id}/generations", get(generations::list))
        .route("/api/generations/{id}", get(generations::show))
        .route("/api/generations/{id}/raw", get(generations::raw))
        .route("/api/chats/{id}/compare", get(compare::show))
        .route("/c/{id}/compare", get(compare::page))
        .route("/api/chats/{id}/grafts", get(grafts::list).post(grafts::create))
        .route("/api/grafts/{id}", get(grafts::show))
        .route("/api/grafts/{id}/cancel", post(grafts::cancel))
        .route("/api/grafts/{id}/resume", post(grafts::resume))
        .route("/c/{id}/grafts/{graft}", get(grafts::page))
        .route("/forms/graft", post(grafts::begin))
        .route("/forms/graft/cancel", post(grafts::cancel_form))
        .route("/forms/graft/resume", post(grafts::resume_form))
        .route("/api/openapi.json", get(openapi::show))
        .route("/api/docs", get(openapi::page))
        .route("/api/models", get(providers::models))
        .route("/api/models/default", put(providers::set_default).delete(providers::clear_default))
        .route("/api/providers", get(providers::list).post(providers::create))
        .route("/api/providers/{id}", patch(providers::change).delete(providers::remove))
        .route("/api/providers/{id}/test", post(providers::test))
        .route("/settings", get(settings::first))
        .route("/settings/providers", get(settings::show))
        .route("/forms/providers/add", post(settings::add))
        .route("/forms/providers/change", post(settings::change))
        .route("/forms/providers/key", post(settings::key))
        .route("/forms/providers/models", post(settings::models))
        .route("/forms/providers/test", post(settings::test))
        .route("/forms/providers/remove", post(settings::remove))
        .route("/api/usage", get(usage::show))
        .route("/usage", get(usage::page))
        .route("/trash", get(trash_page::show))
        .route("/forms/delete-turn", post(trash_page::delete_turn))
        .route("/forms/delete-branch", post(trash_page::delete_branch))
        .route("/forms/prune", post(trash_page::prune))
        .route("/forms/restore", post(trash_page::restore))
        .route("/forms/purge", post(trash_page::purge))
        .route("/forms/empty-trash", post(trash_page::empty))
        .route("/c/{id}/settings", get(chat_settings::show).post(chat_settings::save))
        .route("/c/{id}/branches", get(tree_pages::branches))
        .route("/c/{id}/drawing", get(tree_pages::drawing))
        .route("/forms/branch", post(tree_pages::change))
        .route("/c/{id}/find", get(find::page))
        .route("/forms/send", post(forms::send))
        .route("/forms/model", post(forms::model))
        .route("/forms/stop", post(forms::stop))
        .route("/forms/retry", post(forms::retry))
        .route("/turns/{id}/edit", get(turn_pages::edit_page))
        .route("/turns/{id}/again", get(turn_pages::again_page))
        .route("/forms/edit", post(turn_pages::edit))
        .route("/forms/copy", post(turn_pages::copy))
        .route("/forms/theme", post(forms::theme));
    let router = site_pages::add(api, app, config.transport)
        .merge(assets::routes(site))
        .merge(health::routes(readiness, site.build().to_owned()))
        .method_not_allowed_fallback(super::router::method_not_allowed)
        .fallback(site_pages::not_found);
    layers(router, config).with_state(app.clone())
}

//! Turns in the form that the transcript renders: with server-side markup and details.

use std::collections::HashMap;

use super::{PageService, internal};
use crate::api::error::ApiError;
use crate::api::view::{BlockMarkup, TurnView, VersionView};
use crate::domain::blocks::sources;
use crate::domain::documents::attachment::ReferenceStatus;
use crate::domain::{Block, BlockId, DroppedParam, Exchange, Role, Turn, UserId};
use crate::server::markup;
use crate::ui::locale::{Locale, with_locale};
use turnleaf_platform::tasks;
use turnleaf_service::paths::TurnDetails;
use turnleaf_service::turns::versions::ListedVersion;

impl PageService {
    /// Adds the server's markup of finished blocks (highlighted code, formulas), and the present status of
    /// references.
    pub(super) async fn render_turns(
        &self,
        viewer: UserId,
        details: Vec<TurnDetails>,
    ) -> Result<Vec<TurnView>, ApiError> {
        let turns: Vec<&Turn> = details.iter().map(|details| &details.turn).collect();
        let statuses = self.0.reference_statuses(viewer, &turns).await.map_err(self.api_error())?;
        self.render_turns_with_statuses(details, statuses).await
    }

    /// Works like [`Self::render_turns`], with the status of references by the ids of their blocks.
    pub(super) async fn render_turns_with_statuses(
        &self,
        details: Vec<TurnDetails>,
        statuses: HashMap<BlockId, ReferenceStatus>,
    ) -> Result<Vec<TurnView>, ApiError> {
        render_turns_blocking(details, statuses, self.1).await
    }
}

/// Renders on a blocking thread, because highlighting a long path takes a while the first time.
async fn render_turns_blocking(
    turns: Vec<TurnDetails>,
    statuses: HashMap<BlockId, ReferenceStatus>,
    locale: Locale,
) -> Result<Vec<TurnView>, ApiError> {
    let named =
        move |turn: &Turn| turn.blocks.iter().filter_map(|block| Some((block.id, *statuses.get(&block.id)?))).collect();
    let drawing = tasks::spawn_blocking(move || {
        with_locale(locale, || {
            turns
                .into_iter()
                .map(|details| TurnView {
                    markup: turn_markup(&details.turn),
                    not_sent: not_sent(&details),
                    named: named(&details.turn),
                    turn: details.turn,
                    is_thinking_mode: details.exchange.as_ref().is_some_and(Exchange::shows_reasoning),
                    siblings: details.siblings,
                    versions: details.versions.into_iter().map(version_view).collect(),
                    retry_id: details.retry_id.unwrap_or_default(),
                    switched_to: details.switched_to,
                })
                .collect()
        })
    });
    drawing.await.map_err(|error| internal(&error))
}

fn version_view(version: ListedVersion) -> VersionView {
    VersionView {
        turn_id: version.id,
        at: version.created_at,
        model: version.model_used,
        words: version.words,
        status: version.status,
        is_edited: version.is_edited,
        followed_by: version.followed_by,
    }
}

/// Returns the parameters that were not sent, which the page shows below the reply.
fn not_sent(details: &TurnDetails) -> Vec<DroppedParam> {
    let exchange = details.exchange.as_ref().filter(|_| details.turn.role == Role::Assistant);
    exchange.map(|exchange| exchange.not_sent.clone()).unwrap_or_default()
}

fn turn_markup(turn: &Turn) -> Vec<BlockMarkup> {
    let sources = sources::collect_sources(&turn.blocks);
    let rendered = |block: &Block| {
        let parts = markup::block_markup_with_citations(turn.id, block, &sources)?;
        Some(BlockMarkup { block_id: block.id, parts })
    };
    turn.blocks.iter().filter_map(rendered).collect()
}

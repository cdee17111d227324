//! Turns in the form that the transcript renders: with server-side markup and details.

use std::collections::HashMap;

use super::{PageService, api_error, internal};
use crate::api::error::ApiError;
use crate::api::view::{BlockMarkup, TurnView, VersionView};
use crate::domain::attachment::ReferenceStatus;
use crate::domain::sources;
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
        drawn: Vec<TurnDetails>,
    ) -> Result<Vec<TurnView>, ApiError> {
        let turns: Vec<&Turn> = drawn.iter().map(|drawn| &drawn.turn).collect();
        let standing = self.0.reference_statuses(viewer, &turns).await.map_err(api_error)?;
        render_turns_blocking(drawn, standing, self.1).await
    }
}

/// Renders on a blocking thread, because highlighting a long path takes a while the first time.
async fn render_turns_blocking(
    turns: Vec<TurnDetails>,
    standing: HashMap<BlockId, ReferenceStatus>,
    locale: Locale,
) -> Result<Vec<TurnView>, ApiError> {
    let named =
        move |turn: &Turn| turn.blocks.iter().filter_map(|block| Some((block.id, *standing.get(&block.id)?))).collect();
    let drawing = tasks::spawn_blocking(move || {
        with_locale(locale, || {
            turns
                .into_iter()
                .map(|drawn| TurnView {
                    markup: turn_markup(&drawn.turn),
                    not_sent: not_sent(&drawn),
                    named: named(&drawn.turn),
                    turn: drawn.turn,
                    is_thinking_mode: drawn.exchange.as_ref().is_some_and(Exchange::shows_reasoning),
                    siblings: drawn.siblings,
                    versions: drawn.versions.into_iter().map(version_view).collect(),
                    retry_id: drawn.retry_id.unwrap_or_default(),
                    switched_to: drawn.switched_to,
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
fn not_sent(drawn: &TurnDetails) -> Vec<DroppedParam> {
    let exchange = drawn.exchange.as_ref().filter(|_| drawn.turn.role == Role::Assistant);
    exchange.map(|exchange| exchange.not_sent.clone()).unwrap_or_default()
}

fn turn_markup(turn: &Turn) -> Vec<BlockMarkup> {
    let sources = sources::collect_sources(&turn.blocks);
    let drawn = |block: &Block| {
        let parts = markup::block_markup_with_citations(turn.id, block, &sources)?;
        Some(BlockMarkup { block_id: block.id, parts })
    };
    turn.blocks.iter().filter_map(drawn).collect()
}

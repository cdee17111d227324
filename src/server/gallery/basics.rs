//! Design tokens: colours with their contrast, sizes of type, spaces, icons.

use leptos::prelude::*;

use super::colours::{CONTRAST_PAIRS, ColourToken, colour_tokens, contrast, find_colour_token, to_css_hex};
use super::messages;
use super::sample_group::sample_group;
use crate::ui::erased::view;
use crate::ui::kit::Icon;

/// The steps of the type scale, the smallest first, and of the scale of spaces.
const TYPE: [&str; 7] = ["fs-0", "fs-1", "fs-2", "fs-3", "fs-4", "fs-5", "fs-6"];
const SPACES: [&str; 9] = ["sp-1", "sp-2", "sp-3", "sp-4", "sp-5", "sp-6", "sp-7", "sp-8", "sp-9"];

const SYMBOLS: &str = include_str!("../../ui/kit/icons.svg");

/// Renders the page.
pub fn draw() -> AnyView {
    view! {
        {sample_group(messages::colours(), colours())}
        {sample_group(messages::contrast(), pairs())}
        {sample_group(messages::type_scale(), type_scale())}
        {sample_group(messages::spacing(), spaces())}
        {sample_group(messages::icons(), icons())}
    }
}

/// Shows both themes side by side, whatever the page's theme: the values are attributes of the drawing, because the
/// style applies only one.
fn colours() -> AnyView {
    let row = |colour: ColourToken| {
        let (light, dark) = (to_css_hex(colour.light), to_css_hex(colour.dark));
        view! {
            <li>
                <svg class="swatch" viewBox="0 0 64 24" aria-hidden="true">
                    <rect width="32" height="24" fill=light.clone()></rect>
                    <rect x="32" width="32" height="24" fill=dark.clone()></rect>
                </svg>
                <code>{format!("--{}", colour.name)}</code>
                <span class="hint">{light}" "{dark}</span>
            </li>
        }
    };
    view! { <ul class="swatches">{colour_tokens().into_iter().map(row).collect_view()}</ul> }
}

fn pairs() -> AnyView {
    let row = |(mark, ground, needs): (&'static str, &'static str, f64)| {
        let (mark_colours, ground_colours) = (find_colour_token(mark)?, find_colour_token(ground)?);
        let cell = |mark: [u8; 3], ground: [u8; 3]| {
            view! {
                <td>
                    <svg class="swatch" viewBox="0 0 64 24" aria-hidden="true">
                        <rect width="64" height="24" fill=to_css_hex(ground)></rect>
                        <text x="8" y="17" fill=to_css_hex(mark)>"Aa 例"</text>
                    </svg>
                    <span>{format!("{:.2}", contrast(mark, ground))}</span>
                </td>
            }
        };
        Some(view! {
            <tr>
                <th scope="row"><code>{mark}</code>" · "<code>{ground}</code></th>
                {cell(mark_colours.light, ground_colours.light)}
                {cell(mark_colours.dark, ground_colours.dark)}
                <td>{format!("{needs}")}</td>
            </tr>
        })
    };
    view! {
        <div class="table-scroll" tabindex="0" role="group" aria-label=messages::contrast()>
            <table class="pairs">
                <thead><tr>
                    <th scope="col">{messages::pair()}</th>
                    <th scope="col">{messages::light()}</th>
                    <th scope="col">{messages::dark()}</th>
                    <th scope="col">{messages::needs()}</th>
                </tr></thead>
                <tbody>{CONTRAST_PAIRS.into_iter().filter_map(row).collect_view()}</tbody>
            </table>
        </div>
    }
}

fn type_scale() -> AnyView {
    let row = |step: &'static str| {
        view! { <li><code>{format!("--{step}")}</code><span class="type" data-step=step>{messages::sample_text()}</span></li> }
    };
    view! { <ul class="scale">{TYPE.into_iter().rev().map(row).collect_view()}</ul> }
}

fn spaces() -> AnyView {
    let row = |step: &'static str| {
        view! { <li><code>{format!("--{step}")}</code><span class="space" data-step=step></span></li> }
    };
    view! { <ul class="scale">{SPACES.into_iter().map(row).collect_view()}</ul> }
}

/// Returns the symbols of the sprite, in its order.
fn names() -> impl Iterator<Item = &'static str> {
    SYMBOLS.split("id=\"icon-").skip(1).filter_map(|rest| rest.split('"').next())
}

fn icons() -> AnyView {
    let one = |name: &'static str| view! { <li><Icon name/><code>{name}</code></li> };
    view! { <ul class="symbols">{names().map(one).collect_view()}</ul> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sprite_symbol_is_shown() {
        let all: Vec<_> = names().collect();
        assert_eq!(all.len(), SYMBOLS.matches("<symbol ").count());
        assert!(all.contains(&"search") && all.contains(&"leaf"), "{all:?}");
    }

    #[test]
    fn every_pair_names_existing_colours() {
        assert!(
            CONTRAST_PAIRS
                .into_iter()
                .all(|(mark, ground, _)| find_colour_token(mark).is_some() && find_colour_token(ground).is_some())
        );
    }
}

//! Lengths that the style sheet needs and cannot compute, published as custom properties.

#[cfg(feature = "hydrate")]
mod real {
    use send_wrapper::SendWrapper;
    use wasm_bindgen::JsCast;
    use wasm_bindgen::closure::Closure;
    use web_sys::{Element, HtmlElement, ResizeObserver};

    /// Publishes the height of an element as a property of `<html>` until it is dropped.
    pub struct HeightObserver(SendWrapper<ObserverParts>);

    struct ObserverParts {
        observer: ResizeObserver,
        property: &'static str,
        _on_resize: Closure<dyn FnMut()>,
    }

    impl Drop for HeightObserver {
        fn drop(&mut self) {
            self.0.observer.disconnect();
            set_property(self.0.property, None);
        }
    }

    fn set_property(property: &str, height: Option<i32>) {
        let root = web_sys::window().and_then(|w| w.document()).and_then(|d| d.document_element());
        let Some(root) = root.and_then(|root| root.dyn_into::<HtmlElement>().ok()) else { return };
        let _ = match height {
            Some(height) => root.style().set_property(property, &format!("{height}px")),
            None => root.style().remove_property(property).map(drop),
        };
    }

    /// FLIP animation: measures how far the next frame moves the element with this id and stores the distance in its
    /// property, so that the style sheet animates it from where it was.
    pub fn set_move_distance(id: &str, property: &'static str) {
        let find = |id: &str| web_sys::window()?.document()?.get_element_by_id(id)?.dyn_into::<HtmlElement>().ok();
        let Some(element) = find(id) else { return };
        // The distance of an earlier move would distort the measurement.
        let _ = element.style().remove_property(property);
        let before = element.get_bounding_client_rect().top();
        leptos::prelude::request_animation_frame(move || {
            let distance = before - element.get_bounding_client_rect().top();
            let _ = element.style().set_property(property, &format!("{}px", distance as i32));
        });
    }

    /// Observes the height of an element and publishes it. Returns `None` if the browser cannot observe it.
    pub fn observe_height(element: &Element, property: &'static str) -> Option<HeightObserver> {
        let of = element.clone();
        let on_resize = Closure::<dyn FnMut()>::new(move || set_property(property, Some(of.client_height())));
        let observer = ResizeObserver::new(on_resize.as_ref().unchecked_ref()).ok()?;
        observer.observe(element);
        Some(HeightObserver(SendWrapper::new(ObserverParts { observer, property, _on_resize: on_resize })))
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use leptos::web_sys::Element;

    pub struct HeightObserver;

    pub fn observe_height(_element: &Element, _property: &'static str) -> Option<HeightObserver> {
        None
    }

    pub fn set_move_distance(_id: &str, _property: &'static str) {}
}

pub use real::{HeightObserver, observe_height, set_move_distance};

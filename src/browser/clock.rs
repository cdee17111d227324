//! The device's time. Nothing that is drawn first may use it: the server has another.

#[cfg(feature = "hydrate")]
mod real {
    use std::future::{Future, poll_fn};
    use std::pin::pin;
    use std::task::Poll;
    use std::time::Duration;

    use chrono::{DateTime, Utc};
    use wasm_bindgen_futures::JsFuture;

    /// What of a moment is said, as `Intl.DateTimeFormat` takes it.
    const TIME: &str = r#"{"hour":"numeric","minute":"2-digit"}"#;
    const DAY_AND_TIME: &str =
        r#"{"hour":"numeric","minute":"2-digit","day":"numeric","month":"short","year":"numeric"}"#;

    /// Milliseconds since 1970 by the device's clock.
    pub fn now_ms() -> i64 {
        js_sys::Date::now() as i64
    }

    /// Waits for something so long and no longer. What is given up is dropped, and a request with it is broken off.
    pub async fn with_timeout<T>(time: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        let mut ring = pin!(JsFuture::from(js_sys::Promise::new(&mut |over, _| {
            let ms = i32::try_from(time.as_millis()).unwrap_or(i32::MAX);
            let _ =
                web_sys::window().map(|window| window.set_timeout_with_callback_and_timeout_and_arguments_0(&over, ms));
        })));
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => ring.as_mut().poll(context).map(|_| None),
        })
        .await
    }

    /// The device's time; none on the server, where pages have no time.
    pub fn current_time() -> Option<DateTime<Utc>> {
        DateTime::from_timestamp_millis(now_ms())
    }

    /// How many minutes it is before that of UTC.
    pub fn utc_offset_minutes() -> i32 {
        -(js_sys::Date::new_0().get_timezone_offset() as i32)
    }

    /// The day here, counted from that of 1970, and how many minutes the clock is before that of UTC.
    pub fn local_day() -> Option<(i64, i32)> {
        let zone = utc_offset_minutes();
        Some(((now_ms() + i64::from(zone) * 60_000).div_euclid(86_400_000), zone))
    }

    /// A moment in the reader's own place and language: the time if it is today, else the day too.
    pub fn format_local_time(moment: DateTime<Utc>) -> Option<String> {
        let ms = moment.timestamp_millis() as f64;
        let date = js_sys::Date::new(&ms.into());
        let is_today = date.to_date_string() == js_sys::Date::new_0().to_date_string();
        let options = js_sys::JSON::parse(if is_today { TIME } else { DAY_AND_TIME }).ok()?;
        let language = web_sys::window()?.document()?.document_element()?.get_attribute("lang")?;
        Some(String::from(date.to_locale_string(&language, &options)))
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use std::future::Future;
    use std::time::Duration;

    use chrono::{DateTime, Utc};

    pub fn now_ms() -> i64 {
        0
    }

    pub fn current_time() -> Option<DateTime<Utc>> {
        None
    }

    pub async fn with_timeout<T>(_time: Duration, work: impl Future<Output = T>) -> Option<T> {
        Some(work.await)
    }

    pub fn utc_offset_minutes() -> i32 {
        0
    }

    pub fn local_day() -> Option<(i64, i32)> {
        None
    }

    pub fn format_local_time(_moment: DateTime<Utc>) -> Option<String> {
        None
    }
}

pub use real::{current_time, format_local_time, local_day, now_ms, utc_offset_minutes, with_timeout};

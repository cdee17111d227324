//! The device's clock and time zone. The first render must not use them: the server's differ, and hydration would not
//! match.

#[cfg(feature = "hydrate")]
mod real {
    use std::future::{Future, poll_fn};
    use std::pin::pin;
    use std::task::Poll;
    use std::time::Duration;

    use chrono::{DateTime, Utc};
    use wasm_bindgen_futures::JsFuture;

    /// Options of `Intl.DateTimeFormat` for a moment of today, and for any other one.
    const TIME: &str = r#"{"hour":"numeric","minute":"2-digit"}"#;
    const DAY_AND_TIME: &str =
        r#"{"hour":"numeric","minute":"2-digit","day":"numeric","month":"short","year":"numeric"}"#;

    /// Returns the Unix time of the device's clock in milliseconds.
    pub fn now_ms() -> i64 {
        js_sys::Date::now() as i64
    }

    /// Runs `work` with a timeout, and returns `None` when the time is over. The future is then dropped, which aborts
    /// a request that it owns.
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

    /// Returns the device's time; `None` on the server, where pages are rendered without a clock.
    pub fn current_time() -> Option<DateTime<Utc>> {
        DateTime::from_timestamp_millis(now_ms())
    }

    /// Returns the offset of the local time from UTC in minutes.
    pub fn utc_offset_minutes() -> i32 {
        -(js_sys::Date::new_0().get_timezone_offset() as i32)
    }

    /// Returns the local day, counted from 1970-01-01, and the offset from UTC in minutes.
    pub fn local_day() -> Option<(i64, i32)> {
        let zone = utc_offset_minutes();
        Some(((now_ms() + i64::from(zone) * 60_000).div_euclid(86_400_000), zone))
    }

    /// Formats a moment in the reader's time zone and language: only the time if it is today, otherwise with the date.
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

//! Setting options.

use core::num::NonZeroU32;
use proto_conn::{
    Code, Error, Phase, Url,
    client::{Proxy, Reconnect},
    ws::{Deflate, Keepalive},
};
use proto_core::Interface;
use std::{
    ffi::{c_char, c_void},
    time::Duration,
};

use super::{Chosen, Observer, ic_callback, ic_opt, ic_opt as O, ic_options, mode_of};
use crate::{
    guard::guarded,
    msg::bad_header,
    view::{bad_pointer, bytes, text},
};

/// Sets an option that is a number; see ic_opt.
///
/// Returns 0, or IC_E_BAD_OPTION: there is no such option, or it cannot have this value.
///
/// # Safety
/// `options` is from ic_options_new, and used by one thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_options_set_int(options: *mut ic_options, option: i32, value: i64) -> i32 {
    // SAFETY: the caller vouches for the options.
    guarded(|| unsafe { chosen(options)?.set_int(Choice { option, value }) })
}

/// Sets an option that is text; see ic_opt. The text is copied.
///
/// Returns 0, or IC_E_BAD_OPTION: there is no such option, or it cannot have this value.
///
/// # Safety
/// As for ic_options_set_int; `value` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_options_set_str(
    options: *mut ic_options,
    option: i32,
    value: *const c_char,
) -> i32 {
    // SAFETY: the caller vouches for the options and the text.
    guarded(|| unsafe { chosen(options)?.set_str(Choice { option, value: text(value)? }) })
}

/// Sets an option that is bytes; see ic_opt. They are copied.
///
/// Returns 0, or IC_E_BAD_OPTION: there is no such option, or it cannot have this value.
///
/// # Safety
/// As for ic_options_set_int; `value` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_options_set_bytes(
    options: *mut ic_options,
    option: i32,
    value: *const u8,
    len: usize,
) -> i32 {
    // SAFETY: the caller vouches for the options and the bytes.
    guarded(|| unsafe { chosen(options)?.set_bytes(Choice { option, value: bytes(value, len)? }) })
}

/// Sets an option that is a function, which is called with `user`; see ic_opt. A null function unsets it.
///
/// Returns 0, or IC_E_BAD_OPTION: there is no such option.
///
/// # Safety
/// As for ic_options_set_int; `callback` and `user` can be used as long as a connection that was opened with the
/// options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_options_set_cb(
    options: *mut ic_options,
    option: i32,
    callback: ic_callback,
    user: *mut c_void,
) -> i32 {
    let value = Observer::new(callback, user);
    // SAFETY: the caller vouches for the options.
    guarded(|| unsafe { chosen(options)?.set_callback(Choice { option, value }) })
}

/// # Safety
/// `options` is null or from [`ic_options_new`](super::ic_options_new), and nobody else uses it meanwhile.
unsafe fn chosen<'a>(options: *mut ic_options) -> Result<&'a mut Chosen, Error> {
    if options.is_null() {
        return Err(bad_pointer("the options"));
    }
    // SAFETY: passed on.
    Ok(unsafe { &mut *(*options).chosen.get() })
}

/// An option's number, and what it is to be.
struct Choice<T> {
    option: i32,
    value: T,
}

impl<T> Choice<T> {
    fn unknown(&self, is: &str) -> Error {
        refused(format!("option {} is none that is {is}", self.option))
    }

    fn wrong(&self, wanted: &str) -> Error {
        refused(format!("option {} must be {wanted}", self.option))
    }
}

impl Choice<i64> {
    fn yes(&self) -> Result<bool, Error> {
        match self.value {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.wrong("0 or 1")),
        }
    }

    fn time(&self) -> Result<Duration, Error> {
        crate::time::timeout(self.value).ok_or_else(|| self.wrong("at least 0"))
    }

    const fn optional_time(&self) -> Option<Duration> {
        if self.value < 0 { None } else { Some(Duration::from_nanos(self.value.unsigned_abs())) }
    }

    fn number<N: TryFrom<i64>>(&self) -> Result<N, Error> {
        let largest = if size_of::<N>() == 1 { "0 to 255" } else { "a number of this size, at least 0" };
        N::try_from(self.value).map_err(|_| self.wrong(largest))
    }

    fn optional_number<N: TryFrom<i64>>(&self) -> Result<Option<N>, Error> {
        if self.value < 0 { Ok(None) } else { self.number().map(Some) }
    }
}

impl Chosen {
    fn set_int(&mut self, choice: Choice<i64>) -> Result<(), Error> {
        let Some(set) = find(INTS, choice.option) else { return Err(choice.unknown("a number")) };
        set(self, &choice)
    }

    fn set_str(&mut self, choice: Choice<&str>) -> Result<(), Error> {
        let Some(set) = find(TEXTS, choice.option) else { return Err(choice.unknown("text")) };
        set(self, &choice)
    }

    fn set_bytes(&mut self, choice: Choice<&[u8]>) -> Result<(), Error> {
        let Some(set) = find(BYTES, choice.option) else { return Err(choice.unknown("bytes")) };
        set(self, &choice)
    }

    fn set_callback(&mut self, choice: Choice<Option<Observer>>) -> Result<(), Error> {
        if choice.option == O::IC_OPT_STATE_CALLBACK as i32 {
            self.state = choice.value;
        } else if choice.option == O::IC_OPT_KEY_LOG_CALLBACK as i32 {
            self.tls.key_log = choice.value.map(Observer::into_key_log);
        } else {
            return Err(choice.unknown("a function"));
        }
        Ok(())
    }

    fn ping(&mut self) -> &mut Keepalive {
        self.keepalive.get_or_insert_default()
    }

    fn again(&mut self) -> &mut Reconnect {
        self.reconnect.get_or_insert_default()
    }
}

type SetInt = fn(&mut Chosen, &Choice<i64>) -> Result<(), Error>;
type SetText = fn(&mut Chosen, &Choice<&str>) -> Result<(), Error>;
type SetBytes = fn(&mut Chosen, &Choice<&[u8]>) -> Result<(), Error>;

const INTS: &[(ic_opt, SetInt)] = &[
    (O::IC_OPT_THREADS, |_, to| match to.value {
        1 => Ok(()),
        _ => Err(to.wrong("1: the caller's thread does everything")),
    }),
    (O::IC_OPT_KEEP_ALIVE, |all, to| put(&mut all.base.keep_alive, to.yes())),
    (O::IC_OPT_RECEIVE_MODE, |all, to| put(&mut all.mode, mode_of(to.value))),
    (O::IC_OPT_SPIN_NS, |all, to| put(&mut all.spin, to.time().map(Some))),
    (O::IC_OPT_WAKEABLE, |all, to| put(&mut all.is_wakeable, to.yes())),
    (O::IC_OPT_MAX_WAITING, |all, to| put(&mut all.base.max_waiting, to.number())),
    (O::IC_OPT_MAX_EVENTS, |all, to| put(&mut all.base.max_events, to.number())),
    // Times.
    (O::IC_OPT_RESOLVE_TIMEOUT_NS, |all, to| put(&mut all.base.timeouts.resolve, to.time())),
    (O::IC_OPT_CONNECT_TIMEOUT_NS, |all, to| put(&mut all.base.timeouts.connect, to.time())),
    (O::IC_OPT_STAGGER_NS, |all, to| put(&mut all.base.timeouts.stagger, to.time())),
    (O::IC_OPT_TLS_TIMEOUT_NS, |all, to| put(&mut all.base.timeouts.tls, to.time())),
    (O::IC_OPT_PROXY_TIMEOUT_NS, |all, to| put(&mut all.base.timeouts.proxy, to.time())),
    (O::IC_OPT_UPGRADE_TIMEOUT_NS, |all, to| put(&mut all.base.timeouts.upgrade, to.time())),
    (O::IC_OPT_SEND_TIMEOUT_NS, |all, to| put(&mut all.base.timeouts.send, to.time())),
    (O::IC_OPT_FIRST_BYTE_TIMEOUT_NS, |all, to| put(&mut all.base.http.timeouts.first_byte, to.time())),
    (O::IC_OPT_BETWEEN_BYTES_TIMEOUT_NS, |all, to| put(&mut all.base.http.timeouts.between_bytes, to.time())),
    (O::IC_OPT_TOTAL_TIMEOUT_NS, |all, to| put(&mut all.base.timeouts.total, Ok(to.optional_time()))),
    (O::IC_OPT_CLOSE_TIMEOUT_NS, |all, to| {
        all.base.timeouts.close = to.time()?;
        put(&mut all.base.ws.close_timeout, to.time())
    }),
    (O::IC_OPT_CONTINUE_TIMEOUT_NS, |all, to| put(&mut all.base.http.timeouts.expect_continue, to.time())),
    // TLS.
    (O::IC_OPT_PIN_ONLY, |all, to| put(&mut all.tls.is_pin_only, to.yes())),
    (O::IC_OPT_INSECURE_SKIP_VERIFY, |all, to| put(&mut all.tls.skips_verify, to.yes())),
    // HTTP.
    (O::IC_OPT_MAX_REDIRECTS, |all, to| put(&mut all.base.max_redirects, to.number())),
    (O::IC_OPT_ALLOW_DOWNGRADE, |all, to| put(&mut all.base.allow_downgrade, to.yes())),
    (O::IC_OPT_DECODE, |all, to| put(&mut all.base.decode, to.yes())),
    (O::IC_OPT_STREAM_RESPONSES, |all, to| put(&mut all.base.stream_responses, to.yes())),
    (O::IC_OPT_CONTINUE_FROM, |all, to| put(&mut all.base.expect_continue_from, to.optional_number())),
    (O::IC_OPT_MAX_BODY, |all, to| put(&mut all.base.http.limits.body, to.number())),
    (O::IC_OPT_MAX_HEADER_BYTES, |all, to| put(&mut all.base.http.limits.fields, to.number())),
    (O::IC_OPT_PIPELINED, |all, to| put(&mut all.base.http.pipelined, to.number())),
    (O::IC_OPT_IDLE_LIMIT_NS, |all, to| put(&mut all.base.idle_limit, to.time())),
    (O::IC_OPT_MAX_AGE_NS, |all, to| put(&mut all.base.max_age, Ok(to.optional_time()))),
    (O::IC_OPT_MAX_EXCHANGES, |all, to| put(&mut all.base.max_exchanges, to.number())),
    // WebSocket.
    (O::IC_OPT_DEFLATE, |all, to| {
        let threshold = all.deflate.unwrap_or_default().threshold;
        all.deflate = match to.number()? {
            0 => None,
            level @ 1..=9 => Some(Deflate { level, threshold, ..Deflate::default() }),
            _ => return Err(to.wrong("0 to 9")),
        };
        Ok(())
    }),
    (O::IC_OPT_DEFLATE_THRESHOLD, |all, to| {
        put(&mut all.deflate.get_or_insert_default().threshold, to.number())
    }),
    (O::IC_OPT_PING_INTERVAL_NS, |all, to| match to.optional_time() {
        Some(interval) => put(&mut all.ping().interval, Ok(interval)),
        None => put(&mut all.keepalive, Ok(None)),
    }),
    (O::IC_OPT_PONG_TIMEOUT_NS, |all, to| put(&mut all.ping().timeout, to.time())),
    (O::IC_OPT_AUTO_PONG, |all, to| put(&mut all.base.ws.auto_pong, to.yes())),
    (O::IC_OPT_DELIVER_CONTROL, |all, to| put(&mut all.base.ws.deliver_control, to.yes())),
    (O::IC_OPT_MAX_MESSAGE, |all, to| put(&mut all.base.ws.max_message, to.number())),
    (O::IC_OPT_MAX_FRAME, |all, to| put(&mut all.base.ws.max_frame, to.number())),
    (O::IC_OPT_HIGH_WATER, |all, to| put(&mut all.base.ws.high_water, to.number())),
    (O::IC_OPT_FRAGMENT_ABOVE, |all, to| put(&mut all.base.ws.fragment_above, to.optional_number())),
    (O::IC_OPT_RECONNECT, |all, to| {
        let policy = all.reconnect.take().unwrap_or_default();
        put(&mut all.reconnect, to.yes().map(|yes| yes.then_some(policy)))
    }),
    (O::IC_OPT_RECONNECT_BASE_NS, |all, to| put(&mut all.again().base, to.time())),
    (O::IC_OPT_RECONNECT_CAP_NS, |all, to| put(&mut all.again().cap, to.time())),
    (O::IC_OPT_RECONNECT_MAX_ATTEMPTS, |all, to| put(&mut all.again().max_attempts, to.optional_number())),
    // Datagrams.
    (O::IC_OPT_TTL, |all, to| put(&mut all.base.datagram.ttl, to.number().map(Some))),
    (O::IC_OPT_LOOPBACK, |all, to| put(&mut all.base.loopback, to.yes())),
    (O::IC_OPT_RECEIVE_BUFFER, |all, to| put(&mut all.base.datagram.receive_buffer, to.number().map(Some))),
    (O::IC_OPT_SEND_BUFFER, |all, to| put(&mut all.base.datagram.send_buffer, to.number().map(Some))),
    (O::IC_OPT_TRAFFIC_CLASS, |all, to| put(&mut all.base.datagram.traffic_class, to.number().map(Some))),
    (O::IC_OPT_DONT_FRAGMENT, |all, to| put(&mut all.base.datagram.dont_fragment, to.yes().map(Some))),
    (O::IC_OPT_REUSE_ADDRESS, |all, to| put(&mut all.base.datagram.reuse_address, to.yes())),
    (O::IC_OPT_REUSE_PORT, |all, to| put(&mut all.base.datagram.reuse_port, to.yes())),
];

const TEXTS: &[(ic_opt, SetText)] = &[
    (O::IC_OPT_CA_FILE, |all, to| {
        let text = std::fs::read(to.value).map_err(|error| Error {
            os: error.raw_os_error(),
            ..refused(format!("{:?}: {error}", to.value))
        })?;
        all.tls.authorities.extend(text);
        Ok(())
    }),
    (O::IC_OPT_SERVER_NAME, |all, to| put(&mut all.tls.server_name, Ok(Some(to.value.to_owned())))),
    (O::IC_OPT_HEADER, |all, to| {
        let Some((name, value)) = to.value.split_once(':') else {
            return Err(to.wrong("a field such as \"Accept: text/plain\""));
        };
        let value = value.trim_matches([' ', '\t']);
        all.base.headers.append(name, value).map_err(|error| bad_header(name, &error))
    }),
    (O::IC_OPT_USER_AGENT, |all, to| {
        let name = "User-Agent";
        all.base.headers.set(name, to.value).map_err(|error| bad_header(name, &error))
    }),
    (O::IC_OPT_PROXY, |all, to| {
        let url = Url::parse(to.value).map_err(|error| refused(format!("{:?}: {error}", to.value)))?;
        put(&mut all.base.proxy, Ok(Some(Proxy { url, except: Vec::new() })))
    }),
    (O::IC_OPT_PROXY_EXCEPT, |all, to| add(&mut all.except, to.value.to_owned())),
    (O::IC_OPT_SUBPROTOCOL, |all, to| add(&mut all.base.ws.subprotocols, to.value.to_owned())),
    (O::IC_OPT_ORIGIN, |all, to| put(&mut all.base.ws.origin, Ok(Some(to.value.to_owned())))),
    (O::IC_OPT_INTERFACE, |all, to| {
        let interface = match to.value.parse::<NonZeroU32>() {
            Ok(index) => Interface::Index(index),
            Err(_) => Interface::Name(to.value.to_owned()),
        };
        add(&mut all.base.interfaces, interface)
    }),
    (O::IC_OPT_BIND, |all, to| {
        let address = to.value.parse().map_err(|_| to.wrong("an address such as 0.0.0.0:5000"))?;
        put(&mut all.base.bind, Ok(Some(address)))
    }),
    (O::IC_OPT_DEVICE, |all, to| put(&mut all.base.datagram.device, Ok(Some(to.value.to_owned())))),
];

const BYTES: &[(ic_opt, SetBytes)] = &[
    (O::IC_OPT_CA_PEM, |all, to| {
        all.tls.authorities.extend(to.value);
        Ok(())
    }),
    (O::IC_OPT_CLIENT_CERT_PEM, |all, to| put(&mut all.tls.certificate, Ok(Some(to.value.to_vec())))),
    (O::IC_OPT_CLIENT_KEY_PEM, |all, to| put(&mut all.tls.key, Ok(Some(to.value.to_vec())))),
    (O::IC_OPT_PIN_SHA256, |all, to| {
        add(&mut all.tls.pins, to.value.try_into().map_err(|_| to.wrong("32 bytes"))?)
    }),
];

fn find<S: Copy>(table: &[(ic_opt, S)], number: i32) -> Option<S> {
    table.iter().find(|(option, _)| *option as i32 == number).map(|(_, set)| *set)
}

fn put<T>(place: &mut T, value: Result<T, Error>) -> Result<(), Error> {
    *place = value?;
    Ok(())
}

/// Adds to a list that an application makes longer with each call.
fn add<T>(list: &mut Vec<T>, value: T) -> Result<(), Error> {
    if list.len() >= LONGEST_LIST {
        return Err(refused(format!("more than {LONGEST_LIST} values")));
    }
    list.push(value);
    Ok(())
}

fn refused(detail: String) -> Error {
    Error::new(Code::BadOption, Phase::Arguments).with_detail(detail)
}

/// Values of an option that may be set several times.
const LONGEST_LIST: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::super::{ic_options_free, ic_options_new, prepared};
    use super::*;
    use crate::guard::remembered;

    /// Sets options, and says what the last one was answered.
    fn with(set: impl FnOnce(*mut ic_options) -> i32) -> (i32, Chosen) {
        let options = ic_options_new();
        let code = set(options);
        // SAFETY: nobody else has them.
        let chosen = unsafe { chosen(options) }.unwrap().clone();
        // SAFETY: as above.
        unsafe { ic_options_free(options) };
        (code, chosen)
    }

    fn int(option: ic_opt, value: i64) -> (i32, Chosen) {
        // SAFETY: `with` gives options.
        with(|options| unsafe { ic_options_set_int(options, option as i32, value) })
    }

    #[test]
    fn numbers_are_checked_and_kept() {
        assert!(!int(O::IC_OPT_KEEP_ALIVE, 0).1.base.keep_alive);
        assert_eq!(int(O::IC_OPT_TTL, 7).1.base.datagram.ttl, Some(7));
        assert_eq!(int(O::IC_OPT_TOTAL_TIMEOUT_NS, -1).1.base.timeouts.total, None);
        assert_eq!(int(O::IC_OPT_TOTAL_TIMEOUT_NS, 5).1.base.timeouts.total, Some(Duration::from_nanos(5)));
        let bad = Code::BadOption as i32;
        for (option, value) in [
            (O::IC_OPT_KEEP_ALIVE, 2),
            (O::IC_OPT_TTL, 256),
            (O::IC_OPT_TTL, -1),
            (O::IC_OPT_RECEIVE_MODE, 3),
            (O::IC_OPT_THREADS, 2),
            (O::IC_OPT_THREADS, 0),
            (O::IC_OPT_CLOSE_TIMEOUT_NS, -1),
            (O::IC_OPT_DEFLATE, 10),
            (O::IC_OPT_CA_FILE, 1),
        ] {
            assert_eq!(int(option, value).0, bad, "{option:?}");
        }
        int(O::IC_OPT_THREADS, 4);
        assert!(remembered().unwrap().to_string().contains("the caller's thread does everything"));
    }

    #[test]
    fn texts_are_checked_and_kept() {
        // SAFETY: `with` gives options, and the text ends with a zero byte.
        let set = |option: ic_opt, text: &core::ffi::CStr| {
            with(|options| unsafe { ic_options_set_str(options, option as i32, text.as_ptr()) })
        };
        assert_eq!(set(O::IC_OPT_HEADER, c"Accept: a/b").1.base.headers.get("accept"), Some(&b"a/b"[..]));
        assert_eq!(set(O::IC_OPT_INTERFACE, c"2").1.base.interfaces.len(), 1);
        let bad = Code::BadOption as i32;
        assert_eq!(set(O::IC_OPT_CA_FILE, c"/nowhere").0, bad);
        assert_eq!(remembered().unwrap().os, Some(2));
        assert_eq!(set(O::IC_OPT_BIND, c"here").0, bad);
        assert_eq!(set(O::IC_OPT_PROXY, c"no url").0, bad);
        assert_eq!(set(O::IC_OPT_HEADER, c"no colon").0, bad);
        assert_eq!(set(O::IC_OPT_HEADER, c"a b: c").0, Code::BadHeader as i32);
    }

    #[test]
    fn tls_is_prepared_for_schemes_that_need_it() {
        let url = |text| Url::parse(text).unwrap();
        let plain = Chosen::default().prepare(&url("http://a/")).unwrap();
        assert!(plain.options.tls.is_none());
        // SAFETY: null stands for the defaults.
        let secure = unsafe { prepared(core::ptr::null(), &url("wss://a/")) }.unwrap();
        assert!(secure.options.tls.is_some());
        // SAFETY: `with` gives options; the bytes are there.
        let (code, broken) = with(|options| unsafe {
            ic_options_set_bytes(options, O::IC_OPT_CA_PEM as i32, b"no".as_ptr(), 2)
        });
        assert_eq!(code, 0);
        assert_eq!(broken.prepare(&url("https://a/")).err().unwrap().code, Code::TlsConfig);
    }

    #[test]
    fn each_option_can_be_set_in_one_way() {
        let source = include_str!("names.rs");
        let ways = [
            ("int", INTS.iter().map(|(option, _)| *option as i32).collect::<Vec<_>>()),
            ("str", TEXTS.iter().map(|(option, _)| *option as i32).collect()),
            ("bytes", BYTES.iter().map(|(option, _)| *option as i32).collect()),
        ];
        for (way, known) in &ways {
            let documented = source.matches(&format!("/// {way}: ")).count();
            assert_eq!(documented, known.len(), "{way}");
        }
    }
}

//! How connections are to behave, for C.

mod names;
mod observer;
mod set;
mod tls;

pub use names::*;
pub(crate) use observer::Observer;
pub use observer::ic_callback;
pub use set::*;

use proto_conn::{
    Code, Error, Phase, Url,
    client::{Options, Reconnect},
    ws::{Deflate, Keepalive},
};
use runtime_blocking::ReceiveMode;
use std::{cell::UnsafeCell, time::Duration};

use crate::guard::guarded_or;
use tls::Tls;

/// How connections are to behave. They are read by ic_open, and can be used for several connections.
#[derive(Debug)]
pub struct ic_options {
    chosen: UnsafeCell<Chosen>,
}

/// What was chosen so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) base: Options,
    tls: Tls,
    reconnect: Option<Reconnect>,
    keepalive: Option<Keepalive>,
    deflate: Option<Deflate>,
    /// Hosts that are reached without a proxy, kept until there is one.
    except: Vec<String>,
    mode: Mode,
    spin: Option<Duration>,
    pub(crate) is_wakeable: bool,
    state: Option<Observer>,
}

/// How calls wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Park,
    Poll,
    Spin,
}

/// What a connection is opened with.
pub(crate) struct Prepared {
    pub(crate) options: Options,
    pub(crate) mode: ReceiveMode,
    /// Calls that are not told how long do not wait.
    pub(crate) is_polled: bool,
    pub(crate) is_wakeable: bool,
    pub(crate) observer: Option<Observer>,
}

/// Makes options with their defaults; null where there is no memory. ic_options_free ends them.
#[unsafe(no_mangle)]
pub extern "C" fn ic_options_new() -> *mut ic_options {
    guarded_or(core::ptr::null_mut(), || {
        Ok(Box::into_raw(Box::new(ic_options { chosen: UnsafeCell::new(Chosen::default()) })))
    })
}

/// Ends options. Connections that were opened with them are not affected. Null is fine.
///
/// # Safety
/// `options` is null, or from ic_options_new and not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ic_options_free(options: *mut ic_options) {
    guarded_or((), || {
        if !options.is_null() {
            // SAFETY: the caller vouches for it.
            drop(unsafe { Box::from_raw(options) });
        }
        Ok(())
    });
}

/// Reads options; a null pointer stands for the defaults.
///
/// # Safety
/// `options` is null, or options that nobody changes meanwhile.
pub(crate) unsafe fn prepared(options: *const ic_options, url: &Url) -> Result<Prepared, Error> {
    if options.is_null() {
        return Chosen::default().prepare(url);
    }
    // SAFETY: passed on.
    unsafe { &*(*options).chosen.get() }.prepare(url)
}

impl Chosen {
    fn prepare(&self, url: &Url) -> Result<Prepared, Error> {
        let mut options = self.base.clone();
        options.reconnect.clone_from(&self.reconnect);
        options.ws.keepalive = self.keepalive;
        options.ws.deflate = self.deflate;
        if let Some(proxy) = &mut options.proxy {
            proxy.except.clone_from(&self.except);
        }
        if url.scheme.is_tls() {
            options.tls = self.tls.client()?;
        }
        Ok(Prepared {
            options,
            mode: receive_mode(self.mode, self.spin),
            is_polled: self.mode == Mode::Poll,
            is_wakeable: self.is_wakeable,
            observer: self.state.clone(),
        })
    }
}

/// Reads a receive mode that C gave, and says whether it is the one that does not wait.
pub(crate) fn mode_from_c(mode: i32, spin_ns: i64) -> Result<(ReceiveMode, bool), Error> {
    let spin = crate::time::timeout(spin_ns);
    let mode = mode_of(i64::from(mode))?;
    Ok((receive_mode(mode, spin), mode == Mode::Poll))
}

fn mode_of(number: i64) -> Result<Mode, Error> {
    let modes = [
        (ic_receive_mode::IC_RECEIVE_PARK, Mode::Park),
        (ic_receive_mode::IC_RECEIVE_POLL, Mode::Poll),
        (ic_receive_mode::IC_RECEIVE_SPIN, Mode::Spin),
    ];
    let found = modes.into_iter().find(|(c, _)| i64::from(*c as i32) == number);
    found.map(|(_, mode)| mode).ok_or_else(|| {
        Error::new(Code::BadOption, Phase::Arguments)
            .with_detail(format!("{number} is not a receive mode: IC_RECEIVE_PARK, _POLL or _SPIN"))
    })
}

/// A call that is told how long to wait parks in the mode that otherwise does not wait.
fn receive_mode(mode: Mode, spin: Option<Duration>) -> ReceiveMode {
    match mode {
        Mode::Park | Mode::Poll => ReceiveMode::Park,
        Mode::Spin => ReceiveMode::Spin(spin.unwrap_or(DEFAULT_SPIN)),
    }
}

/// How long to look before sleeping, unless something else is chosen.
const DEFAULT_SPIN: Duration = Duration::from_micros(50);

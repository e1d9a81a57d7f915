//! Handles: what C holds of a connection, and how a pointer is found not to be one.

use proto_conn::{Code, Error, Message, Phase, Pool};
use runtime_blocking::{Waker, conn::Connection};
use std::{
    cell::UnsafeCell,
    collections::VecDeque,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use crate::{
    guard::{caught, remember},
    msg::ic_msg,
    options::Observer,
};

/// A connection. It is used by one thread at a time; only ic_wake and ic_cancel may be called from any.
#[derive(Debug)]
pub struct ic_conn {
    tag: AtomicU32,
    /// A call is under way.
    is_busy: AtomicBool,
    /// What other threads asked for: [`WAKE`] and [`CANCEL`].
    asked: AtomicU32,
    waker: Mutex<Option<Waker>>,
    /// Nothing, once it was freed.
    inner: UnsafeCell<Option<Inner>>,
}

// SAFETY: what is inside is used by whoever set `is_busy`, one thread at a time, and can be used by any: the only parts
// that are not `Send` are the application's own pointers, of which it was told so.
unsafe impl Send for ic_conn {}
// SAFETY: as above; the rest is made to be shared.
unsafe impl Sync for ic_conn {}

/// What a handle stands for.
pub(crate) struct Inner {
    pub(crate) connection: Connection,
    /// What went wrong last.
    pub(crate) last: Option<Error>,
    /// A message that did not fit into the caller's buffer.
    pub(crate) kept: Option<Message>,
    /// Memory for what is sent from the caller's buffers.
    pub(crate) pool: Pool,
    /// The shell of a message that was given back.
    pub(crate) spare: Option<Box<ic_msg>>,
    /// Calls do not wait unless they are told how long.
    pub(crate) is_polled: bool,
    pub(crate) observer: Option<Observer>,
    /// A panic left it half changed.
    is_poisoned: bool,
}

/// The call that waits returns as if its deadline had come.
pub(crate) const WAKE: u32 = 1;
/// The call that waits returns "cancelled".
pub(crate) const CANCEL: u32 = 1 << 1;

const ALIVE: u32 = 0x4943_4f4e;
const FREED: u32 = 0x6963_6f6e;

impl Inner {
    pub(crate) fn new(connection: Connection, is_polled: bool, observer: Option<Observer>) -> Self {
        Self {
            connection,
            last: None,
            kept: None,
            pool: Pool::new(LARGEST_KEPT),
            spare: None,
            is_polled,
            observer,
            is_poisoned: false,
        }
    }

    fn check(&self) -> Result<(), Error> {
        if self.is_poisoned {
            let detail = "the handle is of no use any more: free it";
            return Err(Error::new(Code::Panic, Phase::Arguments).with_detail(detail));
        }
        Ok(())
    }
}

impl ic_conn {
    /// Makes a handle, which [`free`] ends.
    pub(crate) fn create(inner: Inner, waker: Option<Waker>) -> *mut Self {
        Box::into_raw(Box::new(Self {
            tag: AtomicU32::new(ALIVE),
            is_busy: AtomicBool::new(false),
            asked: AtomicU32::new(0),
            waker: Mutex::new(waker),
            inner: UnsafeCell::new(Some(inner)),
        }))
    }

    /// Has the call that waits return.
    pub(crate) fn ask(&self, what: u32) -> Result<(), Error> {
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(waker) = &*waker else {
            let detail = "the handle was opened without IC_OPT_WAKEABLE";
            return Err(Error::new(Code::BadState, Phase::Arguments).with_detail(detail));
        };
        self.asked.fetch_or(what, Ordering::AcqRel);
        waker.wake();
        Ok(())
    }

    /// Says what an interrupted wait means.
    fn why_interrupted(&self, error: Error) -> Error {
        let asked = self.asked.swap(0, Ordering::AcqRel);
        let code = if asked & CANCEL == 0 { Code::WouldBlock } else { Code::Cancelled };
        Error { code, ..error }
    }
}

/// Releases a handle's lock on every way out.
struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Looks at a handle as any thread may.
///
/// # Safety
/// `conn` is null, or is a handle, or was one and is among the last that were freed.
pub(crate) unsafe fn shared<'a>(conn: *const ic_conn) -> Result<&'a ic_conn, Error> {
    let bad = |detail: &str| Error::new(Code::BadHandle, Phase::Arguments).with_detail(detail);
    if conn.is_null() || !conn.is_aligned() {
        return Err(bad("not a handle"));
    }
    // SAFETY: the caller vouches for the memory.
    let conn = unsafe { &*conn };
    match conn.tag.load(Ordering::Acquire) {
        ALIVE => Ok(conn),
        FREED => Err(bad("the handle was freed")),
        _ => Err(bad("not a handle")),
    }
}

/// Does something with a handle's connection, and returns 0 or the error's code, which the handle remembers.
///
/// # Safety
/// As for [`shared`].
pub(crate) unsafe fn entered(conn: *mut ic_conn, act: impl FnOnce(&mut Inner) -> Result<(), Error>) -> i32 {
    // SAFETY: passed on.
    unsafe { entered_for(conn, act) }.err().unwrap_or(0)
}

/// As [`entered`], for what has a result of its own.
///
/// # Safety
/// As for [`shared`].
pub(crate) unsafe fn entered_for<T>(
    conn: *mut ic_conn,
    act: impl FnOnce(&mut Inner) -> Result<T, Error>,
) -> Result<T, i32> {
    // SAFETY: passed on.
    let (conn, _busy) = unsafe { occupied(conn) }.map_err(|error| {
        let code = error.code as i32;
        remember(error);
        code
    })?;
    // SAFETY: nobody else has entered, and nobody can before `_busy` goes.
    let Some(inner) = (unsafe { &mut *conn.inner.get() }) else { return Err(Code::BadHandle as i32) };
    let outcome = caught(|| {
        inner.check()?;
        let before = inner.observer.as_ref().map(|_| inner.connection.state());
        let outcome = act(inner);
        if let (Some(observer), Some(before)) = (&inner.observer, before) {
            observer.tell(before, inner.connection.state());
        }
        outcome
    });
    outcome.map_err(|error| {
        let error = if error.code == Code::Cancelled { conn.why_interrupted(error) } else { error };
        let code = error.code;
        inner.is_poisoned |= code == Code::Panic;
        inner.last = Some(error);
        code as i32
    })
}

/// Looks at what a handle stands for.
///
/// # Safety
/// As for [`shared`].
pub(crate) unsafe fn peeked<T>(conn: *const ic_conn, look: impl FnOnce(&Inner) -> T) -> Result<T, Error> {
    // SAFETY: passed on.
    let (conn, _busy) = unsafe { occupied(conn) }?;
    // SAFETY: nobody else has entered, and nobody can before `_busy` goes.
    let inner = unsafe { &*conn.inner.get() };
    let gone = || Error::new(Code::BadHandle, Phase::Arguments);
    caught(|| inner.as_ref().map(look).ok_or_else(gone))
}

/// Takes a handle for a call.
///
/// # Safety
/// As for [`shared`].
unsafe fn occupied<'a>(conn: *const ic_conn) -> Result<(&'a ic_conn, Busy<'a>), Error> {
    // SAFETY: passed on.
    let conn = unsafe { shared(conn) }?;
    if conn.is_busy.swap(true, Ordering::Acquire) {
        let detail = "the handle is in another call: one thread at a time, and not from a callback";
        return Err(Error::new(Code::BadHandle, Phase::Arguments).with_detail(detail));
    }
    Ok((conn, Busy(&conn.is_busy)))
}

/// Ends a handle.
///
/// # Safety
/// As for [`shared`], and no other thread has it any more.
pub(crate) unsafe fn free(conn: *mut ic_conn) -> Result<(), Error> {
    if conn.is_null() {
        return Ok(());
    }
    // SAFETY: passed on.
    let (shell, busy) = unsafe { occupied(conn) }?;
    shell.tag.store(FREED, Ordering::Release);
    shell.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
    // SAFETY: nobody else has entered, and the tag keeps everybody away from now on.
    let inner = unsafe { (*shell.inner.get()).take() };
    let outcome = caught(|| {
        drop(inner);
        Ok(())
    });
    drop(busy);
    // SAFETY: `create` made it, and only the tag is ever looked at again.
    GRAVES.bury(unsafe { Box::from_raw(conn) });
    outcome
}

/// Keeps the shells of what was freed lately, so that whoever uses one of them again is told instead of doing harm.
pub(crate) struct Graves<T>(Mutex<VecDeque<Box<T>>>);

impl<T> Graves<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    pub(crate) fn bury(&self, shell: Box<T>) {
        let mut shells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = if shells.len() < KEPT { None } else { shells.pop_front() };
        shells.push_back(shell);
        drop(shells);
        drop(oldest);
    }
}

static GRAVES: Graves<ic_conn> = Graves::new();

/// How many shells are kept.
const KEPT: usize = 64;

/// The longest memory that a handle keeps for the next message to send.
const LARGEST_KEPT: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use proto_conn::client::Options;

    fn handle() -> *mut ic_conn {
        let connection = Connection::open("udp://127.0.0.1:9", Options::default()).unwrap();
        ic_conn::create(Inner::new(connection, false, None), None)
    }

    #[test]
    fn a_panic_poisons_the_handle_until_it_is_freed() {
        let conn = handle();
        // SAFETY: it is a handle of this thread.
        unsafe {
            assert_eq!(entered(conn, |_| panic!("half done")), Code::Panic as i32);
            assert_eq!(entered(conn, |_| Ok(())), Code::Panic as i32);
            let last = peeked(conn, |inner| inner.last.clone()).unwrap().unwrap();
            assert!(last.detail.contains("free it"), "{last}");
            assert_eq!(free(conn), Ok(()));
        }
    }

    #[test]
    fn a_handle_is_in_one_call_at_a_time() {
        let conn = handle();
        // SAFETY: it is a handle of this thread.
        unsafe {
            let mut inside = 0;
            assert_eq!(
                entered(conn, |_| {
                    inside = entered(conn, |_| Ok(()));
                    assert!(free(conn).is_err());
                    Ok(())
                }),
                0
            );
            assert_eq!(inside, Code::BadHandle as i32);
            assert_eq!(free(conn), Ok(()));
        }
    }

    #[test]
    fn what_is_not_a_handle_or_not_any_more_is_refused() {
        let conn = handle();
        // SAFETY: the shell of the last handle that was freed is kept; null is looked at, not followed.
        unsafe {
            assert_eq!(free(core::ptr::null_mut()), Ok(()));
            assert_eq!(entered(core::ptr::null_mut(), |_| Ok(())), Code::BadHandle as i32);
            assert_eq!(free(conn), Ok(()));
            assert_eq!(entered(conn, |_| Ok(())), Code::BadHandle as i32);
            assert_eq!(free(conn).unwrap_err().detail, "the handle was freed");
        }
    }
}

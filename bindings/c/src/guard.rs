//! Where panics end, and what went wrong in calls without a handle.

use proto_conn::{Code, Error, Phase};
use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
};

thread_local! {
    /// The last error of a call in this thread that had no handle to keep it.
    static LAST: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// Runs what a call without a handle does, and returns 0 or the error's code.
pub(crate) fn guarded(act: impl FnOnce() -> Result<(), Error>) -> i32 {
    let error = match caught(act) {
        Ok(()) => return 0,
        Err(error) => error,
    };
    let code = error.code as i32;
    remember(error);
    code
}

/// Runs what a call without an outcome does, and returns `otherwise` where it cannot.
pub(crate) fn guarded_or<T>(otherwise: T, act: impl FnOnce() -> Result<T, Error>) -> T {
    caught(act).unwrap_or_else(|error| {
        remember(error);
        otherwise
    })
}

/// Runs it, and turns a panic into an error.
pub(crate) fn caught<T>(act: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    // What a panic leaves half done is of no consequence: the handle that it belongs to is not used any more.
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().map(ToString::to_string);
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
        // What was thrown may panic again when it is dropped.
        core::mem::forget(panic);
        Err(Error::new(Code::Panic, Phase::Arguments).with_detail(said.unwrap_or_default()))
    })
}

/// Keeps an error for a later question of this thread.
pub(crate) fn remember(error: Error) {
    // At the very end of a thread there is nobody left to ask.
    let _ = LAST.try_with(|last| last.replace(Some(error)));
}

/// Returns the error that this thread was last told without a handle.
pub(crate) fn remembered() -> Option<Error> {
    LAST.try_with(|last| last.borrow().clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_at_the_edge_and_can_be_asked_about() {
        assert_eq!(guarded(|| panic!("of {}", "ours")), Code::Panic as i32);
        let error = remembered().unwrap();
        assert_eq!((error.code, error.detail.as_str()), (Code::Panic, "of ours"));
        assert_eq!(guarded_or(7, || panic!("again")), 7);
        assert_eq!(guarded(|| Ok(())), 0);
    }
}

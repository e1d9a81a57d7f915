//! In the long run, the calls for the caller's own buffers allocate nothing that the connection would not without them.

#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

mod support;

use iolite_conn::{ic_conn, ic_free, ic_kind, ic_open, ic_recv_into, ic_request_into, ic_send_bytes};
use runtime_blocking::conn::{Connection, Message, Method, Options, Payload};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    ffi::CString,
    ptr::{null, null_mut},
};
use support::echo::Echo;

thread_local! {
    /// Allocations of this thread.
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: all is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: passed on.
        unsafe { System.dealloc(ptr, layout) }
    }
}

fn open(url: &str) -> *mut ic_conn {
    let url = CString::new(url).unwrap();
    let mut conn = null_mut();
    // SAFETY: the text ends with a zero byte, and the pointer is one to write to.
    assert_eq!(unsafe { ic_open(url.as_ptr(), null(), &mut conn, null_mut()) }, 0);
    conn
}

/// Does something often, and returns how many allocations the second half of it took.
fn allocations(mut act: impl FnMut()) -> u32 {
    (0..50).for_each(|_| act());
    let before = COUNT.get();
    (0..50).for_each(|_| act());
    COUNT.get() - before
}

#[test]
fn calls_of_the_callers_buffers_allocate_nothing_of_their_own_in_the_long_run() {
    let echo = Echo::start();
    let (body, mut buf, mut len) = ([7; 64], [0; 256], 0);
    let http = open(&format!("http://{}/", echo.stream));
    let requests = allocations(|| {
        // SAFETY: it is a handle of this thread, and the buffers are as long as the call says.
        let code = unsafe {
            ic_request_into(
                http,
                c"POST".as_ptr(),
                null(),
                body.as_ptr(),
                body.len(),
                buf.as_mut_ptr(),
                buf.len(),
                &mut len,
                null_mut(),
                -1,
            )
        };
        assert_eq!((code, len), (0, body.len()));
    });
    let mut raw = Connection::open(&format!("http://{}/", echo.stream), Options::default()).unwrap();
    let without = allocations(|| {
        let request = Message::request(Method::Post, "", Payload::from_static(&[7; 64]));
        let answer = raw.request(request, None).unwrap();
        raw.recycle(answer);
    });
    let talk = |url: String, kind: ic_kind| {
        let conn = open(&url);
        let count = allocations(|| {
            let (mut buf, mut len) = ([0; 256], 0);
            // SAFETY: as above.
            unsafe {
                assert_eq!(ic_send_bytes(conn, kind as i32, body.as_ptr(), body.len()), 0);
                let code = ic_recv_into(conn, buf.as_mut_ptr(), buf.len(), &mut len, null_mut(), -1);
                assert_eq!((code, len), (0, body.len()));
            }
        });
        // SAFETY: it is not used again.
        unsafe { ic_free(conn) };
        count
    };
    let frames = talk(format!("ws://{}/", echo.stream), ic_kind::IC_KIND_BINARY);
    let datagrams = talk(format!("udp://{}", echo.datagram), ic_kind::IC_KIND_DATAGRAM);
    // SAFETY: it is not used again.
    unsafe { ic_free(http) };
    assert!(requests <= without, "{requests} with the interface, {without} without");
    assert_eq!((frames, datagrams), (0, 0));
}

//! What the border costs: a request over the C interface against the same without it, in turns.
//!
//!     taskset -c 1 cargo test --release -p iolite-conn-c --test cost -- --ignored --nocapture

#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

mod support;

use iolite_conn::{
    ic_conn, ic_free, ic_info, ic_msg, ic_msg_free, ic_msg_new_request, ic_msg_set_body, ic_open, ic_recycle,
    ic_request, ic_request_into, ic_state,
};
use runtime_blocking::conn::{Connection, Message, Method, Options, Payload};
use std::{
    ffi::CString,
    ptr::{null, null_mut},
    time::{Duration, Instant},
};
use support::echo::Echo;

const ROUNDS: u32 = 4_000;
const TURNS: usize = 7;
const BODY: [u8; 64] = [b'b'; 64];
const SIZE_OF_INFO: u32 = 32;

#[test]
#[ignore = "a measurement: it wants a processor of its own"]
fn a_request_over_the_c_interface_costs_hardly_more_than_one_without() {
    let echo = Echo::start();
    let url = format!("http://{}/", echo.stream);
    let mut raw = Connection::open(&url, Options::default()).unwrap();
    let mut conn: *mut ic_conn = null_mut();
    let c_url = CString::new(url).unwrap();
    let mut msg: *mut ic_msg = null_mut();
    // SAFETY: texts end with zero bytes, and each pointer is one to write to.
    unsafe {
        assert_eq!(ic_open(c_url.as_ptr(), null(), &mut conn, null_mut()), 0);
        assert_eq!(ic_msg_new_request(c"POST".as_ptr(), null(), &mut msg), 0);
        assert_eq!(ic_msg_set_body(msg, BODY.as_ptr(), BODY.len()), 0);
    }
    let mut best = [Duration::MAX; 4];
    for _ in 0..TURNS {
        let turns = [
            timed(|| {
                let body = Payload::from_static(&BODY);
                let answer = raw.request(Message::request(Method::Post, "", body), None).unwrap();
                assert_eq!(answer.body.len(), BODY.len());
                raw.recycle(answer);
            }),
            // SAFETY: both are live, and the answer is given back.
            timed(|| unsafe {
                let mut answer = null_mut();
                assert_eq!(ic_request(conn, msg, -1, &mut answer), 0);
                ic_recycle(conn, answer);
            }),
            timed(|| request_into(conn)),
            // SAFETY: it is a handle.
            timed(|| unsafe { assert!(ic_state(conn) > 0) }),
        ];
        for (best, turn) in best.iter_mut().zip(turns) {
            *best = turn.min(*best);
        }
    }
    let [without, with, into, state] = best.map(|best| best / ROUNDS);
    println!("raw {without:?}, ic_request {with:?}, ic_request_into {into:?}, ic_state {state:?}");
    // SAFETY: they are not used again.
    unsafe {
        ic_msg_free(msg);
        ic_free(conn);
    }
    let allowed = without + (without * 3 / 100).max(Duration::from_nanos(100));
    assert!(with <= allowed && into <= allowed, "more than 3 % and 100 ns");
}

fn request_into(conn: *mut ic_conn) {
    let (mut buf, mut len) = ([0; 256], 0);
    let mut info = ic_info {
        struct_size: SIZE_OF_INFO,
        kind: 0,
        status: 0,
        flags: 0,
        interface_index: 0,
        reserved: 0,
        received_ns: 0,
    };
    // SAFETY: it is a handle, and the buffers are as long as the call says.
    let code = unsafe {
        ic_request_into(
            conn,
            c"POST".as_ptr(),
            null(),
            BODY.as_ptr(),
            BODY.len(),
            buf.as_mut_ptr(),
            buf.len(),
            &mut len,
            &mut info,
            -1,
        )
    };
    assert_eq!((code, len, info.status), (0, BODY.len(), 200));
}

#[allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]
fn timed(mut act: impl FnMut()) -> Duration {
    act();
    let start = Instant::now();
    for _ in 0..ROUNDS {
        act();
    }
    start.elapsed()
}

//! Proof that the protocol crates need no operating system: two RakNet endpoints shake hands and echo messages, and two
//! Reticulum nodes exchange packets, messages and a resource, an HTTP client and a WebSocket talk to a server, with nothing
//! but a fixed arena. If anything pulled in the standard library, this would not link (E0152).
//!
//! The exit code tells the outcome: 0 if everything arrived.

#![no_std]
#![no_main]

extern crate alloc;

mod arena;
mod conversation;
mod exchange;
mod mesh;

use core::{
    ffi::{CStr, c_char},
    panic::PanicInfo,
};

use arena::Arena;
use conversation::Conversation;
use exchange::Exchange;
use mesh::Mesh;

/// Messages that are echoed.
const MESSAGES: u32 = 1_000;
/// Reticulum packets, and as many messages on a link.
const PACKETS: u32 = 20;
/// Bytes of a resource.
const RESOURCE: usize = 20_000;
/// HTTP exchanges, and as many WebSocket messages.
const EXCHANGES: u32 = 100;
/// Bytes of each.
const BODY: usize = 2_000;

#[global_allocator]
static ARENA: Arena = Arena::new();

unsafe extern "C" {
    fn printf(format: *const c_char, ...) -> i32;
    fn abort() -> !;
}

#[unsafe(no_mangle)]
extern "C" fn main(_count: i32, _args: *const *const c_char) -> i32 {
    let echoed = Conversation::new().map_or(0, |mut conversation| conversation.echo(MESSAGES));
    let format = c"%u of %u messages came back; at most %zu of %zu bytes of the arena were in use\n";
    // SAFETY: the format names exactly these arguments, with these C types.
    unsafe {
        printf(format.as_ptr(), echoed, MESSAGES, ARENA.peak(), arena::SIZE);
    }
    let mesh_works = mesh();
    let exchanges_work = exchanges(c"HTTP", "http://10.0.0.1/") && exchanges(c"WebSocket", "ws://10.0.0.1/");
    i32::from(echoed != MESSAGES || !mesh_works || !exchanges_work)
}

/// Lets two Reticulum nodes talk and says whether all of it arrived.
fn mesh() -> bool {
    let Some(mut mesh) = Mesh::new() else { return false };
    let done = mesh.talk(PACKETS, RESOURCE);
    let format = c"%u of %u packets and %u messages were proved, %zu of %zu bytes of a resource arrived; at most %zu bytes\n";
    // SAFETY: the format names exactly these arguments, with these C types.
    unsafe {
        printf(format.as_ptr(), done.packets, PACKETS, done.messages, done.resource, RESOURCE, ARENA.peak());
    }
    (done.packets, done.messages, done.resource) == (PACKETS, PACKETS, RESOURCE)
}

/// Lets a client and a server talk and says whether everything came back.
fn exchanges(name: &CStr, url: &str) -> bool {
    let echoed = Exchange::new(url).map_or(0, |mut exchange| exchange.echo(EXCHANGES, BODY));
    let format = c"%u of %u messages of %zu bytes came back over %s; at most %zu bytes\n";
    // SAFETY: the format names exactly these arguments, with these C types.
    unsafe {
        printf(format.as_ptr(), echoed, EXCHANGES, BODY, name.as_ptr(), ARENA.peak());
    }
    echoed == EXCHANGES
}

/// The toolchain's `alloc` is compiled for unwinding, and its formatting refers to these; with `panic = "abort"` nothing
/// ever unwinds.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    // SAFETY: `abort` may be called at any time.
    unsafe { abort() }
}

#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    // SAFETY: `abort` may be called at any time.
    unsafe { abort() }
}

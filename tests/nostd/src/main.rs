//! Proof that the protocol crates need no operating system: two RakNet endpoints shake hands and echo messages with
//! nothing but a fixed arena. If anything pulled in the standard library, this would not link (E0152).
//!
//! The exit code tells the outcome: 0 if every message came back.

#![no_std]
#![no_main]

extern crate alloc;

mod arena;
mod conversation;

use core::{ffi::c_char, panic::PanicInfo};

use arena::Arena;
use conversation::Conversation;

/// Messages that are echoed.
const MESSAGES: u32 = 1_000;

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
    i32::from(echoed != MESSAGES)
}

#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    // SAFETY: `abort` may be called at any time.
    unsafe { abort() }
}

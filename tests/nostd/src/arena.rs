//! An allocator over a fixed piece of memory.

use core::{
    alloc::{GlobalAlloc, Layout},
    cell::UnsafeCell,
    ptr::null_mut,
};

/// Bytes of the arena: what two endpoints, and then two nodes, need at their peak, with some room.
pub const SIZE: usize = 1024 * 1024;

/// Blocks are powers of two from 16 bytes on; freed ones wait in a list of their size.
const SMALLEST: usize = 16;
const CLASSES: usize = 20;

/// The memory and where its free blocks are. For one thread only.
pub struct Arena {
    memory: UnsafeCell<Memory>,
    state: UnsafeCell<State>,
}

#[repr(align(4096))]
struct Memory {
    _bytes: [u8; SIZE],
}

struct State {
    /// Everything from here on was never used.
    fresh: usize,
    free: [*mut u8; CLASSES],
    in_use: usize,
    peak: usize,
}

// SAFETY: the program has one thread.
unsafe impl Sync for Arena {}

impl Arena {
    /// Creates an empty arena.
    pub const fn new() -> Self {
        let state = State { fresh: 0, free: [null_mut(); CLASSES], in_use: 0, peak: 0 };
        Self { memory: UnsafeCell::new(Memory { _bytes: [0; SIZE] }), state: UnsafeCell::new(state) }
    }

    /// Returns the most bytes that were in use at a time.
    pub fn peak(&self) -> usize {
        // SAFETY: one thread, and no reference to the state outlives a call.
        unsafe { (*self.state.get()).peak }
    }
}

// SAFETY: a block is as long as its class, at least as aligned as asked, and belongs to one owner until it is freed:
// it is either cut off the fresh memory or taken out of the list of its class.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = layout.size().max(layout.align()).max(SMALLEST).next_power_of_two();
        let class = class_of(size);
        // SAFETY: one thread, and no reference to the state outlives a call.
        let state = unsafe { &mut *self.state.get() };
        let Some(free) = state.free.get_mut(class) else { return null_mut() };
        let block = if free.is_null() {
            let align = size.min(4_096);
            let start = state.fresh.next_multiple_of(align);
            if start + size > SIZE {
                return null_mut();
            }
            state.fresh = start + size;
            // SAFETY: `start + size` lies within the memory.
            unsafe { self.memory.get().cast::<u8>().add(start) }
        } else {
            let block = *free;
            // SAFETY: a free block holds the address of the next one of its class.
            *free = unsafe { block.cast::<*mut u8>().read() };
            block
        };
        state.in_use += size;
        state.peak = state.peak.max(state.in_use);
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let size = layout.size().max(layout.align()).max(SMALLEST).next_power_of_two();
        // SAFETY: one thread, and no reference to the state outlives a call.
        let state = unsafe { &mut *self.state.get() };
        let Some(free) = state.free.get_mut(class_of(size)) else { return };
        // SAFETY: the block is no longer used by its owner, and is long enough and aligned for an address.
        unsafe { block.cast::<*mut u8>().write(*free) };
        *free = block;
        state.in_use -= size;
    }
}

const fn class_of(size: usize) -> usize {
    (size / SMALLEST).trailing_zeros() as usize
}

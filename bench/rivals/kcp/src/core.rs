//! The few functions of the C core that the peer needs, behind a safe type.
//!
//! `kcp-sys` builds and links the core; its own wrapper copies every outgoing datagram into a new buffer,
//! which a comparison must not charge to KCP, so the core is called directly.

use std::ffi::{c_char, c_int, c_long, c_void};
use std::ptr::NonNull;

use bench_peer::Fault;
use kcp_sys as _;

/// Where a core's datagrams go.
pub(crate) trait Outlet {
    fn send(&self, datagram: &[u8]);
}

/// One KCP connection.
pub(crate) struct Kcp<O: Outlet> {
    control: NonNull<ControlBlock>,
    // The core holds a pointer to it for as long as `control` lives.
    _outlet: Box<O>,
}

impl<O: Outlet> Kcp<O> {
    pub(crate) fn new(conversation: u32, outlet: O) -> Result<Self, Fault> {
        let outlet = Box::new(outlet);
        let user = (&raw const *outlet).cast_mut().cast();
        // SAFETY: `ikcp_create` only stores `user`; the box outlives the control block and never moves its content.
        let control = NonNull::new(unsafe { ikcp_create(conversation, user) }).ok_or("KCP: out of memory")?;
        // SAFETY: `control` is live and `output::<O>` fits the type behind `user`.
        unsafe { ikcp_setoutput(control.as_ptr(), output::<O>) };
        Ok(Self { control, _outlet: outlet })
    }

    /// Sets the timing (first flag and interval in ms, fast resend, no congestion window), windows and MTU.
    pub(crate) fn tune(&mut self, interval: c_int, windows: (c_int, c_int), mtu: c_int) {
        let control = self.control.as_ptr();
        // SAFETY: `control` is live; the core checks the values.
        unsafe {
            ikcp_nodelay(control, 1, interval, 2, 1);
            ikcp_wndsize(control, windows.0, windows.1);
            ikcp_setmtu(control, mtu);
        }
    }

    /// Tells the time in ms and does what is due.
    pub(crate) fn update(&mut self, now: u32) {
        // SAFETY: `control` is live.
        unsafe { ikcp_update(self.control.as_ptr(), now) };
    }

    /// Sends at once all that may be sent.
    pub(crate) fn flush(&mut self) {
        // SAFETY: `control` is live.
        unsafe { ikcp_flush(self.control.as_ptr()) };
    }

    /// Takes a datagram from the network.
    pub(crate) fn input(&mut self, datagram: &[u8]) -> Result<(), Fault> {
        // SAFETY: `control` is live; the core reads exactly the given length.
        let code =
            unsafe { ikcp_input(self.control.as_ptr(), datagram.as_ptr().cast(), datagram.len() as c_long) };
        if code < 0 { Err(format!("KCP refuses a datagram (code {code})").into()) } else { Ok(()) }
    }

    /// Queues a message.
    pub(crate) fn send(&mut self, message: &[u8]) -> Result<(), Fault> {
        // SAFETY: `control` is live; the core copies exactly the given length.
        let code =
            unsafe { ikcp_send(self.control.as_ptr(), message.as_ptr().cast(), message.len() as c_int) };
        if code < 0 { Err(format!("KCP refuses a message (code {code})").into()) } else { Ok(()) }
    }

    /// Takes the next message that arrived whole; `None` while there is none that fits into `buffer`.
    pub(crate) fn recv<'a>(&mut self, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
        // SAFETY: `control` is live; the core writes at most the given length.
        let len =
            unsafe { ikcp_recv(self.control.as_ptr(), buffer.as_mut_ptr().cast(), buffer.len() as c_int) };
        buffer.get(..usize::try_from(len).ok()?)
    }
}

impl<O: Outlet> Drop for Kcp<O> {
    fn drop(&mut self) {
        // SAFETY: `control` came from `ikcp_create` and is not used again.
        unsafe { ikcp_release(self.control.as_ptr()) };
    }
}

/// The conversation that a datagram belongs to.
pub(crate) fn conversation(datagram: &[u8]) -> Option<u32> {
    datagram.first_chunk().map(|&bytes| u32::from_le_bytes(bytes))
}

extern "C" fn output<O: Outlet>(
    data: *const c_char,
    len: c_int,
    _: *mut ControlBlock,
    user: *mut c_void,
) -> c_int {
    let (Ok(len), false) = (usize::try_from(len), data.is_null()) else { return -1 };
    // SAFETY: the core calls with `len` readable bytes and with the pointer given to `ikcp_create`, which is
    // the live outlet of this very connection.
    let (outlet, datagram) = unsafe { (&*user.cast::<O>(), std::slice::from_raw_parts(data.cast(), len)) };
    outlet.send(datagram);
    0
}

/// `struct IKCPCB`, whose layout only the core knows.
#[repr(C)]
struct ControlBlock {
    _opaque: [u8; 0],
}

type Output = extern "C" fn(*const c_char, c_int, *mut ControlBlock, *mut c_void) -> c_int;

unsafe extern "C" {
    fn ikcp_create(conv: u32, user: *mut c_void) -> *mut ControlBlock;
    fn ikcp_release(kcp: *mut ControlBlock);
    fn ikcp_setoutput(kcp: *mut ControlBlock, output: Output);
    fn ikcp_nodelay(
        kcp: *mut ControlBlock,
        nodelay: c_int,
        interval: c_int,
        resend: c_int,
        nc: c_int,
    ) -> c_int;
    fn ikcp_wndsize(kcp: *mut ControlBlock, sndwnd: c_int, rcvwnd: c_int) -> c_int;
    fn ikcp_setmtu(kcp: *mut ControlBlock, mtu: c_int) -> c_int;
    fn ikcp_update(kcp: *mut ControlBlock, current: u32);
    fn ikcp_flush(kcp: *mut ControlBlock);
    fn ikcp_input(kcp: *mut ControlBlock, data: *const c_char, size: c_long) -> c_int;
    fn ikcp_send(kcp: *mut ControlBlock, buffer: *const c_char, len: c_int) -> c_int;
    fn ikcp_recv(kcp: *mut ControlBlock, buffer: *mut c_char, len: c_int) -> c_int;
}

//! Opening serial lines.

use proto_core::DownReason;
use rustix::{
    fs::{Mode, OFlags, open},
    io::Errno,
    termios::{ControlModes, OptionalActions, SpecialCodeIndex, ioctl_tiocexcl, tcgetattr, tcsetattr},
};
use socket2::Socket;
use std::io::{self, ErrorKind};

use super::{Device, StreamSource};

/// Opens the line `device` for this process alone, at `baud` bits a second with eight data bits, no parity, one stop
/// bit and no flow control.
///
/// # Errors
/// It is not there, not a serial line, in use, or does not know the speed.
pub fn open_serial(device: &str, baud: u32) -> io::Result<StreamSource> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let line = open(device, flags, Mode::empty())?;
    let mut settings = tcgetattr(&line).map_err(|error| match error {
        Errno::NOTTY => ErrorKind::Unsupported.into(),
        other => io::Error::from(other),
    })?;
    ioctl_tiocexcl(&line)?;
    settings.make_raw();
    settings.control_modes |= ControlModes::CREAD | ControlModes::CLOCAL;
    settings.control_modes -= ControlModes::CSTOPB | ControlModes::CRTSCTS;
    // A read waits for one byte at least, so that nothing read means that the line is gone.
    settings.special_codes[SpecialCodeIndex::VMIN] = 1;
    settings.special_codes[SpecialCodeIndex::VTIME] = 0;
    settings.set_speed(baud)?;
    tcsetattr(&line, OptionalActions::Now, &settings)?;
    let end = Some(DownReason::Io);
    Ok(StreamSource { socket: Socket::from(line), device: Device::Line, end, child: None })
}

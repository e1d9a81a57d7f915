//! A serial line, played by a pseudo terminal.

use proto_core::{LinkId, LinkSpec};
use runtime_core::Runtime;

const LINE: LinkId = LinkId(2);

#[cfg(all(target_os = "linux", feature = "serial"))]
pub(crate) async fn a_serial_line_is_a_link<R: Runtime>() {
    use super::{
        stream_toy::{StreamToy, down, receive, run_with, up},
        toy::until,
    };
    use proto_core::{DownReason, LinkEvent};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::{
        fs::File,
        io::{Read, Write},
    };

    let other_end = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&other_end).unwrap();
    unlockpt(&other_end).unwrap();
    let device = ptsname(&other_end, Vec::new()).unwrap().into_string().unwrap();
    let handle = run_with::<R>(StreamToy::default(), LINE, LinkSpec::Serial { device, baud: 115_200 });
    up::<R>(&handle, LINE).await;

    // Bytes that a terminal would echo, translate or take as orders pass unchanged.
    let all: Vec<u8> = (0..=255).cycle().take(2_560).collect();
    let mut other_end = File::from(other_end);
    other_end.write_all(&all).unwrap();
    assert!(receive::<R>(&handle, LINE, all.len()).await == all);
    handle.with(|machine, _, _| machine.send(LINE, all.clone()));
    until::<R, _, _>(&handle, |machine| machine.to_send.is_empty().then_some(())).await;
    let mut back = vec![0; all.len()];
    other_end.read_exact(&mut back).unwrap();
    assert!(back == all);

    drop(other_end);
    assert_eq!(down::<R>(&handle, LINE).await, DownReason::Io);
    assert!(!handle.read(|machine, _| machine.reports_of(LINE).contains(&LinkEvent::Eof)));
}

#[cfg(not(all(target_os = "linux", feature = "serial")))]
#[allow(clippy::extra_unused_type_parameters, reason = "every scenario is called with a runtime")]
pub(crate) async fn a_serial_line_is_a_link<R: Runtime>() {
    eprintln!(
        "skipped: without the feature there is no {:?}",
        LinkSpec::Serial { device: String::new(), baud: LINE.0 }
    );
}

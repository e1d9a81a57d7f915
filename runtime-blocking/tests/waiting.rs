//! Deadlines, wakers, event loops of the application's own, and descriptors.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    reason = "tests, whose helpers clippy does not know as such"
)]

mod toy;

use proto_core::LinkSpec;
use runtime_blocking::{ReceiveMode, Waited};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::{
    io::Write,
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::Duration,
};
use toy::{Driver, Event, LINK, LOOPBACK, Toy, driver, event, now, opening, up};

fn connected() -> (Driver, TcpStream) {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let peer = listener.local_addr().unwrap();
    let mut client = opening(Toy::default(), LINK, LinkSpec::TcpConnect { peer });
    up(&mut client, LINK);
    (client, listener.accept().unwrap().0)
}

/// Drivers that wait in different ways: for nothing, in the receiving call, for a waker as well, in a set.
fn all_kinds() -> Vec<(&'static str, Driver, Vec<TcpStream>)> {
    let (single, peer) = connected();
    let (woken, woken_peer) = connected();
    let (mut many, many_peer) = connected();
    many.with(|machine, _| machine.open(toy::LISTENER, LinkSpec::TcpListen { bind: LOOPBACK }));
    up(&mut many, toy::LISTENER);
    vec![
        ("no link", driver(Toy::default()), vec![]),
        ("one link", single, vec![peer]),
        ("a waker", woken, vec![woken_peer]),
        ("two links", many, vec![many_peer]),
    ]
}

#[test]
fn deadlines_are_kept_to_a_few_milliseconds() {
    for (kind, mut driver, _peers) in all_kinds() {
        let _waker = (kind == "a waker").then(|| driver.waker().unwrap());
        for millis in [0, 3, 45, 150] {
            let wanted = Duration::from_millis(millis);
            // Other work on the machine may delay one try, but not all of them.
            let late = (0..5).map(|_| {
                let start = now();
                assert_eq!(driver.wait(Some(start + wanted)).unwrap(), Waited::Deadline);
                let late = start.elapsed().checked_sub(wanted);
                late.unwrap_or_else(|| panic!("{kind}: {millis} ms ended early"))
            });
            assert!(late.min().unwrap() < Duration::from_millis(5), "{kind} {millis}");
        }
    }
}

#[test]
fn a_machines_deadline_comes_while_nothing_else_happens() {
    for (kind, mut driver, _peers) in all_kinds() {
        let start = now();
        driver.with(|machine, now| machine.deadline = Some(now + Duration::from_millis(60)));
        assert!(driver.next_timeout().is_some_and(|left| left <= Duration::from_millis(60)), "{kind}");
        assert_eq!(event(&mut driver), Event::Fired, "{kind}");
        let took = start.elapsed();
        assert!((60..120).contains(&took.as_millis()), "{kind}: {took:?}");
    }
}

#[test]
fn a_waker_ends_a_wait_from_another_thread_at_once() {
    for (kind, mut driver, _peers) in all_kinds() {
        for mode in [ReceiveMode::Park, ReceiveMode::Poll] {
            driver.set_mode(mode);
            let waker = driver.waker().unwrap();
            let best = (0..5).map(|_| {
                let (send, receive) = mpsc::channel();
                let waker = waker.clone();
                let thread = std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(20));
                    send.send(now()).unwrap();
                    waker.wake();
                });
                assert_eq!(driver.wait(None).unwrap(), Waited::Woken, "{kind}");
                let took = receive.recv().unwrap().elapsed();
                thread.join().unwrap();
                took
            });
            let best = best.min().unwrap();
            assert!(best < Duration::from_millis(10), "{kind}: {best:?}");
        }
    }
}

#[test]
fn a_wake_before_the_wait_is_not_lost_and_counts_once() {
    let (mut driver, _peer) = connected();
    let waker = driver.waker().unwrap();
    waker.wake();
    waker.wake();
    assert_eq!(driver.wait(None).unwrap(), Waited::Woken);
    let soon = now() + Duration::from_millis(30);
    assert_eq!(driver.wait(Some(soon)).unwrap(), Waited::Deadline);
    assert!(now() >= soon);
}

#[test]
fn a_frame_by_frame_program_reads_without_waiting() {
    let (mut driver, mut peer) = connected();
    let start = now();
    driver.poll().unwrap();
    assert!(start.elapsed() < Duration::from_millis(10));
    assert_eq!(driver.next_event(), None);
    peer.write_all(b"frame").unwrap();
    let arrived = (0..1_000).find_map(|_| {
        std::thread::sleep(Duration::from_millis(1));
        driver.poll().unwrap();
        driver.next_event()
    });
    assert_eq!(arrived, Some(Event::Bytes(LINK, b"frame".to_vec())));
}

#[test]
fn an_event_loop_of_the_applications_own_is_told_by_the_descriptor() {
    for (kind, mut driver, mut peers) in all_kinds() {
        if peers.is_empty() {
            continue;
        }
        let _waker = (kind == "a waker").then(|| driver.waker().unwrap());
        let ready = |driver: &mut Driver, millis| {
            let wants = driver.wants();
            let fd = driver.fd().unwrap();
            assert!(wants.read && !wants.write, "{kind}");
            let timeout = Timespec::try_from(Duration::from_millis(millis)).unwrap();
            poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(&timeout)).unwrap() == 1
        };
        assert!(!ready(&mut driver, 20), "{kind}");
        peers[0].write_all(b"x").unwrap();
        assert!(ready(&mut driver, 5_000), "{kind}");
        driver.poll().unwrap();
        assert_eq!(driver.next_event(), Some(Event::Bytes(LINK, b"x".to_vec())), "{kind}");
        assert!(!ready(&mut driver, 20), "{kind}");
    }
}

#[test]
fn dropping_a_driver_closes_its_descriptors() {
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    // Other tests of this process open descriptors meanwhile, so that many have to show.
    let before = open();
    let drivers: Vec<_> = (0..50).map(|_| all_kinds()).collect();
    drivers.iter().flatten().for_each(|(_, driver, _)| drop(driver.waker().unwrap()));
    assert!(open() > before + 300);
    drop(drivers);
    assert!(open() < before + 100);
}

//! `iolite dissect`: what RakNet and Reticulum said in a capture, readably.
//!
//! A message is decoded once into a [`Node`](node::Node), a name with fields and parts; one line, all fields and
//! JSON are three ways to print it.

mod decode;
mod filter;
mod node;
mod print;
mod rns;

use netsim::capture::{Capture, UdpPacket};
use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use crate::{args::dissect::Dissect, failure::Failure};
use decode::decode;
use filter::Filter;
use print::Printer;

/// Prints the messages.
///
/// # Errors
/// The file cannot be read, is no capture, or is damaged; what could be read has been printed.
pub(crate) fn run(options: &Dissect) -> Result<(), Failure> {
    let name = options.file.display();
    let file = read(&options.file)?;
    let capture = Capture::open(&file).map_err(|error| {
        Failure::file(format_args!("{name}: {error}"))
            .advise("a capture is made with, for example, tcpdump -w FILE udp, or saved by Wireshark")
    })?;
    let filter = Filter::new(options);
    let mut reticulum = rns::Dissector::new(options)?;
    let mut printer = Printer::new(options);
    for frame in capture {
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => {
                printer.end()?;
                return Err(Failure::file(format_args!("{name}: {error}, after frame {}", printer.frames())));
            }
        };
        if let Some(packet) = frame.udp() {
            if filter.lets_through(packet.from, packet.to) {
                let reticulum = reticulum.datagram(packet.from, packet.to, packet.payload);
                let dissection = reticulum.unwrap_or_else(|| decode(&packet));
                printer.message(&frame, &packet, &dissection)?;
            } else {
                printer.skip();
            }
        } else if let Some(segment) = frame.tcp().filter(|it| filter.lets_through(it.from, it.to)) {
            let messages = reticulum.segment(&segment);
            if messages.is_empty() {
                printer.skip();
            }
            for (payload, dissection) in messages {
                let (from, to) = (segment.from, segment.to);
                let packet = UdpPacket { from, to, payload: &payload, is_truncated: false };
                printer.message(&frame, &packet, &dissection)?;
            }
        } else {
            printer.skip();
        }
        if printer.is_at_limit() {
            break;
        }
    }
    printer.end()
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    if file == Path::new("-") {
        let mut content = Vec::new();
        return match io::stdin().lock().read_to_end(&mut content) {
            Ok(_) => Ok(content),
            Err(error) => Err(Failure::file(format_args!("cannot read standard input: {error}"))),
        };
    }
    fs::read(file).map_err(|error| Failure::file(format_args!("cannot read {}: {error}", file.display())))
}

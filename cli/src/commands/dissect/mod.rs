//! `iolite dissect`: the RakNet datagrams of a capture, readably.
//!
//! A datagram is decoded once into a [`Node`](node::Node), a name with fields and parts; one line, all fields and
//! JSON are three ways to print it.

mod decode;
mod filter;
mod node;
mod print;

use netsim::capture::Capture;
use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use crate::{args::dissect::Dissect, failure::Failure};
use decode::decode;
use filter::Filter;
use print::Printer;

/// Prints the datagrams.
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
    let mut printer = Printer::new(options);
    for frame in capture {
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => {
                printer.end()?;
                return Err(Failure::file(format_args!("{name}: {error}, after frame {}", printer.frames())));
            }
        };
        let Some(packet) = frame.udp() else {
            printer.skip();
            continue;
        };
        if filter.lets_through(&packet) {
            printer.datagram(&frame, &packet, &decode(&packet))?;
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

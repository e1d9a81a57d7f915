//! Speaks the protocol of the public Reticulum conformance suite for Iolite.
//!
//! The suite starts the bridge, waits for the line `READY`, and then writes one JSON object a line: a command with its
//! parameters. Each is answered with one line. What a command asks for is done by `proto-rns` and its companions; the
//! bridge turns JSON into calls and results into JSON. `docs/conformance.md` tells how to run it and what came out.
//!
//! Commands come in three families, each a module with one file a subject: [`primitive`] is single functions,
//! [`behavioral`] a node with interfaces of the suite's hand, [`wire`] nodes that speak over sockets.

mod behavioral;
mod call;
mod mock;
mod primitive;
mod tools;
mod wire;

use behavioral::Behavioral;
use call::{Answer, Failure, Params};
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, Write};
use tools::Workbench;
use wire::Wire;

fn main() -> io::Result<()> {
    let mut bridge = Bridge::default();
    let mut out = io::stdout().lock();
    writeln!(out, "READY")?;
    out.flush()?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        if !line.trim().is_empty() {
            writeln!(out, "{}", bridge.reply(&line))?;
            out.flush()?;
        }
    }
    Ok(())
}

/// What the commands of one session share.
#[derive(Debug, Default)]
struct Bridge {
    bench: Workbench,
    behavioral: Behavioral,
    wire: Wire,
}

impl Bridge {
    fn reply(&mut self, line: &str) -> Value {
        let call: Map<String, Value> = match serde_json::from_str(line) {
            Ok(call) => call,
            Err(error) => return json!({"id": "parse_error", "success": false, "error": error.to_string()}),
        };
        let id = call.get("id").cloned().unwrap_or_else(|| json!("unknown"));
        let none = Map::new();
        let params = Params::new(call.get("params").and_then(Value::as_object).unwrap_or(&none));
        let command = call.get("command").and_then(Value::as_str).unwrap_or_default();
        match self.answer(command, params) {
            Ok(result) => json!({"id": id, "success": true, "result": result}),
            Err(failure) => json!({"id": id, "success": false, "error": failure.into_text()}),
        }
    }

    fn answer(&mut self, command: &str, params: Params<'_>) -> Answer {
        let answer = if let Some(command) = command.strip_prefix("behavioral_") {
            self.behavioral.answer(command, params)
        } else if let Some(command) = command.strip_prefix("wire_") {
            self.wire.answer(command, params)
        } else {
            primitive::answer(&mut self.bench, command, params)
        };
        answer.unwrap_or_else(|| Err(Failure::new(format!("Unknown command: {command}"))))
    }
}

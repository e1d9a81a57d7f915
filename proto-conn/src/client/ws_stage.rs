//! WebSocket on a stream: the handshake, messages, the end.

use alloc::{boxed::Box, string::ToString as _};
use core::time::Duration;
use proto_core::Instant;

use super::{
    Closed, Connection, Event, Stage, State, Talker,
    http_stage::{authorize, fill_in},
};
use crate::{
    Code, Error, Message, Method, Phase,
    http::{self, SendOptions, TargetForm},
    ws,
};

impl Connection {
    /// Asks for the WebSocket protocol (RFC 6455 §4.1).
    pub(super) fn upgrade_talker(&mut self) -> Result<Talker, Error> {
        let mut session = self.http_session()?;
        let key = self.secrets.draw();
        let mut request = Message::request(Method::Get, self.url.target.clone(), "");
        fill_in(&mut request.headers, &self.options.headers)?;
        authorize(&mut request.headers, "Authorization", &self.url)?;
        ws::handshake::request(&mut request.headers, &self.options.ws, key)
            .map_err(|error| Error::new(Code::BadOption, Phase::Arguments).with_detail(error.to_string()))?;
        let host = self.url.authority();
        let how = SendOptions { form: TargetForm::Origin, host: &host, ..SendOptions::default() };
        session.send(self.now, &request, &how)?;
        Ok(Talker::Upgrade(Box::new(session), key))
    }

    pub(super) fn on_upgrade(&mut self, event: http::Event) {
        match event {
            http::Event::Upgraded(response) => self.on_switched(&response),
            http::Event::Response(message) => {
                let status = message.status;
                let retry_after = retry_after(&message);
                self.events.push_back(Event::Message(message));
                let error =
                    Error { status: Some(status), ..Error::new(Code::UpgradeRefused, Phase::Upgrade) };
                if let Stage::Stream(stream) = core::mem::replace(&mut self.stage, Stage::Idle) {
                    self.links.close(stream.link());
                }
                self.on_lost(error, retry_after);
            }
            http::Event::Failed(error) => self.on_stream_failed(error),
            http::Event::Informational(message) => self.events.push_back(Event::Message(message)),
            http::Event::Request(_)
            | http::Event::BodyPart(_)
            | http::Event::BodyEnd(_)
            | http::Event::Sent => {}
        }
    }

    /// The server says that it switched; what it says is checked.
    fn on_switched(&mut self, response: &Message) {
        let now = self.now;
        let Stage::Stream(mut stream) = core::mem::replace(&mut self.stage, Stage::Idle) else { return };
        let Talker::Upgrade(_, key) = &stream.talker else { return };
        let outcome = ws::handshake::verify(response, *key, &self.options.ws).and_then(|agreed| {
            ws::Session::new(ws::Role::Client, &self.options.ws, &agreed, self.secrets.source())
                .map_err(|error| Error::new(Code::BadOption, Phase::Arguments).with_detail(error.to_string()))
        });
        let ws = match outcome {
            Ok(ws) => ws,
            Err(error) => {
                self.links.close(stream.link());
                return self.on_lost(error, None);
            }
        };
        let before = core::mem::replace(&mut stream.talker, Talker::Ws(Box::new(ws)));
        let early = match before {
            Talker::Upgrade(session, _) => session.into_upgraded().1,
            Talker::Tunnel(_) | Talker::Http(_) | Talker::Ws(_) => alloc::vec![],
        };
        stream.step = None;
        self.stage = Stage::Stream(stream);
        self.attempts.on_up(now);
        self.set_state(State::Open);
        while let Some(message) = self.messages.pop_front() {
            if !self.send_kept(now, &message) {
                self.messages.push_front(message);
                break;
            }
        }
        if let Stage::Stream(stream) = &mut self.stage {
            stream.handle_stream(now, &early);
        }
    }

    /// Sends one that waited; says whether there was room.
    fn send_kept(&mut self, now: Instant, message: &Message) -> bool {
        let Stage::Stream(stream) = &mut self.stage else { return false };
        let Talker::Ws(session) = &mut stream.talker else { return false };
        match session.send(now, message) {
            Ok(()) => true,
            Err(error) if error.code == Code::WouldBlock => false,
            Err(error) => {
                self.events.push_back(Event::Failed { exchange: None, error });
                true
            }
        }
    }

    pub(super) fn on_ws(&mut self, event: ws::Event) {
        let now = self.now;
        match event {
            ws::Event::Message(mut message) => {
                message.peer_addr = self.stream().map(|stream| stream.peer);
                message.received = Some(now);
                self.events.push_back(Event::Message(message));
            }
            ws::Event::Writable => {
                while let Some(message) = self.messages.pop_front() {
                    if !self.send_kept(now, &message) {
                        return self.messages.push_front(message);
                    }
                }
                self.owes_room = false;
                self.events.push_back(Event::Writable);
            }
            ws::Event::Failed(error) => self.on_ws_ended(1006, "", false, Some(error)),
            ws::Event::Closed { code, reason, clean } => self.on_ws_ended(code, &reason, clean, None),
        }
    }

    /// The WebSocket is over. What is still to be sent leaves first.
    fn on_ws_ended(&mut self, code: u16, reason: &str, is_clean: bool, error: Option<Error>) {
        let now = self.now;
        let was_asked = self.state == State::Closing;
        if let Stage::Stream(mut stream) = core::mem::replace(&mut self.stage, Stage::Idle) {
            let rest = core::mem::take(stream.talker.talk().outgoing());
            let patience = self.options.timeouts.close;
            self.parting.part(now, stream.carrier, rest, patience, &mut self.links);
        }
        if !was_asked && self.options.reconnect.is_some() {
            let lost = error.unwrap_or_else(|| {
                Error::new(Code::AbnormalClosure, Phase::Idle).with_detail(alloc::format!("{code} {reason}"))
            });
            return self.on_lost(lost, None);
        }
        self.finish(Closed { code, reason: reason.into(), is_clean, error });
    }
}

/// The seconds that a server asks for (RFC 9110 §10.2.3). A date says nothing without a clock.
fn retry_after(message: &Message) -> Option<Duration> {
    message.headers.get_str("retry-after")?.trim().parse().ok().map(Duration::from_secs)
}

//! The one handle.

use proto_conn::{
    Code, Error, ExchangeId, Kind, Message, Payload, Phase, Url,
    client::{self, Closed, Event, Options, State},
};
use std::{
    collections::VecDeque,
    num::NonZeroUsize,
    os::fd::BorrowedFd,
    time::{Duration, Instant},
};

use super::{default_tls, os_error, seed};
use crate::{Blocking, Config, ReceiveMode, Waited, Waker, Wants};

/// A client's connection of any of the six schemes, driven by the calls of its owner.
///
/// ```no_run
/// use runtime_blocking::conn::{Connection, Message, Options};
///
/// let mut robot = Connection::open("http://192.168.1.7/", Options::default())?;
/// let answer = robot.request(Message::get(), None)?;
/// println!("{}", answer.status);
/// # Ok::<_, runtime_blocking::conn::Error>(())
/// ```
#[derive(Debug)]
pub struct Connection {
    driver: Blocking<client::Connection>,
    /// What came while something else was waited for.
    kept: VecDeque<Event>,
    closed: Option<Closed>,
}

impl Connection {
    /// Creates a connection. Nothing is opened before [`connect`](Self::connect) or the first message.
    ///
    /// # Errors
    /// The URL or an option cannot be used: phase [`Phase::Arguments`].
    pub fn open(url: &str, options: Options) -> Result<Self, Error> {
        let parsed = Url::parse(url).map_err(|error| {
            Error::new(Code::BadUrl, Phase::Arguments).with_detail(format!("{url:?}: {error}"))
        })?;
        Self::open_url(parsed, options)
    }

    /// Creates a connection for a URL that was parsed.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_url(url: Url, mut options: Options) -> Result<Self, Error> {
        if url.scheme.is_tls() && options.tls.is_none() {
            options.tls = Some(default_tls()?);
        }
        let machine = client::Connection::new(url, options, seed()?)?;
        let driver = Blocking::new(machine, config()).map_err(|error| os_error(Phase::Arguments, &error))?;
        Ok(Self { driver, kept: VecDeque::new(), closed: None })
    }

    /// Opens the connection and waits until it is ready for messages.
    ///
    /// # Errors
    /// What went wrong, and in which phase; [`Code::TimedOut`] at the deadline, after which opening goes on.
    pub fn connect(&mut self, timeout: Option<Duration>) -> Result<(), Error> {
        let deadline = deadline(timeout);
        self.begin()?;
        while !matches!(self.state(), State::Open | State::HttpReady) {
            match self.wait_event(deadline, Phase::Connect)? {
                Event::Closed(closed) => return Err(self.why(&closed)),
                Event::Failed { error, .. } => return Err(self.explained(error)),
                Event::State(_) => {}
                other @ (Event::Message(_)
                | Event::Part(_)
                | Event::End(_)
                | Event::Writable
                | Event::Reconnecting { .. }) => self.kept.push_back(other),
            }
        }
        Ok(())
    }

    /// Begins to open the connection, without waiting: for an event loop of one's own.
    ///
    /// # Errors
    /// The handle is closed.
    pub fn begin(&mut self) -> Result<(), Error> {
        self.driver.with(|machine, now| machine.open(now)).map_err(|error| self.explained(error))
    }

    /// Sends a message, or takes it to be sent as soon as the connection is open. What can leave has left when this
    /// returns.
    ///
    /// # Errors
    /// The message cannot be sent, the handle is closed, or [`Code::WouldBlock`]: too many wait.
    pub fn send(&mut self, message: Message) -> Result<Option<ExchangeId>, Error> {
        self.look_before_reuse()?;
        self.driver.with(|machine, now| machine.send(now, message)).map_err(|error| self.explained(error))
    }

    /// Receives the next message: a response, a WebSocket message, a datagram.
    ///
    /// # Errors
    /// What failed; [`Code::TimedOut`] at the deadline. A WebSocket that was closed in good order says
    /// [`Code::BadState`]; [`closed`](Self::closed) tells more.
    pub fn recv(&mut self, timeout: Option<Duration>) -> Result<Message, Error> {
        let deadline = deadline(timeout);
        loop {
            match self.any_event(deadline, Phase::Receive)? {
                Event::Message(message) => return Ok(message),
                Event::Failed { error, .. } => return Err(self.explained(error)),
                Event::Closed(closed) => return Err(self.why(&closed)),
                Event::State(_)
                | Event::Part(_)
                | Event::End(_)
                | Event::Writable
                | Event::Reconnecting { .. } => {}
            }
        }
    }

    /// Sends a message and receives what answers it: a request's response, or the next message or datagram. Interim
    /// responses are left for [`recv`](Self::recv).
    ///
    /// # Errors
    /// As for [`send`](Self::send) and [`recv`](Self::recv). A request is withdrawn at the deadline.
    pub fn request(&mut self, message: Message, timeout: Option<Duration>) -> Result<Message, Error> {
        let deadline = deadline(timeout);
        let exchange = self.send(message)?;
        let answer = self.wait_answer(exchange, deadline);
        if let (Err(_), Some(exchange)) = (&answer, exchange) {
            self.withdraw(exchange);
        }
        answer
    }

    /// Receives what answers an exchange, or the next message or datagram, as [`request`](Self::request) does; but an
    /// exchange goes on at the deadline, and can be waited for again.
    ///
    /// # Errors
    /// As for [`recv`](Self::recv).
    pub fn answer(
        &mut self,
        exchange: Option<ExchangeId>,
        timeout: Option<Duration>,
    ) -> Result<Message, Error> {
        self.wait_answer(exchange, deadline(timeout))
    }

    /// Withdraws an exchange whose answer nobody wants any more.
    pub fn withdraw(&mut self, exchange: ExchangeId) {
        self.driver.with(|machine, now| machine.cancel(now, exchange));
    }

    /// Returns the next event of any kind, if there is one by the deadline.
    ///
    /// # Errors
    /// The operating system's.
    pub fn event(&mut self, timeout: Option<Duration>) -> Result<Option<Event>, Error> {
        match self.any_event(deadline(timeout), Phase::Receive) {
            Ok(event) => Ok(Some(event)),
            Err(error) if matches!(error.code, Code::TimedOut | Code::WouldBlock) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends a part of the body of a streamed request; waits while the peer does not keep up.
    ///
    /// # Errors
    /// As for [`send`](Self::send), and [`Code::TimedOut`].
    pub fn send_part(&mut self, part: &Payload, timeout: Option<Duration>) -> Result<(), Error> {
        self.when_there_is_room(timeout, |machine, now| machine.send_part(now, part.clone()))
    }

    /// Ends the body of a streamed request.
    ///
    /// # Errors
    /// As for [`send_part`](Self::send_part).
    pub fn finish_body(
        &mut self,
        trailers: &proto_conn::Headers,
        timeout: Option<Duration>,
    ) -> Result<(), Error> {
        self.when_there_is_room(timeout, |machine, now| machine.finish_body(now, trailers))
    }

    /// Closes the connection and waits for the end: for a WebSocket, until the peer has agreed, or the close timeout.
    /// Closing again tells how it ended.
    ///
    /// # Errors
    /// A code that may not be sent, a reason that is too long, or what went wrong; [`Code::TimedOut`] at the deadline,
    /// after which [`abort`](Self::abort) ends it.
    pub fn close(&mut self, code: u16, reason: &str, timeout: Option<Duration>) -> Result<Closed, Error> {
        if let Some(closed) = &self.closed {
            return Ok(closed.clone());
        }
        let deadline = deadline(timeout);
        self.begin_close(code, reason)?;
        loop {
            if let Event::Closed(closed) = self.wait_event(deadline, Phase::Close)? {
                return match closed.error {
                    Some(error) => Err(error),
                    None => Ok(closed),
                };
            }
        }
    }

    /// Begins to close the connection, without waiting: for an event loop of one's own. [`Event::Closed`] tells the end.
    ///
    /// # Errors
    /// A code that may not be sent, or a reason that is too long.
    pub fn begin_close(&mut self, code: u16, reason: &str) -> Result<(), Error> {
        self.driver.with(|machine, now| machine.close(now, code, reason))
    }

    /// Ends the connection at once, without a word to the peer.
    pub fn abort(&mut self) {
        self.driver.with(client::Connection::abort);
    }

    /// Takes back the memory of a message that is done with, which makes the next one free of allocations.
    pub fn recycle(&mut self, message: Message) {
        self.driver.with(|machine, _| machine.recycle(message));
    }

    /// Sets how calls wait.
    pub fn set_receive_mode(&mut self, mode: ReceiveMode) {
        self.driver.set_mode(mode);
    }

    /// Returns what wakes a call that waits, from any thread: it returns [`Code::Cancelled`].
    ///
    /// # Errors
    /// The operating system has no more descriptors.
    pub fn waker(&mut self) -> Result<Waker, Error> {
        self.driver.waker().map_err(|error| os_error(Phase::Arguments, &error))
    }

    /// Returns the descriptor to watch in an event loop of one's own.
    ///
    /// # Errors
    /// The operating system has no more descriptors.
    pub fn fd(&mut self) -> Result<BorrowedFd<'_>, Error> {
        self.driver.fd().map_err(|error| os_error(Phase::Arguments, &error))
    }

    /// Returns what the descriptor is to be watched for.
    pub fn wants(&mut self) -> Wants {
        self.driver.wants()
    }

    /// Returns when [`process`](Self::process) is due even if the descriptor stays silent.
    pub fn next_timeout(&self) -> Option<Duration> {
        self.driver.next_timeout()
    }

    /// Does what can be done without waiting: for an event loop of one's own. Events are taken with
    /// [`event`](Self::event) and a timeout of zero.
    ///
    /// # Errors
    /// The operating system's.
    pub fn process(&mut self) -> Result<(), Error> {
        self.driver.poll().map_err(|error| os_error(Phase::Receive, &error))
    }

    /// Returns the state.
    pub fn state(&self) -> State {
        self.driver.machine().state()
    }

    /// Returns how it ended, once it did.
    pub const fn closed(&self) -> Option<&Closed> {
        self.closed.as_ref()
    }

    /// Returns the time on the connection's clock, which is that of [`Message::received`].
    pub fn now(&self) -> proto_core::Instant {
        self.driver.now()
    }

    /// Returns the machine, to ask it for more.
    pub fn machine(&self) -> &client::Connection {
        self.driver.machine()
    }

    /// Notices that the server has closed a connection that was not used for a while: a request on it would be lost, and
    /// not all may be sent again.
    fn look_before_reuse(&mut self) -> Result<(), Error> {
        let since = self.driver.machine().idle_since();
        if since.is_some_and(|since| self.driver.now().saturating_since(since) >= LOOK_AFTER) {
            self.process()?;
        }
        Ok(())
    }

    fn when_there_is_room<T>(
        &mut self,
        timeout: Option<Duration>,
        mut act: impl FnMut(&mut client::Connection, proto_core::Instant) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let deadline = deadline(timeout);
        loop {
            match self.driver.with(&mut act) {
                Err(error) if error.code == Code::WouldBlock => {}
                outcome => return outcome,
            }
            match self.wait_event(deadline, Phase::Send)? {
                Event::Closed(closed) => return Err(self.why(&closed)),
                Event::Failed { error, .. } => return Err(self.explained(error)),
                Event::State(_) | Event::Writable => {}
                other @ (Event::Message(_) | Event::Part(_) | Event::End(_) | Event::Reconnecting { .. }) => {
                    self.kept.push_back(other)
                }
            }
        }
    }

    fn wait_answer(
        &mut self,
        exchange: Option<ExchangeId>,
        deadline: Option<Instant>,
    ) -> Result<Message, Error> {
        let answers = |event: &Event| match event {
            Event::Message(message) => exchange.is_some() && is_answer(message, exchange),
            Event::Failed { exchange: failed, .. } => exchange.is_some() && *failed == exchange,
            Event::State(_)
            | Event::Part(_)
            | Event::End(_)
            | Event::Writable
            | Event::Reconnecting { .. }
            | Event::Closed(_) => false,
        };
        let mut kept = self.kept.iter().position(answers).and_then(|place| self.kept.remove(place));
        loop {
            let event = match kept.take() {
                Some(event) => event,
                None => self.wait_event(deadline, Phase::Receive)?,
            };
            match event {
                Event::Message(message) if is_answer(&message, exchange) => return Ok(message),
                Event::Failed { exchange: failed, error } if failed == exchange => {
                    return Err(self.explained(error));
                }
                Event::Closed(closed) => return Err(self.why(&closed)),
                Event::State(_) | Event::Writable => {}
                other @ (Event::Message(_)
                | Event::Part(_)
                | Event::End(_)
                | Event::Failed { .. }
                | Event::Reconnecting { .. }) => self.kept.push_back(other),
            }
        }
    }

    /// Returns an event that was kept, or the next one.
    fn any_event(&mut self, deadline: Option<Instant>, phase: Phase) -> Result<Event, Error> {
        match self.kept.pop_front() {
            Some(event) => Ok(event),
            None => self.wait_event(deadline, phase),
        }
    }

    /// Waits for the next event.
    fn wait_event(&mut self, deadline: Option<Instant>, phase: Phase) -> Result<Event, Error> {
        loop {
            if let Some(event) = self.driver.next_event() {
                if let Event::Closed(closed) = &event {
                    self.closed = Some(closed.clone());
                }
                return Ok(event);
            }
            if let Some(closed) = &self.closed {
                return Err(self.why(&closed.clone()));
            }
            match self.driver.wait(deadline).map_err(|error| os_error(phase, &error))? {
                Waited::Event => {}
                Waited::Deadline => return Err(Error::new(Code::TimedOut, phase)),
                Waited::Woken => return Err(Error::new(Code::Cancelled, phase)),
                Waited::Idle => {
                    let detail = "nothing is under way that could be waited for";
                    return Err(Error::new(Code::BadState, phase).with_detail(detail));
                }
            }
        }
    }

    /// Returns the error of whoever wanted something of a connection that is closed.
    fn why(&self, closed: &Closed) -> Error {
        let own = || Error::new(Code::BadState, Phase::Close).with_detail("the connection is closed");
        self.explained(closed.error.clone().unwrap_or_else(own))
    }

    /// Adds the operating system's number, where it said no.
    fn explained(&self, error: Error) -> Error {
        let is_of_system = matches!(
            error.code,
            Code::Io
                | Code::ConnectRefused
                | Code::Unreachable
                | Code::Reset
                | Code::NoInterface
                | Code::JoinFailed
        );
        let os = error.os.or_else(|| self.driver.last_os_error().filter(|_| is_of_system));
        Error { os, ..error }
    }
}

/// One datagram a call is the fastest way to ask and answer, and heads are short.
fn config() -> Config {
    Config { segments_per_send: NonZeroUsize::MIN, first_read: FIRST_READ, ..Config::default() }
}

/// Enough for a head and a short body; a long one is read to where it belongs.
pub(super) const FIRST_READ: usize = 16 << 10;

/// Says whether a message answers what was sent.
fn is_answer(message: &Message, exchange: Option<ExchangeId>) -> bool {
    match message.kind {
        Kind::Response => message.exchange == exchange,
        Kind::Text | Kind::Binary | Kind::Datagram => exchange.is_none(),
        Kind::Request | Kind::Informational | Kind::Ping | Kind::Pong | Kind::Close => false,
    }
}

/// In a dialogue without pauses, an end of the connection is read with the answer before it.
const LOOK_AFTER: Duration = Duration::from_millis(1);

#[allow(clippy::disallowed_methods, reason = "a driver reads the clock")]
fn deadline(timeout: Option<Duration>) -> Option<Instant> {
    Instant::now().checked_add(timeout?)
}

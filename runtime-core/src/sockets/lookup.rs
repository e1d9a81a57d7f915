//! Resolving names on threads of their own, because the operating system makes their caller wait.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind},
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::Waker,
    thread,
};

/// A name on its way to becoming addresses.
#[derive(Debug)]
pub struct Lookup {
    answer: Arc<Mutex<Option<Vec<SocketAddr>>>>,
}

impl Lookup {
    /// Starts to resolve `host`; `waker` is woken when the addresses are there.
    ///
    /// # Errors
    /// Too many names wait already, or there is no thread to be had.
    pub fn start(host: String, port: u16, waker: Waker) -> io::Result<Self> {
        if let Ok(ip) = host.parse::<IpAddr>() {
            waker.wake();
            return Ok(Self { answer: Arc::new(Mutex::new(Some(vec![SocketAddr::new(ip, port)]))) });
        }
        let answer = Arc::new(Mutex::new(None));
        hand_over(Job { host, port, answer: Arc::downgrade(&answer), waker })?;
        Ok(Self { answer })
    }

    /// Takes out the addresses, once they are there. None at all means that the name stands for nothing.
    pub fn take(&self) -> Option<Vec<SocketAddr>> {
        lock(&self.answer).take()
    }
}

/// One name for a thread to resolve.
struct Job {
    host: String,
    port: u16,
    /// Nobody waits any more once this is gone.
    answer: Weak<Mutex<Option<Vec<SocketAddr>>>>,
    waker: Waker,
}

impl Job {
    /// Resolves the name. One that stands for nothing and one that could not be asked for look the same.
    fn run(self) {
        if self.answer.strong_count() == 0 {
            return;
        }
        let resolved = (self.host.as_str(), self.port).to_socket_addrs();
        let addresses = resolved.map(Iterator::collect).unwrap_or_default();
        if let Some(answer) = self.answer.upgrade() {
            *lock(&answer) = Some(addresses);
            self.waker.wake();
        }
    }
}

/// What the threads of this process have to resolve.
struct Jobs {
    waiting: VecDeque<Job>,
    threads: usize,
}

static JOBS: Mutex<Jobs> = Mutex::new(Jobs { waiting: VecDeque::new(), threads: 0 });

fn hand_over(job: Job) -> io::Result<()> {
    let mut jobs = lock(&JOBS);
    if jobs.waiting.len() >= MAX_WAITING {
        return Err(ErrorKind::QuotaExceeded.into());
    }
    if jobs.threads < MAX_THREADS {
        match thread::Builder::new().name("resolve".into()).spawn(work) {
            Ok(_) => jobs.threads += 1,
            Err(error) if jobs.threads == 0 => return Err(error),
            Err(_) => {}
        }
    }
    jobs.waiting.push_back(job);
    Ok(())
}

/// Resolves names until there are none left.
fn work() {
    loop {
        let job = {
            let mut jobs = lock(&JOBS);
            let job = jobs.waiting.pop_front();
            jobs.threads -= usize::from(job.is_none());
            job
        };
        match job {
            Some(job) => job.run(),
            None => return,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads that resolve at the same time. Most of their time they wait for a name server.
const MAX_THREADS: usize = 16;

/// Names of this process that wait for a thread.
const MAX_WAITING: usize = 4_096;

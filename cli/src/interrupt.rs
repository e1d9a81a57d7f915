//! Ctrl-C and the polite kill signal.

use std::{io, process};
use tokio::sync::watch;

use crate::failure::Failure;

/// Tells when the user wants the command to end.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    seen: watch::Receiver<bool>,
}

impl Interrupt {
    /// Listens for the signals from now on. The first one is told to the command; a second one ends the process.
    pub(crate) fn install() -> Self {
        let (tell, seen) = watch::channel(false);
        tokio::spawn(async move {
            if signal().await.is_ok() {
                let _ = tell.send(true);
            }
            match signal().await {
                Ok(()) => process::exit(130),
                // Without signals the channel must stay open, or everybody would believe in one.
                Err(_) => tell.closed().await,
            }
        });
        Self { seen }
    }

    /// Waits for the signal. Cancel-safe.
    pub(crate) async fn wait(&self) {
        let mut seen = self.seen.clone();
        let _ = seen.wait_for(|&seen| seen).await;
    }

    /// Runs `work`, unless the user ends it first.
    pub(crate) async fn or<T>(&self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        tokio::select! {
            done = work => done,
            () = self.wait() => Err(Failure::interrupted()),
        }
    }
}

/// Waits for one signal.
async fn signal() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            pressed = tokio::signal::ctrl_c() => pressed,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

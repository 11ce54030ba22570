//! What a running crawl is told and asked from outside, between two visits.
//!
//! Promises: a question changes nothing and costs the crawl what it computes; a crawl that nobody listens to, and one that is
//! only asked, run alike; a pause ends no fetch and loses none.
//! Never: waits for whoever asks.

use tokio::sync::{mpsc, oneshot};

use super::{Crawl, Steer, SteerError};

/// Commands that may wait for the crawl's attention.
const WAITING: usize = 64;

/// A question: it looks at the crawl and sends its answer away itself.
type Question = Box<dyn FnOnce(&Crawl) + Send>;

/// What a crawl can be told.
pub(super) enum Command {
    Pause,
    Resume,
    Ask(Question),
    Steer(Steer, oneshot::Sender<Result<u64, SteerError>>),
}

/// The crawl's end of the line.
pub struct Commands(pub(super) mpsc::Receiver<Command>);

/// The outer end: given to whoever watches and steers the crawl.
#[derive(Clone)]
pub struct Remote(mpsc::Sender<Command>);

/// The crawl is over, or does not answer; nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the crawl is not running any more")]
pub struct Gone;

/// A line to a crawl that is about to start; give the second end to [`Crawl::listen`].
#[must_use]
pub fn remote() -> (Remote, Commands) {
    let (sender, receiver) = mpsc::channel(WAITING);
    (Remote(sender), Commands(receiver))
}

impl Remote {
    /// Starts no more fetches; those under way are finished and committed.
    ///
    /// # Errors
    /// [`Gone`], here and in all that follow.
    pub async fn pause(&self) -> Result<(), Gone> {
        self.send(Command::Pause).await
    }

    /// Goes on after a pause.
    ///
    /// # Errors
    /// [`Gone`].
    pub async fn resume(&self) -> Result<(), Gone> {
        self.send(Command::Resume).await
    }

    /// Has `question` look at the crawl. It runs in the crawl's own thread: what is slow belongs elsewhere.
    ///
    /// # Errors
    /// [`Gone`].
    pub async fn ask<T: Send + 'static>(&self, question: impl FnOnce(&Crawl) -> T + Send + 'static) -> Result<T, Gone> {
        let (answer, answered) = oneshot::channel();
        let ask = Box::new(move |crawl: &Crawl| {
            // Whoever asked may have left.
            drop(answer.send(question(crawl)));
        });
        self.send(Command::Ask(ask)).await?;
        answered.await.map_err(|_| Gone)
    }

    /// Changes what the crawl fetches next; says how many links that moved.
    ///
    /// # Errors
    /// [`Gone`], or why it cannot be done.
    pub async fn steer(&self, steer: Steer) -> Result<Result<u64, SteerError>, Gone> {
        let (answer, answered) = oneshot::channel();
        self.send(Command::Steer(steer, answer)).await?;
        answered.await.map_err(|_| Gone)
    }

    async fn send(&self, command: Command) -> Result<(), Gone> {
        self.0.send(command).await.map_err(|_| Gone)
    }
}

/// The next command; never, where nobody is at the other end.
pub(super) async fn next(commands: &mut Option<Commands>) -> Command {
    if let Some(line) = commands {
        if let Some(command) = line.0.recv().await {
            return command;
        }
        *commands = None;
    }
    std::future::pending().await
}

impl Crawl {
    /// Listens to commands while it runs.
    #[must_use]
    pub fn listen(mut self, commands: Commands) -> Self {
        self.commands = Some(commands);
        self
    }

    /// Does what it is told.
    pub(super) fn obey(&mut self, command: Command) {
        match command {
            Command::Pause => {
                self.paused_at.get_or_insert(self.clock.now());
            }
            Command::Resume => {
                if let Some(at) = self.paused_at.take() {
                    // Limits on time do not count a pause.
                    self.started = self.started + self.clock.now().since(at);
                }
            }
            Command::Ask(question) => question(self),
            Command::Steer(steer, answer) => drop(answer.send(self.steer(&steer))),
        }
    }
}

//! The writer: one thread that commits batches in the order they were handed over.
//!
//! Promises: a batch is visible to readers whole or not at all; at least every
//! `commit_every_ms`, and on [`Writer::flush`] and [`Writer::finish`], all
//! that was handed over is on disk, archive first.
//! Never: goes on after an error. The first one ends the thread, and every later
//! call returns it.

use std::{
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use redb::Durability;

use super::{
    Batch, Store, StoreConfig, StoreError,
    apply::apply,
    archive::ArchiveWriter,
    codec::Encoder,
    open::Shared,
    schema::{ARCHIVE_KEY, table},
};
use crate::disk::Disk;

/// The writing side of a store; there is one at a time. Dropping it finishes it, but only
/// [`Writer::finish`] says whether that went well.
pub struct Writer {
    /// `None` once finished.
    sender: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<()>>,
    failure: Arc<OnceLock<Arc<StoreError>>>,
    shared: Arc<Shared>,
    /// Batches handed over, and those of them that readers see.
    submitted: AtomicU64,
    visible: Arc<AtomicU64>,
}

enum Message {
    Batch(Box<Batch>),
    /// To be answered when everything before it is on disk.
    Flush(SyncSender<()>),
}

impl Store {
    /// Starts the writer thread.
    ///
    /// # Errors
    /// [`StoreError::SecondWriter`] while another is alive.
    pub fn writer(&self, config: &StoreConfig) -> Result<Writer, StoreError> {
        let lease = Lease::take(&self.shared)?;
        let (sender, receiver) = sync_channel(config.queue);
        let failure = Arc::new(OnceLock::new());
        let visible = Arc::new(AtomicU64::new(0));
        let mut committer = Committer {
            visible: visible.clone(),
            archive: ArchiveWriter::new(
                &self.shared.dir,
                Arc::clone(&self.shared.disk),
                self.shared.archive_end()?,
                config.archive_file_mib << 20,
                config.archive,
            ),
            encoder: Encoder::new(&self.shared.database)?,
            commit_every: Duration::from_millis(config.commit_every_ms),
            unsynced_since: None,
            lease,
        };
        let told = failure.clone();
        let thread = thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || committer.run(&receiver, &told))
            .map_err(StoreError::io(&self.shared.dir))?;
        let shared = self.shared.clone();
        Ok(Writer { sender: Some(sender), thread: Some(thread), failure, shared, submitted: AtomicU64::new(0), visible })
    }
}

impl Writer {
    /// Hands a batch over; waits while the queue is full.
    ///
    /// # Errors
    /// [`StoreError::Writer`] with the reason, where the thread has ended.
    pub fn submit(&self, batch: Batch) -> Result<(), StoreError> {
        self.submitted.fetch_add(1, Ordering::Relaxed);
        self.send(Message::Batch(Box::new(batch)))
    }

    /// The reading side; it may be some batches behind.
    #[must_use]
    pub fn reader(&self) -> Store {
        Store { shared: self.shared.clone() }
    }

    /// Batches handed over so far, and those of them that readers see.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.submitted.load(Ordering::Relaxed), self.visible.load(Ordering::Acquire))
    }

    /// The directory of the store.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.shared.dir
    }

    /// What temporary files beside the store are made on.
    #[must_use]
    pub fn disk(&self) -> Arc<dyn Disk> {
        Arc::clone(&self.shared.disk)
    }

    /// Waits until all that was handed over is on disk and visible to readers.
    ///
    /// # Errors
    /// As for [`Writer::submit`].
    pub fn flush(&self) -> Result<(), StoreError> {
        let (done, wait) = sync_channel(1);
        self.send(Message::Flush(done))?;
        wait.recv().map_err(|_| self.reason())
    }

    /// Commits all that was handed over and ends the thread.
    ///
    /// # Errors
    /// As for [`Writer::submit`].
    pub fn finish(mut self) -> Result<(), StoreError> {
        self.stop();
        match self.failure.get() {
            Some(cause) => Err(StoreError::Writer(cause.clone())),
            None => Ok(()),
        }
    }

    fn send(&self, message: Message) -> Result<(), StoreError> {
        let Some(sender) = &self.sender else { return Err(self.reason()) };
        sender.send(message).map_err(|_| self.reason())
    }

    /// Why the thread has ended. It says so before it lets go of its end of the channel.
    fn reason(&self) -> StoreError {
        self.failure.get().map_or(StoreError::WriterPanicked, |cause| StoreError::Writer(cause.clone()))
    }

    fn stop(&mut self) {
        drop(self.sender.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            // Only the first of two reasons is kept, and a panic leaves none.
            let _ = self.failure.set(Arc::new(StoreError::WriterPanicked));
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.stop();
            if let Some(error) = self.failure.get() {
                tracing::error!("the store's writer: {error}");
            }
        }
    }
}

/// The right to write; given back when the thread ends, however it does.
struct Lease(Arc<Shared>);

impl Lease {
    fn take(shared: &Arc<Shared>) -> Result<Self, StoreError> {
        if shared.writing.swap(true, Ordering::AcqRel) {
            return Err(StoreError::SecondWriter);
        }
        Ok(Self(shared.clone()))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.writing.store(false, Ordering::Release);
    }
}

struct Committer {
    /// Batches that readers see.
    visible: Arc<AtomicU64>,
    archive: ArchiveWriter,
    encoder: Encoder,
    commit_every: Duration,
    /// The oldest commit that is not on disk. The clock paces fsync alone; the crawl never sees it.
    unsynced_since: Option<Instant>,
    lease: Lease,
}

impl Committer {
    fn run(&mut self, receiver: &Receiver<Message>, failure: &OnceLock<Arc<StoreError>>) {
        loop {
            let (result, done, last) = match self.next(receiver) {
                Ok(Message::Batch(batch)) => (self.commit(*batch), None, false),
                Ok(Message::Flush(done)) => (self.sync(), Some(done), false),
                Err(RecvTimeoutError::Timeout) => (self.sync(), None, false),
                Err(RecvTimeoutError::Disconnected) => (self.sync(), None, true),
            };
            if let Err(error) = result {
                let _ = failure.set(Arc::new(error));
                return;
            }
            if let Some(done) = done {
                // Whoever asked may have stopped waiting.
                let _ = done.send(());
            }
            if last {
                return;
            }
        }
    }

    /// Waits for a message, but not past the time at which commits must be on disk.
    fn next(&self, receiver: &Receiver<Message>) -> Result<Message, RecvTimeoutError> {
        match self.unsynced_since {
            Some(since) => receiver.recv_timeout(self.commit_every.saturating_sub(since.elapsed())),
            None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Commits a batch; durably where it is time to.
    fn commit(&mut self, batch: Batch) -> Result<(), StoreError> {
        let due = self.unsynced_since.is_some_and(|since| since.elapsed() >= self.commit_every);
        self.transact(due, Some(batch))?;
        self.visible.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Makes all commits durable.
    fn sync(&mut self) -> Result<(), StoreError> {
        if self.unsynced_since.is_none() { Ok(()) } else { self.transact(true, None) }
    }

    fn transact(&mut self, durable: bool, batch: Option<Batch>) -> Result<(), StoreError> {
        let mut transaction = self.lease.0.database.begin_write()?;
        transaction.set_durability(if durable { Durability::Immediate } else { Durability::None })?;
        // A durable commit then records which pages are free, and opening after a crash need not walk the file.
        transaction.set_quick_repair(durable);
        if let Some(batch) = batch {
            apply(&self.lease.0, &transaction, batch, &mut self.archive, &mut self.encoder)?;
        }
        // The archive goes first: a committed place must never point at bytes that are not there.
        let end = if durable { self.archive.synced_end()? } else { self.archive.flushed_end()? };
        transaction.open_table(table::meta)?.insert(ARCHIVE_KEY, self.encoder.encode(&end)?.as_slice())?;
        transaction.commit()?;
        self.unsynced_since = if durable { None } else { self.unsynced_since.or_else(|| Some(Instant::now())) };
        Ok(())
    }
}

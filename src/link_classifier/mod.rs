//! Where does a link lead? An estimate of its target's relevance before anything is fetched.
//!
//! A few dense pieces of [`Evidence`] (anchor, URL and DOM context, what is known of
//! parents, siblings, host and directory, Naive Bayes over the link's words) meet in a
//! logistic model with a Gaussian prior around sensible weights, refitted as outcomes come in
//! (Chakrabarti's apprentice; the adaptive crawler of systems.md 5).
//!
//! Promises: estimates from the first link on, by the prior alone; every outcome teaches.
//! Never: fetches, queues or ranks; knows a page's text only through the page classifier's verdict.

mod evidence;
mod facts;
mod learner;
mod link_bayes;
mod logistic;
mod outcomes;
mod trained;

pub use evidence::{Evidence, FEATURES, Feature};
pub use facts::{InLinkFacts, Linkers, Neighbours, SourceFacts, TargetFacts, WordScores};
pub use learner::{Lesson, LinkLearner, WordWeight};
pub use trained::TrainedLinkModel;

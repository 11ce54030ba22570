//! Lists of a topic's words, and documents made up from them where there are no real ones.
//!
//! A list has sections (`[name]`) of groups, one a line, of near-synonyms with commas between them; `#` begins a comment.

use std::path::Path;

use super::ModelError;

/// Groups drawn for one made-up document.
const GROUPS_PER_DOCUMENT: usize = 30;
/// Share of them that comes from one section: documents are about something in particular.
const SHARE_OF_SECTION: f64 = 0.6;

/// The sections of a list, each a list of groups, each a list of near-synonyms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TermList {
    sections: Vec<Vec<Vec<String>>>,
}

impl TermList {
    /// Reads a list.
    ///
    /// # Errors
    /// A file that cannot be read or holds no term.
    pub(super) fn open(path: &Path) -> Result<Self, ModelError> {
        let text = std::fs::read_to_string(path).map_err(ModelError::io(path))?;
        let list = Self::parse(&text);
        if list.terms() == 0 {
            return Err(ModelError::Data { path: path.to_owned(), line: 1, problem: "the list holds no term".to_owned() });
        }
        Ok(list)
    }

    fn parse(text: &str) -> Self {
        let mut sections: Vec<Vec<Vec<String>>> = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if line.starts_with('[') || sections.is_empty() {
                sections.push(Vec::new());
            }
            let group: Vec<String> = if line.starts_with('[') {
                Vec::new()
            } else {
                line.split([',', '，', '、']).map(str::trim).filter(|term| !term.is_empty()).map(str::to_owned).collect()
            };
            if let Some(section) = sections.last_mut().filter(|_| !group.is_empty()) {
                section.push(group);
            }
        }
        sections.retain(|section| !section.is_empty());
        Self { sections }
    }

    /// Number of terms.
    pub(super) fn terms(&self) -> usize {
        self.sections.iter().flatten().map(Vec::len).sum()
    }

    /// Makes up a document: groups of one section, and some of any, each with one to all of its near-synonyms.
    pub(super) fn make_up(&self, random: &mut fastrand::Rng) -> String {
        let groups: usize = self.sections.iter().map(Vec::len).sum();
        // A section is drawn by its size, so that every group is as likely as any other.
        let mut at = random.usize(0..groups);
        let section = self.sections.iter().find(|section| {
            let found = at < section.len();
            at = at.saturating_sub(section.len());
            found
        });
        let mut text = String::new();
        for _ in 0..GROUPS_PER_DOCUMENT {
            let of_section = section.filter(|_| random.f64() < SHARE_OF_SECTION);
            let Some(group) = of_section.or_else(|| self.sections.get(random.usize(0..self.sections.len()))) else { continue };
            let group = &group[random.usize(0..group.len())];
            let first = random.usize(0..group.len());
            for step in 0..random.usize(1..=group.len()) {
                text.push_str(&group[(first + step) % group.len()]);
                text.push('\n');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_groups_and_near_synonyms_are_read() {
        let list = TermList::parse("# a comment\nloose\n[grain]\n水稻，稻谷、rice\n\n[none]\n[pest]\naphid, mite\n");
        assert_eq!(list.sections.len(), 3);
        assert_eq!(list.sections[1], [["水稻", "稻谷", "rice"]]);
        assert_eq!(list.terms(), 6);
    }

    #[test]
    fn made_up_documents_cover_the_list_and_are_the_same_for_the_same_seed() {
        let list = TermList::parse("[a]\none, uno\ntwo\n[b]\nthree\n");
        let documents = |seed| {
            let mut random = fastrand::Rng::with_seed(seed);
            (0..20).map(|_| list.make_up(&mut random)).collect::<Vec<_>>()
        };
        assert_eq!(documents(1), documents(1));
        assert_ne!(documents(1), documents(2));
        let all = documents(1).concat();
        assert!(["one", "uno", "two", "three"].iter().all(|term| all.contains(term)));
    }

    #[test]
    fn a_list_without_terms_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "# nothing\n[section]\n").unwrap();
        assert!(TermList::open(file.path()).unwrap_err().to_string().ends_with("the list holds no term"));
    }
}

//! Parses any text as a site file, which is refused with its place or can be checked.

use accord_gateway::check::check as findings;
use accord_gateway::config::parse;

/// Returns true if the text is a site file.
pub fn check(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    match parse("/etc/accord/site.toml", text) {
        Ok(site) => {
            for finding in findings(&site) {
                // A finding on contracts that fit concerns their queue.
                let fits = finding.contracted_bps <= finding.available_bps;
                assert_eq!(fits, finding.scale == 1.0, "{finding:?}");
                assert!((0.0..=1.0).contains(&finding.scale), "{finding:?}");
                assert!(finding.queue_s.is_none_or(|s| fits && s > 0.0), "{finding:?}");
            }
            for peer in &site.peers {
                assert!(peer.service.contract <= peer.cap);
                assert_eq!(peer.shares.len(), site.classes.len() + 1);
                assert!(peer.networks.iter().all(|n| n.contains(&n.addr())));
            }
            true
        }
        Err(errors) => {
            for e in errors {
                assert!(e.span.end <= text.len() && !e.message.is_empty());
                assert!(e.line >= 1 && e.column >= 1);
            }
            false
        }
    }
}

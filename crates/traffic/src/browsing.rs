//! A user of the web: the choice of the next file and the next pause. The laws are in [`Web`].

use crate::draw::{lognormal, pareto, weibull};
use crate::random::Dice;
use crate::web::Web;
use accord_units::{Bytes, Duration};

/// The state of a user.
#[derive(Clone, Copy, Debug, Default)]
pub struct Browsing {
    /// True once the user has begun the first page.
    begun: bool,
    /// The objects of the page that remain to be fetched.
    objects: u64,
}

/// The next action of a user.
pub enum Act {
    /// Waits for this time.
    Wait(Duration),
    /// Fetches a file of this size, and then waits for this time.
    Fetch(Bytes, Duration),
}

impl Browsing {
    /// Returns the next act of a user that draws from `dice`.
    pub fn act(&mut self, web: &Web, dice: &mut Dice) -> Act {
        if !self.begun {
            self.begun = true;
            let part = dice.uniform();
            return Act::Wait(think(web, dice).mul_f64(part));
        }
        match self.objects {
            0 => self.objects = objects(web, dice),
            _ => self.objects -= 1,
        }
        let size = file(web, dice);
        let pause = match self.objects {
            0 => think(web, dice),
            _ => off(web, dice),
        };
        Act::Fetch(size, pause)
    }
}

/// Draws the size of a file.
pub fn file(web: &Web, dice: &mut Dice) -> Bytes {
    let size = if dice.uniform() < web.tail_share {
        pareto(dice, web.tail_least.as_f64(), web.tail_shape)
    } else {
        lognormal(dice, web.body_mu, web.body_sigma)
    };
    Bytes::new(size.clamp(1.0, web.largest.as_f64().max(1.0)).round() as u64)
}

/// Draws the number of objects embedded in a page.
pub fn objects(web: &Web, dice: &mut Dice) -> u64 {
    pareto(dice, 1.0, web.objects_shape) as u64
}

/// Draws the pause before an embedded object.
pub fn off(web: &Web, dice: &mut Dice) -> Duration {
    bounded(web, weibull(dice, web.off_scale.as_secs_f64(), web.off_shape))
}

/// Draws the pause before the next page.
pub fn think(web: &Web, dice: &mut Dice) -> Duration {
    bounded(web, pareto(dice, web.think_least.as_secs_f64(), web.think_shape))
}

fn bounded(web: &Web, seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.min(web.longest.as_secs_f64()))
}

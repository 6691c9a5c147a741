//! Scenarios built in code, for tests of the engine.
#![allow(dead_code)]

pub mod one_link;

use accord_family::Catalogue;
use accord_family::Service;
use accord_family::{Family, Raw, Values};
use accord_language::File;
use accord_scenario::*;
use accord_traffic::Demand;
use accord_units::*;
use std::sync::Arc;

pub const CATALOGUE: Catalogue =
    Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };

/// The first point of a scenario file.
pub fn scenario(text: &str) -> Scenario {
    let file = File::parse("test.toml", text).unwrap_or_else(|e| panic!("{e}"));
    let points = file.points(&CATALOGUE, None);
    points.unwrap_or_else(|e| panic!("{e}")).remove(0)
}

pub fn controller(name: &str, params: &[(&str, Raw)]) -> Values {
    values(accord_control::FAMILIES, name, params)
}

pub fn discipline(name: &str, params: &[(&str, Raw)]) -> Values {
    values(accord_aqm::FAMILIES, name, params)
}

fn values(families: &'static [&'static Family], name: &str, params: &[(&str, Raw)]) -> Values {
    let family = families.iter().find(|f| f.name == name).expect("a known family");
    let mut values = family.defaults();
    for (name, raw) in params {
        values.set(name, raw).expect("a valid parameter");
    }
    values
}

pub fn text(s: &str) -> Raw {
    Raw::Text(s.into())
}

/// A dumbbell under construction.
pub struct Dumbbell(pub Scenario);

impl Dumbbell {
    pub fn new(rate: &str, delay: &str, discipline: Values, limit: Limit, duration: &str) -> Self {
        let duration: Duration = duration.parse().unwrap();
        let mut s = Scenario {
            id: "test".into(),
            title: String::new(),
            source: String::new(),
            notes: String::new(),
            figure: None,
            point: vec![],
            seed: 1,
            duration,
            sample: Duration::from_ms(10),
            inner: false,
            steady: Window {
                start: Time::ZERO + duration.mul_f64(0.5),
                end: Time::ZERO + duration,
            },
            fluid: Default::default(),
            nodes: vec![Node { name: "left".into() }, Node { name: "right".into() }],
            links: vec![],
            groups: vec![],
            flows: vec![],
            aggregates: vec!["default".into()],
            events: vec![],
            expectations: vec![],
        };
        for (name, from, to) in [("bottleneck", 0, 1), ("bottleneck.reverse", 1, 0)] {
            s.links.push(Link {
                name: name.into(),
                from,
                to,
                rate: rate.parse().unwrap(),
                delay: delay.parse().unwrap(),
                queue: Queue { discipline: discipline.clone(), limit },
                loss: 0.0,
                control_loss: 0.0,
                control_priority: true,
                parts: None,
                attachment: false,
            });
        }
        Dumbbell(s)
    }

    pub fn attach(
        &mut self,
        name: &str,
        from: NodeId,
        to: NodeId,
        rate: &str,
        delay: Duration,
    ) -> [LinkId; 2] {
        let s = &mut self.0;
        let mut ids = [0; 2];
        for (i, (suffix, from, to)) in
            [("", from, to), (".reverse", to, from)].into_iter().enumerate()
        {
            ids[i] = s.links.len();
            s.links.push(Link {
                name: format!("{name}{suffix}"),
                from,
                to,
                rate: rate.parse().unwrap(),
                delay,
                queue: Queue {
                    discipline: self::discipline("droptail", &[]),
                    limit: Limit::Unlimited,
                },
                loss: 0.0,
                control_loss: 0.0,
                control_priority: true,
                parts: None,
                attachment: true,
            });
        }
        ids
    }

    /// `count` flows from left to right (or back) with access and egress delays in
    /// microseconds.
    #[expect(clippy::too_many_arguments, reason = "a table of values in each call")]
    pub fn flows(
        mut self,
        name: &str,
        count: usize,
        controller: Values,
        rate: &str,
        delays_us: (u64, u64),
        start_stop: (&str, Option<&str>),
        forward: bool,
    ) -> Self {
        let first = self.0.flows.len();
        let group = self.0.groups.len();
        for i in 0..count {
            let host = |s: &mut Scenario, n: String| {
                s.nodes.push(Node { name: n });
                s.nodes.len() - 1
            };
            let src = host(&mut self.0, format!("{name}.{i}.source"));
            let dst = host(&mut self.0, format!("{name}.{i}.sink"));
            let (near, far) = if forward { (0, 1) } else { (1, 0) };
            let a = self.attach(
                &format!("{name}.{i}.access"),
                src,
                near,
                rate,
                Duration::from_us(delays_us.0),
            );
            let e = self.attach(
                &format!("{name}.{i}.egress"),
                far,
                dst,
                rate,
                Duration::from_us(delays_us.1),
            );
            let (there, back) = if forward { (0, 1) } else { (1, 0) };
            self.0.flows.push(Flow {
                name: format!("{name}.{i}"),
                path: vec![a[0], there, e[0]],
                reverse_path: vec![e[1], back, a[1]],
                start: Time::ZERO + start_stop.0.parse().unwrap(),
                processing: Duration::ZERO,
                settings: Arc::new(FlowSettings {
                    group,
                    controller: Arc::new(controller.clone()),
                    carrier: Carrier::Ours,
                    service: Service::default(),
                    demand: Demand::Greedy,
                    stop: start_stop.1.map(|s| Time::ZERO + s.parse().unwrap()),
                    aggregate: 0,
                    share: 1.0,
                    packet: Bytes::new(1000),
                    ack: Bytes::new(40),
                    control: Bytes::new(40),
                    sizes: None,
                    min_rto: Duration::from_ms(200),
                    pacing: false,
                    tunnel: None,
                    through: None,
                }),
            });
        }
        self.0.groups.push(Group {
            name: name.into(),
            flows: first..first + count,
            recorded: Recorded::Flows,
        });
        self
    }
}

pub fn window(start: f64, end: f64) -> Window {
    Window { start: Time::from_secs_f64(start), end: Time::from_secs_f64(end) }
}

pub fn fig6(controller: Values, queue: Values, packets: u64) -> Scenario {
    Dumbbell::new("30 Mbps", "2 ms", queue, Limit::Packets(packets), "50 s")
        .flows("set1", 10, controller.clone(), "10 Mbps", (1000, 1000), ("0 s", Some("30 s")), true)
        .flows("set2", 5, controller.clone(), "10 Mbps", (1000, 6000), ("10 s", Some("40 s")), true)
        .flows("set3", 5, controller, "10 Mbps", (1000, 11000), ("20 s", None), true)
        .0
}

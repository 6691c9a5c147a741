//! Runs whose subject is a program: an emulation, with an instance of the program for each flow of the
//! subject.

use accord::Error;
use accord::live::{End, Programs, Way, emulate};
use accord::record::{Observer, Run};
use accord::scenario::{Carrier, Flow, Group, Scenario};
use accord::traffic::Demand;
use accord::units::Time;
use std::ffi::OsString;
use std::path::PathBuf;

/// The least packet of a flow of programs, in bytes: that of a kernel with IPv4.
const LEAST_PACKET: u64 = 576;

/// The settings of the runs of programs.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The line that starts the guard of programs, without its arguments.
    pub guard: Vec<OsString>,
    /// The line of a shell that starts the server at the far end, if there is one there.
    pub server: Option<String>,
    /// The file that takes the output of the programs.
    pub log: PathBuf,
}

/// A program in the scenario of a trial.
#[derive(Clone, Debug)]
pub struct Instances {
    /// The line of a shell that starts it.
    line: String,
    /// The flows of its instances and those of their answers, which follow all flows of the trial's scenario.
    ways: [Vec<usize>; 2],
    /// The scenario with the flows of the answers.
    scenario: Scenario,
}

impl Instances {
    /// Places the instances of a program in the scenario of a trial: the flows of groups.
    ///
    /// # Errors
    /// The reason why programs cannot be these flows.
    pub fn of(scenario: &Scenario, groups: &[&str], line: &str) -> Result<Instances, String> {
        let mut with_answers = scenario.clone();
        let mut ways = [Vec::new(), Vec::new()];
        for group in scenario.groups.iter().filter(|g| groups.contains(&g.name.as_str())) {
            let number = with_answers.groups.len();
            let first = with_answers.flows.len();
            for at in group.flows.clone() {
                let flow = &scenario.flows[at];
                refuse(flow)?;
                let mut answer = Flow {
                    name: format!("{} back", flow.name),
                    path: flow.reverse_path.clone(),
                    reverse_path: flow.path.clone(),
                    ..flow.clone()
                };
                answer.group = number;
                ways[0].push(at);
                ways[1].push(with_answers.flows.len());
                with_answers.flows.push(answer);
            }
            with_answers.groups.push(Group {
                name: format!("{} back", group.name),
                flows: first..with_answers.flows.len(),
                recorded: group.recorded,
            });
        }
        // Connections take the flows in turn, and they come in the order of their starts.
        let mut order: Vec<usize> = (0..ways[0].len()).collect();
        order.sort_by_key(|&i| scenario.flows[ways[0][i]].start);
        let ways = ways.map(|way| order.iter().map(|&i| way[i]).collect());
        Ok(Instances { line: line.to_string(), ways, scenario: with_answers })
    }

    /// Returns a shell script that runs an instance from the start of each flow to its stop, with its number in
    /// `ACCORD_INSTANCE`. An instance that ends by itself leaves its flow silent. One that fails ends the run.
    fn script(&self) -> String {
        let end = self.scenario.end();
        let seconds = |time: Time| time.as_secs_f64();
        let mut script = String::from("trap 'exit 1' USR1\n");
        for (i, &flow) in self.ways[0].iter().enumerate() {
            let flow = &self.scenario.flows[flow];
            let stop = flow.stop.unwrap_or(end).min(end);
            if stop <= flow.start {
                continue;
            }
            // 124 is the exit code of `timeout` at the stop.
            script += &format!(
                "( sleep {:.6}; export ACCORD_INSTANCE={i}; timeout -k 1 {:.6} sh -c {}; code=$?; \
                 [ $code = 0 ] || [ $code = 124 ] || {{ echo \"exit code $code\"; kill -USR1 $$; }} ) &\n",
                seconds(flow.start),
                seconds(stop) - seconds(flow.start),
                quoted(&self.line),
            );
        }
        script + &format!("sleep {:.6} & wait\n", seconds(end))
    }

    /// Makes the run.
    ///
    /// # Errors
    /// The failure of the program, or the machine's.
    pub fn run(
        &self,
        launch: &Launch,
        observer: &mut dyn Observer,
    ) -> Result<Result<Run, String>, Error> {
        let line = |script: &str| {
            let log = quoted(&launch.log.display().to_string());
            let script = format!("exec >>{log} 2>&1\n{script}");
            ["sh", "-c", &script].map(OsString::from).to_vec()
        };
        let server = launch.server.as_deref().map(|server| {
            let instances = self.ways[0].len();
            line(&format!("export ACCORD_INSTANCES={instances}\n{server}\n"))
        });
        let end = |name: &str, line| End { name: name.into(), line, join: None };
        let programs = Programs {
            ends: vec![end("client", Some(line(&self.script()))), end("server", server)],
            guard: launch.guard.clone(),
            routes: Vec::new(),
            announce: |_| {},
        };
        let way = |from: usize| Way { from, to: 1 - from, flows: self.ways[from].clone() };
        let emulated = emulate(&self.scenario, &[way(0), way(1)], &programs, observer)?;
        if emulated.interrupted {
            return Err(Error::Interrupted);
        }
        let (lasted, whole) = (emulated.scenario.duration, self.scenario.duration);
        if lasted < whole {
            let log = launch.log.display();
            let lasted = lasted.as_secs_f64();
            let why = format!("the program failed after {lasted:.1} s; {log} has its output");
            return Ok(Err(why));
        }
        Ok(Ok(emulated.run))
    }
}

/// Refuses a flow that no program can be.
fn refuse(flow: &Flow) -> Result<(), String> {
    let name = &flow.name;
    if !matches!(flow.carrier, Carrier::Kernel(_)) || flow.through.is_some() {
        return Err(format!("{name} is in a tunnel, and a program is not"));
    }
    if flow.demand != Demand::Greedy {
        return Err(format!(
            "{name} has an application of the case, and a program sends its own data"
        ));
    }
    if flow.packet.get() < LEAST_PACKET {
        return Err(format!(
            "its packets of {} are too small for a network of programs",
            flow.packet
        ));
    }
    Ok(())
}

/// Returns a text as a word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

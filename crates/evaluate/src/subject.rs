//! Subjects: a controller or a discipline with some of its parameters.

use crate::pack::{Parameter, SubjectRole};
use accord::Catalogue;
use accord::family::{Family, Role};
use accord::form::suggest;

/// The subject of an evaluation, or a rival: `vegas`, or `vegas,alpha=4 pkt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// As on the command line; of a program its name.
    pub label: String,
    /// The name of the family.
    pub family: String,
    /// Parameters and their values, as TOML.
    pub parameters: Vec<(String, String)>,
    /// The kind of subject.
    pub role: SubjectRole,
    /// The part of the outside that takes the place of the family, if one does.
    pub outside: Option<Outside>,
    /// The names of all parameters of the family.
    has: Vec<&'static str>,
}

/// A subject outside of the program, which runs in real time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outside {
    /// The congestion control of the kernel's TCP with this name.
    Kernel(String),
    /// A line of a shell that starts a program, whose packets are those of a flow. `{server}` in it is the
    /// address of the far end.
    Command(String),
}

/// The prefix of the name of a congestion control of the kernel.
const KERNEL: &str = "kernel:";
/// The prefix of a line of a shell.
pub(crate) const COMMAND: &str = "command:";
/// The carrier of the flows whose packets are those of programs.
const CARRIER: &str = "cubic";
/// The end of the path of a controller in a scenario.
const CONTROLLER: &str = ".controller";

/// The reason why a text is not a subject, with a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSubject {
    /// The fault.
    pub message: String,
    /// The remedy.
    pub hint: Option<String>,
}

impl Subject {
    /// Reads `NAME[,KEY=VALUE...]`, or `kernel:NAME` of a congestion control of the kernel's TCP, or
    /// `command: LINE` of a program.
    ///
    /// # Errors
    /// Fails if there is no such family, or if a part is no setting. Values are checked when the
    /// subject is put into a scenario.
    pub fn parse(text: &str, catalogue: &Catalogue) -> Result<Subject, NoSubject> {
        let text = text.trim();
        if let Some(name) = text.strip_prefix(KERNEL) {
            return Subject::of_kernel(text, name, catalogue);
        }
        if let Some(line) = text.strip_prefix(COMMAND) {
            return Subject::of_command(line.trim());
        }
        let mut parts = text.split(',').map(str::trim);
        let family = parts.next().unwrap_or_default();
        let all = || catalogue.controllers.iter().chain(catalogue.disciplines);
        let Some(found) = all().find(|f| f.name == family) else {
            let hint = suggest(family, all().map(|f| f.name));
            let lists = "accord list controllers and accord list disciplines show them";
            return Err(NoSubject {
                message: format!("there is no controller and no discipline \"{family}\""),
                hint: Some(hint.map_or(lists.into(), |hint| match hint.ends_with('?') {
                    true => format!("{hint} {lists}"),
                    false => format!("{hint}; {lists}"),
                })),
            });
        };
        let mut parameters = Vec::new();
        for part in parts {
            let Some((key, value)) = part.split_once('=') else {
                return Err(NoSubject {
                    message: format!("\"{part}\" in \"{text}\" is not a setting"),
                    hint: Some("write NAME,KEY=VALUE, for example \"vegas,alpha=2 pkt\"".into()),
                });
            };
            let (key, value) = (key.trim(), value.trim());
            if found.params.iter().all(|p| p.name != key) {
                return Err(NoSubject {
                    message: format!("{family} has no parameter \"{key}\""),
                    hint: suggest(key, found.params.iter().map(|p| p.name)),
                });
            }
            parameters.push((key.to_string(), as_toml(value)));
        }
        Ok(Subject { label: text.trim().to_string(), parameters, ..Subject::of(found) })
    }

    /// Returns the subject that is a family with its defaults.
    pub fn of(family: &Family) -> Subject {
        let role = match family.role {
            Role::Controller(_) | Role::Tunnel(_) => SubjectRole::Controller,
            Role::Queue(_) => SubjectRole::Discipline,
        };
        Subject {
            label: family.name.to_string(),
            family: family.name.to_string(),
            parameters: Vec::new(),
            role,
            outside: None,
            has: family.params.iter().map(|p| p.name).collect(),
        }
    }

    /// Returns the subject of this name in the kernel, with its model as the family if there is one.
    fn of_kernel(text: &str, name: &str, catalogue: &Catalogue) -> Result<Subject, NoSubject> {
        let sound = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        if name.is_empty() || !name.chars().all(sound) {
            return Err(NoSubject {
                message: format!("\"{name}\" is not the name of a congestion control"),
                hint: Some("write kernel:NAME, for example kernel:bbr, without parameters".into()),
            });
        }
        let mut known = catalogue.controllers.iter();
        let model = known.find(|family| family.kernel == Some(name));
        Ok(Subject {
            label: text.to_string(),
            // Without a model it is the plainest of those with a window.
            family: model.map_or("newreno", |family| family.name).to_string(),
            parameters: Vec::new(),
            role: SubjectRole::Controller,
            outside: Some(Outside::Kernel(name.to_string())),
            has: Vec::new(),
        })
    }

    /// Returns the subject that is a program.
    fn of_command(line: &str) -> Result<Subject, NoSubject> {
        if line.is_empty() || line.contains(['\n', '\r']) {
            return Err(NoSubject {
                message: "a command of one line is missing".into(),
                hint: Some("write \"command: ./client {server}\"".into()),
            });
        }
        let program = line.split_whitespace().next().unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or(program);
        Ok(Subject {
            label: format!("{COMMAND} {name}"),
            family: "newreno".to_string(),
            parameters: Vec::new(),
            role: SubjectRole::Controller,
            outside: Some(Outside::Command(line.to_string())),
            has: Vec::new(),
        })
    }

    /// Returns the line of a shell that the subject is, if it is one.
    pub fn command(&self) -> Option<&str> {
        match &self.outside {
            Some(Outside::Command(line)) => Some(line),
            _ => None,
        }
    }

    /// Returns the settings that put the subject at `path` in a scenario. `otherwise` has
    /// parameters of the pack: they count if the family has them and the subject does not name
    /// them.
    pub fn settings(&self, path: &str, otherwise: &[Parameter]) -> Vec<(String, String)> {
        let named = |name: &str| self.parameters.iter().any(|(key, _)| key == name);
        let missing = |p: &&Parameter| self.has.contains(&&*p.name) && !named(&p.name);
        let missing = otherwise.iter().filter(missing).map(|p| (&p.name, &p.value));
        let own = self.parameters.iter().map(|(key, value)| (key, value));
        let parameters = own.chain(missing);
        match self.role {
            SubjectRole::Controller => {
                let mut table = format!("{{ name = \"{}\"", self.family);
                for (key, value) in parameters {
                    table += &format!(", {key} = {value}");
                }
                let flow = path.strip_suffix(CONTROLLER);
                let name = self.outside.as_ref().map(|outside| match outside {
                    Outside::Kernel(name) => name.as_str(),
                    Outside::Command(_) => CARRIER,
                });
                let kernel = name.zip(flow);
                let kernel =
                    kernel.map(|(name, flow)| (format!("{flow}.kernel"), format!("\"{name}\"")));
                [(path.to_string(), table + " }")].into_iter().chain(kernel).collect()
            }
            SubjectRole::Discipline => {
                let name = (format!("{path}.discipline"), self.family.clone());
                let rest = parameters.map(|(key, value)| (format!("{path}.{key}"), value.clone()));
                [name].into_iter().chain(rest).collect()
            }
        }
    }
}

/// Returns a value as TOML: as it stands if it is a number, a flag or a quoted text.
fn as_toml(value: &str) -> String {
    let parsed: Result<toml::Table, _> = toml::from_str(&format!("v = {value}"));
    match parsed.ok().and_then(|mut table| table.remove("v")) {
        Some(plain) => plain.to_string(),
        None => toml::Value::String(value.to_string()).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_put_into_scenarios() {
        let catalogue = accord::catalogue();
        let subject = Subject::parse("vegas, alpha=4 pkt", &catalogue).expect("a subject");
        assert_eq!(
            subject.settings("flow.subject.controller", &[]),
            [(
                "flow.subject.controller".to_string(),
                "{ name = \"vegas\", alpha = \"4 pkt\" }".to_string()
            )]
        );
        let queue = Subject::parse("codel,target=\"5 ms\",ecn=true", &catalogue);
        let queue = queue.map(|q| q.settings("link.b.queue", &[])).unwrap_or_default();
        assert_eq!(queue[0], ("link.b.queue.discipline".into(), "codel".into()));
        assert_eq!(queue[1], ("link.b.queue.target".into(), "\"5 ms\"".into()));
        assert_eq!(queue[2], ("link.b.queue.ecn".into(), "true".into()));
    }

    #[test]
    fn parameters_of_the_pack_give_way() {
        let catalogue = accord::catalogue();
        let otherwise = [Parameter { name: "rack".into(), value: "true".into(), span: 0..0 }];
        let settings = |text| {
            let subject = Subject::parse(text, &catalogue).expect("a subject");
            subject.settings("c", &otherwise).remove(0).1
        };
        assert_eq!(settings("cubic"), "{ name = \"cubic\", rack = true }");
        let told = settings("cubic,rack=false");
        assert_eq!(told, "{ name = \"cubic\", rack = false }");
        assert_eq!(settings("copa"), "{ name = \"copa\" }");
    }

    #[test]
    fn congestion_controls_of_the_kernel_have_their_models() {
        let catalogue = accord::catalogue();
        let subject = |text| Subject::parse(text, &catalogue);
        let settings = subject("kernel:bbr").map(|s| s.settings("flow.a.controller", &[]));
        let expected = [
            ("flow.a.controller".to_string(), "{ name = \"bbr1\" }".to_string()),
            ("flow.a.kernel".to_string(), "\"bbr\"".to_string()),
        ];
        assert_eq!(settings.unwrap_or_default(), expected);
        assert_eq!(subject("kernel:lp").map(|s| s.family), Ok("newreno".into()));
        for wrong in ["kernel:", "kernel:cubic,beta=1", "kernel:a b", "command:", "command: a\nb"] {
            assert!(subject(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_program_is_a_subject() {
        let subject = Subject::parse("command: ./client {server}, 5", &accord::catalogue());
        let subject = subject.expect("a subject");
        assert_eq!(subject.command(), Some("./client {server}, 5"));
        assert_eq!(subject.label, "command: client");
        let settings = subject.settings("flow.a.controller", &[]);
        assert_eq!(settings[1], ("flow.a.kernel".into(), "\"cubic\"".into()));
    }

    #[test]
    fn misspelt_names_have_a_hint() {
        let catalogue = accord::catalogue();
        let hint = |text| {
            let wrong = Subject::parse(text, &catalogue).expect_err("wrong");
            wrong.hint.unwrap_or_default()
        };
        assert!(hint("vegs").contains("\"vegas\""));
        assert!(hint("vegas,alpa=3").contains("\"alpha\""));
        assert!(hint("vegas,4 pkt").contains("KEY=VALUE"));
    }
}

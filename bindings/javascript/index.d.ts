/** The engines that run in a browser. */
export type Engine = "theory" | "fluid" | "packet";

/** The values of one metric of one flow, group or link over time. */
export interface Series {
  /** `quantile` is over the flows of a group, and its entity is GROUP pN. */
  entity_kind: "flow" | "group" | "quantile" | "link" | "aggregate";
  /** The name in the scenario. */
  entity: string;
  /** The quantity, as `accord list metrics` names it. */
  metric: string;
  /** The unit of the values: bit/s, B, s, pkt or 1. */
  unit: string;
  /** One value per time of the run, or null where there is none. */
  values: (number | null)[];
}

/** The result of one engine. */
export interface Run {
  engine: Engine;
  /** Runs with equal digests are equal. */
  digest: string;
  /** The time that the run took, in seconds. */
  seconds: number;
  /** The ends of the sampling periods, in seconds since the start of the run. */
  time_s: number[];
  series: Series[];
}

/** A mistake in a scenario. */
export interface Mistake {
  message: string;
  hint: string | null;
  /** The line, from 1. */
  line: number;
  /** The start and the end in the text, as JavaScript counts. */
  from: number;
  to: number;
}

export interface Engines {
  /** Returns the mistakes of a scenario, and the labels of the points of its sweep (one empty label without a sweep). */
  check(scenario: string): { errors: Mistake[]; points: string[] };
  /**
   * Runs a point of a scenario (TOML) in an engine. It returns when the run has ended: call it in a worker if the page
   * must answer until then.
   *
   * Points count from 1, as everywhere in Accord: the first label of `check` is that of point 1.
   *
   * `progress` hears the share of the run that is done, from 0 to 1.
   *
   * @throws if the scenario is wrong, it has no such point, the engine has no result of it, or the run needs more than 1 GiB of memory.
   */
  run(scenario: string, engine: Engine, options?: { point?: number; progress?: (part: number) => void }): Run;
  /** Returns the margins of the equilibria of a point as text, as `accord stability` prints them. */
  stability(scenario: string, options?: { point?: number }): string;
  /** Returns the text of an experiment or a lesson that comes with Accord. */
  experiment(id: string): string;
}

/** Loads the engines: of `accord.wasm` next to this file, or of another copy of it. */
export function load(module?: WebAssembly.Module | BufferSource): Promise<Engines>;

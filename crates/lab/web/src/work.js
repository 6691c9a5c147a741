// The work of students, kept in the browser: first guesses, and attempts at exercises up to the first right one.
const KEY = "accord-lab work";
/** The maximum number of attempts at an exercise that are recorded, as crates/lab/src/hand_in.rs has it. */
export const MOST_ATTEMPTS = 200;

const plain = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
/** Names that draw the same numbers are one student, as crates/lab/src/class.rs has it. */
const keyOf = (student) => `=${student.trim().toLowerCase()}`;

export class Work {
  /** `storage` is a Storage of the browser, or null if the browser refuses one. Then the work lasts as long as the page. */
  constructor(storage) {
    this.storage = storage;
    this.all = {};
  }

  /** Reads again what all tabs have written. */
  read() {
    try {
      const all = JSON.parse(this.storage.getItem(KEY));
      if (plain(all)) this.all = all;
    } catch {
      // The page keeps its own copy.
    }
    return this.all;
  }

  write() {
    try {
      this.storage.setItem(KEY, JSON.stringify(this.all));
    } catch {
      // The work lasts as long as the page.
    }
  }

  /** Returns the work of a student: { guesses, attempts }, by the ids of the lessons. An attempt is [answer, right]. */
  of(student) {
    const found = this.read()[keyOf(student)];
    const part = (name) => (plain(found?.[name]) ? found[name] : {});
    const attempts = Object.entries(part("attempts")).filter(([, all]) => Array.isArray(all) && all.every((one) => Array.isArray(one) && Number.isFinite(one[0])));
    const guesses = Object.entries(part("guesses")).filter(([, guess]) => Number.isFinite(guess));
    return { guesses: Object.fromEntries(guesses), attempts: Object.fromEntries(attempts) };
  }

  change(student, change) {
    const own = this.of(student);
    change(own);
    this.all[keyOf(student)] = own;
    this.write();
  }

  /** Records a guess. The first one stays. */
  guess(student, lesson, guess) {
    this.change(student, ({ guesses }) => (guesses[lesson] ??= guess));
  }

  /** Records an attempt at an exercise, unless one was right already. */
  attempt(student, lesson, answer, right) {
    this.change(student, ({ attempts }) => {
      const all = (attempts[lesson] ??= []);
      if (!all.some(([, right]) => right) && all.length < MOST_ATTEMPTS) all.push([answer, right]);
    });
  }

  /** Gives the guesses that were made without a name to a student who has none. */
  adopt(student) {
    const { guesses } = this.of("");
    if (keyOf(student) === keyOf("") || Object.keys(guesses).length === 0) return;
    this.change(student, (own) => (own.guesses = { ...guesses, ...own.guesses }));
    this.change("", (own) => (own.guesses = {}));
  }

  /** Returns the work as it is handed in. */
  handed(student) {
    const { guesses, attempts } = this.of(student);
    const answers = Object.entries(attempts).map(([lesson, all]) => [lesson, all.map(([answer]) => answer)]);
    return { student: student.trim(), guesses, attempts: Object.fromEntries(answers) };
  }
}

// Previews while a slider moves: one at a time. Of the texts that come during one the last one follows.

export class Previews {
  /** `run` draws a preview of the present text, and ends with it. */
  constructor(run) {
    this.run = run;
    this.wanted = false;
    this.running = false;
  }

  /** Asks for a preview: at once, or after the one that runs. */
  async ask() {
    this.wanted = true;
    if (this.running) return;
    this.running = true;
    while (this.wanted) {
      this.wanted = false;
      await this.run();
    }
    this.running = false;
  }

  /** Drops the preview that waits. An exact run begins, which it would stop. */
  drop() {
    this.wanted = false;
  }
}

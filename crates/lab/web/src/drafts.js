// Edited texts, kept in the browser per lesson or file.
const PREFIX = "accord-lab ";

export class Drafts {
  /** `storage` is a Storage of the browser, or null if the browser refuses one. */
  constructor(storage) {
    this.storage = storage;
  }

  /** Returns the text kept under a key and the text from which it was made, as { text, from }, or null. */
  read(key) {
    try {
      const { text, from } = JSON.parse(this.storage.getItem(PREFIX + key));
      return typeof text === "string" && typeof from === "string" ? { text, from } : null;
    } catch {
      return null;
    }
  }

  /** Keeps a text that differs from `base`, and removes one that does not. Returns false if the text is not kept. */
  write(key, text, base, from) {
    try {
      if (text === base) this.storage.removeItem(PREFIX + key);
      else this.storage.setItem(PREFIX + key, JSON.stringify({ text, from }));
      return true;
    } catch {
      return text === base;
    }
  }
}

/** Returns a storage of the browser, or null if the browser refuses it. */
export function storage(name) {
  try {
    return globalThis[name] ?? null;
  } catch {
    return null;
  }
}

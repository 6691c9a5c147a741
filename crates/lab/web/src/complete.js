// Completions from the JSON Schema of the scenario language.

/** Returns the schema of the table at a path such as ["flow", "a", "controller"]. */
export function at(schema, path) {
  const resolve = (node) => {
    let here = node;
    while (here?.$ref) here = schema.$defs[here.$ref.split("/").pop()];
    return here;
  };
  const options = (node) => {
    const here = resolve(node);
    const several = here?.anyOf ?? here?.oneOf;
    return several ? several.flatMap(options) : here ? [here] : [];
  };
  let all = options(schema);
  for (const part of path) {
    all = all.flatMap((node) => {
      const next = node.properties?.[part] ?? (typeof node.additionalProperties === "object" ? node.additionalProperties : undefined);
      const items = options(next).flatMap((n) => (n.items ? options(n.items) : [n]));
      return items;
    });
  }
  return all;
}

/** Returns the table at a position of a text, and the word being typed there. */
export function place(text, position) {
  const before = text.slice(0, position);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const headers = [...before.matchAll(/^\s*\[\[?([^\]\n]+)\]\]?/gm)];
  const table = headers.length ? headers.at(-1)[1].trim().split(".") : [];
  // Inline tables: key = { key = …
  const inner = [];
  for (const match of line.matchAll(/([A-Za-z0-9_-]+)\s*=\s*\{|\}/g)) match[1] ? inner.push(match[1]) : inner.pop();
  const value = /([A-Za-z0-9_-]+)\s*=\s*("?)([A-Za-z0-9_-]*)$/.exec(line);
  const key = /(?:^\s*|[{,]\s*)([A-Za-z0-9_-]*)$/.exec(line);
  return { table: [...table, ...inner], value: value && { key: value[1], quoted: value[2] !== "", word: value[3] }, key: key && key[1] };
}

/** Returns { from, options } at a position, as CodeMirror wants them, or null. */
export function completions(schema, text, position) {
  const { table, value, key } = place(text, position);
  const nodes = at(schema, table);
  if (value) {
    const names = at(schema, [...table, value.key]).flatMap((node) => node.enum ?? (node.const !== undefined ? [node.const] : []));
    const words = [...new Set(names.filter((name) => typeof name === "string"))];
    if (!words.length) return null;
    return {
      from: position - value.word.length,
      options: words.map((label) => ({ label, type: "constant", apply: value.quoted ? label : `"${label}"` })),
    };
  }
  if (key === null) return null;
  const keys = nodes.flatMap((node) => Object.entries(node.properties ?? {}));
  const seen = new Map(keys.map(([label, node]) => [label, node]));
  if (!seen.size) return null;
  return {
    from: position - key.length,
    options: [...seen].map(([label, node]) => ({ label, type: "property", info: node.description, apply: `${label} = ` })),
  };
}

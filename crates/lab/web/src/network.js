// The drawing of a network: nodes pushed apart, links as springs.
import { forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";

const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** Returns the places of the nodes in a box. They depend on the network only. */
export function layout(network, width, height) {
  const nodes = network.nodes.map((name, i) => ({ name, x: i * 40, y: (i % 2) * 6 }));
  const links = network.links.map(({ from, to }) => ({ source: from, target: to }));
  forceSimulation(nodes)
    .force("link", forceLink(links).distance(60).iterations(4))
    .force("charge", forceManyBody().strength(-220))
    .force("x", forceX().strength(0.01))
    .force("y", forceY().strength(0.06))
    .stop()
    .tick(300);
  const span = (of) => [Math.min(...nodes.map(of)), Math.max(...nodes.map(of))];
  const [x0, x1] = span((n) => n.x);
  const [y0, y1] = span((n) => n.y);
  const scale = Math.min((width - 90) / (x1 - x0 || 1), (height - 70) / (y1 - y0 || 1), 3);
  return nodes.map((n) => ({
    x: width / 2 + (n.x - (x0 + x1) / 2) * scale,
    y: height / 2 + (n.y - (y0 + y1) / 2) * scale,
  }));
}

/** Returns the drawing of a network, with the flows as lines along it. */
export function drawing(network) {
  const [width, height] = [560, 200];
  const places = layout(network, width, height);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Network of ${network.nodes.length} nodes` });
  const few = network.links.length <= 12;
  for (const link of network.links) {
    const [a, b] = [places[link.from], places[link.to]];
    svg.append(
      shape("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, class: "link" }, shape("title", {}, `${link.name}: ${link.rate}, ${link.delay}, ${link.discipline}`)),
    );
    if (few) {
      const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
      svg.append(shape("text", { x: middle.x, y: middle.y - 10, class: "label" }, link.name));
      svg.append(shape("text", { x: middle.x, y: middle.y + 18, class: "label soft" }, `${link.rate}, ${link.delay}`));
    }
  }
  network.groups.slice(0, 8).forEach((group, i) => {
    const shift = (i - (Math.min(network.groups.length, 8) - 1) / 2) * 3;
    for (const path of group.paths) {
      const points = path.map((n) => `${places[n].x},${places[n].y + shift}`).join(" ");
      const title = shape("title", {}, `${group.name}: ${group.count} × ${group.controller}`);
      svg.append(shape("polyline", { points, class: "flow", style: `stroke: var(--line-${i % 8})` }, title));
    }
  });
  places.forEach(({ x, y }, i) => {
    svg.append(shape("circle", { cx: x, cy: y, r: few ? 7 : 4, class: "node" }, shape("title", {}, network.nodes[i])));
    if (few) svg.append(shape("text", { x, y: y - 13, class: "label" }, network.nodes[i]));
  });
  return svg;
}

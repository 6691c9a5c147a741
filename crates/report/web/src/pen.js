// Two pens with the same strokes: one writes SVG, one draws on a canvas.

/** Two digits behind the point are more than paper shows. */
const r = (v) => Number(v.toFixed(2));
const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const FONT = "system-ui, 'DejaVu Sans', sans-serif";

/** Writes SVG. Points are [x, y] or null for a gap. */
export class SvgPen {
  constructor() {
    this.parts = [];
    this.clips = 0;
  }

  path(points, { stroke = "none", fill = "none", width = 1, dash = [], opacity = 1, close = false }) {
    let d = "";
    let pen = false;
    for (const point of points) {
      if (point) d += `${pen ? "L" : "M"}${r(point[0])} ${r(point[1])}`;
      pen = point != null;
    }
    if (d === "") return;
    const dashes = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    this.parts.push(`<path d="${d}${close ? "Z" : ""}" fill="${fill}" stroke="${stroke}" stroke-width="${width}" opacity="${opacity}" stroke-linejoin="round"${dashes}/>`);
  }

  rect(x, y, w, h, fill) {
    // Not every program that reads SVG knows colours with an opacity in them.
    const opacity = fill.length === 9 ? parseInt(fill.slice(7), 16) / 255 : 1;
    this.parts.push(`<rect x="${r(x)}" y="${r(y)}" width="${r(w)}" height="${r(h)}" fill="${fill.slice(0, 7)}" opacity="${r(opacity)}"/>`);
  }

  circle(x, y, radius, { stroke = "none", fill = "none", width = 1 }) {
    this.parts.push(`<circle cx="${r(x)}" cy="${r(y)}" r="${radius}" fill="${fill}" stroke="${stroke}" stroke-width="${width}"/>`);
  }

  text(x, y, text, { fill, size = 11, align = "left", bold = false }) {
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    this.parts.push(`<text x="${r(x)}" y="${r(y)}" fill="${fill}" font-size="${size}" text-anchor="${anchor}"${bold ? ' font-weight="600"' : ""}>${escape(text)}</text>`);
  }

  measure(text, size) {
    return text.length * size * 0.58;
  }

  /** Draws within a rectangle only. */
  clipped(x, y, w, h, draw) {
    const id = `c${Math.random().toString(36).slice(2, 9)}${this.clips++}`;
    this.parts.push(`<clipPath id="${id}"><rect x="${r(x)}" y="${r(y)}" width="${r(w)}" height="${r(h)}"/></clipPath><g clip-path="url(#${id})">`);
    draw();
    this.parts.push("</g>");
  }

  svg(width, height, label) {
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(label)}" font-family="${FONT}">${this.parts.join("")}</svg>`;
  }
}

/** Draws on a canvas; one unit is `scale` of its pixels. */
export class CanvasPen {
  constructor(ctx, scale) {
    this.ctx = ctx;
    ctx.scale(scale, scale);
  }

  path(points, { stroke, fill, width = 1, dash = [], opacity = 1, close = false }) {
    const { ctx } = this;
    ctx.save();
    ctx.globalAlpha = opacity;
    ctx.lineJoin = "round";
    ctx.beginPath();
    let pen = false;
    for (const point of points) {
      if (point) pen ? ctx.lineTo(...point) : ctx.moveTo(...point);
      pen = point != null;
    }
    if (close) ctx.closePath();
    if (fill) {
      ctx.fillStyle = fill;
      ctx.fill();
    }
    if (stroke) {
      Object.assign(ctx, { strokeStyle: stroke, lineWidth: width });
      ctx.setLineDash(dash);
      ctx.stroke();
    }
    ctx.restore();
  }

  rect(x, y, w, h, fill) {
    this.ctx.fillStyle = fill;
    this.ctx.fillRect(x, y, w, h);
  }

  circle(x, y, radius, { stroke, fill, width = 1 }) {
    const { ctx } = this;
    ctx.beginPath();
    ctx.arc(x, y, radius, 0, 7);
    if (fill) {
      ctx.fillStyle = fill;
      ctx.fill();
    }
    if (stroke) {
      Object.assign(ctx, { strokeStyle: stroke, lineWidth: width });
      ctx.stroke();
    }
  }

  text(x, y, text, { fill, size = 11, align = "left", bold = false }) {
    Object.assign(this.ctx, { fillStyle: fill, font: `${bold ? "600 " : ""}${size}px ${FONT}`, textAlign: align, textBaseline: "alphabetic" });
    this.ctx.fillText(text, x, y);
  }

  measure(text, size) {
    this.ctx.font = `${size}px ${FONT}`;
    return this.ctx.measureText(text).width;
  }

  clipped(x, y, w, h, draw) {
    this.ctx.save();
    this.ctx.beginPath();
    this.ctx.rect(x, y, w, h);
    this.ctx.clip();
    draw();
    this.ctx.restore();
  }
}

/** A marker of a line: hollow, so it hides nothing. */
export function marker(pen, shape, x, y, colour, back, size = 3) {
  const far = size * 1.5;
  const corners = {
    square: [[x - size, y - size], [x + size, y - size], [x + size, y + size], [x - size, y + size]],
    diamond: [[x, y - far], [x + far, y], [x, y + far], [x - far, y]],
  }[shape];
  if (corners) {
    pen.path(corners, { stroke: colour, fill: back, width: 1.5, close: true });
  } else if (shape === "dot") pen.circle(x, y, size, { fill: colour });
  else pen.circle(x, y, size, { stroke: colour, fill: back, width: 1.4 });
}

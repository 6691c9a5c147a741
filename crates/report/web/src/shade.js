// The areas behind the lines of a time plot: the steady window, phases, a check's window.
import { theme } from "./theme.js";

/** marks() gives { steady, phases, picked }, in seconds; picked may be null. */
export function shade(marks) {
  return {
    hooks: {
      drawClear: (u) => {
        const { steady, phases, picked } = marks();
        const colours = theme();
        const { left, top, width, height } = u.bbox;
        const x = (t) => Math.round(Math.min(Math.max(u.valToPos(t, "x", true), left), left + width));
        const { ctx } = u;
        ctx.save();
        const band = ([from, to], colour) => {
          ctx.fillStyle = colour;
          ctx.fillRect(x(from), top, x(to) - x(from), height);
        };
        band(steady, colours.shade);
        if (picked) band(picked, colours.picked);
        ctx.strokeStyle = colours.faint;
        ctx.lineWidth = devicePixelRatio;
        ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
        for (const t of phases) {
          if (t <= u.scales.x.min || t >= u.scales.x.max) continue;
          ctx.beginPath();
          ctx.moveTo(x(t) + 0.5, top);
          ctx.lineTo(x(t) + 0.5, top + height);
          ctx.stroke();
        }
        ctx.restore();
      },
    },
  };
}

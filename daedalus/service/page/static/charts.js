/** Line charts by uPlot, in the page's colours. */

/* global uPlot */

const dark = window.matchMedia("(prefers-color-scheme: dark)");

/**
 * @typedef {Object} Series
 * @property {string} label
 * @property {string} colour Name of a CSS variable, without its dashes.
 * @property {number[]} [dash]
 * @property {number} [width]
 */

/**
 * Return a chart in an element that keeps to the element's width and to the page's colours.
 * @param {HTMLElement} host Its `aria-label` says what is drawn.
 * @param {Series[]} series
 * @param {{height: number, range?: [number, number], bare?: boolean}} options `bare` leaves out
 *   axes, legend and cursor.
 * @returns {{set: (columns: (number|null)[][]) => void}} `set` takes x and a column per series.
 */
export function lineChart(host, series, options) {
  let columns = [[], ...series.map(() => [])];
  let plot = null;
  const redraw = () => {
    if (!host.clientWidth) return;
    plot?.destroy();
    plot = new uPlot(settings(host.clientWidth, series, options), columns, host);
    showLast(plot);
  };
  const fit = () => {
    if (!plot) redraw();
    else plot.setSize({ width: host.clientWidth, height: options.height });
  };
  new ResizeObserver(fit).observe(host);
  dark.addEventListener("change", redraw);
  host.setAttribute("role", "img");
  return {
    set(next) {
      columns = next;
      if (!plot) return redraw();
      plot.setData(columns);
      showLast(plot);
    },
  };
}

function settings(width, series, { height, range, bare = false }) {
  const whole = (_, low, high) => (low === high ? [low - 1, high + 1] : [low, high]);
  return {
    width,
    height,
    padding: bare ? [3, 2, 3, 2] : [8, 16, 0, 0],
    legend: { show: !bare && series.length > 1 },
    cursor: { show: !bare, y: false, drag: { x: false, y: false } },
    scales: { x: { time: false, range: whole }, y: { range: range ? () => range : undefined } },
    axes: bare ? [{ show: false }, { show: false }] : [axis(28), axis(52)],
    series: [{ label: "at" }, ...series.map((each) => stroke(each, bare))],
  };
}

/** While nothing is pointed at, the legend tells the latest numbers. */
function showLast(plot) {
  const idx = plot.data[0].length - 1;
  if (idx >= 0) plot.setLegend({ idx });
}

function axis(size) {
  return {
    size,
    stroke: colour("muted"),
    font: "12px system-ui, sans-serif",
    grid: { stroke: colour("line"), width: 1 },
    ticks: { show: false },
    values: size === 28 ? undefined : (_, ticks) => ticks.map((tick) => String(+tick.toPrecision(3))),
    incrs: size === 28 ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] : undefined,
  };
}

function stroke({ label, colour: name, dash, width = 2 }, bare) {
  return {
    label,
    stroke: colour(name),
    width: bare ? 1.75 : width,
    dash,
    points: { show: false },
    value: (_, value) => (value === null || value === undefined ? "–" : value.toFixed(2)),
  };
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Line charts by uPlot, in the page's colours. */

const dark = window.matchMedia("(prefers-color-scheme: dark)");

/**
 * @typedef {Object} Series
 * @property {string} label
 * @property {string} colour Name of a CSS variable, without its dashes.
 * @property {number[]} [dash]
 * @property {number} [width]
 */

/**
 * @typedef {Object} ChartOptions
 * @property {number} height Pixels.
 * @property {[number, number]} [range] Of the values; left out, the chart finds it.
 * @property {boolean} [bare] Whether to leave out axes, legend and cursor.
 */

/**
 * @typedef {(number|null)[][]} Columns First x, then a column for each series.
 * @typedef {{set: (columns: Columns) => void}} Chart
 */

/**
 * Return a chart in an element. It follows the element's width and the page's colours.
 * @param {HTMLElement} host Its `aria-label` says what is drawn.
 * @param {Series[]} series
 * @param {ChartOptions} options
 * @returns {Chart}
 */
export function lineChart(host, series, options) {
  let columns = aligned([[], ...series.map(() => [])]);
  /** @type {uPlot|null} */
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
      columns = aligned(next);
      if (!plot) return redraw();
      plot.setData(columns);
      showLast(plot);
    },
  };
}

/**
 * Return columns in uPlot's type, which wants x to hold no null.
 * @param {Columns} columns
 */
function aligned(columns) {
  return /** @type {uPlot.AlignedData} */ (columns);
}

/**
 * @param {number} width Pixels.
 * @param {Series[]} series
 * @param {ChartOptions} options
 * @returns {uPlot.Options}
 */
function settings(width, series, { height, range, bare = false }) {
  return {
    width,
    height,
    padding: bare ? [3, 2, 3, 2] : [8, 16, 0, 0],
    legend: { show: !bare && series.length > 1 },
    cursor: { show: !bare, y: false, drag: { x: false, y: false } },
    scales: { x: { time: false, range: whole }, y: { range: range && (() => range) } },
    axes: bare ? [{ show: false }, { show: false }] : [stepAxis(), valueAxis()],
    series: [{ label: "at" }, ...series.map((each) => stroke(each, bare))],
  };
}

/**
 * Return the range of x: from the first to the last, and wider where both are the same.
 * @param {uPlot} _
 * @param {number} low
 * @param {number} high
 * @returns {[number, number]}
 */
function whole(_, low, high) {
  return low === high ? [low - 1, high + 1] : [low, high];
}

/**
 * Let the legend show the latest numbers while the visitor points at none.
 * @param {uPlot} plot
 */
function showLast(plot) {
  const idx = plot.data[0].length - 1;
  if (idx >= 0) plot.setLegend({ idx });
}

/** @returns {uPlot.Axis} */
function stepAxis() {
  return { ...axis(28), incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] };
}

/** @returns {uPlot.Axis} */
function valueAxis() {
  return { ...axis(52), values: (_, ticks) => ticks.map((tick) => String(+tick.toPrecision(3))) };
}

/**
 * @param {number} size Pixels.
 * @returns {uPlot.Axis}
 */
function axis(size) {
  return {
    size,
    stroke: colour("muted"),
    font: "12px system-ui, sans-serif",
    grid: { stroke: colour("line"), width: 1 },
    ticks: { show: false },
  };
}

/**
 * @param {Series} series
 * @param {boolean} bare
 * @returns {uPlot.Series}
 */
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

/** @param {string} name */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

import type uPlot from 'uplot';

/** The colours of a plot, computed from the tokens of the present theme. */
export type PlotColours = {
  readonly text: string;
  readonly line: string;
  /** The colour of each series, by index. */
  readonly series: readonly string[];
};

export type PlotOptions = {
  readonly width: number;
  readonly height: number;
  /** The length of the time axis up to the last moment, in seconds. */
  readonly spanSeconds: number;
  /** Returns the last time on the axis, in seconds since the epoch. */
  readonly end: () => number;
  readonly series: number;
  readonly colours: () => PlotColours;
  readonly valueText: (value: number) => string;
  readonly timeText: (seconds: number) => string;
  /** Called with the index of the sample under the pointer; with null if the pointer is outside of the plot. */
  readonly onPoint: (place: number | null) => void;
};

const dashes: readonly number[][] = [[], [6, 3], [2, 3]];
const axisFont = '11px "Inter Variable", system-ui, sans-serif';

/**
 * Returns the uPlot options of a plot of values over time: lines from zero, and few marks. uPlot's own legend is off.
 */
export function plotOptions(options: PlotOptions): uPlot.Options {
  const { colours, valueText, timeText } = options;
  const axis: uPlot.Axis = {
    font: axisFont,
    stroke: () => colours().text,
    grid: { stroke: () => colours().line, width: 1 },
    ticks: { show: false },
  };
  return {
    width: options.width,
    height: options.height,
    padding: [8, 6, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 }, sync: { key: 'hour' } },
    scales: {
      x: { time: false, range: () => [options.end() - options.spanSeconds, options.end()] },
      y: { range: (_plot, _lowest, highest) => [0, highest > 0 ? highest * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        gap: 9,
        splits: () => [-0.75, -0.25].map((part) => options.end() + part * options.spanSeconds),
        values: (_plot, splits) => splits.map(timeText),
      },
      { ...axis, size: 58, gap: 4, space: 34, values: (_plot, splits) => splits.map(valueText) },
    ],
    series: [
      {},
      ...Array.from({ length: options.series }, (_, place) => ({
        stroke: () => colours().series[place] ?? '',
        width: 1.5,
        // Dashes distinguish the lines without colours.
        dash: dashes[place % dashes.length] ?? [],
        points: { show: false },
      })),
    ],
    hooks: {
      setCursor: [
        (plot) => {
          options.onPoint(plot.cursor.idx ?? null);
        },
      ],
    },
  };
}

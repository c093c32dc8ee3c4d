import type { LayeredEdge, LayeredGraph, Place } from './layered-graph.ts';

export const nodeWidth = 150;
export const nodeHeight = 34;
const rowHeight = 44;
const columnGap = 40;
const laneTitleHeight = 30;
const lanePadding = 10;
const arrowLength = 7;

/** The places of a drawing in pixels. */
export type Drawing = {
  readonly width: number;
  readonly height: number;
  readonly lanes: readonly { readonly lane: string; readonly top: number; readonly height: number }[];
  readonly nodes: ReadonlyMap<string, { readonly left: number; readonly top: number }>;
  readonly edges: readonly (LayeredEdge & { readonly line: string; readonly arrow: string })[];
};

type Point = { readonly x: number; readonly y: number };

/** Returns the positions of a graph's roles and lanes, and the paths of the edges. */
export function draw(graph: LayeredGraph): Drawing {
  const { lanes, columns, rows } = graph;
  const laneIndex = (row: number): number => lanes.findLastIndex(({ firstRow }) => firstRow <= row);
  const middleOf = ({ column, row }: Place): Point => ({
    x: lanePadding + column * (nodeWidth + columnGap) + nodeWidth / 2,
    y: row * rowHeight + (laneIndex(row) + 1) * laneTitleHeight,
  });
  return {
    width: columns * (nodeWidth + columnGap) - columnGap + 2 * lanePadding,
    height: rows * rowHeight + lanes.length * laneTitleHeight,
    lanes: lanes.map(({ lane, firstRow, rows: own }, index) => ({
      lane,
      top: firstRow * rowHeight + index * laneTitleHeight,
      height: own * rowHeight + laneTitleHeight,
    })),
    nodes: new Map(
      [...graph.places].map(([name, place]) => {
        const { x, y } = middleOf(place);
        return [name, { left: x - nodeWidth / 2, top: y - nodeHeight / 2 }];
      }),
    ),
    edges: graph.edges.map((edge) => ({ ...edge, ...pathOf(edge, middleOf) })),
  };
}

function pathOf(
  edge: LayeredEdge,
  middleOf: (place: Place) => Point,
): { readonly line: string; readonly arrow: string } {
  const points = edge.way.map(middleOf);
  const [start] = points;
  const end = points.at(-1);
  if (start === undefined || end === undefined) return { line: '', arrow: '' };
  if (edge.from === edge.to) return loopAt(start);
  const direction = start.x < end.x ? 1 : -1;
  const half = (nodeWidth / 2) * direction;
  let line = `M ${at(start.x + half, start.y)}`;
  for (const [index, { x, y }] of points.entries()) {
    const before = points[index - 1];
    if (before === undefined) continue;
    const target = x - half - (index === points.length - 1 ? arrowLength * direction : 0);
    const bend = (columnGap / 2) * direction;
    line += ` C ${at(before.x + half + bend, before.y)} ${at(target - bend, y)} ${at(target, y)}`;
    if (index < points.length - 1) line += ` L ${at(x + half, y)}`;
  }
  return { line, arrow: arrowAt({ x: end.x - half, y: end.y }, direction) };
}

/** The edge of a role that includes itself. */
function loopAt({ x, y }: Point): { readonly line: string; readonly arrow: string } {
  const right = x + nodeWidth / 2;
  const [out, back] = [at(right + 30, y - 16), at(right + 30, y + 16)];
  const line = `M ${at(right, y - 9)} C ${out} ${back} ${at(right + arrowLength, y + 9)}`;
  return { line, arrow: arrowAt({ x: right, y: y + 9 }, -1) };
}

function arrowAt({ x, y }: Point, direction: number): string {
  const back = x - arrowLength * direction;
  return `M ${at(back, y - 4)} L ${at(x, y)} L ${at(back, y + 4)} Z`;
}

function at(x: number, y: number): string {
  return `${String(x)} ${String(y)}`;
}

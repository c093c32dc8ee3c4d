import type { Inclusion } from '../role-graph.ts';

/** A role to draw, in the lane of its module. */
export type GraphRole = { readonly name: string; readonly lane: string };

/** An inclusion: `from` includes `to`. */
export type GraphEdge = { readonly from: string; readonly to: string; readonly how: Inclusion['how'] };

/**
 * A place in the drawing. Column 0 has the roles that no other role includes. The row is the middle of the role,
 * counted in rows from the top. Each lane has its own rows.
 */
export type Place = { readonly column: number; readonly row: number };

export type LayeredLane = { readonly lane: string; readonly firstRow: number; readonly rows: number };

export type LayeredEdge = GraphEdge & {
  /** The points of the edge, including both ends. A long edge passes beside the roles between its ends. */
  readonly way: readonly Place[];
  /** Whether the edge closes a cycle: it leads back to a column on the left. */
  readonly isBack: boolean;
};

export type LayeredGraph = {
  readonly places: ReadonlyMap<string, Place>;
  readonly edges: readonly LayeredEdge[];
  readonly lanes: readonly LayeredLane[];
  readonly columns: number;
  readonly rows: number;
};

/** A role, or the point at which an edge passes a column. The height is in rows; a role has the height 1. */
type Slot = { readonly key: string; readonly lane: string; readonly column: number; readonly height: number };

/** The height, in rows, of the point at which an edge passes a column. */
const passHeight = 0.4;

/** The number of rounds of ordering. Further rounds hardly remove any crossings. */
const orderingRounds = 4;

/**
 * Arranges roles in columns, so that each inclusion leads to the right, and in one lane for each module, in the given
 * order of the lanes. Within a column, roles are ordered by the places of their connected roles, which avoids most
 * crossings.
 */
export function layeredGraph(roles: readonly GraphRole[], edges: readonly GraphEdge[]): LayeredGraph {
  const laneOf = new Map(roles.map(({ name, lane }) => [name, lane]));
  const known = edges.filter(({ from, to }) => laneOf.has(from) && laneOf.has(to));
  const back = backEdges(roles, known);
  const columnOf = columnsOf(
    roles,
    known.filter((edge) => !back.has(edge)),
  );
  const slots: Slot[] = roles.map(({ name, lane }) => ({
    key: name,
    lane,
    column: columnOf.get(name) ?? 0,
    height: 1,
  }));
  const ways = known.map((edge) => {
    const way = wayOf(edge, { laneOf, columnOf });
    slots.push(...way.slice(1, -1));
    return way.map(({ key }) => key);
  });
  const { places, lanes, rows } = placed(slots, ways);
  return {
    places: new Map(roles.flatMap(({ name }) => entryOf(name, places))),
    edges: known.map((edge, index) => ({
      ...edge,
      way: (ways[index] ?? []).flatMap((key) => places.get(key) ?? []),
      isBack: back.has(edge),
    })),
    lanes,
    columns: Math.max(0, ...columnOf.values()) + 1,
    rows,
  };
}

function entryOf(name: string, places: ReadonlyMap<string, Place>): [string, Place][] {
  const place = places.get(name);
  return place === undefined ? [] : [[name, place]];
}

/** Returns the edges that close a cycle, in a search from the roles in their order. */
function backEdges(roles: readonly GraphRole[], edges: readonly GraphEdge[]): ReadonlySet<GraphEdge> {
  const outgoing = grouped(edges, ({ from }) => from);
  const state = new Map<string, 'open' | 'done'>();
  const back = new Set<GraphEdge>();
  for (const { name: root } of roles) {
    // An explicit stack, because a chain of dependencies may be longer than the call stack allows.
    const stack: { readonly name: string; next: number }[] = state.has(root) ? [] : [{ name: root, next: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      state.set(top.name, 'open');
      const edge = outgoing.get(top.name)?.[top.next];
      top.next += 1;
      if (edge === undefined) {
        state.set(top.name, 'done');
        stack.pop();
      } else if (state.get(edge.to) === 'open') back.add(edge);
      else if (!state.has(edge.to)) stack.push({ name: edge.to, next: 0 });
    }
  }
  return back;
}

/** Returns the column of each role in a graph without cycles: the length of the longest path to the role. */
function columnsOf(roles: readonly GraphRole[], edges: readonly GraphEdge[]): ReadonlyMap<string, number> {
  const outgoing = grouped(edges, ({ from }) => from);
  const incoming = new Map<string, number>();
  for (const { to } of edges) incoming.set(to, (incoming.get(to) ?? 0) + 1);
  const columns = new Map(roles.map(({ name }) => [name, 0]));
  const ready = roles.map(({ name }) => name).filter((name) => !incoming.has(name));
  // The iteration also visits the entries that are added during the loop.
  for (const name of ready)
    for (const { to } of outgoing.get(name) ?? []) {
      columns.set(to, Math.max(columns.get(to) ?? 0, (columns.get(name) ?? 0) + 1));
      const left = (incoming.get(to) ?? 1) - 1;
      incoming.set(to, left);
      if (left === 0) ready.push(to);
    }
  return columns;
}

function wayOf(
  edge: GraphEdge,
  { laneOf, columnOf }: { laneOf: ReadonlyMap<string, string>; columnOf: ReadonlyMap<string, number> },
): readonly Slot[] {
  const slotOf = (name: string): Slot => ({
    key: name,
    lane: laneOf.get(name) ?? '',
    column: columnOf.get(name) ?? 0,
    height: 1,
  });
  const [from, to] = [slotOf(edge.from), slotOf(edge.to)];
  const step = from.column <= to.column ? 1 : -1;
  const between: Slot[] = [];
  for (let column = from.column + step; (to.column - column) * step > 0; column += step)
    between.push({
      key: `${edge.from}\n${edge.to}\n${edge.how}\n${String(column)}`,
      lane: from.lane,
      column,
      height: passHeight,
    });
  return [from, ...between, to];
}

/** Gives each slot a row, lane by lane. */
function placed(
  slots: readonly Slot[],
  ways: readonly (readonly string[])[],
): Pick<LayeredGraph, 'places' | 'lanes' | 'rows'> {
  const cells = [...grouped(slots, ({ lane }) => lane)].map(([lane, members]) => ({
    lane,
    columns: [...grouped(members, ({ column }) => column).values()],
  }));
  const neighbours = neighboursIn(ways);
  let arranged = arrange(cells);
  for (let round = 0; round < orderingRounds; round += 1) {
    for (const { columns } of cells)
      for (const column of columns) sortByNeighbours(column, neighbours, arranged.places);
    arranged = arrange(cells);
  }
  return arranged;
}

type Cells = readonly { readonly lane: string; readonly columns: readonly (readonly Slot[])[] }[];

/** Returns the places of all slots. In a lane, a column with fewer rows than the lane is centred vertically. */
function arrange(cells: Cells): Pick<LayeredGraph, 'places' | 'lanes' | 'rows'> {
  const places = new Map<string, Place>();
  const lanes: LayeredLane[] = [];
  let firstRow = 0;
  for (const { lane, columns } of cells) {
    const rows = Math.max(...columns.map(heightOf));
    for (const column of columns) {
      let row = firstRow + (rows - heightOf(column)) / 2;
      for (const slot of column) {
        places.set(slot.key, { column: slot.column, row: row + slot.height / 2 });
        row += slot.height;
      }
    }
    lanes.push({ lane, firstRow, rows });
    firstRow += rows;
  }
  return { places, lanes, rows: firstRow };
}

function heightOf(column: readonly Slot[]): number {
  return column.reduce((sum, { height }) => sum + height, 0);
}

function neighboursIn(ways: readonly (readonly string[])[]): ReadonlyMap<string, readonly string[]> {
  const neighbours = new Map<string, string[]>();
  const add = (key: string, other: string): void => {
    const others = neighbours.get(key);
    if (others === undefined) neighbours.set(key, [other]);
    else others.push(other);
  };
  for (const way of ways)
    for (const [index, key] of way.entries()) {
      const next = way[index + 1];
      if (next === undefined) continue;
      add(key, next);
      add(next, key);
    }
  return neighbours;
}

/** Sorts the slots of a column by the mean row of their neighbours. */
function sortByNeighbours(
  column: Slot[],
  neighbours: ReadonlyMap<string, readonly string[]>,
  places: ReadonlyMap<string, Place>,
): void {
  const rowOf = (key: string): number => places.get(key)?.row ?? 0;
  const meanOf = ({ key }: Slot): number => {
    const near = neighbours.get(key) ?? [];
    return near.length === 0 ? rowOf(key) : near.reduce((sum, each) => sum + rowOf(each), 0) / near.length;
  };
  const means = new Map(column.map((slot) => [slot, meanOf(slot)]));
  column.sort((left, right) => (means.get(left) ?? 0) - (means.get(right) ?? 0));
}

function grouped<T, K>(values: readonly T[], keyOf: (value: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [value]);
    else members.push(value);
  }
  return groups;
}

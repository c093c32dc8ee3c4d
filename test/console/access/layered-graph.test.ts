import fc from 'fast-check';
import { test } from 'tap';

import { importConsoleModule } from '../support/console-module.ts';

type Place = { readonly column: number; readonly row: number };
type Edge = { readonly from: string; readonly to: string; readonly how: string };
type Graph = {
  readonly places: ReadonlyMap<string, Place>;
  readonly edges: readonly (Edge & { readonly way: readonly Place[]; readonly isBack: boolean })[];
  readonly lanes: readonly { readonly lane: string; readonly firstRow: number; readonly rows: number }[];
};
type LayeredGraph = {
  readonly layeredGraph: (roles: readonly { name: string; lane: string }[], edges: readonly Edge[]) => Graph;
};

const { layeredGraph } = await importConsoleModule<LayeredGraph>('pages/access/roles/graph/layered-graph.ts');
const edge = (from: string, to: string): Edge => ({ from, to, how: 'dependency' });
const role = (name: string, lane = ''): { name: string; lane: string } => ({ name, lane });

test('a role is to the left of everything that it includes', async (t) => {
  const graph = layeredGraph(
    [role('view', 'Posts'), role('manage', 'Posts'), role('all', 'Site')],
    [edge('all', 'manage'), edge('manage', 'view'), edge('all', 'view'), edge('all', 'unknown')],
  );
  t.strictSame(
    ['all', 'manage', 'view'].map((name) => graph.places.get(name)?.column),
    [0, 1, 2],
  );
  t.equal(graph.edges.length, 3, 'an edge to a role that is not drawn is left out');
  const long = graph.edges.find(({ from, to }) => from === 'all' && to === 'view');
  t.strictSame(
    long?.way.map(({ column }) => column),
    [0, 1, 2],
    'a long edge passes each column',
  );
  t.not(long?.way[1]?.row, graph.places.get('manage')?.row, 'a long edge passes beside the role between');
});

test('an edge that closes a cycle leads back, and a role may include itself', async (t) => {
  const graph = layeredGraph([role('a'), role('b')], [edge('a', 'b'), edge('b', 'a'), edge('b', 'b')]);
  t.strictSame(
    graph.edges.filter(({ isBack }) => isBack).map(({ from, to }) => [from, to]),
    [
      ['b', 'a'],
      ['b', 'b'],
    ],
  );
});

test('roles do not overlap, have the rows of their module, and edges lead to the right', async (t) => {
  const names = Array.from({ length: 12 }, (_, index) => `r${String(index)}`);
  const edges = fc.uniqueArray(
    fc.tuple(fc.constantFrom(...names), fc.constantFrom(...names)).map(([from, to]) => edge(from, to)),
    { maxLength: 30, selector: ({ from, to }) => `${from} ${to}` },
  );
  const lanes = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 12, maxLength: 12 });
  fc.assert(
    fc.property(edges, lanes, (given, laneOf) => {
      const graph = layeredGraph(
        names.map((name, index) => role(name, laneOf[index])),
        given,
      );
      for (const { from, to, isBack } of graph.edges)
        if (!isBack) t.ok((graph.places.get(from)?.column ?? 0) < (graph.places.get(to)?.column ?? 0));
      for (const [index, name] of names.entries()) {
        const place = graph.places.get(name) ?? { column: -1, row: -1 };
        const lane = graph.lanes.find((each) => each.lane === laneOf[index]);
        const top = place.row - (lane?.firstRow ?? Infinity);
        t.ok(top >= 0.5 - 1e-9 && top <= (lane?.rows ?? 0) - 0.5 + 1e-9, `${name} is in its lane`);
        for (const other of names.slice(index + 1)) {
          const beside = graph.places.get(other) ?? { column: -1, row: -1 };
          if (beside.column === place.column) t.ok(Math.abs(beside.row - place.row) >= 1 - 1e-9, 'beside each other');
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('a chain of two thousand roles is arranged', async (t) => {
  const names = Array.from({ length: 2_000 }, (_, index) => `r${String(index)}`);
  const graph = layeredGraph(
    names.map((name) => role(name)),
    names.slice(1).map((name, index) => edge(`r${String(index)}`, name)),
  );
  t.equal(graph.places.get('r1999')?.column, 1_999);
});

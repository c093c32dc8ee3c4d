import { verbs, type MatrixRow, type PreviewedState, type RouteRow } from './preview.ts';

/** `added` and `removed`: the proposal changes the decision. */
export type CellState = 'allowed' | 'forbidden' | 'added' | 'removed';

export type ComparedRow = Omit<MatrixRow, 'verbs'> & {
  readonly key: string;
  /** The state of each of the `verbs`, in their order. */
  readonly cells: readonly CellState[];
  readonly isChanged: boolean;
};

const keyOf = ({ group, resource }: Pick<MatrixRow, 'group' | 'resource'>): string => `${group}/${resource}`;

/** Returns the rows of the present matrix, each with the changes by the proposal. */
export function compareMatrices(current: PreviewedState, proposed: PreviewedState | undefined): readonly ComparedRow[] {
  const after = new Map((proposed?.matrix ?? []).map((row) => [keyOf(row), row.verbs]));
  return (current.matrix ?? []).map((row) => {
    const now = row.verbs;
    const then = proposed === undefined ? now : (after.get(keyOf(row)) ?? []);
    const cells = verbs.map((verb) => stateOf(now.includes(verb), then.includes(verb)));
    return { ...row, key: keyOf(row), cells, isChanged: cells.some((cell) => cell === 'added' || cell === 'removed') };
  });
}

export type ComparedRoute = RouteRow & { readonly key: string; readonly state: CellState };

/** Returns the routes of plugins, each with the changes by the proposal. */
export function compareRoutes(current: PreviewedState, proposed: PreviewedState | undefined): readonly ComparedRoute[] {
  const routeKey = ({ method, path }: RouteRow): string => `${method} ${path}`;
  const after = new Map((proposed?.routes ?? []).map((row) => [routeKey(row), row.allowed]));
  return (current.routes ?? []).map((row) => {
    const key = routeKey(row);
    const then = proposed === undefined ? row.allowed : (after.get(key) ?? false);
    return { ...row, key, state: stateOf(row.allowed, then) };
  });
}

function stateOf(isNow: boolean, isThen: boolean): CellState {
  if (isNow) return isThen ? 'allowed' : 'removed';
  return isThen ? 'added' : 'forbidden';
}

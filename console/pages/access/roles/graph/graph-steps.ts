import type { LayeredGraph, Place } from './layered-graph.ts';

/**
 * Returns the role to which an arrow key moves: Right to the nearest included role, Left to the nearest role that
 * includes this role, Up and Down within the column. Home and End move to the first and the last role.
 */
export function stepFrom(name: string, key: string, { places, edges }: LayeredGraph): string | undefined {
  const place = places.get(name);
  if (place === undefined) return undefined;
  const others = [...places].filter(([other]) => other !== name);
  const ofEdges = (near: 'from' | 'to', far: 'from' | 'to'): typeof others => {
    const names = new Set(edges.filter((edge) => edge[near] === name).map((edge) => edge[far]));
    return others.filter(([other]) => names.has(other));
  };
  const inColumn = (step: number): typeof others =>
    others.filter(([, other]) => other.column === place.column && (other.row - place.row) * step > 0);
  switch (key) {
    case 'ArrowRight':
      return nearest(ofEdges('from', 'to'), place);
    case 'ArrowLeft':
      return nearest(ofEdges('to', 'from'), place);
    case 'ArrowDown':
      return nearest(inColumn(1), place);
    case 'ArrowUp':
      return nearest(inColumn(-1), place);
    case 'Home':
      return [...places.keys()][0];
    case 'End':
      return [...places.keys()].at(-1);
    default:
      return undefined;
  }
}

function nearest(roles: readonly (readonly [string, Place])[], from: Place): string | undefined {
  const [first] = roles.toSorted(([, left], [, right]) => distance(left, from) - distance(right, from));
  return first?.[0];
}

function distance(left: Place, right: Place): number {
  return Math.abs(left.row - right.row);
}

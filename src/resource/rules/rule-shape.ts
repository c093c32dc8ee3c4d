import { objectBytesMax } from '../../limits/objects.ts';

/** The properties of a value from which the cost of a rule is estimated: its kind and its largest size. */
export type Shape =
  /** A number, a boolean, null, a timestamp, a duration or a type. */
  | { readonly kind: 'scalar' }
  /** `length`: UTF-16 code units. */
  | { readonly kind: 'text'; readonly length: number }
  | { readonly kind: 'list'; readonly count: number; readonly item: Shape }
  | { readonly kind: 'map'; readonly count: number; readonly key: Shape; readonly item: Shape }
  /** `fields`: the fields by the names that rules use. */
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, FieldShape> }
  | { readonly kind: 'optional'; readonly item: Shape }
  | { readonly kind: 'any' };

/**
 * `shape` is computed when needed, because a schema may refer to itself. `isCertain`: whether each valid object has the
 * field, with a value other than null.
 */
export type FieldShape = {
  readonly shape: () => Shape;
  readonly isCertain: boolean;
};

export const scalar: Shape = { kind: 'scalar' };
export const anything: Shape = { kind: 'any' };

/**
 * The maximum number of items of a list in an object. The JSON of an item has at least two bytes: a digit and a comma.
 */
const itemsMax = objectBytesMax / 2;

/** Returns the maximum length of a value that is used as a text. */
export function lengthOf(shape: Shape): number {
  if (shape.kind === 'text') return shape.length;
  return shape.kind === 'any' ? objectBytesMax : 0;
}

/** Returns the maximum number of items of a value that is used as a list or map. */
export function countOf(shape: Shape): number {
  if (shape.kind === 'list' || shape.kind === 'map') return Math.min(shape.count, itemsMax);
  return shape.kind === 'any' ? itemsMax : 0;
}

/** Returns the shape of the values that a comprehension visits: the items of a list, or the keys of a map. */
export function rangeOf(shape: Shape): Shape {
  if (shape.kind === 'list') return shape.item;
  return shape.kind === 'map' ? shape.key : anything;
}

/** Returns the shape of the value at an index or key. */
export function itemOf(shape: Shape): Shape {
  return shape.kind === 'list' || shape.kind === 'map' || shape.kind === 'optional' ? shape.item : anything;
}

/** Returns a shape that covers the values of both shapes. */
export function widest(left: Shape, right: Shape): Shape {
  if (left === right) return left;
  if (left.kind === 'scalar' && right.kind === 'scalar') return left;
  if (left.kind === 'text' && right.kind === 'text') return left.length > right.length ? left : right;
  if (left.kind === 'list' && right.kind === 'list')
    return {
      kind: 'list',
      count: Math.max(left.count, right.count),
      item: widest(left.item, right.item),
    };
  return anything;
}

/** Returns the maximum steps of a comparison of two values. The smaller value limits the steps. */
export function comparisonSteps(left: Shape, right: Shape): number {
  return Math.min(depthFirstSteps(left, 0), depthFirstSteps(right, 0));
}

const textSteps = 64;
const depthMax = 16;

function depthFirstSteps(shape: Shape, depth: number): number {
  if (depth > depthMax) return itemsMax;
  const stepsOf = (inner: Shape): number => depthFirstSteps(inner, depth + 1);
  let steps: number;
  if (shape.kind === 'scalar') return 1;
  if (shape.kind === 'text') steps = 1 + shape.length / textSteps;
  else if (shape.kind === 'list') steps = 1 + countOf(shape) * (2 + stepsOf(shape.item));
  else if (shape.kind === 'map') steps = 1 + countOf(shape) * (3 + stepsOf(shape.item));
  else if (shape.kind === 'object') steps = fieldSteps(shape.fields, stepsOf);
  else return itemsMax;
  return Math.min(steps, itemsMax);
}

function fieldSteps(fields: ReadonlyMap<string, FieldShape>, stepsOf: (shape: Shape) => number): number {
  let steps = 1;
  for (const { shape } of fields.values()) {
    if (steps > itemsMax) return steps;
    steps += 2 + stepsOf(shape());
  }
  return steps;
}

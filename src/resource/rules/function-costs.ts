import { comparisonSteps, countOf, itemOf, lengthOf, scalar, widest, type Shape } from './rule-shape.ts';

/** The steps of a call, without the steps of its arguments, and the shape of its result. */
export type CallCost = {
  readonly steps: number;
  readonly shape: Shape;
};

/** Returns the cost of a call. `values`: the shapes of the receiver, if any, and of the arguments. */
type CostOf = (values: readonly [Shape, ...Shape[]]) => CallCost;

const callSteps = 2;
/** The number of code units of a text that are scanned in the time of one step. */
const unitsScannedInStep = 16;
const unitsCountedInStep = 4;
const comparisonsInStep = 32;

const constant =
  (steps: number): CostOf =>
  () => ({ steps, shape: scalar });
const scanned: CostOf = ([receiver, ...rest]) => ({
  steps: callSteps + [receiver, ...rest].reduce((sum, each) => sum + lengthOf(each), 0) / unitsScannedInStep,
  shape: scalar,
});
/** A search may compare the whole pattern at each place of the text. */
const searched: CostOf = ([text, pattern = scalar]) => ({
  steps: callSteps + (lengthOf(text) * Math.max(1, lengthOf(pattern))) / comparisonsInStep,
  shape: scalar,
});
const sameLength: CostOf = ([text]) => ({
  steps: callSteps + lengthOf(text) / unitsScannedInStep,
  shape: { kind: 'text', length: lengthOf(text) },
});
/** The CEL library parses durations with a regular expression that takes time cubic in the number of digits. */
const parsed: CostOf = ([text]) => ({ steps: 40 + lengthOf(text) ** 3 / 256, shape: scalar });
/** A text that is not a number is refused after a scan of the text, before any conversion. */
const converted: CostOf = ([value]) => ({ steps: 100 + lengthOf(value) / unitsScannedInStep, shape: scalar });
/**
 * The steps of a conversion to a time zone. The CEL library formats the time and parses the text again, which takes 100
 * microseconds, as long as 4,000 steps.
 */
const inTimeZone = 4_000;
const timePart: CostOf = ([, ...zone]) => ({ steps: zone.length > 0 ? inTimeZone : callSteps, shape: scalar });
const numberText: Shape = { kind: 'text', length: 32 };

const counted: CostOf = ([value]) => ({
  steps: callSteps + lengthOf(value) / unitsCountedInStep + (value.kind === 'map' ? countOf(value) / 8 : 0),
  shape: scalar,
});
const split: CostOf = ([text]) => ({
  steps: callSteps + lengthOf(text),
  shape: {
    kind: 'list',
    count: lengthOf(text) + 1,
    item: { kind: 'text', length: lengthOf(text) },
  },
});
const joined: CostOf = ([list, separator = scalar]) => {
  const length = countOf(list) * (lengthOf(itemOf(list)) + lengthOf(separator));
  return { steps: callSteps + 4 * countOf(list) + length / unitsScannedInStep, shape: { kind: 'text', length } };
};
const texts: CostOf = ([value]) =>
  value.kind === 'text' ? sameLength([value]) : { steps: 40 + lengthOf(value) / unitsScannedInStep, shape: numberText };

const timeParts = [
  'getDate',
  'getDayOfMonth',
  'getDayOfWeek',
  'getDayOfYear',
  'getFullYear',
  'getHours',
  'getMilliseconds',
  'getMinutes',
  'getMonth',
  'getSeconds',
];

/** The functions that rules may call, except for the macros, `matches`, and the functions of optional values. */
export const functions: ReadonlyMap<string, CostOf> = new Map<string, CostOf>([
  ['size', counted],
  ['startsWith', scanned],
  ['endsWith', scanned],
  ['contains', searched],
  ['indexOf', searched],
  ['lastIndexOf', searched],
  ['lowerAscii', sameLength],
  ['upperAscii', sameLength],
  ['trim', sameLength],
  ['substring', sameLength],
  ['split', split],
  ['join', joined],
  ['string', texts],
  ['int', converted],
  ['uint', converted],
  ['double', scanned],
  ['bool', scanned],
  ['timestamp', constant(40)],
  ['duration', parsed],
  ['type', constant(callSteps)],
  ['dyn', ([value]) => ({ steps: callSteps, shape: value })],
  ...timeParts.map((name): [string, CostOf] => [name, timePart]),
]);

/** The functions of optional values, for rules with `optionalOldSelf`. */
export const optionalFunctions: ReadonlyMap<string, CostOf> = new Map<string, CostOf>([
  ['hasValue', constant(callSteps)],
  ['value', ([optional]) => ({ steps: callSteps, shape: itemOf(optional) })],
  ['orValue', ([optional, other = scalar]) => ({ steps: callSteps, shape: widest(itemOf(optional), other) })],
]);

/** Functions that fail for some values, such as a text that is not a number or an index outside of a text. */
export const failing: ReadonlySet<string> = new Set([
  ...['substring', 'indexOf', 'lastIndexOf', 'join', 'value'],
  ...['int', 'uint', 'double', 'bool', 'timestamp', 'duration'],
]);

/** Operators that fail for some values, such as a sum that overflows or a division by zero. */
export const failingOperators: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%']);

/** Returns the steps of an operator with two operands, without the steps of the operands. */
export function operatorCost(operator: string, left: Shape, right: Shape): CallCost {
  switch (operator) {
    case '==':
    case '!=':
      return { steps: 1 + comparisonSteps(left, right), shape: scalar };
    case 'in':
      return {
        steps: 1 + (right.kind === 'map' ? 1 : countOf(right) * (2 + comparisonSteps(left, itemOf(right)))),
        shape: scalar,
      };
    case '+':
      return sumCost(left, right);
    default:
      return { steps: 1 + Math.min(lengthOf(left), lengthOf(right)) / unitsScannedInStep, shape: scalar };
  }
}

function sumCost(left: Shape, right: Shape): CallCost {
  if (left.kind === 'text' && right.kind === 'text') {
    const length = left.length + right.length;
    return { steps: 1 + length / unitsScannedInStep, shape: { kind: 'text', length } };
  }
  if (left.kind === 'list' && right.kind === 'list') {
    const count = countOf(left) + countOf(right);
    return { steps: 1 + count, shape: { kind: 'list', count, item: widest(left.item, right.item) } };
  }
  return { steps: 1 + lengthOf(left) + lengthOf(right), shape: widest(left, right) };
}

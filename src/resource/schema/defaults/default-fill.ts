import { isObject } from '../../../base/guards.ts';

/** The bytes of JSON that defaults may still add to one object; negative if the defaults have added too many bytes. */
export type DefaultBudget = { left: number };

/** Returns the value with its missing members filled in; the same reference if nothing is missing. */
export type Fill = (value: unknown, budget: DefaultBudget) => unknown;

/** A default with the defaults of its own members, frozen, because all objects share the default. */
export type Fallback = {
  readonly value: unknown;
  readonly bytes: number;
};

/** How defaults apply to one member or item. */
export type Slot = {
  /** Returns the default, which is computed at the first call. Undefined if the schema has no default. */
  readonly fallback: (() => Fallback) | undefined;
  /** Whether null is kept as a value. Otherwise the default replaces null, as in Kubernetes. */
  readonly isNullable: boolean;
  /** Fills in the defaults within the value; undefined if the schema has no default below the value. */
  readonly fill: Fill | undefined;
};

export type Members = Readonly<Record<string, unknown>>;

/** The slots of one schema's members. A member without a default at or below the member has no slot. */
export type ObjectSlots = {
  readonly named: readonly (readonly [string, Slot])[];
  /** The names of all properties, to which `additional` does not apply. */
  readonly declared: ReadonlySet<string>;
  readonly patterns: readonly (readonly [RegExp, Slot | undefined])[];
  readonly additional: Slot | undefined;
};

/** The slots of the items of one schema: one for each index of `prefix`, and one for all later items. */
export type ArraySlots = {
  readonly prefix: readonly (Slot | undefined)[];
  readonly rest: Slot | undefined;
};

/**
 * Returns the object with its missing members filled in. As in Kubernetes, a default applies if the parent exists and
 * the member is absent, or is null although the schema does not allow null.
 */
export function fillObject(value: Members, slots: ObjectSlots, budget: DefaultBudget): Members {
  let filled: Record<string, unknown> | undefined;
  const put = (member: string, before: unknown, after: unknown): void => {
    if (after !== before) (filled ??= { ...value })[member] = after;
  };
  for (const [member, slot] of slots.named) {
    const before = Object.hasOwn(value, member) ? value[member] : undefined;
    if (before === undefined && slot.fallback !== undefined)
      put(member, before, spend(budget, slot.fallback, member.length));
    else if (before !== undefined) put(member, before, fillSlot(before, slot, budget));
  }
  if (slots.additional !== undefined || slots.patterns.some(([, slot]) => slot !== undefined))
    for (const member of Object.keys(value)) {
      const before = (filled ?? value)[member];
      put(member, before, fillUnnamed(member, before, { slots, budget }));
    }
  return filled ?? value;
}

type Unnamed = {
  readonly slots: ObjectSlots;
  readonly budget: DefaultBudget;
};

function fillUnnamed(member: string, before: unknown, { slots, budget }: Unnamed): unknown {
  let after = before;
  let isMatched = slots.declared.has(member);
  for (const [pattern, slot] of slots.patterns)
    if (pattern.test(member)) {
      isMatched = true;
      if (slot !== undefined) after = fillSlot(after, slot, budget);
    }
  return isMatched || slots.additional === undefined ? after : fillSlot(after, slots.additional, budget);
}

export function fillArray(
  value: readonly unknown[],
  { prefix, rest }: ArraySlots,
  budget: DefaultBudget,
): readonly unknown[] {
  let filled: unknown[] | undefined;
  const end = rest === undefined ? Math.min(prefix.length, value.length) : value.length;
  for (let index = 0; index < end; index += 1) {
    const slot = index < prefix.length ? prefix[index] : rest;
    if (slot === undefined) continue;
    const before = value[index];
    const after = fillSlot(before, slot, budget);
    if (after !== before) (filled ??= [...value])[index] = after;
  }
  return filled ?? value;
}

/** Fills in the defaults within a present value. The default replaces a null that the schema does not allow. */
function fillSlot(value: unknown, { fallback, isNullable, fill }: Slot, budget: DefaultBudget): unknown {
  if (value === null && fallback !== undefined && !isNullable) return spend(budget, fallback, 0);
  return fill === undefined || typeof value !== 'object' || value === null ? value : fill(value, budget);
}

/** The bytes of quotes, a colon and a comma around a member's name. */
const memberBytes = 4;

function spend(budget: DefaultBudget, fallback: () => Fallback, nameLength: number): unknown {
  const { value, bytes } = fallback();
  budget.left -= bytes + nameLength + memberBytes;
  // When the budget is used up, the object is refused, so the value is not needed.
  return budget.left < 0 ? null : value;
}

/** Returns a function that applies the fills one after the other, because several schemas may apply to one value. */
export function fillAll(fills: readonly Fill[]): Fill | undefined {
  const [first, ...more] = fills;
  if (first === undefined || more.length === 0) return first;
  return (value, budget) => fills.reduce((filled, fill) => fill(filled, budget), value);
}

export function fillOf(object: ObjectSlots | undefined, array: ArraySlots | undefined): Fill {
  return (value, budget) => {
    if (budget.left < 0) return value;
    if (Array.isArray(value)) return array === undefined ? value : fillArray(value, array, budget);
    return object !== undefined && isObject(value) ? fillObject(value, object, budget) : value;
  };
}

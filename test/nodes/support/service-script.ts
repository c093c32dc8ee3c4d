import fc from 'fast-check';

import type { PersonModel } from './person-model.ts';
import type { WidgetModel } from './widget-model.ts';

/** What the client does next. */
export type Step =
  | { readonly do: 'create' | 'remove' | 'get' | 'glance'; readonly name: number; readonly serial: number | undefined }
  | {
      readonly do: 'replace';
      readonly name: number;
      readonly serial: number | undefined;
      readonly precondition: 'current' | 'stale' | 'none';
    }
  | {
      readonly do: 'patch';
      readonly name: number;
      readonly serial: number | undefined;
      readonly kind: 'merge' | 'json';
    }
  | { readonly do: 'list' }
  | { readonly do: 'person'; readonly person: number }
  | { readonly do: 'move'; readonly watch: number };

export const names = 8;
export const people = 3;
export const watches = 4;

const name = fc.nat(names - 1);
// Fewer values than names, so that they are fought over.
const serial = fc.option(fc.nat(3), { nil: undefined, freq: 2 });

export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('create' as const), name, serial }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('replace' as const),
      name,
      serial,
      precondition: fc.constantFrom('current' as const, 'current' as const, 'stale' as const, 'none' as const),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('patch' as const),
      name,
      serial,
      kind: fc.constantFrom('merge' as const, 'json' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), name, serial }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('get' as const), name, serial }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('glance' as const), name, serial }) },
  { weight: 3, arbitrary: fc.constant({ do: 'list' as const }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('person' as const), person: fc.nat(people - 1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('move' as const), watch: fc.nat(watches - 1) }) },
);

export type Cast = {
  readonly widgets: WidgetModel;
  readonly people: readonly PersonModel[];
  readonly move: (watch: number) => void;
};

export async function take(given: Step, cast: Cast): Promise<void> {
  const { widgets } = cast;
  switch (given.do) {
    case 'create':
      return widgets.create(nameOf(given.name), serialOf(given.serial));
    case 'replace':
      return widgets.replace(nameOf(given.name), given.precondition, serialOf(given.serial));
    case 'patch':
      return widgets.patch(nameOf(given.name), given.kind, serialOf(given.serial));
    case 'remove':
      return widgets.remove(nameOf(given.name));
    case 'get':
      return widgets.get(nameOf(given.name));
    case 'glance':
      return widgets.glance(nameOf(given.name));
    case 'list':
      return widgets.list();
    case 'person':
      return cast.people[given.person]!.step();
    case 'move': {
      cast.move(given.watch);
      return;
    }
  }
}

function nameOf(index: number): string {
  return `w-${index.toString()}`;
}

function serialOf(index: number | undefined): string | undefined {
  return index === undefined ? undefined : `serial-${index.toString()}`;
}

import type { ResourceObject } from '../../../src/resource/object/object.ts';

/**
 * A small seeded generator: thousands of objects are drawn faster so than by an arbitrary, and a seed reproduces them.
 */
export function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export function drawn(below: (limit: number) => number, number: number): ResourceObject {
  const word = (): string =>
    ['alpha', 'beta', 'a', '', '\u{1f600}', '\ue001', 'Zu'][below(7)]! +
    `${['', ' and then some more', 'x'][below(3)]!}${below(4) === 0 ? String(below(100_000)) : ''}`;
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: {
      name: `thing-${String(number)}`,
      uid: 'u',
      version: 0,
      generation: 1,
      creationTimestamp: new Date(1_700_000_000_000 + below(500)).toISOString(),
      labels: { app: ['a', 'b', 'a b'][below(3)]!, ...(below(2) === 0 ? { tier: String(below(400)) } : {}) },
    },
    spec: {
      title: below(10) === 0 ? undefined : word(),
      size: below(5) === 0 ? undefined : below(3) === 0 ? below(1e9) - 5e8 : below(20) - 10,
      open: below(2) === 0,
      due: below(2) === 0 ? undefined : new Date(1_600_000_000_000 + below(1e9)).toISOString(),
      tags: Array.from({ length: below(4) }, word),
      scores: Array.from({ length: below(3) }, () => below(300)),
    },
  };
}

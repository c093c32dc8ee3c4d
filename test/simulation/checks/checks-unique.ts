import type { HeldValue } from '../../../src/resource/type/held-values.ts';
import type { ClaimEvent, DomainEvent } from '../../../src/command/event.ts';
import { must } from '../../../src/base/unreachable.ts';
import { decodeEvent } from '../../../src/log/event-codec.ts';
import type { RecordedEvent, StreamName } from '../../../src/log/log.ts';
import { claimStream } from '../../../src/write/unique/unique-claims.ts';
import type { Step } from '../history.ts';
import type { SimNode } from '../node/sim-node.ts';
import { type, valuesOf, type World } from '../world.ts';

/**
 * A live node sends a heartbeat at least this often, and one heard within this time counts as live for every leader.
 */
const beatMsMax = 8_000;
const liveMs = 25_000;

type Declared = {
  readonly revision: number;
  readonly version: string;
  readonly since: ReadonlyMap<string, number>;
  readonly keys: ReadonlyMap<string, string>;
  /** By index, when that was said; `-Infinity` where nothing stood as it was declared. */
  readonly enforced: Map<string, number>;
  late: number;
};

/** What the log says of unique indexes, reckoned event by event without the code under test. */
class Reckoning {
  readonly #world: World;
  readonly heads = new Map<StreamName, Step>();
  readonly claims = new Map<StreamName, ClaimEvent>();
  declared: Declared | undefined;

  readonly #isChecked: boolean;

  constructor(world: World, isChecked: boolean) {
    this.#world = world;
    this.#isChecked = isChecked;
  }

  /** The whole log, or what of it there is. */
  static of(world: World, check?: (reckoning: Reckoning, recorded: RecordedEvent) => void): Reckoning {
    const reckoning = new Reckoning(world, check !== undefined);
    for (const [place, recorded] of world.shared.events.entries()) {
      reckoning.#take(recorded, world.shared.landed[place] ?? 0);
      check?.(reckoning, recorded);
    }
    return reckoning;
  }

  /**
   * Of all that stands: every value of the index, as its event says it if that is of a declaration since the index is
   * unique.
   */
  *values(index: string): Generator<{ readonly step: Step; readonly value: HeldValue; readonly isSince: boolean }> {
    const since = this.declared?.since.get(index) ?? Infinity;
    for (const step of this.heads.values()) {
      const isSince = (step.metadata.declared ?? -1) >= since;
      const values = isSince ? step.event.values : valuesOf(must(step.event.object, 'it stands'));
      for (const value of values) if (value.index === index) yield { step, value, isSince };
    }
  }

  claimantOf(value: HeldValue): string | undefined {
    const claim = this.claims.get(claimStream(type.key, value));
    return claim?.type === 'ValueClaimed' ? claim.holder : undefined;
  }

  #take(recorded: RecordedEvent, landed: number): void {
    const { stream } = recorded;
    if (stream.startsWith(`object:${type.key}/`)) {
      this.#takeObject(must(this.#world.history.steps(stream)[recorded.revision], 'it is in the history'));
      return;
    }
    if (!['claim:', 'type:', 'unique:'].some((category) => stream.startsWith(category))) return;
    const { event } = decodeEvent(recorded);
    if (event.type === 'ValueClaimed' || event.type === 'ValueReleased') this.claims.set(stream, event);
    if (event.type === 'TypeDeclared') this.#declare(recorded, event);
    if (event.type === 'UniqueEnforced') this.#enforce(event, landed);
  }

  #takeObject(step: Step): void {
    const {
      recorded: { stream, endsAppend },
      after,
      event,
      metadata,
    } = step;
    const before = this.heads.get(stream);
    if (after.kind !== 'live') this.heads.delete(stream);
    else this.heads.set(stream, step);
    const { declared } = this;
    if (declared === undefined || after.kind !== 'live' || !endsAppend) return;
    const older = [...declared.since].filter(([, since]) => (metadata.declared ?? -1) < since).map(([index]) => index);
    const isRepeated =
      event.type === 'NameFenced' && before !== undefined && before.metadata.declared === metadata.declared;
    if (older.length === 0 || isRepeated) return;
    declared.late += 1;
    for (const index of older) {
      const saidMs = declared.enforced.get(index);
      if (this.#isChecked && saidMs !== undefined && saidMs > -Infinity) checkDrained(this.#world, step, saidMs);
      declared.enforced.delete(index);
    }
  }

  #declare(
    { revision }: RecordedEvent,
    { unique, version }: Extract<DomainEvent, { readonly type: 'TypeDeclared' }>,
  ): void {
    const before = this.declared;
    const keys = new Map(unique.map(({ index, keys: of }) => [index, of]));
    const goesOn = (index: string): boolean => before !== undefined && before.keys.get(index) === keys.get(index);
    const since = new Map(
      [...keys.keys()].map((index) => [index, goesOn(index) ? (before?.since.get(index) ?? revision) : revision]),
    );
    const enforced = new Map([...(before?.enforced ?? [])].filter(([index]) => keys.has(index) && goesOn(index)));
    if (this.heads.size === 0)
      for (const index of keys.keys()) if (!enforced.has(index)) enforced.set(index, -Infinity);
    this.declared = { revision, version, since, keys, enforced, late: 0 };
  }

  #enforce(
    { declared, late, indexes }: Extract<DomainEvent, { readonly type: 'UniqueEnforced' }>,
    landed: number,
  ): void {
    const counts = this.declared?.revision === declared && this.declared.late === late;
    if (this.#isChecked)
      this.#world.coverage.note(counts ? 'an index is enforced' : 'what says that an index is enforced counts no more');
    if (counts) for (const index of indexes) this.declared?.enforced.set(index, landed);
  }
}

/**
 * 1, with changing declarations: of events since an index became unique at most one holds a value, and its claim
 * agrees. Once the index is enforced this holds for all stored objects.
 */
export function checkUniqueness(world: World): void {
  if (world.releases === undefined) return;
  const { declared } = Reckoning.of(world, (reckoning, { position }) => {
    for (const index of reckoning.declared?.since.keys() ?? []) {
      const holders = new Map<string, StreamName>();
      const isEnforced = reckoning.declared?.enforced.has(index) === true;
      for (const {
        step: {
          recorded: { stream },
        },
        value,
        isSince,
      } of reckoning.values(index)) {
        if (!isSince && !isEnforced) continue;
        const other = holders.get(value.hash) ?? stream;
        if (other !== stream)
          throw new Error(`from ${position.toString()} on both ${other} and ${stream} hold a value of ${index}`);
        holders.set(value.hash, stream);
        const claimant = reckoning.claimantOf(value);
        if (claimant !== stream)
          throw new Error(
            `from ${position.toString()} on ${stream} holds a value of ${index}` +
              `${isEnforced ? ', which is enforced,' : ''} that ${String(claimant)} claims`,
          );
      }
    }
  });
  if (declared !== undefined && declared.enforced.size === declared.since.size)
    world.coverage.note('all indexes are enforced in the end');
  else world.coverage.note('duplicates are left in the end');
}

/** A node that lived when it was said that an index is enforced has sent nothing before that lands later. */
function checkDrained(
  { invocations, lives, shared }: World,
  { recorded: { stream, revision }, metadata }: Step,
  saidMs: number,
): void {
  const invocation = invocations.find(({ id }) => id === metadata.requestId);
  if (invocation === undefined) return;
  const beats = [...lives]
    .filter(([, name]) => name === invocation.node)
    .map(([node]) => shared.stream(`lease:node/${node}` as StreamName).map((beat) => shared.landedAt(beat)));
  // The life that sent it: no other began before it was said.
  const sender = beats
    .filter(([first]) => first !== undefined && first <= saidMs)
    .sort(([one], [other]) => (other ?? 0) - (one ?? 0))[0];
  if (sender === undefined || (sender[0] ?? Infinity) >= invocation.invoked) return;
  for (let at = saidMs; at > saidMs - liveMs; at -= 500)
    if (!sender.some((beat) => beat <= at && beat > at - beatMsMax)) return;
  if (!sender.some((beat) => beat >= saidMs)) return;
  throw new Error(
    `${stream}@${String(revision)} was sent by ${invocation.node}, which lived, by an older declaration, and ` +
      `landed after its index was enforced at ${String(saidMs)}`,
  );
}

/** 12: what keeps unique indexes of the last release from being enforced, but for duplicates. */
export function unenforced(world: World, nodes: readonly SimNode[]): readonly string[] {
  const { releases } = world;
  if (releases === undefined) return [];
  const reckoning = Reckoning.of(world);
  const { declared } = reckoning;
  if (releases.isNew && declared?.version !== releases.newest.declaration?.version)
    return [`${String(declared?.version)} is declared`];
  if (declared === undefined) return ['nothing is declared'];
  const pending = [...declared.since.keys()].filter((index) => !declared.enforced.has(index));
  const isDuplicate = (index: string): boolean =>
    [...reckoning.values(index)].some(({ step, value, isSince }) => {
      const claimant = reckoning.claimantOf(value);
      return (
        !isSince &&
        claimant !== undefined &&
        claimant !== step.recorded.stream &&
        reckoning.heads.has(claimant as StreamName)
      );
    });
  // They are enforced together: one that has duplicates keeps the others back.
  if (pending.length > 0 && !pending.some(isDuplicate)) return pending.map((index) => `${index} is not enforced`);
  return nodes.flatMap(({ name, serving }) => {
    const known = serving?.models.declarations.declared(type.key);
    const enforced = Object.keys(known?.enforced ?? {})
      .sort()
      .join();
    return enforced === [...declared.enforced.keys()].sort().join() ? [] : [`${name} knows ${enforced} to be enforced`];
  });
}

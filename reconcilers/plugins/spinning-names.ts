import { atOnce } from '../../src/base/steps.ts';
import type { CausingEvent } from '../../src/command/event.ts';
import type { Change } from '../../src/read/objects.ts';
import { jsonDiff } from '../../src/resource/object/json-diff.ts';
import type { SlowedKeys } from '../controller-options.ts';
import { again, type Outcome } from '../outcome.ts';
import {
  reconcileFailingNamesMax,
  reconcileFieldsShownMax,
  reconcileImmediateMax,
  reconcileImmediateMs,
  reconcileSpinMs,
  reconcileSpinningNamesMax,
} from '../reconcile-limits.ts';
import type { TracedStep } from './traced-step.ts';

/** `between`: the reconcilers that rewrite the object in turn with the reconciler of the spinning name. */
type Spin =
  | { readonly kind: 'rewrites'; readonly object: string; readonly between: readonly string[] }
  | { readonly kind: 'again' };

type States = {
  readonly name: string;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
};

type Ports = {
  readonly parse: (bytes: Uint8Array) => unknown;
  /** Called when a name begins to spin. */
  readonly onSpin: (name: string, message: string) => void;
  /** Called when the result of `message` may have changed. */
  readonly onChange: () => void;
};

/**
 * The spinning names of one reconciler. The steps for a spinning name repeatedly rewrite an object because of their own
 * writes, or repeatedly request another step without a delay.
 */
export class SpinningNames {
  readonly #ports: Ports;
  /** Some of the spinning names, the longest spinning first. */
  readonly #names = new Map<string, Spin>();
  /**
   * The number of consecutive immediate outcomes `again` of each name. A step with another cause than the previous step
   * is not counted.
   */
  readonly #immediate = new Map<string, { readonly count: number; readonly cause: CausingEvent | undefined }>();
  /** The states before and after the last rewrite of the first name, until its differing fields are computed. */
  #states: States | undefined;
  #fields: { readonly name: string; readonly text: string } | undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  get count(): number {
    return this.#names.size;
  }

  record(step: TracedStep, change: Change): void {
    const { name } = step.visit;
    const object = `${change.type}/${change.name}`;
    const isRewrite = step.record(object);
    // A name that spins because of rewrites stays slowed down, even if a user's write caused this step.
    if (this.#names.get(name)?.kind === 'rewrites') step.slowDown();
    if (!isRewrite || !step.isSlowed) return;
    const { between } = step;
    this.#add(name, { kind: 'rewrites', object, between });
    const [first] = this.#names.keys();
    const before = first === name && this.#fields?.name !== name ? change.previousBytes?.() : undefined;
    if (before !== undefined) this.#states = { name, before, after: change.bytes };
  }

  /** Records the end of a step. Returns the step's outcome, with a longer delay if the name spins. */
  end(step: TracedStep, outcome: Outcome): Outcome {
    if (outcome.type === 'failed') return outcome;
    const { name, written } = step.visit;
    if (written.size === 0) this.#endCycle(step);
    const isImmediate = outcome.type === 'again' && outcome.afterMs < reconcileImmediateMs;
    const isSlowed = isImmediate ? this.#countImmediate(step) : this.#endImmediate(name);
    if (outcome.type === 'again' && (isSlowed || step.isSlowed))
      return again(Math.max(outcome.afterMs, reconcileSpinMs));
    return outcome;
  }

  /** Returns the names that have spun longest, with descriptions, and the number of all names. */
  slowed(): SlowedKeys {
    const items = firstOf(this.#names, reconcileFailingNamesMax).map(([name, spin]) => ({
      name,
      reason: messageOf(name, spin, this.#fields?.name === name ? this.#fields.text : ''),
    }));
    return { total: this.#names.size, items };
  }

  /** Describes the name that has spun longest; undefined if no name spins. */
  message(): string | undefined {
    const [first] = this.#names;
    if (first === undefined) return undefined;
    return messageOf(first[0], first[1], this.#fieldsOf(first[0]));
  }

  #endCycle(step: TracedStep): void {
    step.answer();
    const { name } = step.visit;
    const spin = this.#names.get(name);
    // A reconciler that rewrites an object in turn with others writes nothing after its own write. So a step after its
    // own write does not end the cycle.
    if (spin?.kind === 'rewrites' && (spin.between.length === 0 || !step.isOwnCause)) this.#delete(name);
  }

  #countImmediate({ visit: { name }, cause }: TracedStep): boolean {
    const last = this.#immediate.get(name);
    const count = (last?.count ?? 0) + (last !== undefined && last.cause === cause ? 1 : 0);
    this.#immediate.set(name, { count, cause });
    if (count < reconcileImmediateMax) return false;
    if (!this.#names.has(name)) this.#add(name, { kind: 'again' });
    return true;
  }

  #endImmediate(name: string): false {
    this.#immediate.delete(name);
    if (this.#names.get(name)?.kind === 'again') this.#delete(name);
    return false;
  }

  #add(name: string, spin: Spin): void {
    const known = this.#names.get(name);
    if (known === undefined && this.#names.size >= reconcileSpinningNamesMax) return;
    this.#names.set(name, spin);
    if (known?.kind === spin.kind) return;
    this.#ports.onSpin(name, messageOf(name, spin, ''));
    this.#ports.onChange();
  }

  #delete(name: string): void {
    this.#names.delete(name);
    if (this.#fields?.name === name) this.#fields = undefined;
    this.#ports.onChange();
  }

  /** Returns the differing fields as text, computed at the first call, since comparing large objects takes long. */
  #fieldsOf(name: string): string {
    const states = this.#states;
    this.#states = undefined;
    if (states?.name === name) {
      const { parse } = this.#ports;
      this.#fields = { name, text: differingFields(parse(states.before), parse(states.after)) };
    }
    return this.#fields?.name === name ? this.#fields.text : '';
  }
}

function firstOf<Value>(map: ReadonlyMap<string, Value>, max: number): readonly (readonly [string, Value])[] {
  const first: (readonly [string, Value])[] = [];
  for (const entry of map) {
    if (first.length === max) break;
    first.push(entry);
  }
  return first;
}

function messageOf(name: string, spin: Spin, fields: string): string {
  const slowed = 'its steps now run once a minute';
  if (spin.kind === 'again')
    return `the step for ${name} requests another step immediately, again and again: ${slowed}`;
  const others = [...new Set(spin.between)].join(', ');
  const how = others === '' ? 'after each of its own writes' : `in turn with ${others}`;
  const differing = fields === '' ? '' : `, which changes ${fields}`;
  return `the step for ${name} rewrites ${spin.object} ${how}${differing}: ${slowed}`;
}

/** The fields that every write changes. */
const everyWrite = new Set(['/metadata/version', '/metadata/resourceVersion', '/metadata/generation']);

function differingFields(before: unknown, after: unknown): string {
  const paths = atOnce(jsonDiff(before, after))
    .map(({ path }) => path)
    .filter((path) => !everyWrite.has(path));
  const more = paths.length - reconcileFieldsShownMax;
  return `${paths.slice(0, reconcileFieldsShownMax).join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
}

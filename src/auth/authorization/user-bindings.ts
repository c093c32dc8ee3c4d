import { createHash } from 'node:crypto';

import { isObject } from '../../base/guards.ts';
import { isJsonList } from '../../base/json.ts';
import type { Clock } from '../../base/clock.ts';
import { Slices } from '../../base/slices.ts';
import { inSlices, type Steps } from '../../base/steps.ts';
import type { Command, WriteContext } from '../../command/command.ts';
import type { Rejection } from '../../command/rejection.ts';
import type { Execute } from '../../write/execute.ts';
import { bindingAttemptsMax } from '../../limits/access.ts';
import type { ObjectReader, StoredObject } from '../../read/objects.ts';
import type { JsonValue } from '../../resource/object/object.ts';
import { bindFields } from '../../resource/query/bind-fields.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { storedObject } from '../../resource/object/shown-object.ts';

/** The ports of `replaceBindings`. `type` is RoleBinding. */
export type BindingPorts = {
  readonly reader: ObjectReader;
  readonly execute: Execute;
  readonly type: ResourceType;
  readonly clock: Pick<Clock, 'monotonic'>;
};

export type BindingsReplaced = { readonly ok: true } | { readonly ok: false; readonly rejection: Rejection };

export type Binding = {
  readonly name: string;
  readonly uid: string;
  readonly stored: StoredObject;
  readonly role: string;
  readonly subjects: readonly JsonValue[];
};

type Verb = 'create' | 'update' | 'delete';
type BindingChange = {
  readonly verb: Verb;
  readonly command: Command;
};

const done: BindingsReplaced = { ok: true };

type BindingWrites = {
  readonly ports: BindingPorts;
  readonly context: WriteContext;
};

/**
 * Binds a user to exactly these roles. Dry runs check all writes before the first write. Bindings to further roles are
 * created before others are removed, so that the user is never without both the old and the new roles.
 *
 * If a write is refused before the first update or deletion, the created bindings are deleted. If other writers change
 * the same bindings meanwhile, the writes are planned again, up to a limit.
 */
export async function replaceBindings(
  user: string,
  roles: readonly string[],
  { ports, context }: BindingWrites,
): Promise<BindingsReplaced> {
  const replacement = new Replacement(user, ports, context);
  let outcome = await replacement.attempt(roles);
  for (let attempt = 1; outcome !== done && attempt < bindingAttemptsMax; attempt += 1) {
    if (outcome.ok || !hasMoved(outcome.rejection)) break;
    outcome = await replacement.attempt(roles);
  }
  if (!outcome.ok) await replacement.takeBack();
  return outcome;
}

/** Returns whether the bindings have changed since they were read. */
function hasMoved({ reason }: Rejection): boolean {
  return reason === 'stale-version' || reason === 'not-found' || reason === 'already-exists';
}

/**
 * Reads the unmarked bindings that name the user. A later change of a binding is detected by the preconditions of the
 * write.
 */
export async function readBindings(
  user: string,
  { clock, ...ports }: Pick<BindingPorts, 'reader' | 'type' | 'clock'>,
): Promise<readonly Binding[]> {
  return inSlices(bindingsOf(user, ports), new Slices(clock));
}

function* bindingsOf(user: string, { reader, type }: Pick<BindingPorts, 'reader' | 'type'>): Steps<readonly Binding[]> {
  const bound = bindFields([{ field: subjectsIndex, operator: 'in', values: [user] }], type.indexes);
  if (!bound.ok) throw new Error(`${type.key}: ${bound.problem}`);
  const found: Binding[] = [];
  for (const page of reader.pages(type.key, { selection: { labels: [], fields: bound.requirements }, sort: [] })) {
    for (const name of page) {
      const stored = reader.get(type.key, name);
      const binding = stored === undefined ? undefined : bindingOf(stored);
      if (binding?.subjects.some((subject) => isUser(subject, user)) === true) found.push(binding);
      yield;
    }
  }
  return found;
}

function isUser(subject: JsonValue, user: string): boolean {
  return (
    isObject(subject) && subject['kind'] === 'User' && (subject['apiGroup'] ?? '') === '' && subject['name'] === user
  );
}

class Replacement {
  readonly #user: string;
  readonly #ports: BindingPorts;
  readonly #context: WriteContext;
  /**
   * The bindings that this replacement has created and can still take back. None after the first update or deletion.
   */
  #made: { readonly name: string; readonly uid: string }[] = [];

  constructor(user: string, ports: BindingPorts, context: WriteContext) {
    this.#user = user;
    this.#ports = ports;
    this.#context = context;
  }

  async attempt(roles: readonly string[]): Promise<BindingsReplaced> {
    const bindings = await readBindings(this.#user, this.#ports);
    const steps = this.#plan(roles, bindings);
    for (const dryRun of this.#context.dryRun ? [true] : [true, false]) {
      for (const step of steps) {
        const refused = await this.#execute(step, dryRun);
        if (refused !== undefined) return { ok: false, rejection: refused };
      }
    }
    return done;
  }

  async takeBack(): Promise<void> {
    for (const { name, uid } of this.#made.splice(0)) {
      await this.#ports.execute(
        this.#ports.type,
        { type: 'delete', name, preconditions: { uid } },
        this.#contextOf('delete', false),
      );
    }
  }

  async #execute({ verb, command }: BindingChange, dryRun: boolean): Promise<Rejection | undefined> {
    const outcome = await this.#ports.execute(this.#ports.type, command, this.#contextOf(verb, dryRun));
    if (!outcome.ok) return outcome.rejection;
    if (dryRun) return undefined;
    if (verb === 'create') this.#made.push({ name: outcome.name, uid: storedObject(outcome.bytes).metadata.uid });
    else this.#made = [];
    return undefined;
  }

  #contextOf(verb: Verb, dryRun: boolean): WriteContext {
    const context = { ...this.#context, cause: { ...this.#context.cause, verb }, dryRun };
    // The dry run of each write has already counted against the rate limit. Counting the write again could stop the
    // replacement after only some of the writes.
    return dryRun ? context : { ...context, admitted: 'whole' };
  }

  /**
   * Returns the writes in the necessary order. Updates precede deletions, because a deletion may remove a right that
   * the writer needs for an update.
   */
  #plan(roles: readonly string[], bindings: readonly Binding[]): readonly BindingChange[] {
    const bound = new Set(bindings.map(({ role }) => role));
    const wanted = new Set(roles);
    const superfluous = bindings.filter(({ role }) => !wanted.has(role)).map((binding) => this.#removal(binding));
    return [
      ...[...wanted].filter((role) => !bound.has(role)).map((role) => this.#creation(role)),
      ...superfluous.filter(({ verb }) => verb === 'update'),
      ...superfluous.filter(({ verb }) => verb === 'delete'),
    ];
  }

  #creation(role: string): BindingChange {
    const object = {
      metadata: { name: this.#freeName(role) },
      roleRef: { apiGroup: '', kind: 'Role', name: role },
      subjects: [{ apiGroup: '', kind: 'User', name: this.#user }],
    };
    return { verb: 'create', command: { type: 'create', object } };
  }

  /**
   * Returns the name of a new binding. The name depends only on the user and the role, unless another binding already
   * has this name.
   */
  #freeName(role: string): string {
    const { reader, type } = this.#ports;
    let name = bindingName(this.#user, role, 0);
    for (let attempt = 1; attempt < bindingAttemptsMax && reader.get(type.key, name) !== undefined; attempt += 1)
      name = bindingName(this.#user, role, attempt);
    return name;
  }

  #removal({ name, uid, stored, subjects }: Binding): BindingChange {
    const others = subjects.filter((subject) => !isUser(subject, this.#user));
    const resourceVersion = stored.position.toString();
    if (others.length === 0)
      return { verb: 'delete', command: { type: 'delete', name, preconditions: { uid, resourceVersion } } };
    return {
      verb: 'update',
      command: {
        type: 'patch',
        name,
        patch: { kind: 'merge', document: { subjects: others } },
        part: 'main',
        preconditions: { uid, resourceVersion },
      },
    };
  }
}

/** The multi-valued index of RoleBinding by the names of the subjects. */
const subjectsIndex = 'subjects.name';

/** Returns a readable, unambiguous and valid `metadata.name` for any names of user and role. */
export function bindingName(user: string, role: string, attempt: number): string {
  const readable = `${user}-${role}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, '-')
    .slice(0, readableLengthMax)
    .replaceAll(/^-|-$/gu, '');
  const digest = createHash('sha256')
    .update(JSON.stringify([user, role, attempt]))
    .digest('hex')
    .slice(0, 16);
  return readable === '' ? digest : `${readable}-${digest}`;
}

const readableLengthMax = 200;

/** Returns undefined for a binding that is marked for deletion, because such a binding binds no user. */
function bindingOf(stored: StoredObject): Binding | undefined {
  const { metadata, ...members } = storedObject(stored.bytes);
  if (metadata.deletionTimestamp !== undefined) return undefined;
  const { roleRef, subjects } = members;
  const role = isObject(roleRef) ? roleRef['name'] : undefined;
  if (typeof role !== 'string' || !isJsonList(subjects)) return undefined;
  return { name: metadata.name, uid: metadata.uid, stored, role, subjects };
}

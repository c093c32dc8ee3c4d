import type { Command, WriteContext, WriteOutcome } from '../command/command.ts';
import { isNameDrawn } from '../command/decide.ts';
import { nameProblem } from '../resource/type/names.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import { versionedAnswer } from '../resource/type/versions/shown-version.ts';
import { LogUnreadableError } from './retrying-log.ts';
import { currentType, isDecidable, isUndeclared } from './declared.ts';
import { Admission } from './admission/admission.ts';
import { retryAttempts } from './attempts.ts';
import type { Given, WriteDoorDependencies } from './execute-types.ts';
import { HeldBytes } from './admission/held-bytes.ts';
import { tooMany, unavailable } from './refusals.ts';
import { streamOf } from './target.ts';
import { StreamQueues, type Leave } from './stream-queues.ts';
import { WriteAttempts } from './write-attempt.ts';
import { Writers } from './admission/writers.ts';

/** The write path of HTTP requests, plugins and reconcilers. */
export type Execute = (type: ResourceType, command: Command, context: WriteContext) => Promise<WriteOutcome>;

/**
 * Creates the write path. A write reads the object's state, decides and appends the event, and waits until this node
 * has folded the event. An append with an unknown outcome is retried with the same event. The command is decided again
 * only if the append has certainly failed.
 */
export function createWriteDoor(dependencies: WriteDoorDependencies): Execute {
  const door = new WriteDoor(dependencies);
  return (type, command, context) => door.execute(type, command, context);
}

type Entered = Pick<Given, 'context' | 'admitted' | 'asked'>;
type Deciding = { readonly type: ResourceType; readonly command: Command; readonly entered: Entered };

class WriteDoor {
  readonly #dependencies: WriteDoorDependencies;
  readonly #attempts: WriteAttempts;
  readonly #turns: StreamQueues;
  readonly #admission: Admission;

  constructor(dependencies: WriteDoorDependencies) {
    this.#dependencies = dependencies;
    this.#turns = new StreamQueues(dependencies.clock);
    const { clock, held = new HeldBytes(), writers = Writers.unlimited(clock) } = dependencies;
    this.#attempts = new WriteAttempts(dependencies, this.#turns);
    this.#admission = new Admission({ clock, held, writers });
  }

  /** `asked` may be another version of the type than the preferred version. The response then has this version. */
  async execute(asked: ResourceType, command: Command, context: WriteContext): Promise<WriteOutcome> {
    const { preferred: type = asked } = asked;
    const admitted = this.#admission.enter(context);
    if ('rejection' in admitted) return admitted;
    let outcome: WriteOutcome | undefined;
    try {
      const entered = { context, admitted, asked: type === asked ? undefined : asked };
      outcome = await this.#decideInTurn(type, command, entered);
      if (isUndeclared(outcome)) outcome = await this.#decideWhenDeclared(outcome, { type, command, entered });
      return outcome;
    } catch (error) {
      if (error instanceof LogUnreadableError) return unavailable();
      throw error;
    } finally {
      this.#admission.leave(admitted, outcome);
    }
  }

  /**
   * Waits for the end of the upgrade that refuses the write, and then decides the command again. During the wait, the
   * write has no turn in the queue of its stream.
   */
  async #decideWhenDeclared(refused: WriteOutcome, { type, command, entered }: Deciding): Promise<WriteOutcome> {
    const { upgradeWaits } = this.#dependencies;
    if (upgradeWaits === undefined) return refused;
    const { context, admitted, asked } = entered;
    const waiting = { of: admitted.writer, deadline: upgradeWaits.deadline(), disconnected: context.signal?.() };
    const isOver = (): boolean => isDecidable(this.#dependencies, { type, asked });
    let outcome = refused;
    while (isUndeclared(outcome) && (await upgradeWaits.until(isOver, waiting)))
      outcome = await this.#decideInTurn(type, command, entered);
    return outcome;
  }

  async #decideInTurn(type: ResourceType, command: Command, entered: Entered): Promise<WriteOutcome> {
    // Writes of an existing object queue. Without a queue, most concurrent writes would lose the race to append.
    const isOrdered = command.type !== 'create' && nameProblem(command.name) === undefined;
    const turn = isOrdered ? this.#turns.take(streamOf(type, command.name), entered.admitted.writer) : unordered;
    if (turn === undefined) return tooMany('too many writes of this object are queued');
    const leave = typeof turn === 'function' ? turn : await turn;
    try {
      return await this.#decideUntilSettled(type, command, entered);
    } finally {
      leave();
    }
  }

  async #decideUntilSettled(type: ResourceType, command: Command, entered: Entered): Promise<WriteOutcome> {
    const { clock, uuid, suffix } = this.#dependencies;
    const isDrawn = isNameDrawn(command);
    const given: Given = { uid: uuid(), suffix: isDrawn ? suffix() : '', ...entered };
    const requested = { type, asked: given.asked };
    const redraw = isDrawn
      ? (): void => {
          given.suffix = suffix();
        }
      : undefined;
    try {
      const outcome = await retryAttempts(
        () => {
          const current = currentType(this.#dependencies, requested);
          if (!current.ok) return current;
          given.asked = current.asked;
          return this.#attempts.attempt(current.type, command, given);
        },
        { clock, uid: given.uid, redraw },
      );
      if (!outcome.ok || given.asked === undefined) return outcome;
      return { ...outcome, bytes: versionedAnswer(outcome.bytes, given.asked) };
    } finally {
      if (given.intent !== undefined) await given.intent.end();
      if (given.guard !== undefined) await given.guard.end();
    }
  }
}

const unordered: Leave = () => undefined;

import { objectAnswer } from '../../../src/log/event-codec.ts';
import { isPermanentReadError, streamName, type EventLog, type LogPosition } from '../../../src/log/log.ts';
import { UnreadableLogError } from '../../../src/read/lists-at.ts';
import type { VersionReader } from '../../../src/read/versions.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { pastAnswer } from '../../../src/resource/type/versions/shown-version.ts';

type ObjectsAtDependencies = {
  readonly log: Pick<EventLog, 'readStream'>;
  readonly versions: Pick<VersionReader, 'lastAt'>;
};

/** Reads objects in their state at a past position, from their streams in the log. */
export class ObjectsAt {
  readonly #log: ObjectsAtDependencies['log'];
  readonly #versions: ObjectsAtDependencies['versions'];

  constructor({ log, versions }: ObjectsAtDependencies) {
    this.#log = log;
    this.#versions = versions;
  }

  /**
   * Returns the JSON of an object in its state at a past position, in the version of the type that is preferred now.
   * The object must have existed at the position.
   *
   * @throws UnreadableLogError if the log cannot be read now, or if the version index or the log lacks the object's
   * event. Permanent read errors are thrown unchanged.
   */
  async read(type: ResourceType, name: string, position: LogPosition): Promise<Buffer> {
    const revision = this.#versions.lastAt(type.key, name, position);
    if (revision === undefined) throw new UnreadableLogError(`the version index has no event of ${name}`);
    const stream = streamName(`object:${type.key}/${name}`);
    const [event] = await this.#log.readStream(stream, { from: revision, limit: 1 }).catch(refused);
    if (event?.revision !== revision)
      throw new UnreadableLogError(`the log lacks revision ${String(revision)} of ${stream}`);
    const answer = objectAnswer(event, event.position);
    if (answer === undefined) throw new Error(`invariant violated: ${stream} is in the columns but has no object`);
    return Buffer.from(pastAnswer(answer, type.preferred ?? type));
  }
}

function refused(error: unknown): never {
  if (isPermanentReadError(error)) throw error;
  throw new UnreadableLogError(error);
}

import { deepEqual } from '../../../src/base/json.ts';
import type { Command } from '../../../src/command/command.ts';
import type { Decision } from '../../../src/command/decide.ts';
import type { State } from '../../../src/command/evolve.ts';
import { decideInVersion } from '../../../src/command/versions/preferred-command.ts';
import { decodeEvent } from '../../../src/log/event-codec.ts';
import { streamName } from '../../../src/log/log.ts';
import type { ResourceObject } from '../../../src/resource/object/object.ts';
import { storedObject } from '../../../src/resource/object/shown-object.ts';
import { facts } from '../../support/sample.ts';
import type { Judge, Judged } from '../checks/judge.ts';
import type { Step } from '../history.ts';
import type { SharedLog } from '../log/shared-log.ts';
import { present, shown, versionOf } from './expected.ts';
import type { VersionName } from './conversions.ts';
import { steps } from './migration-steps.ts';
import type { Stage } from './stages.ts';

/** By declarations of the log. The state before an event is converted without the code under test. */
export class EvolvingJudge implements Judge {
  readonly #shared: SharedLog;
  readonly #stages: readonly Stage[];

  constructor(shared: SharedLog, stages: readonly Stage[]) {
    this.#shared = shared;
    this.#stages = stages;
  }

  decisions(judged: Judged, step: Step | undefined): readonly Decision[] {
    return (step === undefined ? this.#stages : this.stagesOf(step)).flatMap((stage) => decisionsBy(stage, judged));
  }

  commandsOf(step: Step): readonly Command[] {
    const { before, metadata, recorded } = step;
    if (metadata.actor !== 'plugin:example' || before.kind !== 'live') return [];
    const { name, uid } = before.object.metadata;
    return this.stagesOf(step).flatMap((stage) =>
      stage.migrations.flatMap((id): readonly Command[] => {
        const given = present(before.object, stage);
        const next = steps[id](given) as ResourceObject;
        if (deepEqual(next, given)) return [];
        const object = { ...next, metadata: { ...next.metadata, name, uid, version: recorded.revision - 1 } };
        return [{ type: 'replace', name, object: object, part: 'main', preconditions: {} }];
      }),
    );
  }

  isAnswer(step: Step, bytes: Uint8Array, { version }: { readonly version?: VersionName }): boolean {
    const { after, recorded, event } = step;
    const object = after.kind === 'live' ? after.object : event.object;
    const { metadata } = JSON.parse(Buffer.from(bytes).toString('utf8')) as {
      readonly metadata: { readonly resourceVersion: string };
    };
    const answered = storedObject(bytes);
    return (
      object !== undefined &&
      metadata.resourceVersion === recorded.position.toString() &&
      this.stagesOf(step).some((stage) => deepEqual(answered, shown(object, stage, version ?? versionOf(object))))
    );
  }

  repetitionsOf(step: Step): readonly ResourceObject[] {
    const { before } = step;
    if (before.kind !== 'live') return [];
    return [before.object, ...this.stagesOf(step).map((stage) => present(before.object, stage))];
  }

  /** The stage that decided the event. Before the first declaration, each node decides by its own. */
  stagesOf({ metadata: { declared }, recorded }: Step): readonly Stage[] {
    if (declared === undefined) return this.#stages;
    const declaring = this.#shared.stream(streamName('type:widgets.example.com'))[declared];
    const where = `${recorded.stream}@${String(recorded.revision)}`;
    if (declaring === undefined || declaring.position >= recorded.position)
      throw new Error(`${where} was decided by declaration ${String(declared)}, which was not declared before it`);
    const { event } = decodeEvent(declaring);
    const stage = this.#stages.find(({ version }) => event.type === 'TypeDeclared' && version === event.code);
    if (stage === undefined) throw new Error(`${where} was decided by ${event.type}, which is of no version`);
    return [stage];
  }
}

function decisionsBy(stage: Stage, { state, command, facts: given, version }: Judged): readonly Decision[] {
  const { type } = stage;
  const asked = version === undefined ? type : type.versions?.served.find((served) => served.version === version);
  // A node answers for a version that it does not serve before it decides.
  if (asked === undefined) return [];
  const current: State = state.kind === 'live' ? { ...state, object: present(state.object, stage) } : state;
  const about = { ...facts, ...given, type };
  return [decideInVersion(current, command, about, asked === type ? undefined : asked)];
}

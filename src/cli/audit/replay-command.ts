import { decodeJson, type Json } from '../../base/json.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import { memberOf, textOf } from '../answer-member.ts';
import type { CommandContext } from '../command-context.ts';
import { connect, type ConnectionOptions } from '../connection.ts';
import { commandError } from '../failure.ts';
import { counted, printable } from '../text-table.ts';

export type ReplayOptions = ConnectionOptions & {
  readonly until?: string;
  readonly print?: boolean;
  readonly type?: string;
  readonly name?: string;
  readonly stopped?: boolean;
};

export type DiffOptions = Pick<ReplayOptions, 'type' | 'name' | 'stopped'> & ConnectionOptions;

/** The body of the request for a replay or a diff. */
export type ReplayBody = Readonly<Record<string, string | boolean>>;

/**
 * Replays and diffs that read the files of a stopped server. The caller passes this object, because src/cli must not
 * import the log.
 */
export type StoppedReplays = {
  /** Yields the lines that a running server would send. */
  lines(kind: AuditKind, body: ReplayBody, context: CommandContext): AsyncIterable<Uint8Array>;
};

/** The API resource that serves the request. */
export type AuditKind = 'replays' | 'diffs';

/** Prints the result of a replay. Returns false if the read models differ from the log. */
export async function replay(
  options: ReplayOptions,
  context: CommandContext,
  stoppedReplays: () => Promise<StoppedReplays>,
): Promise<boolean> {
  const { until, print, type, name } = options;
  if (name !== undefined && type === undefined)
    throw commandError('--name requires --type: a name is unique only within its type');
  if (print !== true && type !== undefined)
    throw commandError('--type and --name select the objects to print: use them with --print');
  const lines = await ask('replays', given({ until, print, type, name }), { options, context, stoppedReplays });
  const printed = { isEmpty: true };
  const output = {
    write: (text: string) => {
      printed.isEmpty = false;
      context.output.write(text);
    },
  };
  const isEqual = await shown(lines, print === true, print === true ? { ...context, output } : context);
  if (print === true && printed.isEmpty) {
    const sought = [
      ...(type === undefined ? [] : [`--type ${type}`]),
      ...(name === undefined ? [] : [`--name ${name}`]),
    ];
    const selected = sought.length === 0 ? '' : ` with ${printable(sought.join(' '))}`;
    context.stderr.write(`ledgerplane: nothing to print: the log has no object${selected} at this position\n`);
  }
  return isEqual;
}

type Moments = {
  readonly from: string;
  readonly to: string;
};

/** Prints each change as a line of standard output, and a summary to standard error. */
export async function diff(
  options: DiffOptions & Moments,
  context: CommandContext,
  stoppedReplays: () => Promise<StoppedReplays>,
): Promise<void> {
  const { from, to, type, name } = options;
  await shown(await ask('diffs', given({ from, to, type, name }), { options, context, stoppedReplays }), true, context);
}

type Asking = {
  readonly options: ConnectionOptions & { readonly stopped?: boolean };
  readonly context: CommandContext;
  readonly stoppedReplays: () => Promise<StoppedReplays>;
};

async function ask(
  kind: AuditKind,
  body: ReplayBody,
  { options, context, stoppedReplays }: Asking,
): Promise<AsyncIterable<Uint8Array>> {
  if (options.stopped === true) return (await stoppedReplays()).lines(kind, body, context);
  const { client, domain } = await connect(options, context);
  return client.lines({ method: 'POST', path: ['apis', `audit.${domain}`, 'v1alpha1', kind], body });
}

function given(members: Readonly<Record<string, string | boolean | undefined>>): ReplayBody {
  const entries = Object.entries(members);
  return Object.fromEntries(entries.filter((entry): entry is [string, string | boolean] => entry[1] !== undefined));
}

const objectOpening = Buffer.from('{"kind":"Object","object":');
const changeOpening = Buffer.from('{"kind":"Change",');

/**
 * Prints the lines of the response, and returns false if the result reports a difference. Progress is printed to
 * standard error. The result is printed to standard output or, with `print`, to standard error. With `print`, standard
 * output contains only the objects or changes.
 */
async function shown(
  lines: AsyncIterable<Uint8Array>,
  print: boolean,
  { output, stderr }: CommandContext,
): Promise<boolean> {
  const notes = print ? stderr : output;
  const showProgress = progressOn(stderr);
  let isEqual: boolean | undefined;
  for await (const line of lines) {
    if (objectOpening.equals(line.subarray(0, objectOpening.length))) {
      output.write(`${Buffer.from(line.subarray(objectOpening.length, -1)).toString()}\n`);
      continue;
    }
    if (changeOpening.equals(line.subarray(0, changeOpening.length))) {
      output.write(`{${Buffer.from(line.subarray(changeOpening.length)).toString()}\n`);
      continue;
    }
    const decoded = decodeJson(line, { depthMax: jsonDepthMax });
    if (!decoded.ok) throw commandError('the server sent a line that is not JSON');
    const { value } = decoded;
    const kind = textOf(value, 'kind');
    if (kind === 'Failure') throw commandError(printable(textOf(value, 'message') ?? 'the replay failed'));
    if (kind === 'Progress') showProgress(value);
    if (kind !== 'Result') continue;
    notes.write(resultText(value));
    isEqual = memberOf(value, 'equal') !== false;
  }
  // The loop continues after the result until the response ends. Only then are the replay's files removed, and the next
  // replay can begin.
  if (isEqual !== undefined) return isEqual;
  throw commandError('the replay ended without a result: the connection was lost');
}

const progressStep = 10;

/** The names of the parts of a replay. A progress line without the member `of` is about the objects. */
const partNames: ReadonlyMap<string, string> = new Map([
  ['audit', 'audit indexes'],
  ['indexes', 'indexes'],
  ['columns', 'columns'],
]);

/** Returns a function that writes a line for each further ten percent of a step. */
function progressOn(stderr: CommandContext['stderr']): (progress: Json) => void {
  const shownPercents = new Map<string, number>();
  return (progress) => {
    const [of, step] = [textOf(progress, 'of') ?? '', textOf(progress, 'step') ?? ''];
    const what = `${printable(step)} ${partNames.get(of) ?? 'objects'}`;
    const percent = Number(memberOf(progress, 'percent'));
    if (percent < (shownPercents.get(what) ?? -progressStep) + progressStep) return;
    shownPercents.set(what, percent);
    const events = step === 'replaying' ? `, ${countOf(progress, 'event')}` : '';
    stderr.write(`${what}: ${String(percent)} %${events}\n`);
  };
}

function resultText(result: Json): string {
  const [position, events, objects] = [
    textOf(result, 'position') ?? '',
    countOf(result, 'event'),
    countOf(result, 'object'),
  ];
  const audit = memberOf(result, 'audit');
  const auditState =
    audit === undefined
      ? ''
      : `audit indexes: position ${printable(textOf(audit, 'position') ?? '')}, ${countOf(audit, 'event')}\n`;
  const state = `position ${printable(position)}: ${events}, ${objects}\n${auditState}`;
  const compared = memberOf(result, 'compared');
  if (compared === undefined) return state;
  const counts = Object.entries(compared ?? {}).map(([table, count]) => `${printable(table)} ${String(count)}`);
  const difference = memberOf(result, 'difference');
  const parts = [textOf(difference, 'table'), textOf(difference, 'key')].map((part) => printable(part ?? ''));
  const outcome =
    difference === undefined
      ? 'no difference'
      : `the first difference is in ${parts.join(' ').trim()}: ${printable(textOf(difference, 'detail') ?? '')}`;
  return `${state}compared: ${counts.join(', ')}\n${notComparedText(result)}${outcome}\n`;
}

function notComparedText(result: Json): string {
  const left = memberOf(result, 'notCompared');
  if (!Array.isArray(left)) return '';
  return left
    .map((each: Json) => [textOf(each, 'table'), textOf(each, 'reason')].map((text) => printable(text ?? '')))
    .map(([table = '', reason = '']) => `not compared: ${table}: ${reason}\n`)
    .join('');
}

function countOf(value: Json, noun: 'event' | 'object'): string {
  const count = memberOf(value, `${noun}s`);
  return typeof count === 'number' ? counted(count, noun) : `? ${noun}s`;
}

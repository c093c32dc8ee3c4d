import { decodeJson, type Json } from '../../base/json.ts';
import { showByteCount } from '../../base/byte-count.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import { memberOf, textOf } from '../answer-member.ts';
import type { CommandContext } from '../command-context.ts';
import { connect, type ConnectionOptions } from '../connection.ts';
import { commandError } from '../failure.ts';
import { counted, printable } from '../text-table.ts';

export type BackupOptions = ConnectionOptions & { readonly name?: string };

/**
 * Requests a backup and prints its progress to standard error. The server stops the backup if this command ends early.
 */
export async function backUp({ name, ...options }: BackupOptions, context: CommandContext): Promise<void> {
  const { client, domain } = await connect(options, context);
  const lines = client.lines({
    method: 'POST',
    path: ['apis', `audit.${domain}`, 'v1alpha1', 'backups'],
    body: name === undefined ? {} : { name },
  });
  let result: Json | undefined;
  let shown = { step: '', percent: 0 };
  for await (const line of lines) {
    const decoded = decodeJson(line, { depthMax: jsonDepthMax });
    if (!decoded.ok) throw commandError('the server sent a line that is not JSON');
    const { value } = decoded;
    const kind = textOf(value, 'kind');
    if (kind === 'Failure') throw commandError(printable(textOf(value, 'message') ?? 'the backup failed'));
    if (kind === 'Result') result = value;
    if (kind !== 'Progress') continue;
    const progress = { step: textOf(value, 'step') ?? '', percent: Number(memberOf(value, 'percent')) };
    if (progress.step === shown.step && progress.percent < shown.percent + progressStep) continue;
    shown = progress;
    context.stderr.write(`${printable(progress.step)}: ${String(progress.percent)} %\n`);
  }
  if (result === undefined) throw commandError('the backup ended without a result: the connection was lost');
  context.output.write(resultText(result));
}

const progressStep = 10;

function resultText(result: Json): string {
  const count = (member: string): number => Number(memberOf(result, member) ?? 0);
  const folder = printable(textOf(result, 'folder') ?? '');
  const tree = memberOf(result, 'tree');
  const [size, isSigned] = [Number(memberOf(tree, 'size') ?? 0), memberOf(tree, 'signed') === true];
  const unsigned = textOf(result, 'unsigned');
  const added =
    memberOf(result, 'written') === true
      ? `backup ${String(count('number'))}: ${counted(count('events'), 'event')}, ` +
        `${showByteCount(count('bytes'))}, verified`
      : `no new events: backup ${String(count('number'))} already contains all events`;
  return (
    `${folder}\n${added}\n` +
    `up to position ${printable(textOf(result, 'position') ?? '')}, ${counted(size, 'leaf')} with root ` +
    `${printable(textOf(tree, 'root') ?? '')}\n` +
    `${isSigned ? 'the' : 'no'} checkpoint of this tree is signed` +
    `${unsigned === undefined ? '' : `: ${printable(unsigned)}`}\n`
  );
}

import type { Json } from '../../base/json.ts';
import { listOf, memberOf, textOf } from '../answer-member.ts';
import { counted, printable } from '../text-table.ts';

/** Returns the report of an upgrade in a Plugin's status, as lines of text. */
export function reportLines(plugin: Json): readonly string[] {
  const of = (list: string): readonly Json[] => listOf(plugin, 'status', 'upgrade', list);
  const texts = (entry: Json, ...members: readonly string[]): readonly string[] =>
    members.map((member) => textOf(entry, member) ?? '');
  const lines = [
    ...of('removedTypes').map(
      (entry) => `removed type: ${texts(entry, 'type').join('')}, ${counted(numberOf(entry, 'objects'), 'object')}`,
    ),
    ...of('removedVersions').map((entry) => `removed version: ${texts(entry, 'version', 'type').join(' of ')}`),
    ...of('indexes').map(
      (entry) => `${indexWords(textOf(entry, 'change'))}: ${texts(entry, 'name', 'type').join(' of ')}`,
    ),
    ...of('required').map(
      (entry) => `newly required: ${texts(entry, 'pointer', 'type').join(' of ')}; ${lackWords(entry)}`,
    ),
    ...of('migrations').map(
      (entry) =>
        `migration: ${texts(entry, 'id').join('')} changes ${counted(numberOf(entry, 'changes'), 'object')} of ` +
        texts(entry, 'type').join(''),
    ),
    ...of('objects').flatMap(objectLines),
    ...of('invalid').map((entry) => `  ${texts(entry, 'name').join('')}: ${errorsOf(entry)}`),
  ];
  return lines.map(printable);
}

/** Returns the reason why the upgrade needs attention; undefined if there is no reason. */
export function problemIn(plugin: Json): string | undefined {
  const sumOf = (list: string, member: string): number =>
    listOf(plugin, 'status', 'upgrade', list).reduce<number>((sum, entry) => sum + numberOf(entry, member), 0);
  const problemOf = (count: number, plural: string, rest: string): readonly string[] =>
    count === 0 ? [] : [`${counted(count, 'stored object')} ${verb(count, plural)} ${rest}`];
  const problems = [
    ...problemOf(sumOf('objects', 'invalid'), 'break', 'the schemas of the new version'),
    ...problemOf(sumOf('objects', 'failing'), 'fail', 'in a conversion or a migration'),
    ...problemOf(sumOf('removedTypes', 'objects'), 'belong', 'to removed types'),
  ];
  return problems.length === 0 ? undefined : problems.join('; ');
}

function lackWords(entry: Json): string {
  const lacking = numberOf(entry, 'lacking');
  return lacking === 0
    ? 'no stored object lacks it after the upgrade'
    : `${counted(lacking, 'stored object')} ${verb(lacking, 'lack')} it`;
}

function objectLines(entry: Json): readonly string[] {
  const [type, stored] = [textOf(entry, 'type') ?? '', numberOf(entry, 'stored')];
  const [checked, invalid] = [numberOf(entry, 'checked'), numberOf(entry, 'invalid')];
  const failing = numberOf(entry, 'failing');
  const of = `${counted(stored, 'object')} of ${type}`;
  return [
    ...(checked < stored
      ? [`checked: only ${checked.toLocaleString('en')} of ${of}, within the time limit for checks`]
      : []),
    ...(invalid > 0 ? [`invalid: ${invalid.toLocaleString('en')} of ${of} ${verb(invalid, 'break')} the schema`] : []),
    ...(failing > 0 ? [`failing: ${failing.toLocaleString('en')} of ${of}: the conversion or a migration fails`] : []),
  ];
}

function errorsOf(entry: Json): string {
  return listOf(entry, 'errors')
    .map((error) => [textOf(error, 'pointer'), textOf(error, 'detail')].join(' ').trim())
    .join('; ');
}

function indexWords(change: string | undefined): string {
  if (change === 'unique') return 'index that becomes unique';
  return change === 'added' ? 'new index to build' : 'changed index to build';
}

function verb(count: number, plural: string): string {
  return count === 1 ? `${plural}s` : plural;
}

function numberOf(entry: Json, member: string): number {
  const value = memberOf(entry, member);
  return typeof value === 'number' ? value : 0;
}

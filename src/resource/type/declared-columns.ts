import { isObject } from '../../base/guards.ts';
import { printerColumnsMax } from '../../limits/objects.ts';
import { shortJson } from '../schema/schema-violations.ts';
import { otherWords } from '../schema/suggestions.ts';
import type { PrinterColumn } from './resource-type.ts';

const columnMembers = new Set(['name', 'type', 'pointer', 'format', 'description', 'priority']);
const columnTypes: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean', 'date']);
const pointerForm = /^(?:\/(?:[^~/]|~[01])*)+$/u;

/** Decodes `printerColumns`. Appends every problem to `problems`, and returns the valid columns. */
export function decodePrinterColumns(input: unknown, problems: string[]): readonly PrinterColumn[] {
  if (input === undefined) return [];
  if (!Array.isArray(input) || input.length > printerColumnsMax) {
    problems.push(`printerColumns: must be an array of at most ${String(printerColumnsMax)} columns`);
    return [];
  }
  const columns = Array.from<unknown, PrinterColumn | undefined>(input, (column, index) => {
    const found = columnProblems(column);
    problems.push(...found.map((problem) => `printerColumns[${String(index)}]: ${problem}`));
    return found.length === 0 ? (column as PrinterColumn) : undefined;
  });
  return columns.filter((column) => column !== undefined).map((column) => ({ ...column }));
}

function columnProblems(column: unknown): readonly string[] {
  if (!isObject(column)) return ['must be an object'];
  const { name, type, pointer, format, description, priority } = column;
  const problems = unknownColumnMembers(column);
  if (typeof name !== 'string' || name === '') problems.push('name must be a string of at least one character');
  if (!columnTypes.has(type))
    problems.push(`type must be string, integer, number, boolean or date, is ${shortJson(type)}`);
  if (typeof pointer !== 'string' || !pointerForm.test(pointer))
    problems.push(`pointer must be a JSON pointer like /spec/size, is ${shortJson(pointer)}`);
  for (const [member, value] of Object.entries({ format, description }))
    if (value !== undefined && typeof value !== 'string') problems.push(`${member} must be a string`);
  if (!isPriority(priority)) problems.push('priority must be a whole number of at least 0');
  return problems;
}

function unknownColumnMembers(column: object): string[] {
  return Object.keys(column)
    .filter((member) => !columnMembers.has(member))
    .map((member) => `${member} is not known${otherWords(member, [...columnMembers])}`);
}

function isPriority(value: unknown): boolean {
  return value === undefined || (Number.isInteger(value) && Number(value) >= 0);
}

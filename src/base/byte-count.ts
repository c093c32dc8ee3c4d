const unitBytes: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ['kb', 1e3],
  ['mb', 1e6],
  ['gb', 1e9],
  ['tb', 1e12],
  ['kib', 2 ** 10],
  ['mib', 2 ** 20],
  ['gib', 2 ** 30],
  ['tib', 2 ** 40],
  ['ki', 2 ** 10],
  ['mi', 2 ** 20],
  ['gi', 2 ** 30],
  ['ti', 2 ** 40],
]);

/**
 * Parses a number of bytes such as `1048576`, `512MiB`, `1.5 GB` or Kubernetes' `512Mi`. Returns undefined for any
 * other text, and for a number that is too large or has a fraction without a unit.
 */
export function parseByteCount(text: string): number | undefined {
  const [, number = '', unit = ''] = /^(\d{1,16}(?:\.\d{1,6})?) ?([a-z]{0,3})$/iu.exec(text) ?? [];
  const factor = unitBytes.get(unit.toLowerCase());
  if (number === '' || factor === undefined) return undefined;
  const bytes = Number(number) * factor;
  return bytes <= Number.MAX_SAFE_INTEGER && (factor > 1 || Number.isInteger(bytes)) ? Math.round(bytes) : undefined;
}

/** Formats a number of bytes for messages, in the largest binary unit with a value of at least one. */
export function showByteCount(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = bytes < 1_024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const shown = bytes / 2 ** (10 * step);
  return `${step === 0 ? String(bytes) : shown.toFixed(shown < 10 ? 1 : 0)} ${units[step] ?? ''}`;
}

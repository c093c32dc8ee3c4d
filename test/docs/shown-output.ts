/**
 * Whether a command printed what its page shows: `…` stands for anything, and blanks outside quotes do not count, as a
 * page breaks long JSON into lines.
 */
export function showsAll(shown: string, printed: string): boolean {
  return pattern(shown, '$').test(compact(printed));
}

/** The same for a command that still runs: its output may continue. */
export function showsSoFar(shown: string, printed: string): boolean {
  return pattern(shown, '').test(compact(printed));
}

function pattern(shown: string, end: string): RegExp {
  const parts = compact(shown)
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`));
  return new RegExp(`^${parts.join('[^]*?')}${end}`, 'u');
}

function compact(text: string): string {
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/gu, (_match, quoted: string | undefined) => quoted ?? '');
}

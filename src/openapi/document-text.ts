import type { Steps } from '../base/steps.ts';
import type { Encoded, Part } from './encoded.ts';

const comma = Buffer.from(',');

/** Returns the texts of members, separated by commas, as UTF-8. */
export function* membersText(parts: Iterable<Part>, texts: Encoded<Buffer>): Steps<readonly Buffer[]> {
  const pieces: Buffer[] = [];
  for (const part of parts) {
    if (pieces.length > 0) pieces.push(comma);
    pieces.push(texts.of(part));
    yield;
  }
  return pieces;
}

/**
 * Encodes a value as JSON text. Returns `{}` if the encoding fails, for example because the value is nested too deeply.
 */
export function textOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '{}';
  }
}

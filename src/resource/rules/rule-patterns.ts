import type { ASTNode } from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';

import { messageOf } from '../../base/error-message.ts';
import { ruleProgramInstructionsMax } from '../../limits/rules.ts';

/**
 * The name by which parsed rules call `RulePatterns.isMatch`. The CEL library's own `matches` uses the regular
 * expressions of JavaScript, which may take exponential time.
 */
export const linearMatch = 'matchesInLinearTime';

export type MatchCost =
  { readonly ok: true; readonly steps: number } | { readonly ok: false; readonly problem: string };

/** The steps of a match for each code unit of the text, in addition to one step for each instruction of the program. */
const stepsOfUnit = 20;

/**
 * The regular expressions of a schema's rules. RE2 patterns make the time of a match linear in the length of the text.
 */
export class RulePatterns {
  /** The compiled expressions by pattern. Patterns are literals in rules, so their number is limited. */
  readonly #programs = new Map<string, RE2JS>();

  /** Returns the steps of a match of a text with at most `length` code units. */
  matchCost(pattern: string, length: number): MatchCost {
    let instructions: number;
    try {
      instructions = this.#programOf(pattern).programSize();
    } catch (error) {
      return { ok: false, problem: `the pattern ${JSON.stringify(pattern)} is refused: ${messageOf(error)}` };
    }
    if (instructions <= ruleProgramInstructionsMax)
      return { ok: true, steps: stepsOfUnit + (length + 1) * (stepsOfUnit + instructions) };
    const problem =
      `the pattern ${JSON.stringify(pattern)} has ${String(instructions)} instructions, at most ` +
      `${String(ruleProgramInstructionsMax)} are allowed: use fewer or shorter repetitions`;
    return { ok: false, problem };
  }

  /** Whether a part of the text matches the pattern. */
  isMatch(text: string, pattern: string): boolean {
    return this.#programOf(pattern).matcher(text).find();
  }

  #programOf(pattern: string): RE2JS {
    const present = this.#programs.get(pattern);
    if (present !== undefined) return present;
    const program = RE2JS.compile(pattern);
    this.#programs.set(pattern, program);
    return program;
  }
}

/** Replaces the calls of `matches` in a parsed rule by calls of `RulePatterns.isMatch`. */
export function replaceMatches(node: ASTNode): void {
  if (node.op === 'rcall' && node.args[0] === 'matches') node.args[0] = linearMatch;
  for (const child of childrenOf(node)) replaceMatches(child);
}

function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case 'call':
      return node.args[1];
    case 'rcall':
      return [node.args[1], ...node.args[2]];
    case 'map':
      return node.args.flat();
    case '!_':
    case '-_':
      return [node.args];
    default:
      return node.args;
  }
}

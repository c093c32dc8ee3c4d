import { isObject } from '../../base/guards.ts';
import { ruleLengthMax, ruleMessageLengthMax } from '../../limits/rules.ts';
import { otherWords } from '../schema/suggestions.ts';
import { shortJson } from '../schema/schema-violations.ts';

/** The keyword that contains the rules of a schema. */
export const rulesKeyword = 'x-kubernetes-validations';

/** One entry of `x-kubernetes-validations`. */
export type RuleDeclaration = {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  /**
   * Whether a rule that reads `oldSelf` also runs without an old value. `oldSelf` is an optional value in such a rule.
   */
  readonly optionalOldSelf?: boolean;
};

const textMembers = ['rule', 'message', 'messageExpression', 'reason', 'fieldPath'] as const;
const members = [...textMembers, 'optionalOldSelf'];
const lengthsMax: Readonly<Record<(typeof textMembers)[number], number>> = {
  rule: ruleLengthMax,
  message: ruleMessageLengthMax,
  messageExpression: ruleLengthMax,
  reason: ruleMessageLengthMax,
  fieldPath: ruleMessageLengthMax,
};
const reasons = ['FieldValueInvalid', 'FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate'];

/**
 * Decodes the rules of one schema. Appends the problems of each invalid rule to `problems`, and returns the valid
 * rules. `at`: the place of the rules in messages.
 */
export function decodeRules(input: unknown, at: string, problems: string[]): readonly RuleDeclaration[] {
  if (!Array.isArray(input)) {
    problems.push(`${at}: must be an array of rules, is ${shortJson(input)}`);
    return [];
  }
  return Array.from<unknown>(input).flatMap((entry, index) => {
    const found = entryProblems(entry);
    problems.push(...found.map((problem) => `${at}[${String(index)}]${problem}`));
    return found.length === 0 ? [entry as RuleDeclaration] : [];
  });
}

function entryProblems(entry: unknown): readonly string[] {
  if (!isObject(entry)) return [`: must be an object with a rule, is ${shortJson(entry)}`];
  const problems = Object.keys(entry)
    .filter((member) => !members.includes(member))
    .map((member) => `.${member}: is not a member of a rule${otherWords(member, members)}`);
  for (const member of textMembers) problems.push(...textProblems(entry, member));
  if (entry['optionalOldSelf'] !== undefined && typeof entry['optionalOldSelf'] !== 'boolean')
    problems.push(`.optionalOldSelf: must be true or false, is ${shortJson(entry['optionalOldSelf'])}`);
  const { reason } = entry;
  if (typeof reason === 'string' && !reasons.includes(reason))
    problems.push(`.reason: ${JSON.stringify(reason)} is not one of ${reasons.join(', ')}`);
  return problems;
}

function textProblems(entry: Readonly<Record<string, unknown>>, member: (typeof textMembers)[number]): string[] {
  const text = entry[member];
  if (text === undefined) return member === 'rule' ? ['.rule: is required'] : [];
  if (typeof text !== 'string' || text.trim() === '')
    return [`.${member}: must be a text that is not empty, is ${shortJson(text)}`];
  if (text.length > lengthsMax[member])
    return [`.${member}: must be at most ${String(lengthsMax[member])} characters, is ${String(text.length)}`];
  return member === 'message' && /[\r\n]/u.test(text) ? ['.message: must be a single line'] : [];
}

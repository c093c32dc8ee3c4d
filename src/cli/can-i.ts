import type { Json } from '../base/json.ts';
import { memberOf, textOf, textsOf } from './answer-member.ts';
import { connect } from './connection.ts';
import type { ConnectionOptions } from './connection.ts';
import { commandError } from './failure.ts';
import { reviewTarget } from './review-target.ts';
import type { CommandContext } from './command-context.ts';
import { printable } from './text-table.ts';

export type CanIOptions = ConnectionOptions & {
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  readonly as?: string | undefined;
};

const reviews = ['apis', 'authorization.k8s.io', 'v1'];
const ruleMembers = ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs', 'verbs'];

/**
 * Prints whether the request is allowed, followed by the role and rule that allow it, or by the server's reason
 * (decision 6.11). Returns whether the request is allowed.
 */
export async function canI(
  verb: string,
  words: string,
  options: CanIOptions,
  context: CommandContext,
): Promise<boolean> {
  const target = reviewTarget(verb, words, options);
  const { client } = await connect(options, context);
  const answer = await client.send(
    options.as === undefined
      ? {
          method: 'POST',
          path: [...reviews, 'selfsubjectaccessreviews'],
          body: { spec: target },
        }
      : {
          method: 'POST',
          path: [...reviews, 'subjectaccessreviews'],
          body: { spec: { ...target, user: options.as } },
        },
  );
  const allowed = memberOf(answer, 'status', 'allowed');
  if (typeof allowed !== 'boolean')
    throw commandError('the response of the server does not state whether the request is allowed');
  context.output.write(`${allowed ? 'yes' : 'no'}\n${decidedBy(answer)}`);
  return allowed;
}

/**
 * Returns a text with the role and the rule that allow the request. Without such a rule, returns the server's reason,
 * for example that the user is a super administrator.
 */
function decidedBy(answer: Json): string {
  const role = textOf(answer, 'status', 'grant', 'role');
  const reason = textOf(answer, 'status', 'reason');
  if (role === undefined) return reason === undefined ? '' : `${printable(reason)}\n`;
  const rule = memberOf(answer, 'status', 'grant', 'rule');
  const members = ruleMembers
    .map((member) => [member, textsOf(rule, member)] as const)
    .filter(([, values]) => values.length > 0);
  const lines = [
    `role ${printable(role)}`,
    ...members.map(([member, values]) => `  ${member}: ${printable(JSON.stringify(values))}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

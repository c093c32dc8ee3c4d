import type { Json } from '../base/json.ts';
import { listOf, textOf } from './answer-member.ts';
import { connect } from './connection.ts';
import type { ConnectionOptions } from './connection.ts';
import type { CommandContext } from './command-context.ts';
import { textTable } from './text-table.ts';

export type RoleListOptions = ConnectionOptions & {
  readonly templates?: boolean | undefined;
  /** Also lists hidden roles, which are not offered for assignment. */
  readonly all?: boolean | undefined;
};

/** Prints the server's roles, sorted by name. Without `--all`, hidden roles are omitted, even hidden templates. */
export async function listRoles(options: RoleListOptions, context: CommandContext): Promise<void> {
  const { client, domain } = await connect(options, context);
  const answer = await client.send({ method: 'GET', path: ['api', 'v1alpha1', 'roles'] });
  const isMarked = (role: Json, label: string): boolean =>
    textOf(role, 'metadata', 'labels', `${domain}/${label}`) === 'true';
  const rows = listOf(answer, 'items')
    .filter(
      (role) =>
        (options.all === true || !isMarked(role, 'hidden')) &&
        (options.templates !== true || isMarked(role, 'role-template')),
    )
    .map((role) => [
      textOf(role, 'metadata', 'name') ?? '',
      annotationOf(role, domain, 'display-name'),
      annotationOf(role, domain, 'module'),
    ])
    .sort(([left = ''], [right = '']) => (left < right ? -1 : Number(left > right)));
  context.output.write(textTable(['NAME', 'DISPLAY NAME', 'MODULE'], rows));
}

function annotationOf(role: Json, domain: string, name: string): string {
  return textOf(role, 'metadata', 'annotations', `rbac.authorization.${domain}/${name}`) ?? '';
}

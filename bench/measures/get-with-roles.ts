import type { Measure } from '../bench.ts';
import type { RequestTemplate } from '../load/template.ts';
import { compare } from '../rounds.ts';
import { expect, send } from '../subject/client.ts';
import { authorization } from '../subject/server.ts';
import { widgetGroup, widgetText, widgetsPath } from '../subject/widgets.ts';

const roles = 100;
const rulesPerRole = 50;
const user = { name: 'measured', password: 'bench-password-2' };

/**
 * GET of one object by an ordinary user with many rules, against GET by the administrator. Only one rule allows the
 * request of the ordinary user.
 */
export const getWithRoles: Measure = {
  name: 'get-with-roles',
  run: async (bench) =>
    bench.withSubject(bench.newDataDir(), async ({ url }) => {
      const path = `${widgetsPath}/measured`;
      const widget = widgetText({ name: 'measured', size: '1', tier: 'gold', batch: '1' });
      await send(url, 'POST', widgetsPath, widget);
      await makeRoles(url);
      const load = async (target: string, who: string): Promise<number> => {
        const bytes = await send(target, 'GET', path);
        const request: RequestTemplate = { method: 'GET', path, headers: { Host: '127.0.0.1', Authorization: who } };
        const requests = bench.scaled(40_000);
        const result = await bench.loader.http({
          url: target,
          request,
          connections: 64,
          status: 200,
          warmUp: 500,
          requests,
        });
        expect('bytes of all responses', result.bodyBytes, requests * bytes.length);
        return result.perSecond;
      };
      const asUser = async (): Promise<number> =>
        load(url, `Basic ${Buffer.from(`${user.name}:${user.password}`).toString('base64')}`);
      const comparison = await compare(bench.rounds, async () => load(url, authorization), asUser);
      const note = 'against GET by the administrator';
      return [{ measure: 'GET by a user with roles', unit: '/s', ...comparison, floor: 0.95, note }];
    }),
};

/**
 * Creates many roles with many rules, and gives three roles to the user. Only the last rule of the last role allows the
 * request.
 */
async function makeRoles(url: string): Promise<void> {
  const core = { apiVersion: 'v1alpha1' };
  for (let role = 0; role < roles; role += 1) {
    const rules = Array.from({ length: rulesPerRole }, (_, rule) => ({
      apiGroups: [`group-${rule.toString()}.example`],
      resources: [`things-${role.toString()}`],
      verbs: ['get', 'list', 'watch'],
    }));
    if (role === roles - 1)
      rules.push({ apiGroups: [widgetGroup], resources: ['widgets'], verbs: ['get', 'list', 'watch'] });
    await send(
      url,
      'POST',
      '/api/v1alpha1/roles',
      JSON.stringify({ ...core, kind: 'Role', metadata: { name: `role-${role.toString()}` }, rules }),
    );
  }
  await send(
    url,
    'POST',
    '/api/v1alpha1/users',
    JSON.stringify({ ...core, kind: 'User', metadata: { name: user.name }, spec: { password: user.password } }),
  );
  for (const role of [0, 1, roles - 1]) {
    const roleRef = { apiGroup: '', kind: 'Role', name: `role-${role.toString()}` };
    const subjects = [{ apiGroup: '', kind: 'User', name: user.name }];
    await send(
      url,
      'POST',
      '/api/v1alpha1/rolebindings',
      JSON.stringify({
        ...core,
        kind: 'RoleBinding',
        metadata: { name: `binding-${role.toString()}` },
        roleRef,
        subjects,
      }),
    );
  }
}

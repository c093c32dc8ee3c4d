import { test } from 'tap';

import { startSignedIn } from './signed-in.ts';

const merge = { 'content-type': 'application/merge-patch+json' };
const users = '/api/v1alpha1/users';
const own = '/apis/uc.api.svc.run/v1alpha1/users/-/password';

test("every write of a user refuses a common password and the user's own name", async (t) => {
  const { as } = await startSignedIn(t, 'jane-doe');
  const current = (await as('admin')('GET', `${users}/jane-doe`)).body;
  for (const password of ['PassWord1', 'Jane-Doe']) {
    const spec = { password };
    const answers = [
      await as('admin')('POST', users, {
        metadata: { name: password.toLowerCase() === 'jane-doe' ? 'jane-doe' : 'new' },
        spec,
      }),
      await as('admin')('PUT', `${users}/jane-doe`, { ...current, spec: { ...current.spec, password } }),
      await as('admin')('PATCH', `${users}/jane-doe`, { spec }, merge),
      await as('admin')('PATCH', `${users}/jane-doe`, [{ op: 'add', path: '/spec/password', value: password }], {
        'content-type': 'application/json-patch+json',
      }),
      await as('admin')('PATCH', `${users}/jane-doe?dryRun=All`, { spec }, merge),
    ];
    for (const [index, { status, text }] of answers.entries()) {
      // Creating a user with an existing name conflicts first.
      if (index === 0 && status === 409) continue;
      t.equal(status, 422, `${String(index)} ${password}`);
      t.match(text, /"#?\/spec\/password"/u);
      t.notMatch(text, new RegExp(password, 'u'), 'it is not repeated');
    }
    const changed = await as('jane-doe')('PUT', own, { currentPassword: 'password of jane-doe', password });
    t.equal(changed.status, 422);
    t.match(changed.text, /"#?\/password"/u);
  }
  t.equal((await as('jane-doe')('GET', '/apis')).status, 200, 'the password is unchanged');
});

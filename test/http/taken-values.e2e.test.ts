import { test } from 'tap';

import { startSignedIn } from './accounts/signed-in.ts';

/** Every part of the answer, in both forms: the head, too. */
test('a 409 for a unique value names no object that the caller may not get', async (test) => {
  const server = await startSignedIn(test, 'blind', 'reader', 'author');
  const widgets = '/apis/example.com/v1alpha1/widgets';
  const posts = '/apis/uc.api.content.svc.run/v1alpha1/posts';
  const rules = (verbs: string): object => ({
    rules: [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: verbs.split(',') }],
  });
  await server.make('roles', { metadata: { name: 'blind' }, ...rules('create,update,patch') });
  await server.make('roles', { metadata: { name: 'reader' }, ...rules('create,get') });
  for (const [user, role] of [
    ['blind', 'blind'],
    ['reader', 'reader'],
    ['author', 'post-author'],
  ] as const) {
    await server.make('rolebindings', {
      metadata: { name: user },
      roleRef: { kind: 'Role', name: role },
      subjects: [{ kind: 'User', name: user }],
    });
  }
  const admin = server.as('admin');
  test.equal(
    (await admin('POST', widgets, { metadata: { name: 'hidden-one' }, spec: { title: 'x', size: 1, serial: 'S' } }))
      .status,
    201,
  );
  test.equal((await admin('POST', widgets, { metadata: { name: 'mine' }, spec: { title: 'x', size: 1 } })).status, 201);
  test.equal(
    (
      await admin('POST', '/apis/content.svc.run/v1alpha1/posts', {
        metadata: { name: 'hidden-one' },
        spec: { title: 'x', slug: 's', owner: 'admin' },
      })
    ).status,
    201,
  );
  const duplicate = { metadata: { name: 'new' }, spec: { title: 'x', size: 1, serial: 'S' } };
  const merge = { 'content-type': 'application/merge-patch+json' };
  for (const accept of ['application/json', 'application/problem+json']) {
    for (const query of ['', '?dryRun=All', '?fieldValidation=Warn']) {
      for (const answer of [
        await server.as('blind')('POST', `${widgets}${query}`, duplicate, { accept }),
        await server.as('blind')('PATCH', `${widgets}/mine${query}`, { spec: { serial: 'S' } }, { ...merge, accept }),
      ]) {
        test.equal(answer.status, 409);
        test.notMatch(`${JSON.stringify([...answer.headers])}${answer.text}`, 'hidden-one');
        test.match(answer.body, { reason: 'UniqueValueTaken', errors: [{ pointer: '/spec/serial' }] });
      }
      test.match(
        (await server.as('reader')('POST', `${widgets}${query}`, duplicate, { accept })).text,
        '\\"hidden-one\\" has this value',
      );
    }
    const own = await server.as('author')(
      'POST',
      posts,
      { metadata: { name: 'own' }, spec: { title: 'x', slug: 's' } },
      { accept },
    );
    test.equal(own.status, 409);
    test.notMatch(own.text, 'hidden-one');
  }
});

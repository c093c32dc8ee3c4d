import { test } from 'tap';

import { commonPasswordProblem } from '../../src/auth/passwords/common-passwords.ts';

test('common passwords and the name of the user are refused, in any spelling', async (t) => {
  for (const common of ['password', 'PassWord1', '12345678', 'qwertyuiop', 'ILOVEYOU', 'administrator']) {
    t.match(commonPasswordProblem(common, 'jane'), /too common/u, common);
  }
  for (const own of ['jane.doe', 'Jane.Doe', 'JANE.DOE'])
    t.equal(commonPasswordProblem(own, 'jane.doe'), 'must differ from the user name');
  for (const other of ['correct horse', 'jane.doe!', 'password of jane', 'constructor', '__proto__', ''])
    t.equal(commonPasswordProblem(other, 'jane.doe'), undefined, other);
});

import { test } from 'tap';

import { toOpenApi30 } from '../../src/openapi/schema/to-openapi-30.ts';
import { toOpenApi31 } from '../../src/openapi/schema/to-openapi-31.ts';
import { toSwagger20 } from '../../src/openapi/schema/to-swagger-20.ts';

const rules = [{ rule: 'self > 0', message: 'must be positive' }];
const schema = {
  type: 'integer',
  'x-kubernetes-validations': rules,
  'x-kubernetes-group-version-kind': [],
  'x-order': 1,
};

test('documents of every form show rules, and no other keyword of Kubernetes', async (t) => {
  const forms = [toOpenApi30(schema, 'Widget').schema, toOpenApi31(schema, 'Widget')];
  for (const shown of [...forms, toSwagger20(forms[0])])
    t.match(shown, { 'x-kubernetes-validations': rules, 'x-order': 1, 'x-kubernetes-group-version-kind': undefined });
});

import { test } from 'tap';

import { TokenBucket } from '../../src/write/admission/token-bucket.ts';

test('a burst is available at once, and then the refilled amount', (t) => {
  const bucket = new TokenBucket({ perSecond: 10, burst: 100 }, 0);
  for (let taken = 0; taken < 100; taken += 1) t.equal(bucket.take(1, 0), 0);
  t.equal(bucket.take(1, 0), 1, 'the next one waits');
  t.equal(bucket.take(1, 99), 1);
  t.equal(bucket.take(1, 100), 0, 'a tenth of a second is one');
  t.equal(bucket.take(25, 100), 3, 'seconds are rounded up');
  t.equal(bucket.take(25, 2_600), 0);
  t.notOk(bucket.isFull(2_600));
  t.ok(bucket.isFull(60_000));
  t.equal(bucket.take(101, 60_000), 0, 'a full bucket grants more than a burst');
  t.equal(bucket.take(1, 60_000), 1, 'which is a debt');
  t.end();
});

test('a debt is repaid before tokens are available, and unused tokens are returned', (t) => {
  const bucket = new TokenBucket({ perSecond: 1, burst: 10 }, 0);
  bucket.charge(15, 0);
  t.equal(bucket.take(1, 0), 6);
  t.equal(bucket.take(1, 6_000), 0);
  bucket.giveBack(1);
  t.equal(bucket.take(1, 6_000), 0);
  bucket.giveBack(1_000);
  t.equal(bucket.take(10, 6_000), 0);
  t.equal(bucket.take(1, 6_000), 1, 'never more than a burst');
  t.end();
});

import { overTls } from '../transport.ts';

overTls();
await import('../connections/expected-continue.test.ts');

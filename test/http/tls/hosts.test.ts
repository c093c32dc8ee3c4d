import { overTls } from '../transport.ts';

overTls();
await import('../connections/hosts.test.ts');

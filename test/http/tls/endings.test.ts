import { overTls } from '../transport.ts';

overTls();
await import('../connections/endings.test.ts');

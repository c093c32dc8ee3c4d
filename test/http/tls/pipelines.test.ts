import { overTls } from '../transport.ts';

overTls();
await import('../connections/pipelines.test.ts');

import type { ServerCertificate } from '../../src/http/connection/tls-front.ts';
import { selfSigned } from '../support/server/self-signed.ts';

/** How the connections of a test file are made: in plain, unless the file asks for TLS before it begins. */
export const transport: { certificate: ServerCertificate | undefined } = { certificate: undefined };

/** Every edge of this process speaks TLS from now on, and every raw connection too. */
export function overTls(): void {
  transport.certificate = selfSigned();
  // `fetch` has no other way to accept the certificate, and Node warns of it.
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  const emitWarning = process.emitWarning.bind(process) as (...given: readonly unknown[]) => void;
  process.emitWarning = (warning: string | Error, ...more: readonly unknown[]) => {
    if (!String(warning).includes('NODE_TLS_REJECT_UNAUTHORIZED')) emitWarning(warning, ...more);
  };
}

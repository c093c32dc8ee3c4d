import { runCommand } from './command-run.ts';
import { testPassword, type TestServer } from './start-server.ts';

/** Returns the file that the command `kubeconfig` writes. `port`: the port of a proxy in front of the server. */
export async function kubeconfigOf(server: TestServer, port = new URL(server.url).port): Promise<string> {
  const variables = {
    TLS: 'auto',
    DATA_DIR: server.dataDir,
    PORT: new URL(server.url).port,
    LEDGERPLANE_PASSWORD: testPassword,
  };
  const written = await runCommand(['kubeconfig', '--role', 'super-role'], { variables });
  if (written.code !== 0) throw new Error(written.err);
  return written.out.replaceAll(`:${variables.PORT}`, `:${port}`);
}

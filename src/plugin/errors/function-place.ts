import { Session, type Debugger, type Runtime } from 'node:inspector';

/**
 * Returns a stack with a single frame, the place of the function in its source; '' if the place is unknown. Only the
 * debugger knows the places of functions. All calls of the debugger are synchronous, so no code of the plugin runs in
 * between.
 */
export function functionStack(written: unknown): string {
  if (typeof written !== 'function') return '';
  const session = new Session();
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => urls.set(scriptId, url));
  try {
    session.connect();
    session.post('Debugger.enable');
    const location = locationOf(written, session);
    const url = urls.get(location?.scriptId ?? '');
    if (location === undefined || url === undefined) return '';
    const { lineNumber, columnNumber = 0 } = location;
    return `\n    at ${url}:${String(lineNumber + 1)}:${String(columnNumber + 1)}`;
  } catch {
    // Ignores an error of the debugger: the problem is then reported without the place.
    return '';
  } finally {
    session.disconnect();
  }
}

/** The member of `globalThis` by which the debugger finds the function. */
const asked = Symbol.for('ledgerplane.function-place');

function locationOf(written: object, session: Session): Debugger.Location | undefined {
  let found: Runtime.RemoteObject | undefined;
  let location: unknown;
  Object.defineProperty(globalThis, asked, { value: written, configurable: true });
  try {
    session.post(
      'Runtime.evaluate',
      { expression: `globalThis[Symbol.for('${String(asked.description)}')]` },
      (_, of) => {
        found = of.result;
      },
    );
  } finally {
    Reflect.deleteProperty(globalThis, asked);
  }
  if (found?.objectId === undefined) return undefined;
  const { objectId } = found;
  session.post('Runtime.getProperties', { objectId, ownProperties: true }, (_, { internalProperties = [] }) => {
    location = internalProperties.find(({ name }) => name === '[[FunctionLocation]]')?.value?.value;
  });
  return isLocation(location) ? location : undefined;
}

function isLocation(value: unknown): value is Debugger.Location {
  return typeof value === 'object' && value !== null && 'scriptId' in value && 'lineNumber' in value;
}

// For health checks of containers that have no other program: `tollgate healthy`.

import { formatHostAndPort, toReachableHost } from '../../server/src/platform/config/address'

const patienceMs = 4000

/** Returns the address of this environment's server, as seen from this machine. */
function address(): string {
  const { PORT = '', HOST = '' } = process.env
  return `http://${formatHostAndPort(toReachableHost(HOST), PORT || '8080')}`
}

/** Checks that the server is alive. Returns the exit code. */
export async function askHealth(): Promise<number> {
  const signal = AbortSignal.timeout(patienceMs)
  return fetch(`${address()}/healthz`, { signal }).then(
    ({ ok }) => (ok ? 0 : 1),
    () => 1,
  )
}

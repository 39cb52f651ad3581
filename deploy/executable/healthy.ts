// For health checks of containers that have no other program: `tollgate healthy`.

import { hostAndPort, hostHere } from '../../server/src/config/address'

const patienceMs = 4000

/** Where the server of this environment is reached from this machine. */
function address(): string {
  const { PORT = '', HOST = '' } = process.env
  return `http://${hostAndPort(hostHere(HOST), PORT || '8080')}`
}

/** Asks the server whether it lives. Returns the exit code. */
export async function askHealth(): Promise<number> {
  const signal = AbortSignal.timeout(patienceMs)
  return fetch(`${address()}/healthz`, { signal }).then(
    ({ ok }) => (ok ? 0 : 1),
    () => 1,
  )
}

// For health checks of containers that have no other program: `tollgate healthy`.

import { hostHere } from '../../server/src/doctor/port'

const patienceMs = 4000

/** Where the server of this environment is reached from this machine. */
function address(): string {
  const { PORT = '', HOST = '' } = process.env
  const host = hostHere(HOST)
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT || '8080'}`
}

/** Asks the server whether it lives. Returns the exit code. */
export async function askHealth(): Promise<number> {
  const signal = AbortSignal.timeout(patienceMs)
  return fetch(`${address()}/healthz`, { signal }).then(
    ({ ok }) => (ok ? 0 : 1),
    () => 1,
  )
}

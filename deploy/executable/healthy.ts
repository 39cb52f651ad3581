// For health checks of containers that have no other program: `tollgate healthy`.

const patienceMs = 4000
const everywhere = ['', '0.0.0.0', '::']

/** Where the server of this environment is reached from this machine. */
function address(): string {
  const { PORT = '', HOST = '' } = process.env
  if (everywhere.includes(HOST)) return `http://127.0.0.1:${PORT || '8080'}`
  return `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT || '8080'}`
}

/** Asks the server whether it lives. Returns the exit code. */
export async function askHealth(): Promise<number> {
  const signal = AbortSignal.timeout(patienceMs)
  return fetch(`${address()}/healthz`, { signal }).then(
    ({ ok }) => (ok ? 0 : 1),
    () => 1,
  )
}

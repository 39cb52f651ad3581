import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [lowest, count] = [12_000, 8_000]
/** Of each user of the machine: another one could not write there. */
const reservations = join(tmpdir(), `tollgate-test-ports-${process.getuid?.() ?? 0}`)

/**
 * Returns a port of 127.0.0.1 that is free. It is below those that the system gives to connections and to whatever else
 * tests open: one of them could take it before it is listened on, or while its server is down. It is reserved for this
 * process: another one that looks for a port does not take it then either.
 */
export function freePort(): number {
  mkdirSync(reservations, { recursive: true })
  for (;;) {
    const port = lowest + Math.floor(Math.random() * count)
    if (!reserve(port)) continue
    try {
      using _probe = Bun.listen({ hostname: '127.0.0.1', port, socket: { data: () => undefined } })
      return port
    } catch {
      // It is in use.
    }
  }
}

/** Reserves a port, unless a process that runs has it, this one included. */
function reserve(port: number): boolean {
  const path = join(reservations, String(port))
  if (isWritten(path)) return true
  if (isOwned(path)) return false
  rmSync(path, { force: true })
  return isWritten(path)
}

function isWritten(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** Returns whether the owner of a reservation runs; one that has not written its number yet does. */
function isOwned(path: string): boolean {
  try {
    const pid = Number(readFileSync(path, 'utf8'))
    return pid === 0 || process.kill(pid, 0)
  } catch {
    return false
  }
}

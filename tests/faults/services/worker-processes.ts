import { readFile, readdir } from 'node:fs/promises'

/** Returns the worker processes on a data directory, by worker number. */
export async function workersOf(dataDir: string): Promise<Map<number, number>> {
  const found = new Map<number, number>()
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    // It may have exited since it was listed.
    const variables = (await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '')).split('\0')
    const [worker] = variables.flatMap((one) => /^TOLLGATE_WORKER=(\d+)$/.exec(one)?.[1] ?? [])
    if (worker && variables.includes(`DATA_DIR=${dataDir}`)) found.set(Number(worker), Number(name))
  }
  return found
}

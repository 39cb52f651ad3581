import { join } from 'node:path'
import { packed } from '../packed-build'

const root = join(import.meta.dir, '../../../..')

/** The program that workers run: that of this process, until an update. */
export class WorkerProgram {
  #path = Bun.main

  /** The command that starts a worker. */
  get command(): string[] {
    return packed ? [process.execPath, 'start'] : [process.execPath, this.#path]
  }

  /** Has workers that start from now on run the current version of the sources; where it cannot be bundled, the one so far. */
  async renew(): Promise<void> {
    const isSource = this.#path.endsWith('.ts')
    if (packed || isSource) return
    const command = [process.execPath, join(root, 'bin/server-bundle.mjs'), root]
    const bundler = Bun.spawn(command, { stdio: ['ignore', 'pipe', 'ignore'] })
    const path = (await bundler.stdout.text()).trim()
    if ((await bundler.exited) === 0 && path !== '') this.#path = path
  }
}

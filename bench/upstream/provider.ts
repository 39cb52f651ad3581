import { join } from 'node:path'
import { toBill, type Bill } from './bill'

/** The provider in its own process. */
export interface Provider extends AsyncDisposable {
  pid: number
  port: number
  /** Its charges since it was started. */
  bill: () => Promise<Bill>
}

export async function startProvider(): Promise<Provider> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts')], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const { value } = await child.stdout.getReader().read()
  const [, port] = /on (\d+)/.exec(new TextDecoder().decode(value)) ?? []
  if (port === undefined) throw new Error('the provider did not start')
  return {
    pid: child.pid,
    port: Number(port),
    async bill() {
      const response = await fetch(`http://127.0.0.1:${port}/__bill`)
      return toBill(await response.json())
    },
    async [Symbol.asyncDispose]() {
      child.kill()
      await child.exited
    },
  }
}

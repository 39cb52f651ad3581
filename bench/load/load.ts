import { join } from 'node:path'
import type { Outcome, Plan } from './plan'

/** The process that generates the load. */
export interface Load extends AsyncDisposable {
  pid: number
  /** Runs one burst at a time. */
  run: (plan: Plan) => Promise<Outcome>
}

export async function startLoad(): Promise<Load> {
  const ready = Promise.withResolvers<void>()
  let waiting: PromiseWithResolvers<Outcome> | undefined
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts')], {
    stdout: 'inherit',
    stderr: 'inherit',
    ipc(message: Outcome | 'ready') {
      if (message === 'ready') ready.resolve()
      else waiting?.resolve(message)
    },
    onExit: () => waiting?.reject(new Error('the load ended')),
  })
  await ready.promise
  return {
    pid: child.pid,
    run(plan) {
      waiting = Promise.withResolvers<Outcome>()
      child.send(plan)
      return waiting.promise
    },
    async [Symbol.asyncDispose]() {
      waiting = undefined
      child.kill()
      await child.exited
    },
  }
}

/** Builds a POST with a JSON body, as wire bytes. */
export function postOf(path: string, headers: Record<string, string>, body: object): string {
  const json = JSON.stringify(body)
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return (
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n` +
    `${own.join('')}content-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
  )
}

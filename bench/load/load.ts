import { join } from 'node:path'
import { formOf } from './form'
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
export const postOf = (path: string, headers: Record<string, string>, body: object): string =>
  toPost(path, { ...headers, 'content-type': 'application/json' }, JSON.stringify(body))

/** Builds a POST of a form with one file of ASCII, as wire bytes. */
export function uploadOf(
  path: string,
  headers: Record<string, string>,
  { fields, file }: { fields: Record<string, string>; file: string },
): string {
  const { type, before, after } = formOf(fields, 'talk.wav')
  return toPost(path, { ...headers, 'content-type': type }, before + file + after)
}

function toPost(path: string, headers: Record<string, string>, body: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return (
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}

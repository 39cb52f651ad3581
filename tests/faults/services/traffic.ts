import { join } from 'node:path'
import type { LoadObservations, Worker } from './client-load'

export type ToTraffic =
  | { targets: readonly string[] }
  | { requestId: number; worker: Worker }
  | { failuresWanted: true }
  | { foundWanted: true }

interface Answered extends LoadObservations {
  answered: number
}

export type FromTraffic = { ready: true } | Answered | { failures: string[] } | { found: string[] }

/** Clients and a load balancer in front of nodes. */
export interface Traffic extends AsyncDisposable {
  /** Sends a request through the load balancer; the client's observation goes to `into`. */
  ask: (worker: Worker, into: LoadObservations) => Promise<void>
  /** Reasons of requests that the load balancer could not forward, or whose answers were cut off. */
  failures: () => Promise<string[]>
  /** Returns the addresses that the load balancer found ready at its last probes. */
  found: () => Promise<string[]>
}

interface Options {
  /** Returns the current addresses of nodes; a restarted node may have another. */
  targets: () => readonly string[]
  /** Interval of the load balancer's probes of a node. */
  probeMs: number
}

/**
 * Starts them in a separate process: a test process has at most 256 concurrent fetches, whatever
 * `BUN_CONFIG_MAX_HTTP_REQUESTS` is, so that a thousand would wait for each other.
 */
export async function startTraffic({ targets, probeMs }: Options): Promise<Traffic> {
  const waiting = new Map<number, (answered: Answered) => void>()
  const ready = Promise.withResolvers<void>()
  let tellFailures: ((failures: string[]) => void) | undefined
  let tellFound: ((found: string[]) => void) | undefined
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, 'traffic-process.ts'), JSON.stringify({ probeMs })],
    {
      env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' },
      stdout: 'inherit',
      stderr: 'inherit',
      serialization: 'advanced',
      ipc(message: FromTraffic) {
        if ('ready' in message) ready.resolve()
        else if ('failures' in message) tellFailures?.(message.failures)
        else if ('found' in message) tellFound?.(message.found)
        else {
          waiting.get(message.answered)?.(message)
          waiting.delete(message.answered)
        }
      },
    },
  )
  const send = (message: ToTraffic) => child.send(message)
  await ready.promise
  const telling = setInterval(() => send({ targets: targets() }), probeMs / 4)
  let lastId = 0
  return {
    async ask(worker, into) {
      const id = ++lastId
      const answer = new Promise<Answered>((resolve) => waiting.set(id, resolve))
      const { key, keyId } = worker.customer
      send({ requestId: id, worker: { ...worker, customer: { key, keyId } } })
      const { completed, broken, statuses } = await answer
      into.completed.push(...completed)
      into.broken += broken
      for (const [status, count] of statuses) {
        into.statuses.set(status, (into.statuses.get(status) ?? 0) + count)
      }
    },
    failures() {
      const failureTexts = new Promise<string[]>((resolve) => (tellFailures = resolve))
      send({ failuresWanted: true })
      return failureTexts
    },
    found() {
      const found = new Promise<string[]>((resolve) => (tellFound = resolve))
      send({ foundWanted: true })
      return found
    },
    async [Symbol.asyncDispose]() {
      clearInterval(telling)
      child.kill()
      await child.exited
    },
  }
}

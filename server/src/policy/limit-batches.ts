import type { Demand } from './counters'
import { batchScript } from './limit-scripts'
import type { LimitBucket } from '../auth/principal'
import { DataLoader } from '../db/data-loader'
import type { Redis } from '../db/redis'

/** What a request has taken and gives back. */
export interface Ended {
  /** That it was taken under. */
  id: string
  windows: readonly LimitBucket[]
  /** Where each window counted it. */
  slots: readonly number[]
  /** More than was counted; less than zero for less. */
  delta: number
  running: readonly LimitBucket[]
}

type Operation = { kind: 'take'; id: string; demand: Demand } | ({ kind: 'end' } & Ended)

/** Nobody waits for Redis any longer. */
const patienceMs = 50
/** While one script runs the next ones gather, so that Redis opens each window once for many. */
const mostAtOnce = 1
/** Redis does nothing else meanwhile. */
const mostInBatch = 64
/** Where Redis is far away, scripts follow each other without waiting for answers. */
const aWhileMs = 2

export const keyOf = ({ id }: LimitBucket) => `tollgate:${id}`

const limitOf = ({ limit }: LimitBucket) => limit

const nothing: Ended = { id: '', windows: [], slots: [], delta: 0, running: [] }

/** What requests take and give back in Redis: those that come at the same moment by one script. */
export class LimitBatches {
  readonly #redis: Pick<Redis, 'runFor'>
  readonly #batches: DataLoader<Operation, unknown>

  constructor(redis: Pick<Redis, 'runFor'>) {
    this.#redis = redis
    this.#batches = new DataLoader<Operation, unknown>({
      answer: (batch) => this.#run(batch),
      patienceMs,
      // A place that is not given back stays taken for two minutes.
      isPatient: ({ kind }) => kind === 'end',
      mostAtOnce,
      mostInBatch,
      aWhileMs,
    })
  }

  /** Numbers, as `batchText` says. Rejects where Redis is away, or after 50 ms. */
  async take(id: string, demand: Demand): Promise<number[]> {
    const answer = await this.#batches.ask({ kind: 'take', id, demand })
    if (Array.isArray(answer)) return answer.map(Number)
    throw new Error('Redis answers what is no reading')
  }

  /** Sent however long it has to wait, unless Redis is away: then it ends by itself. */
  end(ended: Ended): void {
    this.#batches.ask({ kind: 'end', ...ended }).catch(() => undefined)
  }

  /** Resolves when what was given back until now has been, or could not be. */
  async flush(): Promise<void> {
    await this.#batches.ask({ kind: 'end', ...nothing }).catch(() => undefined)
  }

  async #run(batch: readonly Operation[]): Promise<readonly unknown[]> {
    const keys = new Map<string, number>()
    const positionOf = (bucket: LimitBucket): number => {
      const key = keyOf(bucket)
      const position = keys.get(key) ?? keys.size + 1
      keys.set(key, position)
      return position
    }
    const operations = batch.map((one) => toArguments(one, positionOf))
    const answer = await this.#redis.runFor(batch.length, {
      script: batchScript,
      keys: [...keys.keys()],
      args: [JSON.stringify(operations)],
    })
    const answers: unknown = JSON.parse(String(answer))
    return Array.isArray(answers) ? answers : []
  }
}

function toArguments(asked: Operation, positionOf: (bucket: LimitBucket) => number): unknown[] {
  if (asked.kind === 'end') {
    const { delta, id, windows, slots, running } = asked
    return [0, delta, id, windows.map(positionOf), slots, running.map(positionOf)]
  }
  const { id, demand } = asked
  const { weight, windows, running } = demand
  const ofWindows = [windows.map(positionOf), windows.map(limitOf)]
  return [1, weight, id, ...ofWindows, running.map(positionOf), running.map(limitOf)]
}

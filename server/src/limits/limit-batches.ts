import type { Demand } from './counters'
import { batchScript } from './limit-scripts'
import type { LimitBucket } from './caller-limits'
import { DataLoader } from '../platform/data-loader'
import type { Redis } from '../platform/redis'

/** A grant of a request that ends and gives back its places. */
export interface Ended {
  /** The id under which it was taken. */
  id: string
  windows: readonly LimitBucket[]
  /** The slot in which each window counted it. */
  slots: readonly number[]
  /** The use beyond the counted weight; negative for less. */
  delta: number
  running: readonly LimitBucket[]
}

type Operation = { kind: 'take'; id: string; demand: Demand } | ({ kind: 'end' } & Ended)

/** The timeout of waiting for Redis. */
const patienceMs = 50
/** While one script runs the next requests gather, so that Redis opens each window once for many. */
const mostAtOnce = 1
/** Redis runs nothing else during a script. */
const mostInBatch = 64
/** With a distant Redis, scripts follow each other without waiting for answers. */
const aWhileMs = 2

export const keyOf = ({ id }: LimitBucket) => `tollgate:${id}`

const limitOf = ({ limit }: LimitBucket) => limit

const nothing: Ended = { id: '', windows: [], slots: [], delta: 0, running: [] }

/** Batches what requests take and give back in Redis: those of the same moment share one script. */
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

  /** Returns numbers in the format of `batchText`. Rejects where Redis is away, or after 50 ms. */
  async take(id: string, demand: Demand): Promise<number[]> {
    const answer = await this.#batches.ask({ kind: 'take', id, demand })
    if (Array.isArray(answer)) return answer.map(Number)
    throw new Error('Redis answers what is no reading')
  }

  /** Sent however long it has to wait, unless Redis is away: then it expires by itself. */
  end(ended: Ended): void {
    this.#batches.ask({ kind: 'end', ...ended }).catch(() => undefined)
  }

  /** Resolves when all that was given back until now was sent, or could not be. */
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
